from __future__ import annotations

import pytest
import torch
from torch import nn

from heterophily.errors import InputError
from heterophily.layers.acm_conv import AcmConv
from heterophily.layers.wrap import acm

EDGES = torch.tensor([[0, 1, 1, 2, 3, 1], [1, 0, 2, 1, 1, 3]])


@pytest.mark.parametrize("order", ["filter-then-activate", "activate-then-filter"])
def test_the_twin_of_a_linear_layer_is_the_acm_layer(order):
    conv = AcmConv(3, 2, order=order).double()
    twin = acm(nn.Linear, order=order)(3, 2, bias=False).double()
    with torch.no_grad():
        for layer, weight in zip(twin.layers, conv.layer.weight, strict=True):
            layer.weight.copy_(weight.T)
        for name, parameter in conv.layer.mixer.named_parameters():
            getattr(twin.mixer, name).copy_(parameter)
    x = torch.randn(4, 3, dtype=torch.float64)
    torch.testing.assert_close(twin(x, EDGES), conv(x, EDGES))


def test_every_channel_has_weights_of_its_own():
    twin = acm(nn.Linear, channels=("low", "high"))(3, 2)
    assert len(twin.layers) == 2
    assert not torch.equal(twin.layers[0].weight, twin.layers[1].weight)


@pytest.mark.parametrize("name", ["SAGEConv", "GATConv"])
def test_layers_of_pyg_have_twins_whose_every_parameter_learns(name):
    pyg = pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed")
    extra = {"heads": 2} if name == "GATConv" else {}
    twin = acm(getattr(pyg, name), use_layer_norm=True)(3, 4, **extra)
    weights = []
    output = twin(torch.randn(4, 3), EDGES, EDGES, weights=weights)
    assert output.shape == (4, 8 if extra else 4)
    assert weights[0].shape == (4, 3)
    output.square().sum().backward()
    assert all(parameter.grad is not None for parameter in twin.parameters())


def test_a_layer_of_unknown_width_needs_to_be_told():
    class Double(nn.Module):
        def forward(self, x):
            return torch.cat([x, x], 1)

    with pytest.raises(InputError, match="pass acm_width="):
        acm(Double)()
    assert acm(Double)(acm_width=6)(torch.randn(4, 3), EDGES).shape == (4, 6)


def test_a_structure_channel_is_refused():
    with pytest.raises(InputError, match="no structure channel"):
        acm(nn.Linear, channels=("low", "structure"))(3, 2)
