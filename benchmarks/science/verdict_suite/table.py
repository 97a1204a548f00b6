"""The tables of a run, from its records alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from verdict_suite.recipes import HALF
from verdict_suite.records import CONDITIONS, CRASHED, REFUSED, Key, Record, numbers_of
from verdict_suite.truth import Numbers, acceptable_kinds

KINDS = ("homophilic", "harmless", "harmful", "little")
NO_ANSWER = ("too-few", REFUSED)
ANSWERS = (*KINDS, *NO_ANSWER, CRASHED)


def outcome(record: Record) -> str:
    """Return ``"right"``, ``"wrong"`` or ``"too few"``; a refusal counts as the last."""
    if record["kind"] in NO_ANSWER:
        return "too few"
    return "right" if record["kind"] in record["truth"] else "wrong"


def lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Return a table as Markdown."""
    body = ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return ["| " + " | ".join(header) + " |", "|---" * len(header) + "|", *body, ""]


def report(diagnoses: Sequence[Record], oracles: Mapping[Key, Record]) -> str:
    """Return all tables of a run."""
    if not diagnoses:
        return "\n".join(["no diagnosis yet", "", *_truths(oracles)])
    parts = [
        *_truths(oracles),
        *_outcomes(diagnoses),
        *_confusion(diagnoses),
        *_confidence(diagnoses),
        *_wrong(diagnoses, oracles),
    ]
    return "\n".join(parts)


def _truths(oracles: Mapping[Key, Record]) -> list[str]:
    """How many graphs are of each kind, and for how many two kinds are acceptable."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for record in oracles.values():
        kinds = acceptable_kinds(numbers_of(record))
        found[HALF[record["recipe"]]][kinds[0] if len(kinds) == 1 else "either"] += 1
    rows = []
    for half, counts in sorted(found.items()):
        total = counts.total()
        shares = [f"{counts[kind]}" for kind in KINDS]
        rows.append((half, total, *shares, f"{counts['either']} ({counts['either'] / total:.0%})"))
    return ["## Graphs by kind", "", *lines(("half", "graphs", *KINDS, "either of two"), rows)]


def _outcomes(diagnoses: Sequence[Record]) -> list[str]:
    rows = []
    for half, condition, chosen in _grouped(diagnoses):
        clear = Counter(outcome(r) for r in chosen if len(r["truth"]) == 1)
        either = Counter(outcome(r) for r in chosen if len(r["truth"]) > 1)
        answered = clear["right"] + clear["wrong"]
        share = f"{clear['right'] / answered:.1%}" if answered else "-"
        seconds = sum(r["seconds"] for r in chosen) / len(chosen)
        rows.append(
            (half, condition, len(chosen), clear["right"], clear["wrong"], clear["too few"], share,
             f"{either['right']} / {either['wrong']} / {either['too few']}", f"{seconds:.1f}")
        )  # fmt: skip
    header = ("half", "condition", "graphs", "right", "wrong", "too few", "right of answered",
              "two kinds acceptable: right / wrong / too few", "seconds each")  # fmt: skip
    return ["## Verdicts", "", *lines(header, rows)]


def _confusion(diagnoses: Sequence[Record]) -> list[str]:
    rows = []
    for half, condition, chosen in _grouped(diagnoses):
        for kind in KINDS:
            counts = Counter(r["kind"] for r in chosen if r["truth"] == [kind])
            if counts:
                rows.append((half, condition, kind, *(counts[answer] or "" for answer in ANSWERS)))
    return ["## Truth and verdict", "", *lines(("half", "condition", "truth", *ANSWERS), rows)]


def _confidence(diagnoses: Sequence[Record]) -> list[str]:
    rows = []
    for half, condition, chosen in _grouped(diagnoses):
        words: dict[str, Counter[str]] = defaultdict(Counter)
        for record in chosen:
            if outcome(record) != "too few":
                words[record["confidence"]][outcome(record)] += 1
        for word, counts in sorted(words.items()):
            wrong = f"{counts['wrong'] / counts.total():.1%}"
            rows.append((half, condition, word, counts.total(), counts["wrong"], wrong))
    header = ("half", "condition", "confidence", "verdicts", "wrong", "share wrong")
    return ["## How sure, how often wrong", "", *lines(header, rows)]


def _wrong(diagnoses: Sequence[Record], oracles: Mapping[Key, Record]) -> list[str]:
    rows = []
    for record in diagnoses:
        if outcome(record) != "wrong":
            continue
        key = (record["recipe"], record["fingerprint"], record["seed"], None)
        numbers: Numbers = numbers_of(oracles[key])
        rows.append(
            (
                *(record[name] for name in ("condition", "recipe", "seed")),
                " or ".join(record["truth"]),
                f"{record['kind']} {record.get('why', '')}".strip(),
                record["confidence"],
                f"{100 * numbers.own:.1f}",
                f"{100 * numbers.gain:+.1f}",
                f"{100 * (numbers.low - numbers.own):+.1f}",
                f"{numbers.adjusted_homophily:.2f}",
                f"{numbers.label_informativeness:.3f}",
            )
        )
    header = ("condition", "recipe", "seed", "truth", "verdict", "confidence", "own",
              "gain", "low - own", "adjusted homophily", "label informativeness")  # fmt: skip
    return ["## Wrong", "", *lines(header, sorted(rows))]


def _grouped(diagnoses: Sequence[Record]) -> list[tuple[str, str, list[Record]]]:
    found: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in diagnoses:
        found[HALF[record["recipe"]], record["condition"]].append(record)
    order = list(CONDITIONS)
    keys = sorted(found, key=lambda key: (key[0], order.index(key[1])))
    return [(half, condition, found[half, condition]) for half, condition in keys]
