"""What a finished comparison gives to take away: report, trained model, predictions."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heterophily.data.atomic import atomic_path
from heterophily.data.graph import Graph
from heterophily.web.worker import Context

if TYPE_CHECKING:
    from heterophily.comparison.compare import Comparison
    from heterophily.runs.stores.base import Store

REPORT_FILE, MODEL_FILE, PREDICTIONS_FILE = "report.html", "model.zip", "predictions.csv"
MOST_MEMBERS = 5  # of the ensemble that is kept
MAP_NODES = 500


def write_files(
    graph: Graph,
    result: Comparison,
    request: Mapping[str, Any],
    context: Context,
    store: Store,
) -> list[str]:
    """Write the three files into the current folder; return their names.

    The store has the runs of the comparison and what they left: nothing is trained again.
    """
    context.emit("writing", what="the report")
    _write_report(graph, result, request, context, store)
    chosen = best_by_validation(result)
    context.emit("writing", what=f"the model {chosen} and its predictions")
    _write_model(graph, chosen, request, context, store)
    return [REPORT_FILE, MODEL_FILE, PREDICTIONS_FILE]


def best_by_validation(result: Comparison) -> str:
    """Return the model with the highest mean validation accuracy: the test sets choose nothing."""
    means = {
        cell.row: sum(cell.validation) / len(cell.validation)  # type: ignore[arg-type]
        for cell in result.models
        if cell.validation and None not in cell.validation
    }
    return max(means, key=lambda name: means[name], default=result.best.row)


def _write_report(
    graph: Graph,
    result: Comparison,
    request: Mapping[str, Any],
    context: Context,
    store: Store,
) -> None:
    """Write the report: the diagnosis, the comparison, and each model on its first split."""
    from heterophily.comparison.portraits import portraits
    from heterophily.diagnosis.diagnose import diagnose
    from heterophily.report.write import write_report

    found = portraits(
        graph,
        request["models"],
        splits=request["splits"],
        seed=request["seed"],
        preset=None,
        workers=1,
        progress=lambda *_: context.check(),
        store=store,
    )
    write_report(
        diagnose(graph, source=f"{graph.name}.npz"),
        REPORT_FILE,
        graph=graph,
        comparison=result,
        portraits=found,
        nodes=MAP_NODES,
    )


def _write_model(
    graph: Graph, model: str, request: Mapping[str, Any], context: Context, store: Store
) -> None:
    """Write the members of an ensemble, of the first splits, and their votes."""
    from heterophily.comparison.train import train
    from heterophily.evaluation.split_rules import splits_of
    from heterophily.prediction import build
    from heterophily.prediction.folder import save_model
    from heterophily.prediction.predict import predict
    from heterophily.training.config import TrainConfig

    seed, config = request["seed"], TrainConfig()
    rule = request["splits"]
    splits = splits_of(graph, rule, repeats=request["repeats"], seed=seed)
    report = train(
        model,
        graph,
        splits=rule,
        repeats=min(MOST_MEMBERS, request["repeats"], len(splits)),
        seed=seed,
        config=config,
        workers=1,
        engine="auto",
        progress=lambda *_: context.check(),
        store=store,
    )
    network = build.network_of(report, {}, config)
    calibrated = build.calibrate_report(report)
    trained = build.model_of_report(report, network, calibrated, seed=seed)
    predict(trained, graph).to_csv(PREDICTIONS_FILE)
    folder = save_model("model", trained, overwrite=True)
    with atomic_path(MODEL_FILE) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"model/{file.name}")
