"""``heterophily serve``: the page in your browser, on this machine only unless told otherwise."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from heterophily.cli import sources
from heterophily.cli.spread import StoreOption
from heterophily.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import socket


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8765,
    is_opened: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
    work_folder: Annotated[
        Path | None,
        typer.Option(help="Folder for uploads and jobs.", show_default="in the user's cache"),
    ] = None,
    store: StoreOption = None,
    max_upload_mb: Annotated[int, typer.Option(min=1, help="Largest upload in MB.")] = 100,
    max_jobs: Annotated[
        int, typer.Option(min=1, help="Diagnoses and comparisons at the same time.")
    ] = 2,
    import_seconds: Annotated[
        float, typer.Option(help="Most seconds for reading an upload.")
    ] = 120.0,
    import_mb: Annotated[
        int, typer.Option(min=1, help="Most memory for reading an upload, in MB.")
    ] = 4096,
    job_minutes: Annotated[float, typer.Option(help="Most minutes for any other job.")] = 60.0,
    job_mb: Annotated[
        int, typer.Option(min=1, help="Most memory for any other job, in MB.")
    ] = 8192,
    token: Annotated[
        str | None,
        typer.Option(
            help="Secret that a browser must send; by default there is none on 127.0.0.1, and a "
            "random one on other addresses."
        ),
    ] = None,
    data_folder: sources.DataFolder = None,
) -> None:
    """Open the web page: a playground, a diagnosis of your graph, and stored results.

    Where other machines can reach it (--host), a browser needs the token of the printed address.
    Ctrl-C ends it. Comparisons that were at work can be resumed next time.
    """
    try:
        import uvicorn

        from heterophily.web.app import create_app
    except ImportError as error:
        raise MissingExtraError(
            f"the page needs an optional package ({error.name}): pip install 'heterophily[web]'"
        ) from error
    from heterophily.data.catalog import cache_folder
    from heterophily.runs.stores.url import default_url
    from heterophily.web.connections import TimedProtocol
    from heterophily.web.settings import WebSettings, is_loopback

    settings = WebSettings(
        work_folder=work_folder or cache_folder() / "page",
        store=store or default_url(),
        host=host,
        port=port,
        max_upload_mb=max_upload_mb,
        max_jobs=max_jobs,
        import_seconds=import_seconds,
        import_mb=import_mb,
        job_minutes=job_minutes,
        job_mb=job_mb,
        data_folder=data_folder,
        token=token or (None if is_loopback(host) else secrets.token_urlsafe(24)),
    )
    listener = listen(host, port)
    try:
        app = create_app(settings)
        shown = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        if settings.token is not None:
            shown += f"?token={quote(settings.token, safe='')}"
        print(f"heterophily is at {shown} (Ctrl-C ends it)", flush=True)
        for folder in app.state.server.jobs.damaged:
            print(f"note: the job in {folder} is damaged; it is left as it is", file=sys.stderr)
        if not settings.is_loopback:
            print(
                f"warning: everybody who can reach {host} and knows this address can use the page; "
                "what is sent is not encrypted; use --host 127.0.0.1 to keep it on this machine",
                file=sys.stderr,
                flush=True,
            )
        if is_opened:
            typer.launch(shown)
        config = uvicorn.Config(
            app,
            log_level="warning",
            ws="none",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
            http=TimedProtocol,
            limit_concurrency=500,
        )
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, or say in one sentence why there is none."""
    import socket

    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (socket.gaierror, UnicodeError) as error:
        raise InputError(f"--host {host}: no such address ({error})") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # of what it accepts
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot listen on {host} port {port} ({error.strerror}); choose another one with "
            "--port, or stop the program that uses it"
        ) from error
    return listener
