"""What someone who knows PyTorch Geometric expects of a convolution, one row each.

An expectation either holds or ends in one sentence that says what to do instead.
"""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn
from torch.autograd import forward_ad
from torch.func import functional_call, grad, hessian, jvp, vmap
from torch.utils.checkpoint import checkpoint

pyg = pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
from torch_geometric import EdgeIndex  # noqa: E402
from torch_geometric.data import Batch, Data  # noqa: E402
from torch_geometric.explain import Explainer, GNNExplainer  # noqa: E402
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks  # noqa: E402
from torch_geometric.nn import HeteroConv, MessagePassing, to_hetero  # noqa: E402

from heterophily.errors import InputError  # noqa: E402
from heterophily.layers.acm_conv import AcmConv  # noqa: E402
from heterophily.layers.propagation import Propagation  # noqa: E402

EDGES = torch.tensor([[0, 1, 2, 3, 4, 5, 0, 2], [1, 2, 3, 4, 5, 0, 3, 5]])
KINDS = {
    "acm": {},
    "acmii": {"order": "activate-then-filter"},
    "layer norm": {"use_layer_norm": True, "mix_scale": 3.0},
    "combined": {"mix_features": "combined"},
    "sum": {"mixer": "sum"},
    "symmetric": {"normalization": "symmetric", "bias": True},
    "structure": {"channels": ["low", "high", "identity", "structure"], "num_nodes": 6},
}


def make(kind: str = "layer norm", **options):
    torch.manual_seed(0)
    return AcmConv(3, 2, **KINDS[kind], **options).double()


def signal(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


X = signal(6, 3)


def same(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)


# --- PyTorch: compile, export, trace, transform ---------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_transform_gives_what_the_ordinary_call_gives(kind):
    """The plain operations under torch.func equal the written-out ones, gradients included."""
    conv = make(kind)
    parameters = dict(conv.named_parameters())
    conv(X, EDGES).square().sum().backward()
    found = grad(lambda given: functional_call(conv, given, (X, EDGES)).square().sum())(parameters)
    for name, value in parameters.items():
        same(found[name], value.grad)


def test_compile_takes_the_whole_graph_at_the_first_call():
    torch._dynamo.reset()
    conv = make()
    compiled = torch.compile(conv, fullgraph=True, backend="aot_eager")
    same(compiled(X, EDGES), conv(X, EDGES))
    same(compiled(X[:4], EDGES[:, :3]), conv(X[:4], EDGES[:, :3]))
    gradients = []
    for layer in (conv, compiled):
        conv.zero_grad()
        layer(X, EDGES).square().sum().backward()
        gradients.append([parameter.grad for parameter in conv.parameters()])
    same(*gradients)


def test_export_keeps_the_number_of_nodes_and_edges_free():
    conv = make()
    nodes, edges = torch.export.Dim("nodes"), torch.export.Dim("edges")
    shapes = {"x": {0: nodes}, "adjacency": {1: edges}}
    program = torch.export.export(conv, (X, EDGES), dynamic_shapes=shapes)
    same(program.module()(X[:4], EDGES[:, :3]), conv(X[:4], EDGES[:, :3]))


def test_a_trace_gives_what_the_layer_gives():
    conv = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of TorchScript: shapes are compared, it is deprecated
        traced = torch.jit.trace(conv, (X, EDGES))
    same(traced(X, EDGES), conv(X, EDGES))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_script_is_refused_with_what_to_use_instead():
    with pytest.raises(InputError, match=r"cannot be scripted; use torch.compile, torch.export"):
        torch.jit.script(make())


def test_vmap_runs_over_signals_graphs_and_parameters():
    conv, signals = make(), signal(4, 6, 3)
    same(vmap(lambda one: conv(one, EDGES))(signals), conv(signals, EDGES))
    graphs = torch.stack([EDGES, EDGES.flip(0)])
    each = torch.stack([conv(X, graph) for graph in graphs])
    same(vmap(lambda graph: conv(X, graph))(graphs), each)
    members = {name: torch.stack([value, 2 * value]) for name, value in conv.named_parameters()}
    both = vmap(lambda given: functional_call(conv, given, (X, EDGES)))(members)
    same(both[0], conv(X, EDGES))


def test_gradients_of_each_signal_come_from_vmap_of_grad():
    conv, signals = make(), signal(2, 6, 3)
    parameters = dict(conv.named_parameters())

    def loss(given, one):
        return functional_call(conv, given, (one, EDGES)).square().sum()

    each = vmap(grad(loss), (None, 0))(parameters, signals)
    for name in parameters:
        same(each[name][1], grad(loss)(parameters, signals[1])[name])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch scripts its own formulas
def test_forward_mode_gives_the_directional_derivative():
    conv, direction, step = make(), signal(6, 3).flip(0), 1e-6
    _, found = jvp(lambda given: conv(given, EDGES), (X,), (direction,))
    with forward_ad.dual_level():
        dual = conv(forward_ad.make_dual(X, direction), EDGES)
        same(forward_ad.unpack_dual(dual).tangent, found)
    ahead, behind = conv(X + step * direction, EDGES), conv(X - step * direction, EDGES)
    torch.testing.assert_close((ahead - behind) / (2 * step), found, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_it_can_be_differentiated_twice(kind):
    conv = make(kind)
    x = X.clone().requires_grad_()
    assert torch.autograd.gradgradcheck(lambda given: conv(given, EDGES), (x,))
    weight = (torch.arange(8) + 1.0).double().requires_grad_()
    assert torch.autograd.gradgradcheck(lambda w: conv(X, EDGES, w), (weight,))


def test_a_gradient_penalty_reaches_every_parameter():
    conv = make()
    x = X.clone().requires_grad_()
    (slope,) = torch.autograd.grad(conv(x, EDGES).square().sum(), x, create_graph=True)
    slope.square().sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in conv.parameters())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch scripts its own formulas
def test_the_hessian_is_symmetric():
    conv = make()
    found = hessian(lambda given: conv(given, EDGES).square().sum())(X).reshape(18, 18)
    same(found, found.t())


def test_meta_tensors_give_shapes_and_a_layer_begun_there_can_be_filled():
    with torch.device("meta"):
        conv = AcmConv(3, 2, use_layer_norm=True)
    shape = conv(X.float().to("meta"), EDGES.to("meta")).shape
    assert shape == (6, 2)
    conv.to_empty(device="cpu").reset_parameters()
    assert conv(X.float(), EDGES).isfinite().all()


def test_checkpointing_gives_the_same_gradient():
    conv = make()
    x, other = X.clone().requires_grad_(), X.clone().requires_grad_()
    checkpoint(conv, x, EDGES, use_reentrant=False).sum().backward()
    conv(other, EDGES).sum().backward()
    same(x.grad, other.grad)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32])
def test_small_floats_give_their_own_kind(kind):
    conv = make()
    wanted = conv(X, EDGES)
    found = conv.to(kind)(X.to(kind), EDGES)
    assert found.dtype == kind
    torch.testing.assert_close(found.double(), wanted, rtol=0.05, atol=0.05)


def test_inference_mode_and_no_grad_give_the_same():
    conv = make()
    wanted = conv(X, EDGES)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            same(conv(X, EDGES).clone(), wanted)


def test_a_lazy_layer_is_called_once_before_it_is_compiled():
    conv = AcmConv(-1, 2)
    with pytest.raises(InputError, match="call it once on ordinary tensors"):
        vmap(lambda one: conv(one, EDGES))(signal(2, 6, 3).float())
    conv(X.float(), EDGES)
    assert vmap(lambda one: conv(one, EDGES))(signal(2, 6, 3).float()).shape == (2, 6, 2)


# --- PyTorch Geometric ----------------------------------------------------------------------


def test_it_is_a_message_passing_layer_once_pyg_is_imported():
    conv = make()
    assert isinstance(conv, MessagePassing)
    assert "layer.weight" in conv.state_dict()
    for copied in (copy.deepcopy(conv), pickle.loads(pickle.dumps(conv))):
        assert isinstance(copied, MessagePassing)
        same(copied(X, EDGES), conv(X, EDGES))


def test_flow_turns_the_edges_around():
    with_flow, without = make(flow="target_to_source"), make()
    same(with_flow(X, EDGES), without(X, EDGES.flip(0)))
    weight = torch.arange(1.0, 9.0).double()
    same(with_flow(X, EDGES, weight), without(X, EDGES.flip(0), weight))
    same(with_flow(X, EDGES, weight.clone().requires_grad_()), without(X, EDGES.flip(0), weight))
    with pytest.raises(InputError, match="flow='up'; choose source_to_target"):
        make(flow="up")
    with pytest.raises(InputError, match="goes with an edge_index"):
        with_flow(X, torch.eye(6).to_sparse_coo())


BETWEEN = torch.tensor([[0, 5, 2, 1], [0, 3, 3, 1]])  # from six nodes to four


def test_two_sets_of_nodes_are_one_graph_whose_first_set_receives_nothing():
    torch.manual_seed(0)
    conv = AcmConv((3, 3), 2).double()
    first, second = X, signal(4, 3)
    found, alpha = conv((first, second), BETWEEN, return_weights=True)
    assert alpha.shape == (4, 3)
    joined = torch.cat([first, second])
    edges = torch.stack([BETWEEN[0], BETWEEN[1] + 6])
    same(found, conv(joined, edges)[6:])
    dense = torch.zeros(4, 6, dtype=torch.float64).index_put_(
        (BETWEEN[1], BETWEEN[0]), torch.tensor(1.0, dtype=torch.float64)
    )
    mean = (dense @ first + second) / (dense.sum(1, keepdim=True) + 1)  # random walk on A + I
    low, high, identity = (
        torch.relu(part @ weight)
        for part, weight in zip((mean, second - mean, second), conv.layer.weight, strict=True)
    )
    shares = alpha.t().unsqueeze(2)
    same(found, shares[0] * low + shares[1] * high + shares[2] * identity)


@pytest.mark.parametrize(
    ("x", "edges", "words"),
    [
        ((X, None), BETWEEN, "give the features of both sets"),
        ((X, signal(4, 2)), BETWEEN, "with 3 and 2 columns"),
        ((X, signal(4, 3)), BETWEEN + 2, r"edge_index\[0\]\[1\] = 7, but there are 6 nodes"),
        ((X, signal(2, 3)), BETWEEN, r"edge_index\[1\]\[1\] = 3, but there are 2 nodes"),
        ((X, X), torch.eye(6, dtype=torch.float64), "integer edge_index"),
    ],
)
def test_a_pair_that_does_not_fit_is_refused(x, edges, words):
    with pytest.raises(InputError, match=words):
        make()(x, edges)


def test_what_two_sets_of_nodes_cannot_have_is_refused():
    with pytest.raises(InputError, match=r"in_channels=\(3, 5\).*same number of columns"):
        AcmConv((3, 5), 2)
    with pytest.raises(InputError, match="leave out flow"):
        make(flow="target_to_source")((X, X), EDGES)
    with pytest.raises(InputError, match="structure channel needs one set of nodes"):
        make("structure")((X, X), EDGES)


def test_an_index_beyond_the_first_set_never_reads_the_second():
    conv, pair = make(), (X[:2], X)
    with pytest.raises(Exception, match=r"out of (range|bounds)"):
        grad(lambda one: conv((one, pair[1]), torch.tensor([[4], [0]])).sum())(pair[0])


class Network(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.first, self.second = AcmConv(width, 8), AcmConv(8, 2)

    def forward(self, x, edge_index):
        return self.second(torch.relu(self.first(x, edge_index)), edge_index)


@pytest.mark.parametrize("width", [3, -1])
def test_to_hetero_makes_a_layer_for_each_kind_of_edge(width):
    torch.manual_seed(0)
    kinds = [("u", "a", "u"), ("u", "b", "v"), ("v", "c", "u")]
    network = to_hetero(Network(width), (["u", "v"], kinds))
    x = {"u": X.float(), "v": X.float()[:4]}
    edges = dict(zip(kinds, (EDGES, BETWEEN, BETWEEN.flip(0)), strict=True))
    found = network(x, edges)
    assert (found["u"].shape, found["v"].shape) == ((6, 2), (4, 2))
    sum(part.sum() for part in found.values()).backward()
    assert all(parameter.grad is not None for parameter in network.parameters())


def test_hetero_conv_takes_it():
    conv = HeteroConv({("u", "b", "v"): AcmConv(3, 2), ("u", "a", "u"): AcmConv(3, 2)})
    found = conv(
        {"u": X.float(), "v": X.float()[:4]}, {("u", "b", "v"): BETWEEN, ("u", "a", "u"): EDGES}
    )
    assert (found["u"].shape, found["v"].shape) == ((6, 2), (4, 2))


def test_a_mask_of_ones_changes_nothing_and_one_of_zeros_removes_an_edge_from_the_sums():
    conv = make()
    wanted = conv(X, EDGES)
    mask = torch.ones(8, dtype=torch.float64)
    set_masks(conv, mask, EDGES, apply_sigmoid=False)
    same(conv(X, EDGES), wanted)
    mask[0] = 0.0  # the edge from 0 to 1
    set_masks(conv, mask, EDGES, apply_sigmoid=False)
    is_same = (conv(X, EDGES) - wanted).abs().amax(1) < 1e-9
    assert is_same.tolist() == [True, False, True, True, True, True]
    with pytest.raises(InputError, match="one entry per edge"):
        conv(X, EDGES[:, :3])
    with pytest.raises(InputError, match="goes with an edge_index"):
        conv(X, torch.eye(6).to_sparse_coo())
    clear_masks(conv)
    same(conv(X, EDGES), wanted)


def test_a_mask_multiplies_entries_of_the_operator():
    conv = AcmConv(1, 1, channels=["low"], mixer="sum", activate=False)
    nn.init.ones_(conv.layer.weight)
    set_masks(conv, torch.tensor([0.25]), torch.tensor([[0], [1]]), apply_sigmoid=False)
    found = conv(torch.tensor([[8.0], [2.0]]), torch.tensor([[0], [1]]))
    assert found.flatten().tolist() == [8.0, 0.5 * 0.25 * 8.0 + 0.5 * 2.0]


def test_an_explainer_finds_the_edges_that_matter():
    torch.manual_seed(0)
    explainer = Explainer(
        Network(),
        algorithm=GNNExplainer(epochs=10),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "node",
            "return_type": "raw",
        },
    )
    apart = torch.tensor([[0, 1, 3, 4], [1, 2, 4, 5]])  # two paths
    found = explainer(X.float(), apart, index=2)
    assert (found.edge_mask[:2] > 0).all()
    assert (found.edge_mask[2:] == 0).all()


def test_an_edge_index_object_and_a_batch_of_graphs_are_taken():
    conv = make()
    same(conv(X, EdgeIndex(EDGES, sparse_size=(6, 6))), conv(X, EDGES))
    batch = Batch.from_data_list([Data(x=X, edge_index=EDGES), Data(x=2 * X, edge_index=EDGES)])
    same(conv(batch.x, batch.edge_index)[6:], conv(2 * X, EDGES))


# --- forms of the input ---------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("is_transform", [False, True])
def test_all_forms_of_the_graph_give_the_same_also_under_a_transform(is_transform):
    conv = make()
    matrix = torch.zeros(6, 6, dtype=torch.float64).index_put_(
        (EDGES[1], EDGES[0]), torch.tensor(1.0, dtype=torch.float64)
    )
    operator = make()._cache.prepare(EDGES, X)[0]
    assert isinstance(operator, Propagation)
    for form in (EDGES.int(), matrix.to_sparse_coo(), matrix.to_sparse_csr(), operator):
        call = (lambda one, form=form: conv(one, form)) if is_transform else None
        found = vmap(call)(X.unsqueeze(0))[0] if call else conv(X, form)
        same(found, conv(X, EDGES))


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (EDGES.numpy(), "adjacency is a ndarray; give"),
        (sp.eye_array(6), "give a Propagation, a sparse"),
        (EDGES.tolist(), "adjacency is a list; give"),
        (EDGES.double(), "integer edge_index"),
        (EDGES.t(), "integer edge_index"),
        (EDGES > 0, "integer edge_index"),
    ],
)
def test_what_is_no_graph_is_refused(edges, words):
    with pytest.raises(InputError, match=words):
        make()(X, edges)


@pytest.mark.parametrize("shape", [(3,), (6, 4), (2, 2, 6, 3), (0, 6, 3)])
def test_signals_of_another_shape_are_refused(shape):
    with pytest.raises(InputError, match="x has shape"):
        make()(signal(*shape), EDGES)


def test_no_edges_one_node_and_no_nodes():
    conv, none = make(), torch.zeros(2, 0, dtype=torch.int64)
    assert conv(X, none).isfinite().all()
    assert conv(X[:1], none).shape == (1, 2)
    assert conv(X[:0], none).shape == (0, 2)
    same(vmap(lambda one: conv(one, none))(X.unsqueeze(0))[0], conv(X, none))


def test_repeated_edges_add_up_and_loops_stay():
    conv = make()
    twice = torch.cat([EDGES, EDGES[:, :1], torch.tensor([[4], [4]])], dim=1)
    weight = torch.tensor([2.0, *[1.0] * 7, 1.0]).double()
    single = torch.cat([EDGES, torch.tensor([[4], [4]])], dim=1)
    same(conv(X, twice), conv(X, single, weight))


def test_relabelling_the_nodes_relabels_the_output():
    conv, order = make(), torch.tensor([3, 1, 5, 0, 2, 4])
    place = torch.from_numpy(np.argsort(order.numpy()))
    same(conv(X[order], place[EDGES]), conv(X, EDGES)[order])


@pytest.mark.parametrize("kind", [torch.uint8, torch.int8, torch.int32])
def test_entries_that_a_sparse_tensor_of_small_numbers_stores_twice_never_wrap_around(kind):
    values, places = torch.full((4,), 100, dtype=kind), torch.tensor([[0, 0, 1, 1], [1, 1, 0, 0]])
    if kind == torch.uint8:
        values = 2 * values
    twice = torch.sparse_coo_tensor(places, values, (2, 2), check_invariants=True)
    dense = 2.0 * values[0].double() * torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    conv = AcmConv(2, 2, channels=["structure"], num_nodes=2, mixer="sum").double()
    x = torch.eye(2, dtype=torch.float64)
    same(conv(x, twice), conv(x, dense.to_sparse_coo()))
