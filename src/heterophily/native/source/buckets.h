// Sorting more edges than memory holds: edges are dealt to buckets of rows, run by run, and each
// bucket is later sorted by itself. A key is  row within the bucket << column_bits | column.
//
// Runs are cut into chunks by their length alone, never by the threads: the same keys come out in
// the same places for any number of threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "edges.h"

extern "C" {

enum hp_ways { HP_BOTH_WAYS = 0, HP_FORWARD = 1, HP_BACKWARD = 2 };

// Edges in, keys grouped by bucket out. Loops are left out and counted.
struct hp_scatter {
  int64_t count, num_nodes;
  int32_t index_bytes, ways;  // 4 or 8; hp_ways
  int32_t shift, column_bits;  // bucket of a row: row >> shift
  int64_t num_buckets;
  const void *source, *target;
  uint64_t* keys;    // room for 2 * count (both ways) or count
  int64_t* offsets;  // (num_buckets + 1): where each bucket starts
  int64_t num_loops, first_bad;  // out: loops; the first edge with an end outside 0..N-1, or -1
};

// One bucket in, CSR rows without duplicates out. `keys` and `scratch` are both written to.
struct hp_sort {
  int64_t count, num_rows;
  int32_t column_bits, key_bits;
  uint64_t *keys, *scratch;  // (count,)
  int64_t* indptr;           // (num_rows + 1,)
  uint32_t* indices;         // room for count
  int64_t num_unique;        // out
};
}

namespace hp {

template <class Index>
class Scatter {
 public:
  explicit Scatter(hp_scatter& of)
      : of_(of),
        source_(static_cast<const Index*>(of.source)),
        target_(static_cast<const Index*>(of.target)),
        mask_((uint64_t{1} << of.shift) - 1) {}

  void run(int32_t threads) {
    const int64_t chunks = (of_.count + kChunk - 1) / kChunk, buckets = of_.num_buckets;
    std::vector<int64_t> counts(static_cast<size_t>(chunks * buckets)), loops(chunks);
    std::vector<int64_t> bad(static_cast<size_t>(chunks), -1);
    for_blocks(chunks, threads, [&](int64_t chunk) { count(chunk, &counts[chunk * buckets], loops[chunk], bad[chunk]); });
    of_.num_loops = 0, of_.first_bad = -1;
    for (int64_t chunk = chunks - 1; chunk >= 0; --chunk) {
      of_.num_loops += loops[chunk];
      if (bad[chunk] >= 0) of_.first_bad = bad[chunk];
    }
    if (of_.first_bad >= 0) return;
    int64_t at = 0;
    for (int64_t bucket = 0; bucket < buckets; ++bucket) {
      of_.offsets[bucket] = at;
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        const int64_t here = counts[chunk * buckets + bucket];
        counts[chunk * buckets + bucket] = at;
        at += here;
      }
    }
    of_.offsets[buckets] = at;
    for_blocks(chunks, threads, [&](int64_t chunk) { place(chunk, &counts[chunk * buckets]); });
  }

 private:
  static constexpr int64_t kChunk = 1 << 20;

  template <class Work>
  void for_chunk(int64_t chunk, const Work& work) const {
    const int64_t end = std::min(of_.count, (chunk + 1) * kChunk);
    for (int64_t e = chunk * kChunk; e < end; ++e)
      work(e, static_cast<uint64_t>(source_[e]), static_cast<uint64_t>(target_[e]));
  }

  void count(int64_t chunk, int64_t* counts, int64_t& loops, int64_t& bad) const {
    const uint64_t nodes = static_cast<uint64_t>(of_.num_nodes);
    for_chunk(chunk, [&](int64_t e, uint64_t u, uint64_t v) {
      if (u >= nodes || v >= nodes) {  // a negative number is a large one here
        if (bad < 0) bad = e;
      } else if (u == v) {
        ++loops;
      } else {
        if (of_.ways != HP_BACKWARD) ++counts[u >> of_.shift];
        if (of_.ways != HP_FORWARD) ++counts[v >> of_.shift];
      }
    });
  }

  void place(int64_t chunk, int64_t* next) const {
    for_chunk(chunk, [&](int64_t, uint64_t u, uint64_t v) {
      if (u == v) return;
      if (of_.ways != HP_BACKWARD) put(u, v, next);
      if (of_.ways != HP_FORWARD) put(v, u, next);
    });
  }

  void put(uint64_t row, uint64_t column, int64_t* next) const {
    of_.keys[next[row >> of_.shift]++] = (row & mask_) << of_.column_bits | column;
  }

  hp_scatter& of_;
  const Index *source_, *target_;
  const uint64_t mask_;
};

inline void scatter(hp_scatter& of, int32_t threads) {
  if (of.index_bytes == 4)
    Scatter<uint32_t>(of).run(threads);
  else
    Scatter<uint64_t>(of).run(threads);
}

// Least significant digit first; digits that are the same in all keys cost nothing.
inline void sort_rows(hp_sort& of) {
  constexpr int kBits = 11;
  constexpr int64_t kSize = 1 << kBits;
  const int digits = std::max(1, (of.key_bits + kBits - 1) / kBits);
  std::vector<int64_t> counts(static_cast<size_t>(digits * kSize));
  for (int64_t i = 0; i < of.count; ++i)
    for (int digit = 0; digit < digits; ++digit)
      ++counts[digit * kSize + (of.keys[i] >> (digit * kBits) & (kSize - 1))];
  uint64_t *from = of.keys, *to = of.scratch;
  for (int digit = 0; digit < digits && of.count; ++digit) {
    int64_t* count = &counts[digit * kSize];
    const int shift = digit * kBits;
    if (count[from[0] >> shift & (kSize - 1)] == of.count) continue;
    int64_t at = 0;
    for (int64_t value = 0; value < kSize; ++value) {
      const int64_t here = count[value];
      count[value] = at;
      at += here;
    }
    for (int64_t i = 0; i < of.count; ++i) {
      const uint64_t key = from[i];
      to[count[key >> shift & (kSize - 1)]++] = key;
    }
    std::swap(from, to);
  }
  const uint64_t mask = (uint64_t{1} << of.column_bits) - 1;
  int64_t row = 0, found = 0;
  of.indptr[0] = 0;
  for (int64_t i = 0; i < of.count; ++i) {
    const uint64_t key = from[i];
    if (i && key == from[i - 1]) continue;
    for (const int64_t r = static_cast<int64_t>(key >> of.column_bits); row < r;) of.indptr[++row] = found;
    of.indices[found++] = static_cast<uint32_t>(key & mask);
  }
  while (row < of.num_rows) of.indptr[++row] = found;
  of.num_unique = found;
}

}  // namespace hp
