# %% [markdown]
# # Grid search with scikit-learn
#
# A node is classified with the help of its neighbours, also of those that are held out. So the
# estimator holds the whole graph and X holds node numbers: every fit sees all edges and features,
# but only the labels of its own fold, and is scored on the nodes held out.
#
# Run: `python examples/sklearn_grid.py`

# %%
import numpy as np
from sklearn.model_selection import GridSearchCV, cross_val_score

from heterophily import AcmClassifier, GraphKFold, edge_homophily_graph

# %%
rng = np.random.default_rng(0)
labels = np.arange(240) % 3
graph = edge_homophily_graph(
    homophily=0.1,
    edges=1200,
    features=np.eye(8)[labels] + rng.normal(size=(240, 8)),
    labels=labels,
    rng=rng,
)
nodes, y = np.arange(graph.num_nodes), graph.labels.copy()
unknown = rng.choice(nodes, 40, replace=False)
y[unknown] = -1  # unlabelled: in no fold, but still somebody's neighbour

# %%
folds = GraphKFold(3)
for model in ("mlp-2", "gcn", "acm-gcn"):
    classifier = AcmClassifier(model, graph=graph, max_epochs=200, window=50)
    scores = cross_val_score(classifier, nodes, y, cv=folds)
    print(f"{model:8} {scores.mean():.3f} ± {scores.std():.3f}")

# %%
search = GridSearchCV(
    AcmClassifier(graph=graph, max_epochs=200, window=50),
    {"model": ["acm-gcn", "acmii-gcn"], "dropout": [0.0, 0.5], "hidden": [16, 64]},
    cv=folds,
).fit(nodes, y)
print(search.best_params_, f"{search.best_score_:.3f}")
is_right = search.predict(unknown) == graph.labels[unknown]
print(f"right on the {unknown.size} unlabelled nodes: {is_right.mean():.2f}")
