// Products with the features X and the gradients of the weights that meet them.
#pragma once
#include "adam.h"
#include "node_parts.h"
#include "sparse.h"

namespace hp {

// The features as an evaluation sees them, and as the training step after it will: their values
// after dropout. One reading of W serves both products.
template <class T>
struct FeatureView {
  Sparse<T> entries;
  const T* next_values;
};

// The gradient of feature weights: kept entries by column, or by row for few, long columns.
template <class T>
struct FeatureGradient {
  Sparse<T> entries;
  bool is_by_row = false;
};

// X W as an evaluation sees it and, if `next` has a shape, as the next training step will.
template <class T>
void feature_product(Team& team, const FeatureView<T>& view, const Matrix<T>& weight, Matrix<T>& out,
                     Matrix<T>& next, const Finish<T>& finish = {}) {
  if (next.empty()) return multiply<T>(team, view.entries, weight, out, finish);
  team.for_rows(view.entries.rows, [&](int64_t begin, int64_t end) {
    multiply_both<T>(view.entries, begin, end, view.next_values, weight, out, next, finish);
  });
}

template <class T>
void feature_update(Team& team, const NodeParts& parts, const FeatureGradient<T>& view,
                    const Matrix<T>& gradient, const Adam<T>& adam, int64_t num_features,
                    Weight<T>& weight) {
  if (!view.is_by_row)
    return multiply_into_adam<T>(team, Operator<T>{view.entries}, gradient, Matrix<T>(), adam, weight);
  const Matrix<T> total = sum_of_parts<T>(
      team, parts, num_features, gradient.columns(),
      [&](int64_t begin, int64_t end, Matrix<T>& sum) { scatter_add<T>(view.entries, begin, end, gradient, sum); });
  adam.rows(weight, 0, num_features, total.data());
}

}  // namespace hp
