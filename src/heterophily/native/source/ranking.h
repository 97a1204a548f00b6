// The area under the ROC curve of evaluated nodes (training/selection.py).
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "simd.h"

namespace hp {

// What each node is ranked by. Two classes: the difference of its logits. More: its probabilities.
struct Ranked {
  int64_t classes = 0;
  std::vector<double> scores;  // (n, 1) or (n, classes)

  Ranked(int64_t nodes, int64_t classes)
      : classes(classes), scores(static_cast<size_t>(nodes * (classes == 2 ? 1 : classes))) {}

  // Before the cross entropy of a row, which overwrites its logits, and after it.
  template <class T>
  void before(int64_t place, const T* logits) {
    if (classes == 2) scores[place] = static_cast<double>(logits[1]) - static_cast<double>(logits[0]);
  }
  template <class T>
  void after(int64_t place, const T* exponentials) {
    if (classes == 2) return;
    double total = 0;
    for (int64_t c = 0; c < classes; ++c) total += exponentials[c];
    for (int64_t c = 0; c < classes; ++c) scores[place * classes + c] = exponentials[c] / total;
  }
};

// Share of the pairs of a node of a class and one outside it in which the first has the higher score;
// a tie counts one half. The pairs are counted exactly.
inline double share_ranked_right(const Ranked& ranked, int64_t column, int64_t columns,
                                 const std::vector<char>& is_class) {
  const int64_t count = static_cast<int64_t>(is_class.size());
  const auto score = [&](int64_t i) { return ranked.scores[static_cast<size_t>(i * columns + column)]; };
  std::vector<int64_t> order(is_class.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return score(i) < score(j); });
  double above = 0, inside = 0;
  for (int64_t begin = 0, end; begin < count; begin = end) {
    int64_t found = 0;
    for (end = begin; end < count && score(order[end]) == score(order[begin]); ++end)
      found += is_class[order[end]];
    above += static_cast<double>(found) * (static_cast<double>(begin + 1 + end) / 2);
    inside += static_cast<double>(found);
  }
  above -= inside * (inside + 1) / 2;
  return above / (inside * (static_cast<double>(count) - inside));
}

// The mean over the classes that occur among the nodes, one against the rest.
inline double roc_auc(const Ranked& ranked, const int32_t* nodes, int64_t count, const int32_t* labels) {
  const int64_t columns = ranked.classes == 2 ? 1 : ranked.classes;
  std::vector<char> is_class(static_cast<size_t>(count));
  double total = 0, classes = 0;
  for (int64_t column = 0; column < columns; ++column) {
    const int64_t asked = columns == 1 ? 1 : column;
    for (int64_t i = 0; i < count; ++i) is_class[i] = labels[nodes[i]] == asked;
    if (std::find(is_class.begin(), is_class.end(), 1) == is_class.end()) continue;
    total += share_ranked_right(ranked, column, columns, is_class);
    ++classes;
  }
  return total / classes;
}

}  // namespace hp
