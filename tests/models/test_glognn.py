from __future__ import annotations

import pytest
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, small_graph

from heterophily.errors import InputError
from heterophily.models.catalog import MODELS


def importance_of(d: Dense):
    return torch.diag(d.p["importance"]) if d.options.use_importance else torch.eye(3).double()


def optimal_z(d: Dense, h, h_0):
    """The closed form of the (N, N) matrix itself."""
    o, s = d.options, importance_of(d)
    rest = 1 - o.gamma
    powers = sum(
        d.p["hop_weights"][k] * torch.matrix_power(d.renormalized, k + 1) for k in range(o.hops)
    )
    left = rest * h @ s @ h.T + o.beta * powers - o.gamma * rest * h_0 @ s @ h.T
    return left @ torch.linalg.inv(rest**2 * h @ s @ h.T + (o.alpha + o.beta) * d.eye)


def dense_glognn(d: Dense):
    o = d.options
    joined = o.delta * d.linear(KEPT * d.x, "features")
    joined = joined + (1 - o.delta) * d.a @ d.p["structure_weight"]
    h = h_0 = d.linear(KEPT * torch.relu(joined), "output")
    for _ in range(o.depth):
        h = (1 - o.gamma) * optimal_z(d, h, h_0) @ h + o.gamma * h_0
    return h


@pytest.mark.parametrize("name", ["glognn", "glognn++"])
def test_outputs_and_gradients_equal_the_dense_transcription(name, monkeypatch):
    options = {"hops": 2, "alpha": 0.7, "beta": 1.3, "gamma": 0.3, "delta": 0.4}
    assert_equals_transcription(name, dense_glognn, monkeypatch, **options)


@pytest.mark.parametrize("name", ["glognn", "glognn++"])
def test_z_minimises_the_objective_of_the_paper(name):
    """The gradient of the objective at Z is zero."""
    from dense_models import dense_of

    graph = small_graph()
    spec, inputs, model = build(name, graph)
    d = dense_of(graph, spec, model.eval())
    o, s = spec.options, importance_of(d)
    with torch.no_grad():
        h_0 = model.initial(inputs)
    h = h_0 + 0.3 * torch.randn_like(h_0)
    z = optimal_z(d, h, h_0).detach().requires_grad_()
    powers = sum(
        d.p["hop_weights"][k] * torch.matrix_power(d.renormalized, k + 1) for k in range(o.hops)
    )
    error = h - (1 - o.gamma) * z @ h - o.gamma * h_0
    objective = (error @ s * error).sum() + o.alpha * z.square().sum()
    objective = objective + o.beta * (z - powers).square().sum()
    (gradient,) = torch.autograd.grad(objective, z)
    torch.testing.assert_close(gradient, torch.zeros_like(gradient), rtol=0, atol=1e-10)


def test_unit_importance_makes_both_models_the_same():
    graph = small_graph()
    _, inputs, plain = build("glognn", graph)
    _, _, plus = build("glognn++", graph, noise=0.0)
    plus.load_state_dict(plain.state_dict(), strict=False)
    torch.testing.assert_close(plain.eval()(inputs), plus.eval()(inputs))


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"gamma": 1.0}, "below 1"), ({"alpha": 0.0, "beta": 0.0}, "one of them above 0")],
)
def test_bad_options_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        MODELS["glognn"].with_options(**changes)


def test_the_released_program_sees_the_normalised_adjacency_in_the_initial_state():
    graph = small_graph()
    _, inputs, model = build("glognn", graph, delta=0.0, normalize_structure=True)
    _, _, plain = build("glognn", graph, delta=0.0)
    plain.load_state_dict(model.state_dict())
    weight, output = model.structure_weight, model.output
    wanted = output(torch.relu(inputs.operator(weight)))
    torch.testing.assert_close(model.eval().initial(inputs), wanted)
    assert not torch.allclose(plain.eval().initial(inputs), wanted)
