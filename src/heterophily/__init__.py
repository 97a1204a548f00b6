"""Heterophily: metrics, models and diagnosis for graphs whose neighbours are not alike.

Every public name is loaded on first use, so that ``import heterophily`` costs nothing; the stub
beside this file declares the same names for type checkers and editors.
"""

from importlib import import_module
from typing import Any

_NAMES_OF = {
    "data.catalog": "DATASETS load split_sets",
    "data.export": "write_graph",
    "data.graph": "Graph",
    "data.interchange": (
        "as_graph from_dgl from_networkx from_pyg from_scipy to_networkx to_pyg to_scipy"
    ),
    "data.npz": "read_npz write_npz",
    "data.report": "GraphReport",
    "data.source": "GraphSource open_graph",
    "data.splits": "Split SplitBatch paper_random_split random_splits stratified_split",
    "data.synthetic.class_homophily": "class_homophily_graph",
    "data.synthetic.degree_then_edges": "degree_then_edges_graph",
    "data.synthetic.edge_homophily": "edge_homophily_graph",
    "data.synthetic.regular": "regular_graph",
    "data.tables": "read_tables write_tables",
    "diagnosis.diagnose": "Diagnosis diagnose",
    "errors": "DataNotFoundError HeterophilyError InputError MissingExtraError UnknownNameError",
    "estimators.classifier": "AcmClassifier",
    "estimators.folds": "GraphKFold",
    "comparison.compare": "compare",
    "comparison.compare_finished": "compare_portraits",
    "runs.executors.local": "local",
    "comparison.portraits": "portraits",
    "studies.runner": "run_study",
    "runs.stores.base": "Store",
    "runs.stores.url": "open_store",
    "studies.study": "study",
    "comparison.train": "train train_by_name",
    "comparison.train_report": "TrainReport",
    "search.tune": "tune",
    "layers.acm_conv": "AcmConv",
    "layers.inputs": "GraphInputs InputOptions",
    "layers.wrap": "acm",
    "metrics.adjusted_homophily": "adjusted_homophily",
    "metrics.aggregation_homophily": "aggregation_homophily modified_aggregation_homophily",
    "metrics.aggregation_similarity": "aggregation_similarity feature_similarity",
    "metrics.catalog": "METRICS compute_metrics",
    "metrics.classifier_based": "classifier_metric",
    "metrics.class_compatibility": "class_compatibility",
    "metrics.class_homophily": "class_homophily",
    "metrics.diversification": "diversification_distinguishability",
    "metrics.diversification_limits": "alike_after_diversification",
    "metrics.edge_homophily": "edge_homophily",
    "metrics.estimates": "estimate",
    "metrics.feature_edge_similarity": "generalized_edge_homophily",
    "metrics.feature_homophily": "feature_homophily",
    "metrics.label_informativeness": "label_informativeness",
    "metrics.metric": "Metric",
    "metrics.neighbourhoods": "cross_class_neighbourhood_similarity neighbourhood_contrast "
    "neighbourhood_identifiability structural_homophily",
    "metrics.node_homophily": "node_homophily node_homophily_values",
    "metrics.similarity": "Similarity similarity",
    "metrics.unbiased_homophily": "unbiased_homophily",
    "metrics.walks": "effective_homophily path_homophily two_hop_homophily",
    "models.catalog": "MODELS",
    "models.pyg_adapter": "pyg_model",
    "prediction.auto": "auto",
    "prediction.build": "model_of",
    "prediction.explain": "explain",
    "prediction.folder": "load_model save_model",
    "prediction.predict": "Predictions predict",
    "report.write": "write_report",
    "training.config": "TrainConfig",
    "training.fit": "fit",
    "training.replica": "Replica",
    "training.replicas": "fit_replicas",
    "learning.result": "FitResult",
}
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'heterophily' has no attribute {name!r}")
    value = getattr(import_module(f"heterophily.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
