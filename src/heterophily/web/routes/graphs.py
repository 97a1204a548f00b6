"""Your graphs: upload, facts, diagnosis, comparison, removal."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, UploadFile
from fastapi.responses import FileResponse
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool

from heterophily.errors import InputError, lookup
from heterophily.web.comparable import COMPARABLE
from heterophily.web.events import finished
from heterophily.web.folder import read_json, write_json
from heterophily.web.jobs import Job
from heterophily.web.refusal import RefusedError, responses
from heterophily.web.routes.jobs import document
from heterophily.web.routes.state import IdPath, Server, ServerState, view
from heterophily.web.schemas import (
    ComparisonRequest,
    DiagnosisView,
    ExampleRequest,
    GraphFacts,
    GraphView,
    JobView,
    Uploaded,
)
from heterophily.web.uploads import save

router = APIRouter(prefix="/api/graphs", tags=["graphs"])

FACTS_FILE = "facts.json"
READING_SECONDS = 300.0


@router.get("", response_model=list[GraphFacts], responses=responses())
def list_graphs(server: ServerState) -> list[dict[str, Any]]:
    """List the graphs, the newest first."""
    found = [_read_facts(server.folder.path / "graphs" / name) for name in _ids(server)]
    return [facts for facts in found if facts is not None]


@router.post("", status_code=201, response_model=Uploaded, responses=responses(404, 409, 429, 503))
async def upload(
    server: ServerState,
    edges: Annotated[UploadFile | None, File(description="Table of edges")] = None,
    nodes: Annotated[UploadFile | None, File(description="Table of nodes")] = None,
    graph: Annotated[UploadFile | None, File(description="Or a whole graph")] = None,
    label: Annotated[str, Form(max_length=200, description="Column of the label")] = "",
    ignore: Annotated[str, Form(max_length=2000, description="Columns to leave out: a,b")] = "",
    has_header: Annotated[bool, Form()] = True,
    is_directed: Annotated[bool, Form(description="Keep the direction of edges")] = False,
) -> dict[str, Any]:
    """Read a graph from files; a file that cannot be read is refused with the reason.

    Either ``edges`` with ``nodes`` (.csv, .tsv, .parquet, ...), or ``graph`` (.npz, .graphml,
    .gexf). The diagnosis starts by itself.
    """
    files = {"edges": edges, "nodes": nodes, "graph": graph}
    given = {role: file for role, file in files.items() if file is not None and file.filename}
    if ("graph" in given) == ("edges" in given) or {"graph", "nodes"} <= given.keys():
        raise InputError("send one graph: either graph (.npz, ...) or edges with nodes (.csv, ...)")
    options = {
        "label": label.strip(),
        "ignore": [name.strip() for name in ignore.split(",") if name.strip()],
        "has_header": has_header,
        "is_directed": is_directed,
    }
    name, folder = server.folder.make("graphs")
    try:
        saved = {
            role: await run_in_threadpool(
                save, role, file.filename or "", file.file, folder, server.settings
            )
            for role, file in given.items()
        }
        request = {
            **options,
            "title": saved["graph" if "graph" in saved else "edges"].title,
            "files": {role: file.name for role, file in saved.items()},
            "max_unpacked_bytes": server.settings.max_unpacked_bytes,
        }
        return await _read(server, name, folder, request)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@router.post(
    "/examples", status_code=201, response_model=Uploaded, responses=responses(404, 409, 429, 503)
)
async def open_example(asked: ExampleRequest, server: ServerState) -> dict[str, Any]:
    """Open a graph that comes with the package."""
    name, folder = server.folder.make("graphs")
    try:
        return await _read(server, name, folder, {"example": asked.name, "title": asked.name})
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


async def _read(server: Server, name: str, folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Let a worker read the files, keep the facts, start the diagnosis."""
    submitted = server.jobs.submit("import", request, graph=name)
    try:
        job = await finished(server.jobs, submitted, seconds=READING_SECONDS)
    except BaseException:  # it took too long, or the client went away
        server.jobs.stop(submitted.id)
        raise
    facts = {"id": name, "created": job.created, **job.result}
    write_json(folder / FACTS_FILE, facts)
    clean(server)
    return {"graph": facts, "job": view(server.jobs.submit("diagnosis", {}, graph=name))}


@router.get("/{graph}", response_model=GraphView, responses=responses(404))
def show(graph: IdPath, server: ServerState) -> dict[str, Any]:
    """Show a graph and its jobs."""
    return {**_facts(server, graph), "jobs": [view(job) for job in _jobs(server, graph)]}


@router.delete("/{graph}", status_code=204, responses=responses(404, 409))
def remove(graph: IdPath, server: ServerState) -> None:
    """Remove a graph, its jobs and their files; its runs stay in the store."""
    server.folder.find("graphs", graph)
    server.jobs.forget(graph)
    server.folder.remove("graphs", graph)


@router.get("/{graph}/diagnosis", response_model=DiagnosisView, responses=responses(404, 409))
def diagnosis(graph: IdPath, server: ServerState) -> dict[str, Any]:
    """Return the diagnosis of a graph, once it is there."""
    found = _checked(DiagnosisView, server.folder.find("graphs", graph) / "diagnosis.json")
    if found is not None:
        return found
    jobs = [job for job in _jobs(server, graph) if job.kind == "diagnosis"]
    raise RefusedError(409, (jobs and jobs[0].error) or "the diagnosis is not finished yet")


@router.get(
    "/{graph}/report.html",
    response_class=FileResponse,
    responses={**responses(404), 200: {"content": {"text/html": {}}}},
)
def report(graph: IdPath, server: ServerState) -> FileResponse:
    """Return the diagnosis as one page to keep."""
    return document(server.folder.find("graphs", graph) / "diagnosis.html")


@router.post(
    "/{graph}/comparisons",
    status_code=202,
    response_model=JobView,
    responses=responses(404, 409, 429, 503),
)
def compare(graph: IdPath, asked: ComparisonRequest, server: ServerState) -> dict[str, Any]:
    """Start a comparison of models; every run is kept in the store."""
    facts = _facts(server, graph)
    for model in asked.models:
        lookup(dict.fromkeys(COMPARABLE), "model", model)
    if len(set(asked.models)) < 2:
        raise InputError("name at least two models to compare, for example mlp-2,gcn,acm-gcn")
    if asked.splits not in facts["splits"]:
        raise InputError(f"{facts['name']} has no {asked.splits} splits; use random ones")
    return view(server.jobs.submit("comparison", asked.model_dump(), graph=graph))


def clean(server: Server) -> None:
    """Remove graphs that are old, or beyond the size that is kept."""
    settings = server.settings
    old = server.folder.expired(
        keep_days=settings.keep_days, keep_mb=settings.keep_mb, busy=server.jobs.busy_graphs()
    )
    for name in old:
        with contextlib.suppress(RefusedError):  # somebody just came back to it
            server.jobs.forget(name)
            server.folder.remove("graphs", name)


def _ids(server: Server) -> list[str]:
    return server.folder.ids("graphs")


def _facts(server: Server, graph: str) -> dict[str, Any]:
    facts = _read_facts(server.folder.find("graphs", graph))
    if facts is None:
        raise RefusedError(409, "the graph is still being read, or its files are damaged")
    return facts


def _read_facts(folder: Path) -> dict[str, Any] | None:
    facts = _checked(GraphFacts, folder / FACTS_FILE)
    return facts if facts is not None and facts["id"] == folder.name else None


def _checked(kind: type[BaseModel], path: Path) -> dict[str, Any] | None:
    """Return the content of a file of ours; None if it is not there, not whole or not ours."""
    found = read_json(path)
    try:
        return None if found is None else kind.model_validate(found).model_dump()
    except ValidationError:
        return None


def _jobs(server: Server, graph: str) -> list[Job]:
    return [job for job in server.jobs.all() if job.graph == graph]
