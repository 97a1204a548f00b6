"""The leaderboard that ``train auto`` draws on a terminal."""

from __future__ import annotations

import pytest

from heterophily.cli.auto_live import SHOWN, live_leaderboard
from heterophily.prediction.leaderboard import BoardRow, Standing


def board() -> list[BoardRow]:
    models = [
        BoardRow(f"model-{k}", "", 0.9 - k / 100, None, splits=2, trainings=2, seconds=1.0)
        for k in range(SHOWN + 3)
    ]
    last = BoardRow("largest class", "", 0.4, None, 2, 0, 0.0, is_baseline=True)
    return [*models, last]


def test_a_terminal_sees_the_first_models_and_every_baseline(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with live_leaderboard("cora", 3, is_shown=True) as draw:
        assert draw is not None
        draw(Standing(0.5, 120.0, 12, board))
        draw(Standing(0.9, 6.0, 90, board))  # too soon after the first: not drawn
    shown = capsys.readouterr().err
    assert "auto on cora: 50 % of the time, at most 2 min left, 12 trainings" in shown
    assert f"model-{SHOWN - 1}" in shown
    assert f"model-{SHOWN}" not in shown
    assert "largest class" in shown
    assert "90 trainings" not in shown


def test_a_pipe_sees_no_board() -> None:
    with live_leaderboard("cora", 3) as draw:
        assert draw is None
