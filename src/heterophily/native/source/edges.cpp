// The C interface of the metrics: what heterophily/native/edges.py calls.
#include "edges.h"
#include "export.h"

extern "C" {

HP_EXPORT int32_t hp_edge_sums(const hp_edges* graph, int32_t threads) {
  return hp::succeeds([&] { hp::count_edges(*graph, threads); });
}

HP_EXPORT int32_t hp_label_means(const hp_class_means* means, int32_t threads) {
  return hp::succeeds([&] { hp::class_means(*means, threads); });
}
}
