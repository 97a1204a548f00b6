"""Train the three models of the playground on its graph, or on a sweep over homophily."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heterophily.metrics.catalog import compute_metrics
from heterophily.web.playground import MODELS, REPEATS, Sliders, synthetic_graph
from heterophily.web.worker import Context


def train_synthetic(request: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Tell the accuracy of each model at each homophily as soon as it is known."""
    from heterophily.comparison.train import train

    sliders = Sliders(**request["sliders"])
    points: list[float] = request["homophilies"]
    total, finished = len(points) * len(MODELS), 0
    for homophily in points:
        graph = synthetic_graph(sliders, homophily=homophily)
        metrics = compute_metrics(graph).values
        for model in MODELS:
            context.emit("training", model=model, homophily=homophily, done=finished, total=total)
            report = train(
                model,
                graph,
                repeats=REPEATS,
                seed=sliders.seed,
                workers=1,
                engine="auto",
                keep_state=False,
                progress=lambda *_: context.check(),
            )
            accuracy = report.to_dict()["test_accuracy"]
            finished += 1
            context.emit(
                "accuracy",
                model=model,
                homophily=homophily,
                metrics=metrics,
                mean=accuracy["mean"],
                std=accuracy["std"],
                done=finished,
                total=total,
            )
    return {"points": total}
