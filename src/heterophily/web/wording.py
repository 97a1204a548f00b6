"""Remedies in the words of the page: it has lists and boxes, no options."""

from __future__ import annotations

from heterophily.data.remedies import Words

PAGE_WORDS: Words = {
    "first-line-is-data": "untick “the first line has column names” if the first line is data",
    "leave-out": "choose “leave out” as the kind of the column",
    "leave-that-out": "choose “leave out” as its kind",
    "name-both-ends": "choose both ends of the edges",
    "name-edge-type": "choose the column that holds them in the list “type of edge”",
    "name-ends": "choose the ends of the edges",
    "name-id": "choose the column of ids",
    "name-label": "choose the label column",
    "or-add-unknown": "",
    "or-choose-unknown": "",
    "or-delimiter": "",
    "or-take-cells": "",
    "or-take-values": "",
    "fixed-splits": "choose the fixed splits to use them",
    "more-splits": "choose more splits",
    "raise-memory": "use the command line, which may take more",
    "random-splits": "choose random splits",
    "send-edges": "send a table of edges",
    "send-nodes": "send a table of nodes too",
    "tables": "tables",
    "use-as-labels": "the list “label” takes {first} and {second} as labels of the ends",
    "use-as-types": "the list “type of edge” keeps them apart",
    "use-as-weights": "the list “weight” uses them as weights",
}
"""The words of the page; what it cannot offer has the empty text."""
