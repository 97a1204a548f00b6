"""What the page must know before it shows anything."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter

from heterophily.diagnosis.known import known_metrics
from heterophily.metrics.catalog import METRICS
from heterophily.web.comparable import COMPARABLE, DEFAULT
from heterophily.web.refusal import responses
from heterophily.web.routes.state import ServerState
from heterophily.web.schemas import Known
from heterophily.web.tasks.import_graph import EXAMPLES
from heterophily.web.uploads import ROLES

router = APIRouter(prefix="/api", tags=["page"])


@router.get("/known", response_model=Known, responses=responses())
def known(server: ServerState) -> dict[str, Any]:
    """Return names, limits and the metrics of well-known datasets."""
    return {
        "version": version("heterophily"),
        "metrics": {name: metric.symbol for name, metric in METRICS.items()},
        "models": list(COMPARABLE),
        "default_models": list(DEFAULT),
        "examples": {name: text for name, (text, _) in EXAMPLES.items()},
        "datasets": known_metrics(),
        "max_upload_mb": server.settings.max_upload_mb,
        "endings": {role: list(endings) for role, endings in ROLES.items()},
    }
