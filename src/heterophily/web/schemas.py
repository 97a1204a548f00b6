"""The shapes of requests and answers: what the OpenAPI schema says."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from heterophily.web.folder import ID
from heterophily.web.playground import MAX_POINTS, Sliders, Whole

Share = Annotated[float, Field(ge=0, le=1)]
Id = Annotated[str, Field(pattern=ID)]
State = Literal["waiting", "running", "done", "failed", "stopped"]
MAX_MODELS, MAX_REPEATS = 12, 50


class Asked(BaseModel):
    """Base of requests: unknown fields and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class PlaygroundGraph(BaseModel):
    """A synthetic graph: the class of each node, each edge once, and all metrics."""

    labels: list[int]
    edges: list[Annotated[list[int], Field(min_length=2, max_length=2)]]
    metrics: dict[str, float | None]
    reasons: dict[str, str] = Field(description="Why a metric is undefined")


class PlaygroundTraining(Asked):
    """Train the three models on the graph of the sliders, at one homophily or several."""

    sliders: Sliders
    homophilies: list[Share] = Field(min_length=1, max_length=MAX_POINTS)


class JobView(BaseModel):
    """A job: follow it at ``/api/jobs/{id}/events``."""

    id: Id
    kind: str
    state: State
    graph: Id | None
    error: str | None = Field(description="Why it failed, in one sentence")
    request: dict[str, Any]
    result: dict[str, Any]
    created: float = Field(description="Seconds since 1970")


ColumnName = Annotated[str, Field(max_length=200)]


class Reading(Asked):
    """How tables are read; columns that are not named are found by the reader."""

    label: ColumnName | None = None
    node_id: ColumnName | None = None
    source: ColumnName | None = None
    target: ColumnName | None = None
    weight: ColumnName | None = None
    edge_type: ColumnName | None = None
    ignore: list[ColumnName] = Field(default_factory=list, max_length=10_000)
    columns: dict[ColumnName, Annotated[str, Field(max_length=20)]] = Field(
        default_factory=dict, max_length=10_000, description="Kinds of columns, where changed"
    )
    has_header: bool | None = Field(None, description="None: seen from the first lines")
    is_directed: bool = False


class ColumnView(BaseModel):
    """A column: its name, what it seems to hold, and its first cells."""

    name: str
    kind: str
    examples: list[str]


class TableView(BaseModel):
    """A table: its columns, and which of them have roles by their names."""

    rows: int
    columns: list[ColumnView]
    roles: dict[str, str]


class Preview(BaseModel):
    """Tables before they are read as a graph, and the kinds that a column may have."""

    tables: dict[str, TableView]
    kinds: dict[str, str]


class GraphEntry(BaseModel):
    """An uploaded graph and what its importer found and did."""

    id: Id
    name: str
    headline: str
    report: dict[str, Any]
    splits: list[str] = Field(description="Split rules that a comparison may use")
    reading: Reading | None = Field(None, description="How its tables were read, if it has tables")
    created: float


class GraphView(GraphEntry):
    """A graph with its jobs, the newest first."""

    jobs: list[JobView]


class Uploaded(BaseModel):
    """A graph that was just read, and the job that diagnoses it."""

    graph: GraphEntry
    job: JobView


class DiagnosisView(BaseModel):
    """The diagnosis of a graph, as ``heterophily diagnose --json`` prints it, and its plots."""

    graph: dict[str, Any]
    verdict: dict[str, Any]
    metrics: dict[str, float | None]
    probe: dict[str, Any] | None
    next: dict[str, str]
    plots: dict[str, Any]


class ExampleRequest(Asked):
    """An example that comes with the package."""

    name: str = Field(max_length=40)


class ComparisonRequest(Asked):
    """Models to compare on a graph, on the same splits."""

    models: list[Annotated[str, Field(max_length=60)]] = Field(min_length=2, max_length=MAX_MODELS)
    repeats: Whole = Field(10, ge=2, le=MAX_REPEATS)
    splits: Literal["random", "fixed"] = "random"
    seed: Whole = Field(0, ge=0, le=2**31)


class StudyView(BaseModel):
    """A table of the paper."""

    name: str
    title: str
    place: str
    rows: int
    datasets: list[str]


class CellView(BaseModel):
    """One entry: ours, the paper's, and the keys of our runs."""

    row: str
    dataset: str
    mean: float | None
    std: float | None
    finished: int
    wanted: int
    keys: list[str]
    published: float | None
    published_std: float | None
    is_within: bool | None = None
    engine: str = ""
    settings: dict[str, Any] = Field(default_factory=dict)
    remark: str = ""


class PaperTableView(BaseModel):
    """A table of the paper as far as the store has it."""

    name: str
    title: str
    protocol: str
    rows: list[str]
    datasets: list[str]
    cells: list[CellView]
    lines: list[str] = Field(description="How the table was made and how far it agrees")


class RunView(BaseModel):
    """One finished run of the store."""

    key: str
    model: str
    graph: str
    split_rule: str
    split_index: int
    seed: int
    engine: str
    test_accuracy: float | None
    validation_accuracy: float | None
    epochs: int
    seconds: float
    finished_at: str
    command: str


class Known(BaseModel):
    """What the page must know before it shows anything."""

    version: str
    metrics: dict[str, str] = Field(description="Symbol of each metric")
    models: list[str] = Field(description="Models that can be compared")
    default_models: list[str]
    examples: dict[str, str]
    datasets: dict[str, dict[str, float]] = Field(description="Metrics of well-known datasets")
    max_upload_mb: int
    endings: dict[str, list[str]]
