from __future__ import annotations

import copy
import io
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import scipy.sparse as sp
import torch
from torch import nn

from heterophily.errors import InputError
from heterophily.filters.normalization import normalized_adjacency
from heterophily.layers.acm_conv import AcmConv
from heterophily.layers.propagation import Propagation
from heterophily.layers.wrap import acm

EDGES = torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 1, 1]])  # 3 -> 1 has no way back


@pytest.fixture
def conv():
    torch.manual_seed(0)
    return AcmConv(3, 2).double()


@pytest.fixture
def x():
    torch.manual_seed(1)
    return torch.randn(4, 3, dtype=torch.float64)


def matrix():
    """Row v holds what v receives from."""
    return torch.zeros(4, 4, dtype=torch.float64).index_put_(
        (EDGES[1], EDGES[0]), torch.tensor(1.0, dtype=torch.float64)
    )


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_operator_sparse_tensor_and_edge_index_give_the_same(conv, x):
    expected = conv(x, EDGES)
    operator = normalized_adjacency(sp.csr_array(matrix().numpy()))
    forms = [
        matrix().to_sparse_coo(),
        matrix().to_sparse_csr(),
        Propagation.from_scipy(operator, dtype=torch.float64),
        Propagation.from_scipy(operator, dtype=torch.float32),
    ]
    for form in forms:
        torch.testing.assert_close(conv(x, form), expected, rtol=1e-6, atol=1e-6)


def test_an_edge_carries_from_its_source_to_its_target():
    conv = AcmConv(1, 1, channels=["low"], mixer="sum", activate=False, renormalize=False)
    nn.init.ones_(conv.layer.weight)
    output = conv(torch.tensor([[5.0], [0.0]]), torch.tensor([[0], [1]]))
    assert output.flatten().tolist() == [0.0, 5.0]


def test_the_operator_is_made_once_for_the_same_tensor_and_anew_after_a_change(conv, x):
    edges = EDGES.clone()
    conv(x, edges)
    first, _ = conv._cache.prepare(edges, x)
    assert conv._cache.prepare(edges, x)[0] is first
    edges[0, 4] = 0
    assert conv._cache.prepare(edges, x)[0] is not first
    torch.testing.assert_close(conv(x, edges), AcmConv.forward(copy.deepcopy(conv), x, edges))
    assert conv._cache.prepare(edges, x.float())[0].matrix.dtype == torch.float32


def test_state_dict_makes_the_round_trip_through_a_file(conv, x):
    file = io.BytesIO()
    torch.save(conv.state_dict(), file)
    file.seek(0)
    other = AcmConv(3, 2).double()
    assert not torch.equal(other(x, EDGES), conv(x, EDGES))
    other.load_state_dict(torch.load(file))
    assert torch.equal(other(x, EDGES), conv(x, EDGES))


def test_weights_are_returned_on_request(conv, x):
    output, weights = conv(x, EDGES, return_weights=True)
    assert torch.equal(output, conv(x, EDGES))
    torch.testing.assert_close(weights.sum(1), torch.ones(4, dtype=torch.float64))


def test_gradients_reach_the_input_and_every_parameter(conv, x):
    x.requires_grad_()
    assert torch.autograd.gradcheck(lambda signal: conv(signal, EDGES), (x,))
    conv(x, EDGES).square().sum().backward()
    assert all(parameter.grad is not None for parameter in conv.parameters())


def test_the_structure_channel_sees_the_adjacency(x):
    conv = AcmConv(3, 2, channels=["structure"], mixer="sum", num_nodes=4).double()
    expected = torch.relu(matrix() @ conv.layer.structure_weight)
    torch.testing.assert_close(conv(x, EDGES), expected)
    with pytest.raises(InputError, match="needs num_nodes"):
        AcmConv(3, 2, channels=["structure"])
    operator = Propagation.from_scipy(sp.eye_array(4, format="csr"), dtype=torch.float64)
    with pytest.raises(InputError, match="needs A itself"):
        conv(x, operator)


def test_bad_input_is_refused_in_one_sentence(conv, x):
    with pytest.raises(InputError, match=r"edge_index\[1\]\[0\] = 9, but there are 4 nodes"):
        conv(x, torch.tensor([[0], [9]]))
    with pytest.raises(InputError, match=r"expected \(N, 3\)"):
        conv(x[:, :2], EDGES)
    with pytest.raises(InputError, match="give a Propagation"):
        conv(x, matrix())
    with pytest.raises(InputError, match=r"shape \(3, 3\), but there are 4 nodes"):
        conv(x, torch.eye(3, dtype=torch.float64).to_sparse_coo())
    with pytest.raises(InputError, match="negative"):
        conv(x, (-matrix()).to_sparse_coo())
    with pytest.raises(InputError, match="is for 2 nodes"):
        conv(x, Propagation.from_scipy(sp.eye_array(2, format="csr")))


def test_it_trains_inside_a_pyg_model():
    pyg = pytest.importorskip("torch_geometric.nn", reason="torch_geometric is not installed")
    torch.manual_seed(0)
    edges = torch.randint(0, 30, (2, 120))
    x, labels = torch.randn(30, 8), torch.arange(30) % 3
    model = pyg.Sequential(
        "x, edge_index",
        [
            (AcmConv(8, 16), "x, edge_index -> x"),
            nn.ReLU(),
            (pyg.GCNConv(16, 16), "x, edge_index -> x"),
            nn.ReLU(),
            (AcmConv(16, 3), "x, edge_index -> x"),
        ],
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x, edges), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


RING = torch.stack([torch.arange(6), (torch.arange(6) + 1) % 6])


def test_edge_weights_count_and_receive_a_gradient():
    torch.manual_seed(0)
    for options in (
        {},
        {"order": "activate-then-filter"},
        {"normalization": "symmetric"},
        {"renormalize": False},
    ):
        layer = AcmConv(3, 2, **options).double()
        signal = torch.randn(6, 3, dtype=torch.float64)
        weight = torch.rand(6, dtype=torch.float64) + 0.1
        learned = weight.clone().requires_grad_()
        assert torch.allclose(layer(signal, RING, weight), layer(signal, RING, learned))
        assert torch.allclose(layer(signal, RING, torch.ones(6)), layer(signal, RING))
        assert torch.autograd.gradcheck(lambda w, f=layer, x=signal: f(x, RING, w), learned)


def test_edge_weights_of_a_wrong_kind_are_refused(conv, x):
    edges = torch.tensor([[0, 1], [1, 0]])
    for weight in (torch.ones(3), torch.tensor([1.0, -1.0]), torch.tensor([1.0, torch.nan])):
        for needs_gradient in (False, True):
            with pytest.raises(InputError, match="edge_weight"):
                conv(x, edges, weight.clone().requires_grad_(needs_gradient))


def test_edge_index_is_a_keyword_and_given_once():
    layer, signal = AcmConv(3, 2), torch.randn(6, 3)
    assert torch.equal(layer(signal, edge_index=RING), layer(signal, RING))
    for arguments in ({}, {"adjacency": RING, "edge_index": RING}):
        with pytest.raises(InputError, match="once"):
            layer(signal, **arguments)


def test_the_width_of_the_first_input_makes_a_lazy_layer():
    torch.manual_seed(1)
    layer = AcmConv(-1, 2)
    assert "layer.weight" not in layer.state_dict()
    signal = torch.randn(6, 3)
    assert layer(signal, RING).shape == (6, 2)
    assert layer.in_channels == 3
    again = AcmConv(-1, 2)
    again.load_state_dict(layer.state_dict())
    assert torch.equal(again(signal, RING), layer(signal, RING))
    copied = pickle.loads(pickle.dumps(AcmConv(-1, 2)))
    assert copied(signal, RING).shape == (6, 2)


def test_a_bias_is_added_to_the_mixture():
    layer, signal = AcmConv(3, 2, bias=True), torch.randn(6, 3)
    before = layer(signal, RING)
    with torch.no_grad():
        layer.bias.copy_(torch.tensor([1.0, -2.0]))
    assert torch.allclose(layer(signal, RING), before + torch.tensor([1.0, -2.0]))
    layer(signal, RING).sum().backward()
    assert layer.bias.grad.tolist() == [6.0, 6.0]


def test_autocast_computes_in_float32_and_whole_numbers_are_refused():
    layer, signal = AcmConv(3, 2), torch.randn(6, 3)
    expected = layer(signal, RING)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(layer(signal, RING), expected)
        layer(signal, RING).sum().backward()
    with pytest.raises(InputError, match=r"x holds torch.int64, the layer torch.float32"):
        layer(torch.ones(6, 3, dtype=torch.int64), RING)


def test_a_batch_of_signals_shares_the_graph():
    layer, signals = AcmConv(3, 2), torch.randn(4, 6, 3)
    output, weights = layer(signals, RING, return_weights=True)
    assert (output.shape, weights.shape) == ((4, 6, 2), (4, 6, 3))
    assert torch.equal(output[2], layer(signals[2], RING))


def test_threads_that_share_a_layer_never_see_the_graph_of_another():
    """Of 1,600 such outputs 100 were those of another thread's graph."""
    torch.manual_seed(0)
    layer = AcmConv(4, 3)
    wrapped = acm(torch.nn.Linear)(4, 3)
    graphs = [torch.randint(0, 60, (2, 150 + k)) for k in range(4)]
    signals = [torch.randn(60, 4) for _ in graphs]
    with torch.no_grad():
        wanted = [
            (layer(signal, graph), wrapped(signal, graph))
            for signal, graph in zip(signals, graphs, strict=True)
        ]
        together = threading.Barrier(len(graphs))

        def work(number: int) -> int:
            together.wait()
            torch.set_grad_enabled(False)
            pairs = [(graphs[number], signals[number], wanted[number])]
            pairs += [(graphs[0], signals[0], wanted[0])]
            wrong = 0
            for k in range(300):
                graph, signal, (first, second) = pairs[k % 2]
                wrong += not torch.equal(layer(signal, graph), first)
                wrong += not torch.equal(wrapped(signal, graph), second)
            return wrong

        switch = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            with ThreadPoolExecutor(len(graphs)) as pool:
                assert sum(pool.map(work, range(len(graphs)))) == 0
        finally:
            sys.setswitchinterval(switch)
