"""The playground: a graph for the sliders at once, accuracies through a job."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from heterophily.web.playground import Sliders, picture, synthetic_graph
from heterophily.web.refusal import responses
from heterophily.web.routes.state import ServerState, view
from heterophily.web.schemas import JobView, PlaygroundGraph, PlaygroundTraining

router = APIRouter(prefix="/api/playground", tags=["playground"])


@router.post("/graph", response_model=PlaygroundGraph, responses=responses())
def graph(sliders: Sliders) -> dict[str, Any]:
    """Draw a synthetic graph and compute all metrics."""
    return picture(synthetic_graph(sliders))


@router.post(
    "/training", status_code=202, response_model=JobView, responses=responses(404, 429, 503)
)
def training(asked: PlaygroundTraining, server: ServerState) -> dict[str, Any]:
    """Train MLP-2, GCN and ACM-GCN; their accuracies come as events of the job."""
    for homophily in (min(asked.homophilies), max(asked.homophilies)):
        synthetic_graph(asked.sliders, homophily=homophily)  # refused here, with its sentence
    return view(server.jobs.submit("playground", asked.model_dump()))
