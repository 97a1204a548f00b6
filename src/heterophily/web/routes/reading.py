"""From files to a graph: a look at the columns, reading, and reading again otherwise."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from heterophily.errors import InputError
from heterophily.web.events import finished
from heterophily.web.folder import read_json, write_json
from heterophily.web.refusal import RefusedError, responses
from heterophily.web.routes.graphs import FACTS_FILE, clean
from heterophily.web.routes.state import IdPath, Server, ServerState, view
from heterophily.web.schemas import ExampleRequest, Preview, Reading, Uploaded
from heterophily.web.tasks.diagnose_graph import DIAGNOSIS_FILE, REPORT_FILE
from heterophily.web.uploads import Saved, save

router = APIRouter(prefix="/api/graphs", tags=["graphs"])

REQUEST_FILE = "reading.json"
READING_SECONDS = 300.0
STOPPING_SECONDS = 10.0

EdgesFile = Annotated[UploadFile | None, File(description="Table of edges")]
NodesFile = Annotated[UploadFile | None, File(description="Table of nodes")]
ReadingForm = Annotated[
    str, Form(max_length=60_000, description="How tables are read: a Reading as JSON")
]


async def sent_once(request: Request) -> None:
    """Refuse a form that sends a field twice: only one of them would be read."""
    names = [name for name, _ in (await request.form()).multi_items()]
    for name in {*names}:
        if names.count(name) > 1:
            raise InputError(f"{name} was sent twice; send each file once")


@router.post(
    "",
    status_code=201,
    response_model=Uploaded,
    responses=responses(404, 409, 429, 503),
    dependencies=[Depends(sent_once)],
)
async def upload(
    server: ServerState,
    edges: EdgesFile = None,
    nodes: NodesFile = None,
    graph: Annotated[UploadFile | None, File(description="Or a whole graph")] = None,
    reading: ReadingForm = "{}",
) -> dict[str, Any]:
    """Read a graph from files; a file that cannot be read is refused with the reason.

    Either ``edges`` with ``nodes`` (.csv, .tsv, .parquet, ...), or ``graph`` (.npz, .graphml,
    .gexf). The diagnosis starts by itself.
    """
    given = _given(edges=edges, nodes=nodes, graph=graph)
    if ("graph" in given) == ("edges" in given) or {"graph", "nodes"} <= given.keys():
        raise InputError("send one graph: either graph (.npz, ...) or edges with nodes (.csv, ...)")
    options = _reading(reading)
    name, folder = server.folder.make("graphs")
    try:
        saved = await _save(given, folder, server)
        title = saved["graph" if "graph" in saved else "edges"].title
        return await _read(server, name, folder, _request(server, saved, title, options))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@router.post(
    "/previews",
    response_model=Preview,
    responses=responses(429, 503),
    dependencies=[Depends(sent_once)],
)
async def preview(
    server: ServerState,
    edges: EdgesFile = None,
    nodes: NodesFile = None,
    reading: ReadingForm = "{}",
) -> dict[str, Any]:
    """Look at tables before they are read: columns, kinds, first values. Nothing is kept."""
    given = _given(edges=edges, nodes=nodes)
    if not given:
        raise InputError("send a table of edges, a table of nodes, or both")
    options = _reading(reading)
    name, folder = server.folder.make("graphs")
    try:
        saved = await _save(given, folder, server)
        return await _look(server, name, _request(server, saved, "", options))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _given(**files: UploadFile | None) -> dict[str, UploadFile]:
    return {role: file for role, file in files.items() if file is not None and file.filename}


def _reading(text: str) -> Reading:
    try:
        return Reading.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "reading"
        raise InputError(f"{place}: {first['msg']}") from None


async def _save(given: dict[str, UploadFile], folder: Path, server: Server) -> dict[str, Saved]:
    return {
        role: await run_in_threadpool(
            save, role, file.filename or "", file.file, folder, server.settings
        )
        for role, file in given.items()
    }


def _request(
    server: Server, saved: dict[str, Saved], title: str, reading: Reading
) -> dict[str, Any]:
    """Return what a worker must know to read an upload; kept beside the files of tables."""
    return {
        "reading": reading.model_dump(),
        "has_header": reading.has_header,
        "title": title,
        "files": {role: file.name for role, file in saved.items()},
        "max_unpacked_bytes": server.settings.max_unpacked_bytes,
    }


async def _look(server: Server, name: str, request: dict[str, Any]) -> dict[str, Any]:
    submitted = server.jobs.submit("preview", request, graph=name)
    try:
        return (await finished(server.jobs, submitted, seconds=READING_SECONDS)).result
    except BaseException:  # it took too long, or the client went away
        server.jobs.stop(submitted.id)
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
    """Let a worker read the files, keep the facts, forget what was found before, diagnose."""
    submitted = server.jobs.submit("import", request, graph=name)
    try:
        job = await finished(server.jobs, submitted, seconds=READING_SECONDS)
    except BaseException:  # it took too long, or the client went away
        server.jobs.stop(submitted.id)
        raise
    facts = {"id": name, "created": job.created, **job.result}
    if "edges" in request.get("files", {}):
        facts["reading"] = request["reading"]
        write_json(folder / REQUEST_FILE, request)
    write_json(folder / FACTS_FILE, facts)
    server.jobs.forget(name)
    for found in (DIAGNOSIS_FILE, REPORT_FILE):
        (folder / found).unlink(missing_ok=True)
    clean(server)
    return {"graph": facts, "job": view(server.jobs.submit("diagnosis", {}, graph=name))}


@router.get("/{graph}/columns", response_model=Preview, responses=responses(404, 409, 429, 503))
async def columns(graph: IdPath, server: ServerState) -> dict[str, Any]:
    """Look again at the tables of a graph that came as tables."""
    return await _look(server, graph, _kept_request(server, graph))


@router.post("/{graph}/reading", response_model=Uploaded, responses=responses(404, 409, 429, 503))
async def read_again(graph: IdPath, asked: Reading, server: ServerState) -> dict[str, Any]:
    """Read the tables of a graph once more, otherwise: another label, other columns.

    The graph keeps its address; its diagnosis and its comparisons are made anew.
    """
    request = _kept_request(server, graph)
    request |= {"reading": asked.model_dump(), "has_header": asked.has_header}
    await _stop_jobs(server, graph)
    return await _read(server, graph, server.folder.find("graphs", graph), request)


async def _stop_jobs(server: Server, graph: str) -> None:
    """Stop whatever is at work on a graph, and wait until it ended."""
    at_work = [job for job in server.jobs.all() if job.graph == graph and not job.is_final]
    for job in at_work:
        server.jobs.stop(job.id)
    for job in at_work:
        with contextlib.suppress(RefusedError):  # it ended as it should: stopped
            await finished(server.jobs, job, seconds=STOPPING_SECONDS)


def _kept_request(server: Server, graph: str) -> dict[str, Any]:
    """Return how the tables of a graph were read; refuse a graph that had none."""
    found = read_json(server.folder.find("graphs", graph) / REQUEST_FILE)
    if found is None:
        raise RefusedError(
            409, "this graph was not read from tables, so it has no columns to choose"
        )
    return {**found, "max_unpacked_bytes": server.settings.max_unpacked_bytes}
