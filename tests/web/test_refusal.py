from __future__ import annotations

import pytest
from web.conftest import Live


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (OSError(28, "No space left on device"), 503, "No space left on device"),
        (KeyError("x"), 500, "this should not happen (KeyError)"),
    ],
)
def test_a_fault_of_the_system_and_a_fault_of_ours_are_sentences_too(
    error: Exception, status: int, sentence: str, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(live.app.state.server.jobs, "all", fail)
    answer = live.get("/api/jobs")
    assert answer.status_code == status
    assert sentence in answer.json()["error"]
