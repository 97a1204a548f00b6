"""Jobs: list, look, follow, stop, resume, take files away."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header
from fastapi.responses import FileResponse, StreamingResponse

from heterophily.web import events
from heterophily.web.refusal import RefusedError, responses
from heterophily.web.routes.state import IdPath, ServerState, view
from heterophily.web.schemas import JobView
from heterophily.web.security import DOCUMENT_POLICY

router = APIRouter(prefix="/api/jobs", tags=["jobs"])

MEDIA_TYPES = {
    ".json": "application/json",
    ".csv": "text/csv",
    ".html": "text/html",
    ".zip": "application/zip",
}


@router.get("", response_model=list[JobView], responses=responses())
def list_jobs(server: ServerState) -> list[dict[str, Any]]:
    """List the diagnoses and comparisons, the newest first."""
    return [view(job) for job in server.jobs.all()]


@router.get("/{job}", response_model=JobView, responses=responses(404))
def show(job: IdPath, server: ServerState) -> dict[str, Any]:
    """Show one job."""
    return view(server.jobs.get(job))


@router.get(
    "/{job}/events",
    response_class=StreamingResponse,
    responses={
        **responses(404),
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
    },
)
def follow(
    job: IdPath,
    server: ServerState,
    last_event_id: Annotated[int, Header(ge=0, le=2**53)] = 0,
) -> StreamingResponse:
    """Follow a job: server-sent events, numbered; a reader that was cut off goes on."""
    found = server.jobs.get(job)
    return StreamingResponse(
        events.stream(server.jobs, found, last_event_id),
        media_type="text/event-stream",
        headers={"x-accel-buffering": "no"},
    )


@router.post("/{job}/stop", response_model=JobView, responses=responses(404))
def stop(job: IdPath, server: ServerState) -> dict[str, Any]:
    """Stop a job; what it finished is kept. Stopping a job that ended does nothing."""
    return view(server.jobs.stop(job))


@router.post("/{job}/resume", response_model=JobView, responses=responses(404, 409, 429, 503))
def resume(job: IdPath, server: ServerState) -> dict[str, Any]:
    """Go on with a job that was stopped or failed; finished runs are not trained again."""
    return view(server.jobs.resume(job))


@router.get(
    "/{job}/files/{name}",
    response_class=FileResponse,
    responses={**responses(404), 200: {"content": {"application/octet-stream": {}}}},
)
def take(job: IdPath, name: str, server: ServerState) -> FileResponse:
    """Take a file of a finished job away: one of those that its result lists."""
    found = server.jobs.get(job)
    if name not in found.result.get("files", ()):
        raise RefusedError(404, f"the job has no file {name!r:.60}")
    folder = server.folder.find("jobs", found.id)
    return document(folder / name)


def document(path: Any) -> FileResponse:
    """Answer with a file that we wrote: a report is shown, anything else is kept."""
    if not path.is_file():
        raise RefusedError(404, f"{path.name} was removed")
    if path.suffix == ".html":
        policy = {"content-security-policy": DOCUMENT_POLICY}
        return FileResponse(path, media_type="text/html", headers=policy)
    return FileResponse(path, media_type=MEDIA_TYPES[path.suffix], filename=path.name)
