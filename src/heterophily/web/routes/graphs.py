"""Your graphs: upload, facts, diagnosis, comparison, removal."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse
from pydantic import BaseModel, ValidationError

from heterophily.errors import InputError, lookup
from heterophily.web.comparable import COMPARABLE
from heterophily.web.folder import read_json
from heterophily.web.jobs import PageJob
from heterophily.web.refusal import RefusedError, responses
from heterophily.web.routes.jobs import document
from heterophily.web.routes.state import IdPath, Server, ServerState, view
from heterophily.web.schemas import (
    ComparisonRequest,
    DiagnosisView,
    GraphEntry,
    GraphView,
    JobView,
)

router = APIRouter(prefix="/api/graphs", tags=["graphs"])

FACTS_FILE = "facts.json"


@router.get("", response_model=list[GraphEntry], responses=responses())
def list_graphs(server: ServerState) -> list[dict[str, Any]]:
    """List the graphs, the newest first."""
    found = [_read_facts(server.folder.path / "graphs" / name) for name in _ids(server)]
    return [facts for facts in found if facts is not None]


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
    facts = _checked(GraphEntry, folder / FACTS_FILE)
    return facts if facts is not None and facts["id"] == folder.name else None


def _checked(kind: type[BaseModel], path: Path) -> dict[str, Any] | None:
    """Return the content of a file of ours; None if it is not there, not whole or not ours."""
    found = read_json(path)
    try:
        return None if found is None else kind.model_validate(found).model_dump()
    except ValidationError:
        return None


def _jobs(server: Server, graph: str) -> list[PageJob]:
    return [job for job in server.jobs.all() if job.graph == graph]
