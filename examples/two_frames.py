# %% [markdown]
# # From two DataFrames to a ranked list
#
# Accounts and transfers as they come out of a database: numbers, words, dates and gaps. Kinds of
# columns and the ends of the edges are recognised; nothing is prepared by hand.
#
# Run: `python examples/two_frames.py` (needs pandas)

# %%
import numpy as np
import pandas as pd

import heterophily

# %% [markdown]
# ## What you would bring
#
# Fraudsters send money to a few shops. Most accounts have not been looked at: their `fraud` is
# empty.


# %%
def export(accounts: int = 240) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    is_fraud, is_shop = rng.random(accounts) < 0.25, np.arange(accounts) < 12
    known = rng.random(accounts) < 0.6
    people = pd.DataFrame(
        {
            "account": [f"AC-{number:04}" for number in range(accounts)],
            "country": rng.choice(["DE", "FR", "IT"], accounts),
            "opened": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 999, accounts), "D"),
            "income": np.where(rng.random(accounts) < 0.1, np.nan, rng.lognormal(10, 1, accounts)),
            "fraud": np.where(known, np.where(is_fraud, "yes", "no"), None),
        }
    )
    senders = np.repeat(np.arange(accounts), 4)
    to_shop = is_fraud[senders] & (rng.random(senders.size) < 0.8)
    receivers = np.where(
        to_shop,
        rng.choice(np.flatnonzero(is_shop), senders.size),
        rng.integers(0, accounts, senders.size),
    )
    names = people["account"].to_numpy()
    transfers = pd.DataFrame({"sender": names[senders], "receiver": names[receivers]})
    return transfers, people


# %% [markdown]
# ## Eight lines
#
# The verdict, a model that validation chooses, its score on nodes that it never saw, and the
# accounts that were not looked at, most suspicious first.

# %%
transfers, accounts = export()
graph = heterophily.as_graph((transfers, accounts), label="fraud")
print(heterophily.diagnose(graph, quick=True).verdict.sentence)
result = heterophily.auto(graph, minutes=0.05, workers=1)
scores = result.estimate.evaluation.scores
print(f"ROC AUC on held-out accounts: {scores['roc-auc'].values[0]:.2f}")
table = result.predict().to_frame()
unseen = table[~graph.is_labelled].sort_values("p(yes)", ascending=False)
print("most suspicious:", ", ".join(unseen["node"].head(5)))
