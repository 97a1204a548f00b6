"""The documented API, fuzzed: no answer outside its schema, and never an error of the server."""

from __future__ import annotations

from typing import Any

import pytest
from web.conftest import Live

schemathesis: Any = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.errors import Unsatisfiable  # noqa: E402

EXAMPLES = 4  # of each operation


@pytest.fixture(scope="session")
def api(live: Live) -> Any:
    return schemathesis.openapi.from_url(f"{live.url}/api/openapi.json")


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def check(operation: Any, strategy: Any, data: st.DataObject) -> None:
    """Ask, and apply every check but one: a request of the right form may still be refused."""
    from schemathesis.checks import CHECKS

    refusable = CHECKS.get_by_names(["positive_data_acceptance"])
    data.draw(strategy).call_and_validate(timeout=120, excluded_checks=refusable)


def operations(api: Any) -> list[Any]:
    return [found.ok() for found in api.get_all_operations()]


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_every_answer_is_documented_and_none_is_an_error_of_the_server(
    mode: Any, api: Any, live: Live
) -> None:
    for operation in operations(api):
        live.stop_all()  # what the last operation started
        if mode.is_negative and not takes_anything(operation):
            continue  # nothing can be wrong about it
        strategy = operation.as_strategy(generation_mode=mode)
        try:
            check(operation, strategy)
        except Unsatisfiable:
            assert mode.is_negative
    live.stop_all()
    assert live.get("/api/known").status_code == 200


def takes_anything(operation: Any) -> bool:
    return bool(operation.body) or "{" in operation.path or bool(operation.query)


def test_every_refusal_in_the_schema_is_one_sentence(live: Live) -> None:
    document = live.get("/api/openapi.json").json()
    problem = {"$ref": "#/components/schemas/Problem"}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            refusals = {s: r for s, r in operation["responses"].items() if s.startswith("4")}
            assert refusals, f"{method} {path}"
            for answer in refusals.values():
                assert answer["content"]["application/json"]["schema"] == problem


def test_an_unknown_address_and_a_wrong_method_are_sentences_too(live: Live) -> None:
    import requests

    assert set(live.get("/api/nothing").json()) == {"error"}
    answer = requests.put(live.url + "/api/graphs", timeout=30)
    assert answer.status_code == 405
    assert set(answer.json()) == {"error"}
