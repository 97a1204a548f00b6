// The C interface of the metrics: what heterophily/native/edges.py calls.
#include "edges.h"

#include <new>

#define HP_EXPORT __attribute__((visibility("default")))

namespace {

// Runs an action; true unless memory was refused.
template <class Action>
int32_t succeeds(const Action& action) {
  try {
    action();
    return 1;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace

extern "C" {

HP_EXPORT int32_t hp_edge_sums(const hp_edges* graph, int32_t threads) {
  return succeeds([&] { hp::count_edges(*graph, threads); });
}

HP_EXPORT int32_t hp_label_means(const hp_class_means* means, int32_t threads) {
  return succeeds([&] { hp::class_means(*means, threads); });
}
}
