// The C interface of graphs on disk: what heterophily/native/buckets.py and rows.py call.
#include "buckets.h"
#include "export.h"
#include "rows.h"

extern "C" {

HP_EXPORT int32_t hp_scatter_edges(hp_scatter* of, int32_t threads) {
  return hp::succeeds([&] { hp::scatter(*of, threads); });
}

HP_EXPORT int32_t hp_sort_rows(hp_sort* of, int32_t) {
  return hp::succeeds([&] { hp::sort_rows(*of); });
}

HP_EXPORT int32_t hp_count_row_labels(const hp_row_counts* of, int32_t threads) {
  return hp::succeeds([&] { hp::count_row_labels(*of, threads); });
}
}
