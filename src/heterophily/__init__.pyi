from heterophily.comparison.compare import compare as compare
from heterophily.comparison.compare_finished import compare_portraits as compare_portraits
from heterophily.comparison.portraits import portraits as portraits
from heterophily.comparison.train import train as train
from heterophily.comparison.train import train_by_name as train_by_name
from heterophily.comparison.train_report import TrainReport as TrainReport
from heterophily.data.catalog import DATASETS as DATASETS
from heterophily.data.catalog import load as load
from heterophily.data.catalog import split_sets as split_sets
from heterophily.data.export import write_graph as write_graph
from heterophily.data.graph import Graph as Graph
from heterophily.data.interchange import as_graph as as_graph
from heterophily.data.interchange import from_dgl as from_dgl
from heterophily.data.interchange import from_networkx as from_networkx
from heterophily.data.interchange import from_pyg as from_pyg
from heterophily.data.interchange import from_scipy as from_scipy
from heterophily.data.interchange import to_networkx as to_networkx
from heterophily.data.interchange import to_pyg as to_pyg
from heterophily.data.interchange import to_scipy as to_scipy
from heterophily.data.npz import read_npz as read_npz
from heterophily.data.npz import write_npz as write_npz
from heterophily.data.report import GraphReport as GraphReport
from heterophily.data.source import GraphSource as GraphSource
from heterophily.data.source import open_graph as open_graph
from heterophily.data.splits import Split as Split
from heterophily.data.splits import SplitBatch as SplitBatch
from heterophily.data.splits import paper_random_split as paper_random_split
from heterophily.data.splits import random_splits as random_splits
from heterophily.data.splits import stratified_split as stratified_split
from heterophily.data.synthetic.class_homophily import (
    class_homophily_graph as class_homophily_graph,
)
from heterophily.data.synthetic.degree_then_edges import (
    degree_then_edges_graph as degree_then_edges_graph,
)
from heterophily.data.synthetic.edge_homophily import edge_homophily_graph as edge_homophily_graph
from heterophily.data.synthetic.regular import regular_graph as regular_graph
from heterophily.data.tables import read_tables as read_tables
from heterophily.data.tables import write_tables as write_tables
from heterophily.diagnosis.diagnose import Diagnosis as Diagnosis
from heterophily.diagnosis.diagnose import diagnose as diagnose
from heterophily.errors import DataNotFoundError as DataNotFoundError
from heterophily.errors import HeterophilyError as HeterophilyError
from heterophily.errors import InputError as InputError
from heterophily.errors import MissingExtraError as MissingExtraError
from heterophily.errors import UnknownNameError as UnknownNameError
from heterophily.estimators.classifier import AcmClassifier as AcmClassifier
from heterophily.estimators.folds import GraphKFold as GraphKFold
from heterophily.layers.acm_conv import AcmConv as AcmConv
from heterophily.layers.inputs import GraphInputs as GraphInputs
from heterophily.layers.inputs import InputOptions as InputOptions
from heterophily.layers.wrap import acm as acm
from heterophily.learning.result import FitResult as FitResult
from heterophily.metrics.adjusted_homophily import adjusted_homophily as adjusted_homophily
from heterophily.metrics.aggregation_homophily import aggregation_homophily as aggregation_homophily
from heterophily.metrics.aggregation_homophily import (
    modified_aggregation_homophily as modified_aggregation_homophily,
)
from heterophily.metrics.aggregation_similarity import (
    aggregation_similarity as aggregation_similarity,
)
from heterophily.metrics.aggregation_similarity import feature_similarity as feature_similarity
from heterophily.metrics.catalog import METRICS as METRICS
from heterophily.metrics.catalog import compute_metrics as compute_metrics
from heterophily.metrics.class_compatibility import class_compatibility as class_compatibility
from heterophily.metrics.class_homophily import class_homophily as class_homophily
from heterophily.metrics.classifier_based import classifier_metric as classifier_metric
from heterophily.metrics.diversification import (
    diversification_distinguishability as diversification_distinguishability,
)
from heterophily.metrics.diversification_limits import (
    alike_after_diversification as alike_after_diversification,
)
from heterophily.metrics.edge_homophily import edge_homophily as edge_homophily
from heterophily.metrics.estimates import estimate as estimate
from heterophily.metrics.feature_edge_similarity import (
    generalized_edge_homophily as generalized_edge_homophily,
)
from heterophily.metrics.feature_homophily import feature_homophily as feature_homophily
from heterophily.metrics.label_informativeness import label_informativeness as label_informativeness
from heterophily.metrics.metric import Metric as Metric
from heterophily.metrics.neighbourhoods import (
    cross_class_neighbourhood_similarity as cross_class_neighbourhood_similarity,
)
from heterophily.metrics.neighbourhoods import neighbourhood_contrast as neighbourhood_contrast
from heterophily.metrics.neighbourhoods import (
    neighbourhood_identifiability as neighbourhood_identifiability,
)
from heterophily.metrics.neighbourhoods import structural_homophily as structural_homophily
from heterophily.metrics.node_homophily import node_homophily as node_homophily
from heterophily.metrics.node_homophily import node_homophily_values as node_homophily_values
from heterophily.metrics.similarity import Similarity as Similarity
from heterophily.metrics.similarity import similarity as similarity
from heterophily.metrics.unbiased_homophily import unbiased_homophily as unbiased_homophily
from heterophily.metrics.walks import effective_homophily as effective_homophily
from heterophily.metrics.walks import path_homophily as path_homophily
from heterophily.metrics.walks import two_hop_homophily as two_hop_homophily
from heterophily.models.catalog import MODELS as MODELS
from heterophily.models.pyg_adapter import pyg_model as pyg_model
from heterophily.prediction.auto import auto as auto
from heterophily.prediction.build import model_of as model_of
from heterophily.prediction.explain import explain as explain
from heterophily.prediction.folder import load_model as load_model
from heterophily.prediction.folder import save_model as save_model
from heterophily.prediction.predict import Predictions as Predictions
from heterophily.prediction.predict import predict as predict
from heterophily.report.write import write_report as write_report
from heterophily.runs.executors.local import local as local
from heterophily.runs.stores.base import Store as Store
from heterophily.runs.stores.url import open_store as open_store
from heterophily.search.tune import tune as tune
from heterophily.studies.runner import run_study as run_study
from heterophily.studies.study import study as study
from heterophily.training.config import TrainConfig as TrainConfig
from heterophily.training.fit import fit as fit
from heterophily.training.replica import Replica as Replica
from heterophily.training.replicas import fit_replicas as fit_replicas

__all__: list[str]
