// One block of rows of a sparse product with a panel: a few columns of all nodes, held in memory.
//
//   out_v = left_v (loop x_v + sum of x_u over the neighbours u of v)
//
// The sum of a row is taken in float64, in the order of its entries, by one thread: results are
// the same bits for any number of threads, any cut into blocks and any instruction set.
#pragma once
#include "edges.h"  // for_blocks, with_type

extern "C" {

struct hp_panel_rows {
  int64_t first_row, num_rows;  // of the block
  int64_t stride;               // floats between two rows of the panel: 4, 8, 16, 32 or 64
  int64_t width;                // columns of the result, at most `stride`
  int32_t index_bytes;          // 4 (unsigned) or 8
  int32_t has_loop;
  const int64_t* indptr;  // (num_rows + 1,), counted from its first value
  const void* indices;    // of indptr[0] .. indptr[num_rows]
  const double* left;     // (num_rows,)
  const float* panel;     // (N, stride)
  float* out;             // (num_rows, width), contiguous
};
}

namespace hp {

// A row of the panel may take several lines of the cache: all of them are asked for ahead, and some
// entries are added to one line after the other, so that the sums of a line stay in registers.
template <class Index, int Stride>
void panel_rows(const hp_panel_rows& of, int64_t begin, int64_t end) {
  constexpr int kLine = Stride < 16 ? Stride : 16;                     // floats added at a time
  constexpr int64_t kAhead = 24, kSome = 32;                           // entries
  const Index* indices = static_cast<const Index*>(of.indices);
  const int64_t base = of.indptr[0], last = of.indptr[of.num_rows] - base - 1;
  const auto row = [&](int64_t e) { return of.panel + static_cast<int64_t>(indices[e]) * Stride; };
  for (int64_t v = begin; v < end; ++v) {
    double sum[Stride];
    const float* own = of.panel + (of.first_row + v) * Stride;
    for (int i = 0; i < Stride; ++i) sum[i] = of.has_loop ? static_cast<double>(own[i]) : 0.0;
    const int64_t stop = of.indptr[v + 1] - base;
    for (int64_t from = of.indptr[v] - base; from < stop; from += kSome) {
      const int64_t to = from + kSome < stop ? from + kSome : stop;
      for (int at = 0; at < Stride; at += kLine) {
        double part[kLine];
        for (int i = 0; i < kLine; ++i) part[i] = sum[at + i];
        for (int64_t e = from; e < to; ++e) {
          if (at == 0) {
            const float* next = row(e + kAhead < last ? e + kAhead : last);
            for (int i = 0; i < Stride; i += kLine) __builtin_prefetch(next + i);
          }
          const float* added = row(e) + at;
          for (int i = 0; i < kLine; ++i) part[i] += static_cast<double>(added[i]);
        }
        for (int i = 0; i < kLine; ++i) sum[at + i] = part[i];
      }
    }
    float* out = of.out + v * of.width;
    const double left = of.left[v];
    if (of.width == Stride) {
      for (int i = 0; i < Stride; ++i) out[i] = static_cast<float>(sum[i] * left);
    } else {
      for (int64_t i = 0; i < of.width; ++i) out[i] = static_cast<float>(sum[i] * left);
    }
  }
}

// Rows are handed to threads in pieces of about equally many entries.
template <class Index, int Stride>
void panel_block(const hp_panel_rows& of, int32_t threads) {
  constexpr int64_t kEntries = 1 << 16;
  std::vector<int64_t> cuts{0};
  for (int64_t v = 0, from = of.indptr[0]; v < of.num_rows; ++v)
    if (of.indptr[v + 1] - from + (v + 1 - cuts.back()) >= kEntries) cuts.push_back(v + 1), from = of.indptr[v + 1];
  if (cuts.back() < of.num_rows) cuts.push_back(of.num_rows);
  for_blocks(static_cast<int64_t>(cuts.size()) - 1, threads,
             [&](int64_t i) { panel_rows<Index, Stride>(of, cuts[i], cuts[i + 1]); });
}

inline bool panel_product(const hp_panel_rows& of, int32_t threads) {
  bool is_known = true;
  with_type<uint32_t, int64_t>(of.index_bytes == 4, [&](auto index) {
    using Index = decltype(index);
    switch (of.stride) {
      case 4: return panel_block<Index, 4>(of, threads);
      case 8: return panel_block<Index, 8>(of, threads);
      case 16: return panel_block<Index, 16>(of, threads);
      case 32: return panel_block<Index, 32>(of, threads);
      case 64: return panel_block<Index, 64>(of, threads);
      default: is_known = false;
    }
  });
  return is_known;
}

}  // namespace hp
