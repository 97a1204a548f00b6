"""What the routes share, kept on the application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Path, Request

from heterophily.web.folder import ID, WorkFolder
from heterophily.web.jobs import Jobs, PageJob
from heterophily.web.settings import WebSettings

IdPath = Annotated[str, Path(pattern=ID, examples=["0123456789abcdef"])]


@dataclass(frozen=True)
class Server:
    """Settings, work folder and jobs of one application."""

    settings: WebSettings
    folder: WorkFolder
    jobs: Jobs


def server_of(request: Request) -> Server:
    """Return what the application was made with."""
    server: Server = request.app.state.server
    return server


ServerState = Annotated[Server, Depends(server_of)]


def view(job: PageJob) -> dict[str, Any]:
    """Return what a client is told about a job."""
    return job.to_dict()
