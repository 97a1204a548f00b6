"""From the export of a bank to a ranked list: two commands beside gradient boosting.

    python benchmarks/science/fraud_export.py  # 20,000 accounts, 100,000 transfers
    python benchmarks/science/fraud_export.py --accounts 2000    # a small one
    python benchmarks/science/fraud_export.py --show             # the record

Writes ``accounts.csv`` (country, age, income, two dates, plan, two yes/no columns, a text; 7 % of
the cells are empty; ``fraud`` is known for 10 % of the accounts) and ``transfers.csv`` (sender,
receiver, amount, date), then runs

    heterophily train auto --edges transfers.csv --nodes accounts.csv --label fraud --out model
    heterophily predict model --edges transfers.csv --nodes accounts.csv --out predictions.csv

and compares the ranking of the accounts whose label was held back with the truth: ROC AUC, beside
scikit-learn's histogram gradient boosting on the same columns (texts as word counts, dates as days)
with the same labels, settings chosen by five-fold cross-validation.

Fraudsters hide: their columns differ little from those of others, they do not deal with each other.
They take money from older people and pass it to a few shops, as many honest accounts do too.
Seeds 0 to 2 served to look at the recipe; seeds 3, 11 and 29 were looked at once, and are the record.
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

RECORD = shared.RESULTS / "fraud-export" / "record.json"
COUNTRIES = ("DE", "FR", "IT", "ES", "PL", "NL", "BE", "AT", "CH", "PT", "CZ", "DK")
PLANS = ("basic", "plus", "business")
WORDS = ("rent", "salary", "savings", "holiday", "student", "family", "shop", "online", "crypto")
FRAUD, KNOWN, GAPS = 0.06, 0.10, 0.07
GRID = {"learning_rate": [0.03, 0.1], "max_iter": [50, 150], "max_leaf_nodes": [4, 15]}
FEATURES = ("country", "age", "income", "opened", "last_login", "plan", "verified", "newsletter")


@dataclass(frozen=True)
class Export:
    """Two tables as columns, and which accounts are fraudulent."""

    accounts: dict[str, list[Any]]
    transfers: dict[str, list[Any]]
    is_fraud: NDArray[np.bool_]
    is_known: NDArray[np.bool_]

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write both tables; return the files of edges and nodes."""
        files = folder / "transfers.csv", folder / "accounts.csv"
        for file, table in zip(files, (self.transfers, self.accounts), strict=True):
            with file.open("w", newline="", encoding="utf-8") as out:
                writer = csv.writer(out)
                writer.writerow(table)
                writer.writerows(zip(*table.values(), strict=True))
        return files


def make_export(accounts: int = 20_000, transfers: int = 100_000, *, seed: int) -> Export:
    """Draw an export."""
    rng = np.random.default_rng([20_260_101, seed])
    is_fraud = rng.random(accounts) < FRAUD
    age = np.clip(rng.normal(np.where(is_fraud, 36, 43), 14), 18, 95)
    source, target = _transfers(is_fraud, age, transfers, rng)
    columns = _columns(is_fraud, age, rng)
    is_known = rng.random(accounts) < KNOWN
    names = np.where(is_fraud, "yes", "no")
    ids = [f"A{number:06d}" for number in range(accounts)]
    amount = np.round(np.exp(rng.normal(4.0, 1.2, transfers)), 2)
    day = np.datetime64("2025-01-01") + rng.integers(0, 365, transfers)
    return Export(
        {
            "account": ids,
            **columns,
            "fraud": np.where(is_known, names, "").tolist(),
        },
        {
            "sender": [ids[k] for k in source],
            "receiver": [ids[k] for k in target],
            "amount": amount.tolist(),
            "date": day.astype(str).tolist(),
        },
        is_fraud,
        is_known,
    )


def _transfers(
    is_fraud: NDArray[np.bool_], age: NDArray[np.float64], count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw senders and receivers: fraudsters take from older people and pay a few shops."""
    number = is_fraud.size
    activity = rng.gamma(1.5, size=number)
    honest = np.flatnonzero(~is_fraud)
    shops = rng.choice(honest, number // 40, replace=False)
    old = honest[np.argsort(-age[honest])][: honest.size // 3]
    source = rng.choice(number, count, p=activity / activity.sum())
    target = rng.choice(number, count, p=activity / activity.sum())
    to_shop = rng.random(count) < np.where(is_fraud[source], 0.55, 0.25)
    target[to_shop] = rng.choice(shops, int(to_shop.sum()))
    is_taken = is_fraud[target] & (rng.random(count) < 0.6)
    source[is_taken] = rng.choice(old, int(is_taken.sum()))
    both = is_fraud[source] & is_fraud[target]
    target[both] = rng.choice(honest, int(both.sum()))
    return source, target


def _columns(
    is_fraud: NDArray[np.bool_], age: NDArray[np.float64], rng: np.random.Generator
) -> dict[str, list[Any]]:
    """Draw the columns of the accounts; each cell is empty with the same probability."""
    number = is_fraud.size
    weights = 1.0 / np.arange(1, len(COUNTRIES) + 1)
    country = rng.choice(COUNTRIES, number, p=weights / weights.sum())
    moved = is_fraud & (rng.random(number) < 0.15)
    country[moved] = rng.choice(COUNTRIES[-4:], int(moved.sum()))
    opened = np.datetime64("2024-12-31") - (rng.exponential(1500, number)).astype(int)
    is_new = is_fraud & (rng.random(number) < 0.25)
    opened[is_new] = np.datetime64("2024-12-31") - rng.integers(0, 400, int(is_new.sum()))
    login = np.datetime64("2025-12-31") - rng.exponential(40, number).astype(int)
    likely = np.ones((number, len(WORDS)))
    likely[is_fraud, -2:] = 1.8
    likely /= likely.sum(1, keepdims=True)
    drawn = (likely.cumsum(1)[:, None, :] < rng.random((number, 4))[:, :, None]).sum(2)
    texts = [" ".join(WORDS[min(k, len(WORDS) - 1)] for k in row) for row in drawn]
    columns: dict[str, Any] = {
        "country": country,
        "age": age.astype(int),
        "income": np.round(np.exp(rng.normal(10.2, 0.6, number)), 0).astype(int),
        "opened": opened.astype(str),
        "last_login": login.astype(str),
        "plan": rng.choice(PLANS, number, p=(0.6, 0.3, 0.1)),
        "verified": np.where(rng.random(number) < np.where(is_fraud, 0.65, 0.8), "yes", "no"),
        "newsletter": np.where(rng.random(number) < 0.4, "yes", "no"),
        "note": np.array(texts),
    }
    return {
        name: np.where(rng.random(number) < GAPS, "", values.astype(str)).tolist()
        for name, values in columns.items()
    }


def boosted(export: Export, grid: dict[str, list[Any]], *, folds: int) -> dict[str, Any]:
    """Return the ROC AUC of gradient boosting on the raw columns, settings by cross-validation."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import GridSearchCV

    table = export.accounts
    columns, is_category = [], []
    for name in FEATURES:
        values = np.array(table[name])
        missing = values == ""
        if name in ("opened", "last_login"):
            numbers = np.where(missing, "1970-01-01", values).astype("datetime64[D]").astype(float)
        elif name in ("age", "income"):
            numbers = np.where(missing, "0", values).astype(float)
        else:
            numbers = np.unique(values, return_inverse=True)[1].astype(float)
        columns.append(np.where(missing, np.nan, numbers))
        is_category.append(name in ("country", "plan", "verified", "newsletter"))
    words = CountVectorizer().fit_transform(table["note"]).toarray()
    matrix = np.column_stack([*columns, words])
    known = export.is_known
    model = HistGradientBoostingClassifier(
        categorical_features=[*is_category, *[False] * words.shape[1]], random_state=0
    )
    search = GridSearchCV(model, grid, scoring="roc_auc", cv=folds)
    search.fit(matrix[known], export.is_fraud[known])
    score = search.predict_proba(matrix[~known])[:, 1]
    return {
        "roc_auc": float(roc_auc_score(export.is_fraud[~known], score)),
        "settings": search.best_params_,
    }


def by_command_line(export: Export, folder: Path, extra: list[str]) -> dict[str, Any]:
    """Run the two commands; return the ROC AUC on the accounts that were held back."""
    from sklearn.metrics import roc_auc_score

    edges, nodes = export.write(folder)
    files = ["--edges", str(edges), "--nodes", str(nodes)]
    start = time.monotonic()
    model, out = folder / "model", folder / "predictions.csv"
    train = ["train", "auto", *files, "--label", "fraud", "--out", model, *extra]
    told = shared.apart(shared.heterophily, *train).value
    shared.apart(shared.heterophily, "predict", model, *files, "--out", out)
    with out.open(newline="", encoding="utf-8") as lines:
        found = {row["node"]: float(row["p(yes)"]) for row in csv.DictReader(lines)}
    score = np.array([found[account] for account in export.accounts["account"]])  # ranked in file
    held = ~export.is_known
    first = np.argsort(-score[held])[:100]
    card = json.loads((folder / "model" / "card.json").read_text("utf-8"))
    return {
        "roc_auc": float(roc_auc_score(export.is_fraud[held], score[held])),
        "fraud_among_first_100": int(export.is_fraud[held][first].sum()),
        "verdict": card["choice"]["verdict"]["kind"],
        "trainings": card["choice"]["replicas"],
        "networks": sorted({network["model"] for network in card["networks"]}),
        "seconds": round(time.monotonic() - start),
        "told": told,
    }


def main() -> None:
    """Measure and keep the record."""
    parser = shared.parser(__doc__)
    parser.add_argument("--accounts", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--show", action="store_true", help="print the record")
    parser.add_argument("--keep", type=Path, help="write the files here, not to a temporary folder")
    given = parser.parse_args()
    if given.show:
        print(RECORD.read_text("utf-8"))
        return
    grid, folds = GRID, 5
    if given.quick:
        given.accounts, given.minutes, folds = 1_000, 0.01, 2
        grid = {name: values[:1] for name, values in GRID.items()}
    export = make_export(given.accounts, 5 * given.accounts, seed=given.seed)
    extra = [] if given.minutes is None else ["--minutes", str(given.minutes)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        ours = by_command_line(export, folder, extra)
    print(ours.pop("told"))
    record = {
        "command": f"python benchmarks/science/fraud_export.py --seed {given.seed}",
        "accounts": given.accounts,
        "transfers": 5 * given.accounts,
        "labelled": int(export.is_known.sum()),
        "fraud_labelled": int(export.is_fraud[export.is_known].sum()),
        "auto": ours,
        "gradient_boosting": boosted(export, grid, folds=folds),
    }
    print(json.dumps(record, indent=1))
    known = shared.read_json(RECORD)
    if str(given.seed) in known and given.accounts == 20_000 and not extra:
        known[str(given.seed)] = record
        shared.write_json(RECORD, known)


if __name__ == "__main__":
    main()
