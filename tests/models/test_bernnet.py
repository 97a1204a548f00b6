from __future__ import annotations

from math import comb

import numpy as np
import pytest
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, dense_of, small_graph

from heterophily.errors import InputError
from heterophily.models.catalog import MODELS


def dense_bernnet(d: Dense):
    """Eq. 3 as printed, with powers of L and of 2I - L."""
    laplacian, degree = d.eye - d.symmetric, d.options.degree
    signal, total = KEPT * d.mlp(d.x, "mlp"), 0.0
    for k in range(degree + 1):
        low = torch.matrix_power(2 * d.eye - laplacian, degree - k)
        basis = comb(degree, k) / 2**degree * low @ torch.matrix_power(laplacian, k)
        total = total + torch.relu(d.p["theta"][k]) * basis @ signal
    return total


@pytest.mark.parametrize("degree", [1, 4, 10])
def test_outputs_and_gradients_equal_the_dense_transcription(degree, monkeypatch):
    assert_equals_transcription("bernnet", dense_bernnet, monkeypatch, degree=degree)


FILTERS = {
    "all pass": lambda values: np.ones_like(values),
    "linear low pass 1 - l/2": lambda values: 1 - values / 2,
    "linear high pass l/2": lambda values: values / 2,
    "band rejection (l - 1)^2": lambda values: (values - 1) ** 2,
}


@pytest.mark.parametrize("name", FILTERS)
def test_bernstein_coefficients_of_a_known_filter_reproduce_it_on_the_spectrum(name):
    """theta = the filter's Bernstein coefficients on [0, 2]; filters up to degree 2 are exact."""
    graph, degree = small_graph(), 6
    spec, inputs, model = build("bernnet", graph, degree=degree)
    laplacian = (lambda d: d.eye - d.symmetric)(dense_of(graph, spec, model))
    values, vectors = torch.linalg.eigh(laplacian)
    # Bernstein coefficients by solving on K + 1 points of the interval.
    points = np.linspace(0, 2, degree + 1)
    basis = np.array(
        [
            comb(degree, k) * (2 - points) ** (degree - k) * points**k / 2**degree
            for k in range(degree + 1)
        ]
    ).T
    theta = np.linalg.solve(basis, FILTERS[name](points))
    lift = max(0.0, -theta.min())  # ReLU keeps theta above zero: lift the filter by a constant
    with torch.no_grad():
        model.theta.copy_(torch.from_numpy(theta + lift))
    wanted = (
        vectors @ torch.diag(torch.from_numpy(FILTERS[name](values.numpy()) + lift)) @ vectors.T
    )
    eye = torch.eye(graph.num_nodes, dtype=torch.float64)
    torch.testing.assert_close(model.filtered(eye, inputs.operator), wanted, rtol=0, atol=1e-10)


def test_it_begins_as_the_filter_that_passes_everything():
    _, inputs, model = build("bernnet", small_graph(), noise=0.0)
    signal = torch.randn(inputs.num_nodes, 3, dtype=torch.float64)
    torch.testing.assert_close(model.filtered(signal, inputs.operator), signal)


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="degree=0"):
        MODELS["bernnet"].with_options(degree=0)
