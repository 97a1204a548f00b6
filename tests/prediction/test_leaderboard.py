import pytest
from prediction.quick import make_graph

from heterophily.prediction.auto_text import as_text, sentence, shown_rows, validation_use
from heterophily.prediction.candidates import uses_edges
from heterophily.prediction.leaderboard import Leaderboard


def test_the_largest_class_is_among_the_rows(chosen):
    rows = chosen.leaderboard_rows()
    base = [row for row in rows if row.is_baseline]
    assert [row.model for row in base] == ["always guessing the largest class"]
    assert base[0].validation == pytest.approx(1 / 3, abs=0.05)
    assert rows[0].model == "ensemble"
    assert {row.model for row in rows if row.is_chosen} - {"ensemble"} == {
        trial.candidate.family.label for trial in chosen.choice.trials
    }


def test_rows_have_intervals_around_their_scores(chosen):
    for row in chosen.leaderboard_rows():
        if not row.is_baseline:
            assert row.interval.low <= row.validation <= row.interval.high


def test_the_leaderboard_is_a_data_frame(chosen):
    frame = chosen.leaderboard()
    assert list(frame.columns[:3]) == ["model", "settings", "validation"]
    assert len(frame) == len(chosen.leaderboard_rows())


def test_a_board_without_trials_has_the_largest_class_alone(chosen):
    board = Leaderboard(make_graph(), chosen.splits, "accuracy")
    assert [row.is_baseline for row in board.rows([])] == [True]


def test_the_sentence_names_the_choice_both_baselines_and_what_the_graph_added(chosen):
    told = sentence(chosen)
    for trial in chosen.choice.trials:
        assert trial.candidate.family.label in told
    assert "always guessing the largest class" in told
    assert "trees on own features" in told
    sees_edges = [uses_edges(trial.candidate.family) for trial in chosen.choice.trials]
    assert ("the graph added" if any(sees_edges) else "the graph adds nothing") in told


def test_what_validation_labels_did_is_said(chosen):
    assert "a validation node in one fold and a training node in the others" in validation_use(
        chosen
    )


def test_a_result_shows_itself_as_text_and_as_html(chosen):
    text, html = as_text(chosen), chosen._repr_html_()
    assert repr(chosen) == text
    for row in shown_rows(chosen):
        assert row.model in text
        assert row.model in html
