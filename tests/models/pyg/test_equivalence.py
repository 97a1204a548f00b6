"""Our networks against PyTorch Geometric's layers with the same weights, to 1e-5 in float32."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from dense_models import build, small_graph
from torch.nn.functional import elu, gelu

from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS

pyg = pytest.importorskip("torch_geometric.nn", reason="needs the extra: heterophily[pyg]")


@pytest.fixture(scope="module")
def graph():
    return small_graph(is_sparse=False)


@pytest.fixture(scope="module")
def edge_index(graph):
    rows, columns = graph.adjacency.nonzero()
    return torch.from_numpy(np.stack([columns, rows]).astype(np.int64))


def ours(name, graph, **options):
    """Return our network, the dense features it sees, and its logits, all in float32."""
    spec, _, model = build(name, graph, dropout=0.0, **options)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    model = model.float().eval()
    x = inputs.features
    return model, x, model(inputs)


def inputs_of(name, graph):
    """Return what our network sees of the graph."""
    return GraphInputs.from_graph(graph, MODELS[name].with_options(features="counts").inputs)


def close(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


@torch.no_grad()
def copy_gat(conv, layer):
    conv.lin.weight.copy_(layer.linear.weight.T)
    conv.att_src.copy_(layer.sender[None])
    conv.att_dst.copy_(layer.receiver[None])
    conv.bias.copy_(layer.bias)


@torch.no_grad()
def copy_linear(linear, ours):
    linear.weight.copy_(ours.weight.T)
    linear.bias.copy_(ours.bias)


def test_gat(graph, edge_index):
    model, x, logits = ours("gat", graph, heads=3, output_heads=2)
    first = pyg.GATConv(x.shape[1], 5, heads=3)
    second = pyg.GATConv(15, logits.shape[1], heads=2, concat=False)
    copy_gat(first, model.layers[0])
    copy_gat(second, model.layers[1])
    close(second(elu(first(x, edge_index)), edge_index), logits)


def test_appnp(graph, edge_index):
    model, x, logits = ours("appnp", graph, hops=7, alpha=0.15)
    close(pyg.APPNP(7, 0.15)(model.mlp(x), edge_index), logits)


def test_fagcn(graph, edge_index):
    model, x, logits = ours("fagcn", graph, depth=2, epsilon=0.4)
    initial = state = torch.relu(model.input(x))
    for layer in model.layers:
        conv = pyg.FAConv(5, eps=0.4, add_self_loops=False)
        with torch.no_grad():
            conv.att_l.weight.copy_(layer.sender.T)
            conv.att_r.weight.copy_(layer.receiver.T)
        state = conv(state, initial, edge_index)
    close(model.output(state), logits)


def test_mixhop(graph, edge_index):
    model, x, logits = ours("mixhop", graph, powers=(0, 1, 3))
    state = x
    for place, layer in enumerate(model.layers):
        _, fan_in, width = layer.weight.shape
        conv = pyg.MixHopConv(fan_in, width, powers=[0, 1, 3])
        with torch.no_grad():
            for power, weight in zip((0, 1, 3), layer.weight, strict=True):
                conv.lins[power].weight.copy_(weight.T)
            conv.bias.copy_(layer.bias.flatten())
        output = conv(state, edge_index)
        state = torch.relu(output) if place == 0 else output
    groups = state.view(len(x), 3, -1)
    close((groups * model.group_scores.softmax(0)[None, :, None]).sum(1), logits)


def test_graphsage(graph, edge_index):
    model, x, logits = ours("graphsage", graph)
    convs = [pyg.SAGEConv(x.shape[1], 5), pyg.SAGEConv(5, logits.shape[1])]
    for conv, layer in zip(convs, model.layers, strict=True):
        with torch.no_grad():
            conv.lin_r.weight.copy_(layer.weight[0].T)
            conv.lin_l.weight.copy_(layer.weight[1].T)
            conv.lin_l.bias.copy_(layer.bias)
    close(convs[1](torch.relu(convs[0](x, edge_index)), edge_index), logits)


def test_linkx(graph, edge_index):
    model, x, logits = ours("linkx", graph, depth=3)
    net = pyg.LINKX(len(x), x.shape[1], 5, logits.shape[1], num_layers=3, dropout=0.0).eval()
    with torch.no_grad():
        net.edge_lin.weight.copy_(model.structure_weight)
        net.edge_lin.bias.copy_(model.structure_bias)
    copy_linear(net.node_mlp.lins[0], model.features.maps[0])
    copy_linear(net.cat_lin1, model.join_structure)
    copy_linear(net.cat_lin2, model.join_features)
    for linear, ours_ in zip(net.final_mlp.lins, model.output.maps, strict=True):
        copy_linear(linear, ours_)
    for norm, ours_ in zip(net.final_mlp.norms, model.output.norms, strict=False):
        norm.module.load_state_dict(ours_.state_dict())
    close(net(x, edge_index), logits)


@pytest.mark.parametrize("jk", ["max", "cat"])
def test_gcn_jk(graph, edge_index, jk):
    model, x, logits = ours("gcn+jk", graph, jk=jk, depth=3)
    state, states = x, []
    for layer in model.layers:
        conv = pyg.GCNConv(*layer.weight.shape)
        with torch.no_grad():
            conv.lin.weight.copy_(layer.weight.T)
            conv.bias.copy_(layer.bias)
        state = torch.relu(conv(state, edge_index))
        states.append(state)
    close(model.output(pyg.JumpingKnowledge(jk, 5, 3)(states)), logits)


@pytest.mark.parametrize("jk", ["max", "cat"])
def test_gat_jk(graph, edge_index, jk):
    model, x, logits = ours("gat+jk", graph, jk=jk, heads=2)
    state, states = x, []
    for layer in model.layers:
        conv = pyg.GATConv(layer.linear.weight.shape[0], 5, heads=2)
        copy_gat(conv, layer)
        state = elu(conv(state, edge_index))
        states.append(state)
    close(model.output(pyg.JumpingKnowledge(jk, 10, 2)(states)), logits)


def test_gcn(graph, edge_index):
    model, x, logits = ours("gcn", graph, normalization="symmetric")
    state = x
    for place, layer in enumerate(model.backbone.layers):
        conv = pyg.GCNConv(*layer.weight.shape[1:], bias=False)
        with torch.no_grad():
            conv.lin.weight.copy_(layer.weight[0].T)
        state = conv(torch.relu(state) if place else state, edge_index)
    close(state, logits)


@pytest.mark.parametrize("hops", [1, 2])
def test_sgc(graph, edge_index, hops):
    model, x, logits = ours(f"sgc-{hops}", graph, normalization="symmetric")
    conv = pyg.SGConv(x.shape[1], logits.shape[1], K=hops, bias=False)
    with torch.no_grad():
        conv.lin.weight.copy_(model.backbone.layers[0].weight[0].T)
    close(conv(x, edge_index), logits)


@pytest.mark.parametrize("name", ["gcnii", "gcnii*"])
def test_gcnii(graph, edge_index, name):
    options = {"depth": 3, "alpha_l": 0.2, "lambda": 0.7, "normalization": "symmetric"}
    model, x, logits = ours(name, graph, **options)
    net = model.backbone
    initial = state = torch.relu(net.input(x))
    for number, layer in enumerate(net.layers, start=1):
        shared = layer.initial_weight is None
        conv = pyg.GCN2Conv(5, 0.2, theta=0.7, layer=number, shared_weights=shared)
        with torch.no_grad():
            conv.weight1.copy_(layer.weight[0])
            if not shared:
                conv.weight2.copy_(layer.initial_weight[0])
        state = torch.relu(conv(state, initial, edge_index))
    close(net.output(state), logits)


def residual_logits(model, convolutions, x, edge_index):
    """Return the logits of our residual stack with convolutions of PyTorch Geometric."""
    net = model.backbone
    state = gelu(net.input(x))
    for block, conv in zip(net.blocks, convolutions, strict=True):
        state = state + block.feed_forward(conv(block.norm(state), edge_index))
    return net.output(net.norm(state))


def test_res_gcn(graph, edge_index):
    model, x, logits = ours("res-gcn", graph)
    conv = pyg.GCNConv(5, 5, bias=False)
    with torch.no_grad():
        conv.lin.weight.copy_(torch.eye(5))
    close(residual_logits(model, [conv] * 3, x, edge_index), logits)


def test_res_gat(graph, edge_index):
    model, x, logits = ours("res-gat", graph, hidden=6, heads=2)
    convs = [pyg.GATConv(6, 3, heads=2) for _ in range(3)]
    for conv, block in zip(convs, model.backbone.blocks, strict=True):
        copy_gat(conv, block.convolution.attention)
    close(residual_logits(model, convs, x, edge_index), logits)


def test_gat_sep(graph, edge_index):
    model, x, logits = ours("gat-sep", graph, hidden=6, heads=2)
    convs = [pyg.GATConv(6, 3, heads=2, add_self_loops=False) for _ in range(3)]
    for conv, block in zip(convs, model.backbone.blocks, strict=True):
        copy_gat(conv, block.convolution.attention)
    apart = [lambda h, e, conv=conv: torch.cat([h, conv(h, e)], 1) for conv in convs]
    close(residual_logits(model, apart, x, edge_index), logits)


def test_res_sage(graph, edge_index):
    model, x, logits = ours("res-sage", graph)
    mean = pyg.SimpleConv(aggr="mean")
    apart = [lambda h, e: torch.cat([h, mean(h, e)], 1)] * 3
    close(residual_logits(model, apart, x, edge_index), logits)


def test_res_fagcn(graph, edge_index):
    model, x, logits = ours("res-fagcn", graph, epsilon=0.4)
    convs = []
    for block in model.backbone.blocks:
        conv = pyg.FAConv(5, eps=0.4, add_self_loops=False)
        with torch.no_grad():
            conv.att_l.weight.copy_(block.convolution.layer.sender.T)
            conv.att_r.weight.copy_(block.convolution.layer.receiver.T)
        convs.append(lambda h, e, conv=conv: conv(h, h, e))
    close(residual_logits(model, convs, x, edge_index), logits)


def test_dir_sage(graph):
    """Their layer with both directions and a root weight is our block's convolution and map."""
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, graph.num_nodes, (2, 40))
    one_way = graph.from_edges(
        source,
        target,
        features=graph.features,
        labels=graph.labels,
        num_nodes=graph.num_nodes,
        direction="keep",
    )
    model, _, _ = ours("dir-sage", one_way)
    inputs = inputs_of("dir-sage", one_way)
    rows, columns = one_way.adjacency.nonzero()
    edges = torch.from_numpy(np.stack([rows, columns]).astype(np.int64))  # row points to column
    conv = pyg.DirGNNConv(pyg.SAGEConv(5, 5, bias=False, root_weight=False), alpha=0.3)
    block = model.backbone.blocks[0]
    own, there, back = block.feed_forward.first.weight.split(5)
    with torch.no_grad():
        conv.lin.weight.copy_(own.T)
        conv.lin.bias.copy_(block.feed_forward.first.bias)
        conv.conv_out.lin_l.weight.copy_(there.T / 0.3)
        conv.conv_in.lin_l.weight.copy_(back.T / 0.7)
    state = torch.randn(graph.num_nodes, 5)
    close(block.feed_forward.first(block.convolution(state, inputs)), conv(state, edges))


def moved_batch_norms(model):
    """Give every batch norm running statistics that are not those of its start."""
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm1d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2.0)


def test_sgformer(graph, edge_index):
    model, x, _ = ours("sgformer", graph, global_depth=2, graph_weight=0.3)
    moved_batch_norms(model)
    net = pyg.SGFormer(x.shape[1], 5, model.output.weight.shape[1], graph_weight=0.3).eval()
    trans, gnn = net.trans_conv, net.graph_conv
    copy_linear(trans.fcs[0], model.attention.input)
    copy_linear(gnn.fcs[0], model.gcn.input)
    copy_linear(net.fc, model.output)
    for theirs, mine in zip(trans.bns, model.attention.norms, strict=True):
        theirs.load_state_dict(mine.state_dict())
    for theirs, mine in zip(gnn.bns, model.gcn.norms, strict=True):
        theirs.load_state_dict(mine.state_dict())
    with torch.no_grad():
        for theirs, mine in zip(trans.attns, model.attention.layers, strict=True):
            theirs.q.weight.copy_(mine.query.weight.T)
            theirs.k.weight.copy_(mine.key.weight.T)
            theirs.v.weight.copy_(mine.value.weight.T)
        for theirs, mine in zip(gnn.convs, model.gcn.layers, strict=True):
            theirs.lin.weight.copy_(mine.weight.T)
            theirs.bias.copy_(mine.bias)
    logits = model(inputs_of("sgformer", graph))
    wanted = net(x, edge_index, torch.zeros(len(x), dtype=torch.long))
    close(logits.log_softmax(1), wanted)


@pytest.mark.parametrize("global_depth", [0, 2])
def test_polynormer(graph, edge_index, global_depth):
    model, x, _ = ours("polynormer", graph, depth=3, global_depth=global_depth, beta=0.7)
    moved_batch_norms(model)
    net = pyg.Polynormer(
        x.shape[1], 5, model.output.weight.shape[1], 3, 2, beta=0.7, qk_shared=False
    ).eval()
    net._global = global_depth > 0
    parts = zip(net.h_lins, net.local_convs, net.lins, net.lns, net.post_bns, strict=True)
    for (gate, conv, own, norm, batch_norm), layer in zip(parts, model.local_layers, strict=True):
        copy_linear(gate, layer.gate)
        copy_linear(own, layer.own)
        norm.load_state_dict(layer.norm.state_dict())
        batch_norm.load_state_dict(layer.batch_norm.state_dict())
        with torch.no_grad():
            conv.lin.weight.copy_(layer.neighbours.weight.T)
            conv.bias.copy_(layer.neighbours_bias)
    if global_depth:
        net.ln.load_state_dict(model.norm.state_dict())
        copy_linear(net.pred_global, model.output)
    else:
        copy_linear(net.pred_local, model.output)
    for theirs, mine in zip(net.global_attn, model.global_layers, strict=False):
        copy_linear(theirs.h_lins, mine.gate)
        copy_linear(theirs.lin_out, mine.output)
        theirs.lns.load_state_dict(mine.norm.state_dict())
        with torch.no_grad():
            theirs.q.weight.copy_(mine.query.weight.T)
            theirs.k.weight.copy_(mine.key.weight.T)
            theirs.v.weight.copy_(mine.value.weight.T)
    logits = model(inputs_of("polynormer", graph))
    wanted = net(x, edge_index, torch.zeros(len(x), dtype=torch.long))
    close(logits.log_softmax(1), wanted)


def labelled(model, graph):
    """Give a model of labels those of every second node; return which."""
    is_known = torch.arange(graph.num_nodes) % 2 == 0
    model.labels = torch.where(is_known, torch.from_numpy(graph.labels.copy()), -1)
    return is_known


def test_label_propagation(graph, edge_index):
    spec = MODELS["label-propagation"].with_options(hops=4, alpha=0.7)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    model = spec.builder(inputs, num_classes=3)()
    is_known = labelled(model, graph)
    wanted = pyg.LabelPropagation(4, 0.7)(
        torch.from_numpy(graph.labels.copy()), edge_index, mask=is_known
    )
    reached = wanted.sum(1) > 1e-3
    shares = wanted / wanted.sum(1, keepdim=True)
    close(model(inputs).exp()[reached] + 0.0, shares[reached])


@pytest.mark.parametrize("scale", [None, 0.8])
def test_correct_and_smooth(graph, edge_index, scale):
    options = {"correct_hops": 3, "smooth_hops": 4, "scale": scale, "dropout": 0.0}
    spec = MODELS["correct-and-smooth"].with_options(**options)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    model = spec.builder(inputs, num_classes=3)().eval()
    is_known = labelled(model, graph)
    theirs = pyg.CorrectAndSmooth(3, 0.9, 4, 0.8, autoscale=scale is None, scale=scale or 1.0)
    y = torch.from_numpy(graph.labels.copy())[is_known]
    with torch.no_grad():
        soft = model.base(inputs).softmax(1)
        corrected = theirs.correct(soft, y, is_known, edge_index)
        known = model.one_hot(inputs)
        close(model.correct(soft, known, inputs.operator), corrected)
        smoothed = theirs.smooth(corrected, y, is_known, edge_index)
        close(model.smooth(corrected, known, inputs.operator), smoothed)
