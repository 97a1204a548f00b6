"""AcmClassifier: any model of the package as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from heterophily.data.graph import Graph
from heterophily.data.interchange import GraphLike, as_graph
from heterophily.data.splits import Split
from heterophily.errors import InputError
from heterophily.estimators.held_out import as_mask, two_sets
from heterophily.estimators.node_data import (
    NodeData,
    graph_if_one,
    graph_of,
    is_labelled,
    labels_of,
    node_numbers,
    plain_labels,
    rows,
    some_nodes,
    whole_graph,
    without_nan,
)
from heterophily.models.spec import ModelSpec
from heterophily.prediction.members import softmax
from heterophily.prediction.model import GraphFacts, Network, TrainedModel, Vote
from heterophily.prediction.predict import Predictions, predict
from heterophily.runs.complete import complete
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.plan import Planner
from heterophily.runs.stores.memory import MemoryStore
from heterophily.training.config import TrainConfig

_READ = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}


class AcmClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify the nodes of a graph with any model of the package, ACM-GCN by default.

    A graph cannot be cut into rows: a node is classified with the help of its neighbours, also
    of those that are held out. So give the whole graph to the constructor and let X be node
    numbers: then ``cross_val_score`` and ``GridSearchCV`` divide the nodes, every fit sees all
    edges and features but only the labels of its own nodes, and is scored on the others. Without
    scikit-learn's machinery, fit a graph itself, or features with their ``adjacency``.

    | what you call | X | y |
    |---|---|---|
    | ``fit(graph)`` | a graph, as :func:`heterophily.as_graph` takes it | its labels, or one per \
node |
    | ``AcmClassifier(graph=graph).fit(X, y)`` | node numbers | one per number |
    | ``fit(X, y, adjacency=A)`` | features, dense or sparse | one per node |
    | ``fit(X, y)`` | features | one per row; there are no edges |

    Where there is a graph, the label -1 (or NaN, or None) means unlabelled; in the last form -1 is
    a class.

    Parameters
    ----------
    model
        Name in :data:`heterophily.MODELS`, or a spec of your own (:func:`heterophily.pyg_model`).
    hidden, dropout
        Width of the hidden layers and rate of the dropout; ``None`` takes those of the model (64
        and 0.5 for those of the paper). Trees and label propagation have neither.
    row_normalize
        Whether rows of counts (a sparse X that is never negative, as a bag of words) are divided by
        the sum of their absolute values. ``None`` leaves it to the model: all models of the paper
        do, but + and ++. Columns of any other X are standardised; ``options={"features":
        "as-given"}`` leaves it as it is.
    options
        Further options of the model, for example ``{"depth": 3}``.
    lr, weight_decay, max_epochs, window
        See :class:`~heterophily.TrainConfig`.
    class_weight
        ``None``: every node counts alike; ``"balanced"``: every class does; or a mapping of class
        to weight, where classes that are left out have the weight 1.
    validation_fraction
        Share of each class's training nodes that decides when to stop, unless ``fit`` is given a
        ``validation_mask``.
    graph
        The graph whose node numbers X will hold, as :func:`heterophily.as_graph` takes it.
    engine
        ``"auto"``, ``"native"`` or ``"torch"``.
    random_state
        Seed of the validation nodes, of the weights and of the dropout.

    Attributes
    ----------
    classes_
        The labels, sorted: class names, if the graph has some.
    n_features_in_
        Number of features F.
    n_iter_, best_epoch_
        Epochs trained, and the one that was kept: the lowest validation loss.
    validation_accuracy_
        Accuracy on the validation nodes at that epoch.
    channel_names_, channel_weights_
        For models with adaptive mixing: names of the K channels, and (N, K) how much of each the
        last layer keeps at each node of the training graph; rows add up to 1.
    trained_
        What :func:`heterophily.save_model` keeps in a folder.

    Examples
    --------
    >>> from heterophily.data.catalog import load
    >>> graph = load("karate")
    >>> classifier = AcmClassifier(hidden=8, max_epochs=30).fit(graph)
    >>> classifier.predict(graph).shape, classifier.channel_weights_.shape
    ((34,), (34, 3))
    """

    def __init__(
        self,
        model: str | ModelSpec = "acm-gcn",
        *,
        hidden: int | None = None,
        dropout: float | None = None,
        row_normalize: bool | None = None,
        options: Mapping[str, Any] | None = None,
        lr: float = 0.01,
        weight_decay: float = 5e-4,
        max_epochs: int = 5000,
        window: int = 200,
        class_weight: str | Mapping[Any, float] | None = None,
        validation_fraction: float = 0.25,
        graph: GraphLike | None = None,
        engine: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.model = model
        self.hidden = hidden
        self.dropout = dropout
        self.row_normalize = row_normalize
        self.options = options
        self.lr = lr
        self.weight_decay = weight_decay
        self.max_epochs = max_epochs
        self.window = window
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.graph = graph
        self.engine = engine
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        adjacency: Any = None,
        train_mask: Any = None,
        validation_mask: Any = None,
    ) -> AcmClassifier:
        """Train the model.

        Parameters
        ----------
        X, y
            See the table above.
        adjacency
            Edges between the rows of X: a SciPy sparse matrix (N, N) or an ``edge_index`` (2, E).
        train_mask, validation_mask
            (N,) masks: nodes whose labels are used. By default all labelled nodes train, and a
            ``validation_fraction`` of them decides when to stop.
        """
        network, config = self._network(), self._config()
        X = graph_if_one(X)
        data = plain_labels(self._read(X, y, adjacency))
        if data.is_known.any():
            check_classification_targets(data.labels[data.is_known])
        rng = check_random_state(self.random_state)
        sets = two_sets(
            data.is_known,
            data.labels,
            train_mask=train_mask,
            validation_mask=validation_mask,
            validation_fraction=self.validation_fraction,
            rng=rng,
        )
        used = sets.train | sets.validation
        labels = np.full(data.graph.num_nodes, -1, np.int64)
        self.classes_, labels[used] = np.unique(data.labels[used], return_inverse=True)
        config = config.replace(class_weight=self._weights())
        network = Network.on(data.graph, network.model, network.options, config.to_dict())
        names = tuple(map(str, range(self.classes_.size)))
        graph = data.graph.replace(labels=labels, class_names=names, splits=None)
        (run,) = Planner(engine=self.engine).runs_on(
            network.model,
            network.options,
            config,
            graph,
            [cast(Split, sets)],
            rule="estimator",
            seeds=[int(rng.randint(2**31 - 1))],
        )
        with MemoryStore() as store:
            done = complete([run], store=store, executor=InProcess(), keep=("logits", "state"))
            result = done.check().result(next(iter(done)), "logits", "state")
        if result.best_epoch == 0:
            raise InputError(
                "the loss was not finite in the first epoch; use a smaller learning rate than "
                f"lr={self.lr}, or features of smaller size"
            )
        self.trained_ = TrainedModel(
            networks=(network,),
            votes=(Vote(0, result.state or {}, seed=result.seed),),
            class_names=tuple(map(str, self.classes_)),
            trained_on=GraphFacts.of(data.graph, [network]),
        )
        assert result.logits is not None
        self._graph, self._probabilities = data.graph, softmax(torch.from_numpy(result.logits))
        self._mixing: Predictions | None = None
        self._has_edges, self._has_graph = adjacency is not None, self._is_graph(X)
        self.n_iter_, self.best_epoch_ = result.epochs, result.best_epoch
        self.validation_accuracy_ = result.validation_accuracy
        return self

    def predict_proba(self, X: Any, *, adjacency: Any = None) -> NDArray[np.float64]:
        """Return the probability of each class, (n, C): one row for each node or row of X.

        X has the form that it had in :meth:`fit`. After a graph it may be node numbers of that
        graph, or another graph, unless weights of the model belong to single nodes.
        """
        check_is_fitted(self)
        X = graph_if_one(X)
        if isinstance(X, Graph):
            return predict(self.trained_, X).probabilities
        if self._has_graph:
            return self._probabilities[node_numbers(X, len(self._probabilities))]
        X = validate_data(self, X, reset=False, **_READ)
        if self._has_edges and adjacency is None:
            raise InputError("the model was fitted with edges; pass adjacency for these rows too")
        return predict(self.trained_, graph_of(X, adjacency)).probabilities

    def predict(self, X: Any, *, adjacency: Any = None) -> NDArray[Any]:
        """Return the most probable class of each node or row of X, (n,)."""
        found = self.predict_proba(X, adjacency=adjacency)
        return np.asarray(self.classes_[found.argmax(1)])

    def score(self, X: Any, y: Any = None, *, adjacency: Any = None, mask: Any = None) -> float:
        """Return the share of right predictions; unlabelled nodes do not count.

        Parameters
        ----------
        X, y, adjacency
            As in :meth:`fit`; for a graph y is by default its labels.
        mask
            (n,) nodes that count, for example the test nodes. Nodes that were trained on tell
            little.
        """
        X = graph_if_one(X)
        predicted = self.predict(X, adjacency=adjacency)
        given = labels_of(X) if y is None and isinstance(X, Graph) else y
        labels = np.asarray(without_nan(given))
        if labels.shape != predicted.shape:
            raise InputError(f"y has shape {labels.shape}, expected {predicted.shape}")
        counts = np.ones(labels.shape, np.bool_)
        if self._has_graph or self._has_edges:
            counts = is_labelled(labels)
        if mask is not None:
            counts = counts & as_mask(mask, "mask", labels.size)
        if not counts.any():
            raise InputError("no labelled node is left to score")
        return float(np.mean(predicted[counts] == labels[counts]))

    @property
    def channel_names_(self) -> tuple[str, ...]:
        """Names of the channels that each layer mixes."""
        return self._mixed().channel_names

    @property
    def channel_weights_(self) -> NDArray[np.float64]:
        """How much of each channel the last layer keeps at each node of ``fit``, (N, K)."""
        return np.asarray(self._mixed().channel_weights)

    def _mixed(self) -> Predictions:
        check_is_fitted(self)
        if self._mixing is None:
            self._mixing = predict(self.trained_, self._graph)
        if self._mixing.channel_weights is None:
            raise AttributeError(f"{self.model} has no adaptive mixing, so no channel weights")
        return self._mixing

    def _network(self) -> Network:
        named = {
            "hidden": self.hidden,
            "dropout": self.dropout,
            "row_normalize": self.row_normalize,
        }
        chosen = {name: value for name, value in named.items() if value is not None}
        return Network(cast(str, self.model), {**chosen, **(self.options or {})})

    def _is_graph(self, X: Any) -> bool:
        return isinstance(X, Graph) or self.graph is not None

    def _config(self) -> TrainConfig:
        chosen = self.class_weight
        return TrainConfig(
            lr=self.lr,
            weight_decay=self.weight_decay,
            max_epochs=self.max_epochs,
            window=self.window,
            class_weight=chosen if isinstance(chosen, str) else "none",
        )

    def _weights(self) -> str | tuple[float, ...]:
        """Return the class weights for the trainer, once the classes are known."""
        given = self.class_weight
        if given is None or isinstance(given, str):
            return given or "none"
        if not isinstance(given, Mapping):
            raise InputError(f"class_weight={given!r}; give None, 'balanced' or a dict by class")
        known = self.classes_.tolist()
        unknown = [name for name in given if name not in known]
        if unknown:
            raise InputError(f"class_weight names {unknown[0]!r}; classes: {known}")
        return tuple(float(given.get(name, 1.0)) for name in known)

    def _read(self, X: Any, y: Any, adjacency: Any) -> NodeData:
        """Return what X and y stand for, by the table of the class."""
        if adjacency is not None and self._is_graph(X):
            raise InputError("adjacency belongs to features; a graph has edges of its own")
        if isinstance(X, Graph):
            self.n_features_in_ = X.num_features
            return whole_graph(X, without_nan(y))
        if y is None:
            raise InputError("AcmClassifier requires y to be passed, but the target y is None")
        if self.graph is not None:
            graph = as_graph(self.graph)
            self.n_features_in_ = graph.num_features
            return some_nodes(graph, X, without_nan(y))
        if adjacency is not None:
            y = without_nan(y)
        X, y = validate_data(self, X, y, **_READ)
        return rows(X, y, adjacency)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what is accepted: sparse features; node numbers with a graph."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.one_d_array = self.graph is not None
        return tags
