// Rows of a CSR matrix as it lies on disk: 64-bit row starts, 32-bit columns, all entries 1.
#pragma once
#include <algorithm>
#include <cstdint>

#include "edges.h"

extern "C" {

// For each row, how many of its columns have each label. Label num_classes or above: no class.
struct hp_row_counts {
  int64_t num_rows, num_classes;
  const int64_t* indptr;    // (rows + 1); the first entry need not be 0
  const uint32_t* indices;  // entry e of indptr is indices[e - indptr[0]]
  const void* labels;       // (N,), one byte or four
  int32_t label_bytes, reserved;
  uint32_t* counts;         // (rows, C)
};
}

namespace hp {

constexpr int64_t kRowsOfBlock = 8192;
constexpr int64_t kAhead = 24;  // entries whose label is fetched early

template <class Work>
void for_rows(int64_t rows, int32_t threads, const Work& work) {
  for_blocks((rows + kRowsOfBlock - 1) / kRowsOfBlock, threads, [&](int64_t block) {
    work(block * kRowsOfBlock, std::min(rows, (block + 1) * kRowsOfBlock));
  });
}

template <class Label>
void count_rows(const hp_row_counts& of, int32_t threads) {
  const auto* labels = static_cast<const Label*>(of.labels);
  const int64_t classes = of.num_classes, first = of.indptr[0];
  const int64_t all = of.indptr[of.num_rows] - first;
  for_rows(of.num_rows, threads, [&](int64_t from, int64_t to) {
    for (int64_t row = from; row < to; ++row) {
      uint32_t* counts = of.counts + row * classes;
      std::fill_n(counts, classes, 0u);
      for (int64_t e = of.indptr[row] - first; e < of.indptr[row + 1] - first; ++e) {
        if (e + kAhead < all) __builtin_prefetch(labels + of.indices[e + kAhead]);
        const int64_t label = labels[of.indices[e]];
        if (label < classes) ++counts[label];
      }
    }
  });
}

inline void count_row_labels(const hp_row_counts& of, int32_t threads) {
  of.label_bytes == 1 ? count_rows<uint8_t>(of, threads) : count_rows<uint32_t>(of, threads);
}

}  // namespace hp
