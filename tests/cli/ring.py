"""Tables of a ring of nodes whose features tell their class, and the verbs that read them."""

from __future__ import annotations

import numpy as np
import typer
from typer.testing import CliRunner

from heterophily.cli import explain, predict, train
from heterophily.errors import HeterophilyError

CLASSES = ("ants", "bees")


def write(folder, *, num_nodes=40, columns=("a", "b"), with_label=True, order=None):
    """Write a ring of nodes whose features tell their class."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 5)) + 2 * (np.arange(200) % 2)[:, None]
    rows = range(num_nodes) if order is None else order
    with (folder / "nodes.csv").open("w") as file:
        label = ["team"] if with_label else []
        file.write(",".join(["id", *label, *columns]) + "\n")
        for i in rows:
            team = [CLASSES[i % 2]] if with_label else []
            cells = [f"{values[i, 'abcde'.index(name)]:.4f}" for name in columns]
            file.write(",".join([f"n{i}", *team, *cells]) + "\n")
    edges = "\n".join(f"n{i},n{(i + 1) % num_nodes}" for i in range(num_nodes))
    (folder / "edges.csv").write_text("source,target\n" + edges + "\n")
    return ["--edges", str(folder / "edges.csv"), "--nodes", str(folder / "nodes.csv")]


def call(*arguments):
    """Run a verb; errors of ours are raised."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command("train")(train.train)
    app.command("predict")(predict.predict)
    app.command("explain")(explain.explain)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, HeterophilyError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout
