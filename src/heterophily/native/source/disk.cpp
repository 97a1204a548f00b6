// The C interface of graphs on disk: what heterophily/native/buckets.py and rows.py call.
#include <new>

#include "buckets.h"
#include "rows.h"

#define HP_EXPORT __attribute__((visibility("default")))

namespace {

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

HP_EXPORT int32_t hp_scatter_edges(hp_scatter* of, int32_t threads) {
  return succeeds([&] { hp::scatter(*of, threads); });
}

HP_EXPORT int32_t hp_sort_rows(hp_sort* of, int32_t) {
  return succeeds([&] { hp::sort_rows(*of); });
}

HP_EXPORT int32_t hp_count_row_labels(const hp_row_counts* of, int32_t threads) {
  return succeeds([&] { hp::count_row_labels(*of, threads); });
}

HP_EXPORT int32_t hp_sum_rows(const hp_row_sums* of, int32_t threads) {
  return succeeds([&] { hp::sum_rows(*of, threads); });
}
}
