from heterophily.training.progress import progress_bar


def test_nothing_is_drawn_when_stderr_is_not_a_terminal(capsys):
    with progress_bar("training") as progress:
        assert progress is None
    assert capsys.readouterr() == ("", "")


def test_bar_counts_finished_replicas_on_stderr_only(capsys):
    with progress_bar("training", is_shown=True) as progress:
        progress(3, 4)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "training" in shown.err
    assert "3/4" in shown.err
