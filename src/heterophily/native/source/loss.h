// Cross entropy of rows of logits, its gradient, and the predicted class.
#pragma once
#include "elementary.h"

namespace hp {

// Returns -log softmax(logits)[label]; `logits` (padded row) become softmax - one_hot if asked for.
template <class T>
T cross_entropy(T* logits, int64_t classes, int64_t label, bool with_gradient) {
  T top = logits[0];
  for (int64_t c = 1; c < classes; ++c) top = logits[c] > top ? logits[c] : top;
  const T chosen = logits[label] - top;
  for (int64_t c = 0; c < classes; ++c) logits[c] -= top;
  exp_inplace(logits, static_cast<int>(padded<T>(classes)));
  T total = 0;
  for (int64_t c = 0; c < classes; ++c) total += logits[c];
  if (with_gradient) {
    for (int64_t c = 0; c < classes; ++c) logits[c] /= total;
    logits[label] -= T(1);
  }
  for (int64_t c = classes; c < padded<T>(classes); ++c) logits[c] = 0;
  return static_cast<T>(log_of(total)) - chosen;
}

template <class T>
int32_t predicted_class(const T* logits, int64_t classes) {
  int64_t best = 0;
  for (int64_t c = 1; c < classes; ++c)
    if (logits[c] > logits[best]) best = c;
  return static_cast<int32_t>(best);
}

}  // namespace hp
