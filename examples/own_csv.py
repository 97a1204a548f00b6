# %% [markdown]
# # From two CSV files to predictions
#
# A market: buyers meet sellers, fraudsters meet buyers. Hardly anybody is linked to their own kind,
# and a third of the accounts has no label yet. What are they?
#
# Run: `python examples/own_csv.py`

# %%
import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from heterophily import AcmClassifier, diagnose, read_tables

ROLES = ("buyer", "seller", "fraudster")
MEETS = {"buyer": ("seller", "fraudster"), "seller": ("buyer",), "fraudster": ("buyer",)}


# %% [markdown]
# ## The files
#
# This writes what you would bring: one row per edge, one row per node. An empty label means
# "unknown". Every other column is a feature.


# %%
def write_market(folder: Path, accounts: int = 300) -> None:
    rng = np.random.default_rng(0)
    roles = rng.choice(ROLES, accounts, p=[0.6, 0.25, 0.15])
    members = {role: np.flatnonzero(roles == role) for role in ROLES}
    with (folder / "nodes.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["account", "role", "age_days", "trades", "mean_price"])
        for number, role in enumerate(roles):
            skill = ROLES.index(role)
            rows.writerow(
                [
                    f"a{number}",
                    "" if number % 3 == 0 else role,
                    f"{rng.gamma(4, 100):.0f}",
                    f"{rng.poisson(5 + 2 * skill)}",
                    f"{rng.normal(20 + 3 * skill, 6):.2f}",
                ]
            )
    with (folder / "edges.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["source", "target"])
        for number, role in enumerate(roles):
            for other in rng.choice(MEETS[role], 4):
                rows.writerow([f"a{number}", f"a{rng.choice(members[other])}"])


# %% [markdown]
# ## Read, diagnose, train, predict
#
# `graph.report` tells what was found and what was done; nothing is repaired silently. The command
# `heterophily diagnose --edges edges.csv --nodes nodes.csv --label role` prints the same verdict.

# %%
with TemporaryDirectory() as folder:
    write_market(Path(folder))
    graph = read_tables(f"{folder}/edges.csv", f"{folder}/nodes.csv", label="role")
print(graph.report)
print(diagnose(graph).verdict.sentence)

# %%
is_test = graph.is_labelled & (np.arange(graph.num_nodes) % 5 == 0)  # kept aside to be honest
classifier = AcmClassifier(lr=0.02, max_epochs=300)
classifier.fit(graph, train_mask=graph.is_labelled & ~is_test)
print(
    f"accuracy on {is_test.sum()} accounts kept aside: {classifier.score(graph, mask=is_test):.2f}"
)

# %%
shares = classifier.predict_proba(graph)
low, high, identity = classifier.channel_weights_.mean(0)
print(f"mean weight of the channels: low {low:.2f}, high {high:.2f}, identity {identity:.2f}")
for node in np.flatnonzero(~graph.is_labelled)[:5]:
    best = int(shares[node].argmax())
    print(f"{graph.node_ids[node]}: {graph.class_names[best]} ({shares[node, best]:.0%})")
