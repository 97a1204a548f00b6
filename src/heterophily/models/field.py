"""Models of the field since the paper: one line each."""

from __future__ import annotations

from dataclasses import replace

from heterophily.layers.inputs import InputOptions
from heterophily.models.acm_sign import AcmSign, AcmSignOptions
from heterophily.models.correct_and_smooth import CorrectAndSmooth, CorrectAndSmoothOptions
from heterophily.models.fsgnn import Fsgnn, FsgnnOptions
from heterophily.models.label_propagation import LabelPropagation, LabelPropagationOptions
from heterophily.models.ordered_gnn import OrderedGnn, OrderedGnnOptions
from heterophily.models.polynormer import Polynormer, PolynormerOptions
from heterophily.models.residual import (
    DirectedNetwork,
    PlusOptions,
    ResidualNetwork,
    ResidualOptions,
)
from heterophily.models.sgformer import Sgformer, SgformerOptions
from heterophily.models.spec import ModelSpec
from heterophily.models.trees import TreesModel, TreesOptions
from heterophily.models.typed import TypedNetwork, TypedOptions

# Counts are taken as they are: rows are not divided by their sum.
WALK = InputOptions(row_normalize=False)  # random walk on A + I, as in the ACM paper
SYMMETRIC = replace(WALK, normalization="symmetric")
LOOPLESS = replace(SYMMETRIC, renormalize=False)
MEAN = replace(WALK, renormalize=False)  # mean over the neighbours
STRUCTURE = replace(WALK, with_structure=True)  # A itself too

TYPED = InputOptions(edge_types=None)  # as ACM-GCN; the graph says which types it has

AS_GIVEN = replace(STRUCTURE, features="as-given")  # trees do not care for scales

CHANNELS = ("own", "low", "high", "low-2", "degree")
WITH_LABELS = TreesOptions(columns=CHANNELS, with_labels=True)


def _residual(convolution: str, inputs: InputOptions) -> ModelSpec:
    return ModelSpec(ResidualNetwork, ResidualOptions(convolution=convolution), inputs)


def _plus(convolution: str) -> ModelSpec:
    return ModelSpec(ResidualNetwork, PlusOptions(convolution=convolution), STRUCTURE)


def _directed(convolution: str) -> ModelSpec:
    return ModelSpec(DirectedNetwork, ResidualOptions(convolution=convolution), STRUCTURE)


FIELD = {
    "res-gcn": _residual("gcn", SYMMETRIC),
    "res-sage": _residual("sage", MEAN),
    "res-gat": _residual("gat", SYMMETRIC),
    "gat-sep": _residual("gat-sep", MEAN),
    "res-fagcn": _residual("fagcn", LOOPLESS),
    "res-acm": _residual("acm", WALK),
    "res-acmii": _residual("acmii", WALK),
    "res-acm+": _plus("acm"),
    "res-acmii+": _plus("acmii"),
    "dir-gcn": _directed("dir-gcn"),
    "dir-sage": _directed("dir-sage"),
    "dir-acm": _directed("dir-acm"),
    "acm-sign": ModelSpec(AcmSign, AcmSignOptions(), WALK),
    "dir-acm-sign": ModelSpec(AcmSign, AcmSignOptions(directions="both"), STRUCTURE),
    "typed-acm": ModelSpec(TypedNetwork, TypedOptions(), TYPED),
    "fsgnn": ModelSpec(Fsgnn, FsgnnOptions(), replace(SYMMETRIC, with_structure=True)),
    "orderedgnn": ModelSpec(OrderedGnn, OrderedGnnOptions(), MEAN),
    "polynormer": ModelSpec(Polynormer, PolynormerOptions(), SYMMETRIC),
    "sgformer": ModelSpec(Sgformer, SgformerOptions(), SYMMETRIC),
    "label-propagation": ModelSpec(LabelPropagation, LabelPropagationOptions(), LOOPLESS),
    "correct-and-smooth": ModelSpec(CorrectAndSmooth, CorrectAndSmoothOptions(), LOOPLESS),
    "trees": ModelSpec(TreesModel, TreesOptions(), AS_GIVEN),
    "trees-channels": ModelSpec(TreesModel, TreesOptions(columns=CHANNELS), AS_GIVEN),
    "trees-labels": ModelSpec(TreesModel, WITH_LABELS, AS_GIVEN),
    "typed-trees": ModelSpec(TreesModel, WITH_LABELS, replace(AS_GIVEN, edge_types=None)),
}
