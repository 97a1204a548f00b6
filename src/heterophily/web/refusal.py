"""How the page says no: one sentence as JSON, with a status that fits."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from heterophily.errors import HeterophilyError, UnknownNameError
from heterophily.runs.stores.base import StoreError


class Problem(BaseModel):
    """What is wrong, in one sentence, as the command line would say it."""

    error: str = Field(examples=["edges.csv, line 3: 3 cells, expected 2"])


class RefusedError(HeterophilyError):
    """A request that is not carried out; ``status`` is that of the answer."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


RESPONSES: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The input is refused, with the reason"},
    401: {"model": Problem, "description": "The token of the server is missing"},
    403: {"model": Problem, "description": "Another host or another site asked"},
    404: {"model": Problem, "description": "There is no such thing"},
    409: {"model": Problem, "description": "Not in this state"},
    413: {"model": Problem, "description": "Too large"},
    422: {"model": Problem, "description": "The request is not of the documented form"},
    429: {"model": Problem, "description": "Too many jobs or requests"},
    503: {"model": Problem, "description": "The store cannot be read, or the answer takes long"},
}
"""Every answer that is no success, for the schema."""


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of the refusals that a route may give, and those all may give."""
    return {
        status: RESPONSES[status] for status in sorted({400, 401, 403, 413, 422, 429, *statuses})
    }


def problem(status: int, sentence: str) -> JSONResponse:
    """Return an answer that says no."""
    return JSONResponse({"error": " ".join(sentence.split())}, status)


_STATUS: tuple[tuple[type[HeterophilyError], int], ...] = (
    (StoreError, 503),
    (UnknownNameError, 404),
    (HeterophilyError, 400),
)


def _refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HeterophilyError)
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    return problem(error.status if isinstance(error, RefusedError) else status, str(error))


def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    return problem(422, f"{place}: {first['msg']}")


def _http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    answer = problem(error.status_code, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


def _of_the_system(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, OSError)
    return problem(503, f"the server could not do that: {error.strerror or error}")


def _of_ours(_: Request, error: Exception) -> JSONResponse:
    kind = type(error).__name__
    return problem(500, f"this should not happen ({kind}); heterophily serve printed more")


def install(app: FastAPI) -> None:
    """Let every foreseeable error of a route become one sentence."""
    app.add_exception_handler(HeterophilyError, _refused)
    app.add_exception_handler(OSError, _of_the_system)
    app.add_exception_handler(Exception, _of_ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
