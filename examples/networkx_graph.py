# %% [markdown]
# # A networkx graph
#
# Southern women and the events they went to: a bipartite graph, so no neighbours are alike. Edge
# homophily calls that as bad as can be. Aggregation homophily says that neighbours tell everything.
#
# Run: `python examples/networkx_graph.py`

# %%
import networkx as nx

from heterophily import compute_metrics, diagnose, from_networkx, to_networkx

club = nx.davis_southern_women_graph()
for node, side in club.nodes(data="bipartite"):
    club.nodes[node]["kind"] = "woman" if side == 0 else "event"
    del club.nodes[node]["bipartite"]  # it would be a feature that gives the answer away

# %%
graph = from_networkx(club, label="kind")
print(graph.report)

# %%
for name, value in compute_metrics(graph).values.items():
    print(f"{name:36} {'undefined' if value is None else f'{value:.3f}'}")

# %%
diagnosis = diagnose(graph)
print(diagnosis.verdict.sentence)

# %% [markdown]
# And back: labels and node names are attributes again.

# %%
again = to_networkx(graph)
print(again)
