"""``heterophily compare``: several models on your graph, the same splits, paired tests."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heterophily.cli import panels, sources
from heterophily.cli.spread import RunOptions, StoreOption, spread
from heterophily.cli.train_options import ScoreOption, Splits
from heterophily.data.source import GraphSource
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.comparison.compare import Comparison

DEFAULT_MODELS = "mlp-2,gcn,acm-gcn,acmii-gcn+"


@spread
def compare(
    *,
    graph: GraphSource,
    models: Annotated[
        str, typer.Option(help="Models, with commas between.", rich_help_panel=panels.MODEL)
    ] = DEFAULT_MODELS,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=2, help="Number of splits.", show_default="10", rich_help_panel=panels.MODEL
        ),
    ] = None,
    splits: Splits = "random",
    score: ScoreOption = "auto",
    tune: Annotated[
        bool,
        typer.Option("--tune", help="Tune each model first.", rich_help_panel=panels.SEARCH),
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(
            help="With --tune: minutes for all models together.", rich_help_panel=panels.SEARCH
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the report data here (.json).", rich_help_panel=panels.OUTPUT),
    ] = None,
    json: sources.Json = False,
    space: Annotated[
        str,
        typer.Option(
            help="With --tune: default, paper, or a .toml file.",
            rich_help_panel=panels.MORE_SEARCH,
        ),
    ] = "default",
    search: Annotated[
        str,
        typer.Option(help="With --tune: grid or adaptive.", rich_help_panel=panels.MORE_SEARCH),
    ] = "grid",
    trials: Annotated[
        int | None,
        typer.Option(
            min=1, help="With --tune: settings of each model.", rich_help_panel=panels.MORE_SEARCH
        ),
    ] = None,
    runs: RunOptions,
    store: StoreOption = None,
) -> None:
    """Compare models on the same splits and say which differences are more than chance.

    Every training is kept in the store: stop and repeat the command as you like.
    """
    if not tune and (trials is not None or minutes is not None):
        raise InputError("--trials and --minutes limit a search; add --tune")
    if out is not None and out.suffix != ".json":
        raise InputError(f"--out {out}: the file ends in .json")
    from heterophily.cli.studies import names_of
    from heterophily.comparison.compare import compare as run
    from heterophily.runs.stores.url import open_store
    from heterophily.training.progress import progress_bar

    source = sources.name_or_graph(graph)
    with open_store(store) as opened, progress_bar("comparing") as progress:
        result = run(
            source,
            names_of(models) or [],
            store=opened,
            splits=splits,
            repeats=repeats,
            seed=runs.seed,
            score=score,
            is_tuned=tune,
            space=space,
            search=search,
            trials=trials,
            minutes=minutes,
            executor=runs.executor_here(),
            watch=None if progress is None else lambda done, total: progress(len(done), total),
            data_folder=graph.data_folder,
            offline=graph.offline,
            engine=runs.engine,
        )
    import json as json_module

    if out is not None:
        from heterophily.data.atomic import write_text

        write_text(out, json_module.dumps(result.to_dict(), indent=1))
    if json:
        print(json_module.dumps(result.to_dict()))
    else:
        _print(result, is_tuned=tune)


def safe(name: str) -> str:
    """Return a name without anything that a file name should not have.

    >>> safe("acm-gcn[low,high]"), safe("../texas.npz")
    ('acm-gcn-low-high', 'texas.npz')
    """
    return re.sub(r"[^A-Za-z0-9.+*_-]+", "-", Path(name).name).strip("-.") or "graph"


def _print(result: Comparison, *, is_tuned: bool) -> None:
    from heterophily.evaluation.scores import SCORE_TITLES
    from heterophily.report.evaluation_text import comparison_rows, comparison_sentences
    from heterophily.report.tables import paired_rows, plain

    how = "tuned on validation data" if is_tuned else "default settings"
    count, title = len(result.best.test), SCORE_TITLES[result.score]
    nodes = "" if result.sizes is None else f" of {result.sizes.nodes} test nodes"
    where = f"{result.graph}, {count} {result.splits} splits{nodes}"
    print(f"{where}, {how}, test {title} in percent\n")
    print(plain(*comparison_rows(result)))
    print()
    print(plain(*paired_rows(result.tests)))
    print(
        "\np: t-test over the splits, corrected for their overlap (Nadeau and Bengio); p (Holm): "
        "corrected for the number of pairs too, below 0.05 is a clear difference"
    )
    same = ", ".join(result.rivals)
    for sentence in comparison_sentences(result):
        print(sentence)
    print(
        f"Best: {result.best.row}; not clearly worse: {same}."
        if same
        else f"Best: {result.best.row}, clearly ahead of every other."
    )
    for remark in result.remarks:
        print(f"note: {remark}", file=sys.stderr)
