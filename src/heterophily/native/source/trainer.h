// One replica: epochs, the stopping rule, the choice of the reported epoch (training/fit.py).
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "graph.h"
#include "ranking.h"

namespace hp {

// training/early_stopping.py, on the validation losses so far.
inline bool has_enough(const double* losses, int64_t count, const hp_replica& replica) {
  const int64_t window = replica.window;
  if (replica.stopping == HP_STOP_WINDOW) {
    if (count < window + 2) return false;
    double total = 0;
    for (int64_t i = count - 1 - window; i < count - 1; ++i) total += losses[i];
    return losses[count - 1] > total / static_cast<double>(window);
  }
  if (replica.stopping == HP_STOP_PATIENCE) {
    if (count <= window) return false;
    const double recent = *std::min_element(losses + count - window, losses + count);
    return recent >= *std::min_element(losses, losses + count - window);
  }
  return false;
}

// Parameters that met no gradient in `epochs` steps, only weight decay.
template <class T, class Net>
void decay_unused(const Net& network, const hp_replica& replica, int64_t epochs, T* out) {
  const T* initial = static_cast<const T*>(replica.initial);
  std::vector<Adam<T>> steps;
  for (int64_t epoch = 1; epoch <= epochs; ++epoch)
    steps.emplace_back(replica.lr, replica.weight_decay, replica.is_adamw, epoch);
  network.for_unused([&](int64_t place, int64_t width) {
    Weight<T> row(1, width);
    const Matrix<T> gradient(1, width);
    std::copy(initial + place, initial + place + width, row.value.data());
    for (const Adam<T>& step : steps) step.rows(row, 0, 1, gradient.data());
    std::copy(row.value.data(), row.value.data() + width, out + place);
  });
}

// `make` builds the network: a Network or a Program.
template <class T, class Make>
void train_replica(const Graph<T>& graph, const hp_graph& problem, hp_replica& replica, Make&& make,
                   int64_t* epochs_done, const int32_t* stop) {
  const auto start = std::chrono::steady_clock::now();
  auto network = make();
  const T* initial = static_cast<const T*>(replica.initial);
  network.exchange([&](T& parameter, int64_t place) { parameter = initial[place]; });
  const Rows train{replica.train, replica.num_train};
  const Rows validation{replica.validation, replica.num_validation};
  double* train_losses = replica.history;
  double* losses = replica.history + replica.max_epochs;
  double* accuracies = replica.history + 2 * replica.max_epochs;
  std::vector<int32_t> predictions(graph.num_nodes, -1);
  const bool by_rank = replica.select_by == HP_BY_ROC_AUC;
  Ranked ranked(by_rank ? validation.count : 0, problem.num_classes);
  double best = -std::numeric_limits<double>::infinity();
  replica.best_epoch = 0;
  replica.epochs = 0;
  int32_t status = HP_MAX_EPOCHS;

  network.forward_evaluation(1);
  for (int64_t epoch = 1; epoch <= replica.max_epochs; ++epoch) {
    if (__atomic_load_n(stop, __ATOMIC_RELAXED)) {
      status = HP_INTERRUPTED;
      break;
    }
    const int64_t at = epoch - 1;
    const Adam<T> adam(replica.lr, replica.weight_decay, replica.is_adamw, epoch);
    network.forward_training(static_cast<uint64_t>(epoch));
    train_losses[at] = network.train(train, static_cast<uint64_t>(epoch), adam);
    network.forward_evaluation(static_cast<uint64_t>(epoch) + 1);
    const auto score = network.evaluate(validation, nullptr, by_rank ? &ranked : nullptr);
    losses[at] = score.loss / score.weight;
    accuracies[at] = static_cast<double>(score.right) / static_cast<double>(validation.count);
    replica.epochs = epoch;
    __atomic_store_n(epochs_done, epoch, __ATOMIC_RELAXED);
    if (!std::isfinite(train_losses[at]) || !std::isfinite(losses[at])) {
      status = HP_DIVERGED;
      break;
    }
    const double value = by_rank ? roc_auc(ranked, validation.list, validation.count, problem.labels)
                         : replica.select_by == HP_BY_ACCURACY ? accuracies[at]
                                                               : -losses[at];
    if (value > best) {
      best = value;
      replica.best_epoch = epoch;
      network.remember();
      if (replica.best != nullptr) {
        T* out = static_cast<T*>(replica.best);
        network.exchange([&](T& parameter, int64_t place) { out[place] = parameter; });
      }
    }
    if (has_enough(losses, epoch, replica)) {
      status = HP_STOPPED;
      break;
    }
  }

  if (replica.best_epoch) network.predict_best(predictions.data());
  if (replica.best_epoch && replica.best != nullptr)
    decay_unused<T>(network, replica, replica.best_epoch, static_cast<T*>(replica.best));
  int64_t right = 0;
  for (int64_t i = 0; i < replica.num_test; ++i)
    right += predictions[replica.test[i]] == problem.labels[replica.test[i]];
  replica.test_accuracy = replica.best_epoch
                              ? static_cast<double>(right) / static_cast<double>(replica.num_test)
                              : std::numeric_limits<double>::quiet_NaN();
  std::copy(predictions.begin(), predictions.end(), replica.predictions);
  replica.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  __atomic_store_n(&replica.status, status, __ATOMIC_RELEASE);  // Python watches it
}

}  // namespace hp
