// How fast this processor moves what an epoch moves: rows gathered from a table, and arrays that are
// read and written in order. For benchmarks/roofline.py; nothing else calls it.
#include "export.h"
#include "simd.h"

namespace {

using hp::kLanes;
using hp::load;
using hp::store;
using V = hp::Vec<float>;

constexpr int kColumns = 64, kVectors = kColumns / kLanes<float>, kAhead = 12;

}  // namespace

extern "C" {

// Adds the rows indices[0 .. count) of a table (rows of 64 floats, aligned) to `total` (64 floats);
// the sums of a run of `degree` rows stay in registers, as in a sparse product.
HP_EXPORT void hp_gather_rows(const float* table, const int32_t* indices, int64_t count,
                              int64_t degree, float* total) {
  const int64_t last = count - 1;
  for (int64_t begin = 0; begin < count; begin += degree) {
    const int64_t end = begin + degree < count ? begin + degree : count;
    V sum[kVectors];
    HP_UNROLL
    for (int i = 0; i < kVectors; ++i) sum[i] = V{};
    for (int64_t e = begin; e < end; ++e) {
      const float* row = table + static_cast<int64_t>(indices[e]) * kColumns;
      const float* next = table + static_cast<int64_t>(indices[e + kAhead < last ? e + kAhead : last]) * kColumns;
      HP_UNROLL
      for (int i = 0; i < kVectors; ++i) {
        if (i * kLanes<float> % 16 == 0) __builtin_prefetch(next + i * kLanes<float>);
        sum[i] += load(row + i * kLanes<float>);
      }
    }
    HP_UNROLL
    for (int i = 0; i < kVectors; ++i)
      store(total + i * kLanes<float>, load(total + i * kLanes<float>) + sum[i]);
  }
}

// x = 0.5 x + 1 on a whole array, `rounds` times: as many bytes written as read.
HP_EXPORT void hp_update(float* x, int64_t count, int64_t rounds) {
  for (int64_t round = 0; round < rounds; ++round)
    for (int64_t i = 0; i + kLanes<float> <= count; i += kLanes<float>)
      store(x + i, load(x + i) * 0.5f + 1.0f);
}
}
