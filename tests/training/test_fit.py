from functools import partial

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from heterophily.data.splits import Split
from heterophily.errors import InputError
from heterophily.training.config import TrainConfig
from heterophily.training.fit import fit
from heterophily.training.selection import ranked_right

SHORT = TrainConfig(lr=0.05, weight_decay=1e-3, max_epochs=30, window=10)


def run(problem, build, config=SHORT, *, seed=0, split=0, **options):
    return fit(
        build, problem.inputs, problem.labels, problem.splits[split], config, seed=seed, **options
    )


def identical(first, second):
    return (
        all(torch.equal(first.state[name], second.state[name]) for name in first.state)
        and np.array_equal(first.history.train_loss, second.history.train_loss)
        and np.array_equal(first.history.validation_loss, second.history.validation_loss)
        and np.array_equal(first.predictions, second.predictions)
        and first.test_accuracy == second.test_accuracy
    )


def test_losses_equal_a_plain_adam_loop_written_out(problem, models):
    """Without dropout, a textbook loop gives the same numbers."""
    config = TrainConfig(lr=0.1, weight_decay=0.01, max_epochs=15, stopping="none")
    result = run(problem, partial(models.TinyMlp, 6, 3, 0.0), config, seed=3)
    torch.manual_seed(3)
    model = models.TinyMlp(6, 3, 0.0)
    weights = list(model.parameters())
    first = [torch.zeros_like(w) for w in weights]
    second = [torch.zeros_like(w) for w in weights]
    labels = torch.from_numpy(problem.labels)
    train, validation = (torch.from_numpy(getattr(problem.splits[0], p).copy()) for p in
                         ("train", "validation"))  # fmt: skip
    for step in range(1, 16):
        loss = cross_entropy(model(problem.inputs)[train], labels[train])
        assert result.history.train_loss[step - 1] == pytest.approx(loss.item(), rel=1e-4)
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for w, g, m, v in zip(weights, gradients, first, second, strict=True):
                g = g + 0.01 * w  # the penalty is part of the gradient
                m.mul_(0.9).add_(0.1 * g)
                v.mul_(0.999).add_(0.001 * g * g)
                w -= 0.1 * (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
            shown = cross_entropy(model(problem.inputs)[validation], labels[validation])
        assert result.history.validation_loss[step - 1] == pytest.approx(shown.item(), rel=1e-4)


def test_adamw_decays_weights_without_gradient(problem, models):
    config = TrainConfig(lr=0.1, weight_decay=0.5, optimizer="adamw", max_epochs=1, stopping="none")
    labels = np.zeros(60, np.int64)  # only class 0, logits far apart: the gradient is zero
    result = fit(
        partial(models.Constant, [200.0, 0.0]), problem.inputs, labels, problem.splits[0], config,
        seed=0,
    )  # fmt: skip
    assert result.state["logits"][0].item() == pytest.approx(200.0 * (1 - 0.1 * 0.5))


def test_best_epoch_has_the_first_lowest_validation_loss(problem, models):
    result = run(problem, partial(models.TinyMlp, 6, 3), TrainConfig(lr=0.3, max_epochs=60))
    assert result.best_epoch == int(np.argmin(result.history.validation_loss)) + 1
    assert result.validation_loss == result.history.validation_loss.min()
    assert result.best_epoch < result.epochs


def test_best_epoch_by_accuracy_is_the_first_with_the_highest(problem, models):
    config = TrainConfig(lr=0.3, max_epochs=60, stopping="none", select_by="validation-accuracy")
    result = run(problem, partial(models.TinyMlp, 6, 3), config)
    assert result.best_epoch == int(np.argmax(result.history.validation_accuracy)) + 1
    assert result.validation_accuracy == result.history.validation_accuracy.max()


def test_best_epoch_by_roc_auc_ranks_as_well_as_any_other(problem, models):
    shown = problem.splits[0].validation

    def area(result):
        return ranked_right(problem.labels[shown], torch.from_numpy(result.logits[shown]))

    build, areas = partial(models.TinyMlp, 6, 3), []
    how = {"lr": 0.3, "stopping": "none", "select_by": "validation-roc-auc"}
    best = run(problem, build, TrainConfig(max_epochs=30, **how))
    for epochs in range(1, 31):
        config = TrainConfig(lr=0.3, stopping="none", max_epochs=epochs)
        result = run(problem, build, config)
        if result.best_epoch == epochs:
            areas.append(area(result))
    assert areas
    assert area(best) >= max(areas)


def test_state_predictions_and_test_accuracy_are_those_of_the_best_epoch(problem, models):
    result = run(problem, partial(models.TinyMlp, 6, 3), TrainConfig(lr=0.3, max_epochs=60))
    model = models.TinyMlp(6, 3)
    model.load_state_dict(result.state)
    predictions = model.eval()(problem.inputs).argmax(1).numpy()
    test = problem.splits[0].test
    assert np.array_equal(predictions, result.predictions)
    assert result.test_accuracy == (predictions == problem.labels)[test].mean()


def test_training_learns_a_separable_problem(problem, models):
    result = run(problem, partial(models.TinyMlp, 6, 3), TrainConfig(lr=0.05, max_epochs=300))
    assert result.test_accuracy > 0.6  # one third is chance
    assert result.status == "stopped"


def test_same_seed_twice_is_identical_and_another_seed_is_not(problem, models):
    build = partial(models.TinyMlp, 6, 3)
    first, second, other = (run(problem, build, seed=seed) for seed in (5, 5, 6))
    assert identical(first, second)
    assert not identical(first, other)


def test_result_does_not_depend_on_threads_or_earlier_draws(problem, models):
    build = partial(models.TinyMlp, 6, 3)
    first = run(problem, build)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        torch.rand(3)
        assert identical(first, run(problem, build))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_fit_leaves_the_global_generator_alone(problem, models):
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    run(problem, partial(models.TinyMlp, 6, 3))
    assert torch.equal(torch.rand(3), expected)


def test_labels_outside_the_split_are_never_read(problem, models):
    split = Split.from_parts(range(30), range(30, 40), range(40, 50), num_nodes=60)
    results = []
    for hidden in (-1, 2):
        labels = problem.labels.copy()
        labels[50:] = hidden
        build = partial(models.TinyMlp, 6, 3)
        results.append(fit(build, problem.inputs, labels, split, SHORT, seed=0))
    assert identical(*results)


def test_validation_and_test_labels_do_not_enter_the_training(problem, models):
    labels = problem.labels.copy()
    labels[~problem.splits[0].train] = 0
    build = partial(models.TinyMlp, 6, 3)
    config = SHORT.replace(stopping="none")
    first = run(problem, build, config)
    second = fit(build, problem.inputs, labels, problem.splits[0], config, seed=0)
    assert np.array_equal(first.history.train_loss, second.history.train_loss)
    assert not np.array_equal(first.history.validation_loss, second.history.validation_loss)


def test_unlabelled_node_in_a_split_is_refused_by_number(problem, models):
    labels = problem.labels.copy()
    node = int(np.flatnonzero(problem.splits[0].validation)[0])
    labels[node] = -1
    with pytest.raises(InputError, match=f"node {node} is in the validation set but has no label"):
        fit(partial(models.TinyMlp, 6, 3), problem.inputs, labels, problem.splits[0], SHORT, seed=0)


def test_split_of_another_graph_is_refused(problem, models):
    with pytest.raises(InputError, match="the split is for 60 nodes, the labels for 59"):
        fit(
            partial(models.TinyMlp, 6, 3), problem.inputs, problem.labels[:59], problem.splits[0],
            SHORT, seed=0,
        )  # fmt: skip


def test_diverged_run_says_so_and_reports_the_epoch_before(problem, models):
    result = run(problem, partial(models.Explodes, 6))  # three epochs, then NaN
    assert (result.status, result.epochs, result.best_epoch <= 3) == ("diverged", 4, True)
    assert np.isfinite(result.test_accuracy)


def test_run_that_diverges_at_once_has_no_accuracy(problem, models):
    result = run(problem, partial(models.Explodes, 0))
    assert (result.status, result.best_epoch) == ("diverged", 0)
    assert np.isnan(result.test_accuracy)
    assert np.isnan(result.validation_accuracy)
    assert (result.predictions == -1).all()


def test_stops_at_the_epoch_limit(problem, models):
    result = run(problem, partial(models.TinyMlp, 6, 3), TrainConfig(max_epochs=7))
    assert (result.status, result.epochs, len(result.history)) == ("max-epochs", 7, 7)


def test_state_is_left_out_on_request(problem, models):
    assert run(problem, partial(models.TinyMlp, 6, 3), keep_state=False).state is None


def test_time_and_memory_are_reported(problem, models):
    result = run(problem, partial(models.TinyMlp, 6, 3))
    assert result.seconds_per_epoch == pytest.approx(result.seconds / result.epochs)
    assert 20 < result.peak_memory_mb < 100_000


@pytest.mark.parametrize("device", ["tpu9", "meta"])
def test_unknown_device_is_refused(problem, models, device):
    with pytest.raises(InputError, match="use cpu or cuda"):
        run(problem, partial(models.TinyMlp, 6, 3), device=device)


def test_model_without_parameters_is_refused(problem):
    with pytest.raises(InputError, match="Identity has no trainable parameter"):
        run(problem, torch.nn.Identity)
