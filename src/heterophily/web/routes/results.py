"""Results: the tables of the paper from the store, and the runs behind a cell."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from heterophily.errors import InputError, lookup
from heterophily.evaluation.split_rules import rule_of
from heterophily.runs.stores.url import open_or_empty
from heterophily.studies.study import studies
from heterophily.web.events import finished
from heterophily.web.jobs import PageJob
from heterophily.web.refusal import responses
from heterophily.web.routes.state import Server, ServerState
from heterophily.web.schemas import PaperTableView, RunView, StudyView

router = APIRouter(prefix="/api", tags=["results"])

TABLE_SECONDS = 120.0
MAX_KEYS = 100
Key = Annotated[str, Query(pattern="^[0-9a-f]{64}$")]


@router.get("/studies", response_model=list[StudyView], responses=responses())
def list_studies() -> list[dict[str, Any]]:
    """List the tables of the paper that are trained."""
    return [
        {
            "name": study.name,
            "title": study.title,
            "place": study.place,
            "rows": len(study.rows),
            "datasets": list(study.datasets),
        }
        for study in studies().values()
        if study.command is None
    ]


@router.get("/studies/{name}", response_model=PaperTableView, responses=responses(404, 429, 503))
async def table(
    name: str, server: ServerState, protocol: Literal["published", "validated"] = "published"
) -> dict[str, Any]:
    """Return a table as far as the store has it, ours beside the paper's."""
    study = lookup(studies(), "table", name)
    if study.command is not None:
        raise InputError(f"table {name} is not trained; run: {study.command}")
    request = {"name": study.name, "protocol": protocol}
    job = await finished(server.jobs, _known(server, request), seconds=TABLE_SECONDS)
    return job.result


def _known(server: Server, request: dict[str, Any]) -> PageJob:
    """Return the job that computes a table, or did since the store changed."""
    with open_or_empty(server.settings.store, is_checked=False) as store:
        asked = {**request, "runs": len(store)}  # records are added, never changed
    return server.jobs.shared("study", asked)


@router.get("/runs", response_model=list[RunView], responses=responses(503))
def runs(
    server: ServerState, key: Annotated[list[Key], Query(min_length=1, max_length=MAX_KEYS)]
) -> list[dict[str, Any]]:
    """Return finished runs by their keys."""
    with open_or_empty(server.settings.store, is_checked=False) as store:
        rows = [record.to_row() for record in store.records(key)]
    return [{**row, "split_rule": rule_of(row["split_rule"])} for row in rows]
