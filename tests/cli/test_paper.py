"""``heterophily paper metrics``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heterophily.cli.paper import app

runner = CliRunner()


def test_plain_output_shows_ours_theirs_and_the_marks(data_folder: Path) -> None:
    result = runner.invoke(
        app, ["metrics", "--datasets", "texas, film", "--data-folder", str(data_folder)]
    )
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].split() == [
        *("metric", "dataset", "paper", "ours", "difference", "as", "written")
    ]
    assert any(line.split()[:4] == ["H_edge", "texas", "0.4106", "0.4106"] for line in lines)
    assert "H_edge, H_node, H_class: 6 of 6 agree to 4 decimals." in lines
    assert "H_agg, S_agg(S(A,X)), S_agg(S(I,X)), DD: 8 of 8 agree to 4 decimals." in lines
    assert any(line.startswith("[1] film: 26 nodes tie exactly") for line in lines)
    assert "\x1b" not in result.output


def test_json_is_data(data_folder: Path) -> None:
    result = runner.invoke(
        app,
        [
            "metrics",
            *("--datasets", "wisconsin", "--data-folder", str(data_folder)),
            *("--estimates", "--json"),
        ],
    )
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["agree"], data["of"]) == (8, 8)
    assert {value["metric"] for value in data["values"]} >= {"edge_homophily", "feature_similarity"}
    assert len(data["estimates"]) == 4
    assert all(cell["is_within_spread"] for cell in data["estimates"])


def test_estimates_are_printed_with_the_share_within_the_spread(data_folder: Path) -> None:
    arguments = ["metrics", "--datasets", "texas", "--data-folder", str(data_folder)]
    result = runner.invoke(app, [*arguments, "--estimates"])
    assert "4 of 4 estimates lie within the paper's spread (one" in result.output


@pytest.mark.parametrize("name", ["nowhere", ""])
def test_unknown_dataset_is_one_sentence(name: str) -> None:
    result = runner.invoke(app, ["metrics", "--datasets", name])
    assert result.exception is not None
    assert "is not in the paper's tables; choose from cornell" in str(result.exception)
