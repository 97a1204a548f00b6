// The C interface of counting without a graph: what heterophily/native/tally.py and node_sums.py call.
#include "export.h"
#include "node_sums.h"
#include "tally.h"

namespace {

template <class Struct>
hp::Tally& tally(const Struct* of) {
  return *reinterpret_cast<hp::Tally*>(of->handle);
}

}  // namespace

extern "C" {

// Returns a handle, or 0 when memory was refused.
HP_EXPORT int64_t hp_tally_open(const hp_tally_plan* plan) {
  int64_t handle = 0;
  hp::succeeds([&] { handle = reinterpret_cast<int64_t>(new hp::Tally(*plan)); });
  return handle;
}

HP_EXPORT void hp_tally_close(int64_t handle) { delete reinterpret_cast<hp::Tally*>(handle); }

HP_EXPORT void hp_tally_label(int64_t handle, const uint8_t* labels, int64_t first, int64_t count) {
  reinterpret_cast<hp::Tally*>(handle)->label(labels, first, count);
}

HP_EXPORT int32_t hp_tally_add(hp_tally_edges* of, int32_t) {
  return hp::succeeds([&] { tally(of).add(*of); });
}

HP_EXPORT int32_t hp_tally_finish(hp_tally_result* of, int32_t) {
  return hp::succeeds([&] { tally(of).finish(*of); });
}

HP_EXPORT int32_t hp_tally_read(const hp_tally_rows* of, int32_t) {
  return hp::succeeds([&] { tally(of).rows(*of); });
}

HP_EXPORT int32_t hp_sum_nodes(const hp_node_sums* of, int32_t) {
  return hp::succeeds([&] { of->label_bytes == 1 ? hp::node_sums<uint8_t>(*of) : hp::node_sums<uint32_t>(*of); });
}

HP_EXPORT int32_t hp_count_consistent(hp_consistent* of, int32_t) {
  return hp::succeeds([&] { of->label_bytes == 1 ? hp::consistent_nodes<uint8_t>(*of) : hp::consistent_nodes<uint32_t>(*of); });
}
}
