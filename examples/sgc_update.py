# %% [markdown]
# # What one step of gradient descent does to a prediction
#
# Section 3.1 of the paper: SGC predicts Y = softmax(Â X W). One step of gradient descent on W moves
# the logits of node v by a weighted sum of the errors Z - Y of all labelled nodes. The weights are
# the row v of the similarity matrix S(Â, X): a node that is similar *after aggregation* pulls v
# towards its own class. Here both sides are computed and compared, on the southern women and the
# events they went to, a graph without one edge inside a class.
#
# Run: `python examples/sgc_update.py`

# %%
import networkx as nx
import numpy as np

from heterophily import aggregation_homophily, edge_homophily, from_networkx, similarity

club = nx.davis_southern_women_graph()
for node, side in club.nodes(data="bipartite"):
    club.nodes[node]["kind"] = "woman" if side == 0 else "event"
    del club.nodes[node]["bipartite"]
graph = from_networkx(club, label="kind")
graph = graph.replace(features=np.eye(graph.num_nodes), feature_names=None)  # which neighbours

# %% [markdown]
# The step by hand: the gradient of the cross entropy with respect to W is -(ÂX)ᵀ(Z - Y).

# %%
a_hat = graph.adjacency.toarray() + np.eye(graph.num_nodes)
a_hat /= a_hat.sum(axis=1, keepdims=True)  # the mean over a node and its neighbours
aggregated = a_hat @ graph.features
one_hot = np.eye(graph.num_classes)[graph.labels]
weight, step = np.zeros((graph.num_features, graph.num_classes)), 0.1

before = aggregated @ weight
odds = np.exp(before)
error = one_hot - odds / odds.sum(axis=1, keepdims=True)  # Z - Y
weight += step * aggregated.T @ error
by_hand = aggregated @ weight - before

# %% [markdown]
# The same through S(Â, X), which is an operator: no matrix of nodes by nodes is built.

# %%
s = similarity(graph)
by_similarity = step * (s @ error)
print(f"largest difference of the two updates: {np.abs(by_hand - by_similarity).max():.1e}")
assert np.allclose(by_hand, by_similarity)

# %% [markdown]
# No neighbour is alike (edge homophily 0), and still the first step moves every node to its class:
# what counts is who is similar after aggregation.

# %%
right = (by_similarity.argmax(axis=1) == graph.labels).mean()
print(f"edge homophily {edge_homophily(graph):.2f}, nodes moved towards their class: {right:.0%}")
print(f"aggregation homophily {aggregation_homophily(graph):.2f}")

# %%
row = s.block([0])[0]
pull = [row[graph.labels == label].sum() for label in range(graph.num_classes)]
told = ", ".join(f"{name} {p:.2f}" for name, p in zip(graph.class_names, pull, strict=True))
print(f"sum of the weights in the row of {graph.node_ids[0]}: {told}")
