"""The application: routes, the door before them, and the static page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware

from heterophily.web import refusal
from heterophily.web.folder import WorkFolder
from heterophily.web.jobs import Jobs
from heterophily.web.routes import graphs, jobs, known, playground, reading, results
from heterophily.web.routes.state import Server
from heterophily.web.security import Guard
from heterophily.web.settings import WebSettings

FORM_BYTES = 64 * 1024  # of a form beside its files
UPLOADS = ("/api/graphs", "/api/graphs/previews")  # where files are sent


def create_app(settings: WebSettings) -> FastAPI:
    """Return the application; its worker processes live as long as its lifespan.

    The work folder is taken here, so that a second server is refused before it listens.
    """
    folder = WorkFolder(settings.work_folder)
    server = Server(settings, folder, Jobs(settings, folder))
    graphs.clean(server)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        server.jobs.warm_up()
        try:
            yield
        finally:
            await run_in_threadpool(server.jobs.close)
            folder.close()

    app = FastAPI(
        title="heterophily",
        version=version("heterophily"),
        description="Diagnose a graph, compare models on it, browse results.",
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
        middleware=[
            Middleware(
                Guard,
                settings=settings,
                limits=dict.fromkeys(UPLOADS, settings.max_upload_bytes + FORM_BYTES),
            )
        ],
    )
    app.state.server = server
    refusal.install(app)
    for module in (known, playground, reading, graphs, jobs, results):
        app.include_router(module.router)
    static = Path(str(files("heterophily.web") / "static"))
    app.mount("/", StaticFiles(directory=static, html=True), name="page")
    return app
