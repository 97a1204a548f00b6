"""The structs of native/source/api.h and program_api.h, field by field."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_double, c_int32, c_int64, c_uint64, c_void_p

RESIDUALS = {"none": 0, "every-layer": 1, "once": 2}
_KINDS = (
    "features linear propagate norm gelu relu dropout add concat maximum mix batch-norm structure "
    "scores attention signed-sum bias average elu combine join columns unit "
    "gate blend solve"
)
STEPS = {name: number for number, name in enumerate(_KINDS.split())}
FORMS = {"plain": 0, "softmax": 1, "relu": 2}
STOPPING = {"loss-window": 0, "patience": 1, "none": 2}
SELECTION = {"validation-loss": 0, "validation-accuracy": 1, "validation-roc-auc": 2}
STATUS_RUNNING, STATUS_INTERRUPTED, STATUS_NO_MEMORY = -1, 3, 4
STATUS = {0: "stopped", 1: "max-epochs", 2: "diverged"}


class Sparse(Structure):
    """``hp_sparse``: a CSR matrix and its transpose."""

    _fields_ = (
        ("rows", c_int64),
        ("cols", c_int64),
        ("indptr", c_void_p),
        ("indices", c_void_p),
        ("values", c_void_p),
        ("transpose_indptr", c_void_p),
        ("transpose_indices", c_void_p),
        ("transpose_values", c_void_p),
        ("transpose_order", c_void_p),
    )


class QuotientStruct(Structure):
    """``hp_quotient``: classes of nodes with the same neighbours."""

    _fields_ = (
        ("num_classes", c_int64),
        ("member_indptr", c_void_p),
        ("members", c_void_p),
        ("class_of", c_void_p),
        ("indptr", c_void_p),
        ("indices", c_void_p),
        ("ones", c_void_p),
        ("member_scale", c_void_p),
        ("scale", c_void_p),
        ("diagonal", c_void_p),
    )


class GraphStruct(Structure):
    """``hp_graph``: what all replicas share."""

    _fields_ = (
        ("is_double", c_int32),
        ("num_classes", c_int32),
        ("num_nodes", c_int64),
        ("features", Sparse),
        ("op", Sparse),
        ("structure", Sparse),
        ("quotient", QuotientStruct),
        ("structure_quotient", QuotientStruct),
        ("labels", c_void_p),
        ("others", c_void_p),
        ("num_others", c_int64),
    )


class ChannelStruct(Structure):
    """``hp_channel``: a filter and what it works on."""

    _fields_ = (
        ("identity", c_double),
        ("aggregate", c_double),
        ("hops", c_int32),
        ("is_structure", c_int32),
    )


class LayerStruct(Structure):
    """``hp_layer``: options of a layer and places of its parameters, -1 when absent."""

    _fields_ = (
        ("width", c_int32),
        ("num_channels", c_int32),
        ("sees_features", c_int32),
        ("first_state", c_int32),
        ("num_states", c_int32),
        ("activates_first", c_int32),
        ("activates", c_int32),
        ("is_adaptive", c_int32),
        ("is_combined", c_int32),
        ("temperature", c_double),
        ("scale", c_double),
        ("channels", POINTER(ChannelStruct)),
        ("weight", c_int64),
        ("structure_weight", c_int64),
        ("vectors", c_int64),
        ("mix_weight", c_int64),
        ("norm_gain", c_int64),
        ("norm_shift", c_int64),
    )


class Model(Structure):
    """``hp_model``: the wiring."""

    _fields_ = (
        ("num_layers", c_int32),
        ("residual", c_int32),
        ("output_relu", c_int32),
        ("reserved", c_int32),
        ("layers", POINTER(LayerStruct)),
        ("hidden_residual", c_int64),
        ("hidden_bias", c_int64),
        ("output_residual", c_int64),
        ("output_bias", c_int64),
        ("num_parameters", c_int64),
        ("input_rate", c_double),
        ("rate", c_double),
    )


class ReplicaStruct(Structure):
    """``hp_replica``: one run and its results."""

    _fields_ = (
        ("model", POINTER(Model)),
        ("initial", c_void_p),
        ("lr", c_double),
        ("weight_decay", c_double),
        ("seed", c_uint64),
        ("is_adamw", c_int32),
        ("stopping", c_int32),
        ("window", c_int32),
        ("select_by", c_int32),
        ("max_epochs", c_int64),
        ("train", c_void_p),
        ("validation", c_void_p),
        ("test", c_void_p),
        ("num_train", c_int64),
        ("num_validation", c_int64),
        ("num_test", c_int64),
        ("history", c_void_p),
        ("best", c_void_p),
        ("predictions", c_void_p),
        ("test_accuracy", c_double),
        ("seconds", c_double),
        ("epochs", c_int64),
        ("best_epoch", c_int64),
        ("status", c_int32),
        ("reserved", c_int32),
    )


class StepStruct(Structure):
    """``hp_step``: what makes a value of earlier ones."""

    _fields_ = (
        ("kind", c_int32),
        ("width", c_int32),
        ("site", c_int32),
        ("num_inputs", c_int32),
        ("number", c_int32),
        ("form", c_int32),
        ("panels", c_int32),
        ("has_own_rates", c_int32),
        ("inputs", POINTER(c_int32)),
        ("first", c_double),
        ("second", c_double),
        ("weight", c_int64),
        ("bias", c_int64),
        ("running", c_int64),
        ("mixer", POINTER(LayerStruct)),
        ("table", c_void_p),
        ("heads", c_int64),
    )


class ProgramStruct(Structure):
    """``hp_program``: a network as a list of steps."""

    _fields_ = (
        ("steps", POINTER(StepStruct)),
        ("num_steps", c_int64),
        ("num_parameters", c_int64),
    )


class TaskStruct(Structure):
    """``hp_task``: one run of a network of channels or of a program, with weights of nodes."""

    _fields_ = (
        ("replica", ReplicaStruct),
        ("program", POINTER(ProgramStruct)),
        ("weights", c_void_p),
        ("own_lr", c_double),
        ("own_weight_decay", c_double),
    )
