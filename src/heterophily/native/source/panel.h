// A panel: channels of a layer that are multiplied as one matrix of at most 64 columns.
#pragma once
#include <vector>

#include "adam.h"

namespace hp {

constexpr int64_t kPanelColumns = 64;

template <class T>
struct Panel {
  bool aggregates = false, is_structure = false;
  int hops = 1;
  std::vector<int> channels;
  int64_t columns = 0;
  Weight<T> weight;
  Matrix<T> signal, filtered, gradient, best;  // gradient, best: output layers only
  Matrix<T> next;                        // X W of the next training step, made by the evaluation
  Matrix<T> sums;                        // of classes of nodes
  Matrix<T> hop_results[2];
  const Matrix<T>* source = nullptr;  // what the last hop multiplies
  Matrix<T> identity, aggregate;         // (1, columns)
  Matrix<T>& of_filtered() { return !gradient.empty() ? gradient : aggregates ? filtered : signal; }
  Matrix<T>& of_signal() { return aggregates || gradient.empty() ? signal : gradient; }
};

}  // namespace hp
