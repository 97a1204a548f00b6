"""Sentences of the readers in the words of the page: it has lists and boxes, no options."""

from __future__ import annotations

import re

_PHRASES = (
    (
        r"pass has_header=False (\(--no-header\)|or --no-header)( if the first line is data)?",
        "untick “first line holds names” if the first line is data",
    ),
    (
        r"leave the column out (\(ignore=, --ignore\)|with ignore=\[.*?\])",
        "choose “leave out” as its kind",
    ),
    (r"name the label column with --label, or pass labels=", "choose the label column"),
    (
        r"say which (columns|two) are the ends of an edge with source= and target= \(.*?\)",
        "choose the ends of the edges",
    ),
    (r"say which with node_id= \(--id\)", "choose the column of ids"),
    (r"weight='.*?' \(--weight\) uses", "the list “weight” uses"),
    (r"edge_type='.*?' \(--edge-type\) keeps", "the list “type of edge” keeps"),
    (r"pass both source= and target=, or neither", "choose both ends of the edges"),
    (r"or pass node_id=", "or choose the column of ids"),
    (r" \(or pass the delimiter that separates them\)", ""),
    (r"pass nodes= \(--nodes\) too", "send a table of nodes too"),
    (
        r", or choose what becomes of such edges with unknown_ends= \(--unknown-ends add or drop\)",
        "",
    ),
    (r", or pass unknown_ends='add' \(--unknown-ends add\)", ""),
    (r"; labels_are_classes=True takes each value as a class", ""),
    (r" \(--edges, --nodes\)", ""),
    (r"--(directed|undirected)", "“keep direction”"),
    (r"--ignore( \S+)?", "“leave out”"),
    (r"--label", "the list “label”"),
    (r"--column \S+", "the list of kinds"),
    (r"--(source|target|weight|id)\b", r"the list “\1”"),
    (r"--edges", "the table of edges"),
    (r"--nodes", "the table of nodes"),
)
_WORDS = tuple((re.compile(pattern), words) for pattern, words in _PHRASES)


def in_page_words(sentence: str) -> str:
    """Return a sentence with the words of the page instead of options and arguments.

    >>> in_page_words("no labelled node; name the label column with --label, or pass labels=")
    'no labelled node; choose the label column'
    """
    for pattern, words in _WORDS:
        sentence = pattern.sub(words, sentence)
    return sentence
