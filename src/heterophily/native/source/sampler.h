// Neighbours drawn from a CSR that lies in several parts, and rows gathered from panels.
//
// What a node draws follows from (seed, round, node) alone: a counter-based generator, no state.
// Threads share the nodes among themselves and never the draws, so that results are the same for
// any number of threads.
#pragma once
#include "edges.h"  // for_blocks, with_type

extern "C" {

// A CSR in parts of consecutive rows; part p holds the rows first_row[p] .. first_row[p + 1] - 1.
struct hp_parts {
  int64_t num_parts;
  int32_t index_bytes;  // 4 (unsigned) or 8
  int32_t reserved;
  const int64_t* first_row;      // (num_parts + 1,)
  const int64_t* const* indptr;  // of each part, from 0
  const void* const* indices;
};

// At most `fanout` neighbours of each of some nodes, without replacement; all of them where there
// are no more, in the order of the entries.
struct hp_draw {
  const hp_parts* parts;
  const int64_t* nodes;  // (num_nodes,)
  int64_t num_nodes, fanout;
  uint64_t seed, round;
  int64_t* counts;      // (num_nodes,): how many were drawn
  int64_t* degrees;     // (num_nodes,): of how many
  int64_t* neighbours;  // (num_nodes, fanout); the first counts[i] of each row are set
};

// Numbers for nodes in the order of their first appearance: `known` nodes first, then others.
struct hp_renumber {
  int64_t num_known, num_others;
  const int64_t *known, *others;
  int64_t* numbers;  // (num_others,): the number of each
  int64_t* nodes;    // (num_known + num_others,): the node of each number; the first ones are set
};

struct hp_gather {
  int64_t num_panels, num_rows, stride;  // stride: floats of a row of the result
  const float* const* panels;            // panel p: (N, width[p])
  const int64_t *width, *column;         // and the column of the result where it begins
  const int64_t* rows;                   // (num_rows,)
  float* out;
};
}

namespace hp {

inline uint64_t mixed(uint64_t x) {  // the finalizer of splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

class Draws {
 public:
  Draws(uint64_t seed, uint64_t round, uint64_t node) : state_(mixed(mixed(mixed(seed) ^ round) ^ node)) {}
  // A number below `bound`, which is at most 2^32: the high half of a product (bias below 2^-32).
  uint64_t below(uint64_t bound) {
    const uint64_t word = mixed(state_ += 0x9e3779b97f4a7c15ull);
    return static_cast<uint64_t>((static_cast<unsigned __int128>(word) * bound) >> 64);
  }

 private:
  uint64_t state_;
};

// Floyd's algorithm: `count` different places below `size`, in increasing order.
inline void draw_places(Draws& draws, int64_t size, int64_t count, int64_t* places) {
  constexpr int64_t kFew = 32;
  int64_t found = 0;
  for (int64_t last = size - count; last < size; ++last) {
    int64_t place = static_cast<int64_t>(draws.below(static_cast<uint64_t>(last) + 1));
    int64_t at = 0;
    if (found <= kFew) {  // without branches
      for (int64_t k = 0; k < found; ++k) at += places[k] < place;
    } else {
      at = std::lower_bound(places, places + found, place) - places;
    }
    if (at < found && places[at] == place) place = last, at = found;  // `last` is above all before it
    for (int64_t k = found++; k > at; --k) places[k] = places[k - 1];
    places[at] = place;
  }
}

template <class Index>
void draw_neighbours(const hp_draw& of, int32_t threads) {
  constexpr int64_t kNodes = 64;
  const hp_parts& parts = *of.parts;
  const int64_t* end = parts.first_row + parts.num_parts + 1;
  for_blocks((of.num_nodes + kNodes - 1) / kNodes, threads, [&](int64_t block) {
    const int64_t from = block * kNodes, to = std::min(of.num_nodes, from + kNodes);
    const Index* rows[kNodes];
    const int64_t* starts[kNodes];
    for (int64_t i = from; i < to; ++i) {  // step by step for all nodes, so that reads overlap
      const int64_t node = of.nodes[i];
      const int64_t p = std::upper_bound(parts.first_row, end, node) - parts.first_row - 1;
      starts[i - from] = parts.indptr[p] + (node - parts.first_row[p]);
      __builtin_prefetch(starts[i - from]);
      rows[i - from] = static_cast<const Index*>(parts.indices[p]);
    }
    for (int64_t i = from; i < to; ++i) {
      const int64_t node = of.nodes[i], *place = starts[i - from];
      const int64_t degree = place[1] - place[0];
      const Index* row = rows[i - from] + place[0];
      rows[i - from] = row;
      of.degrees[i] = degree;
      of.counts[i] = std::min(degree, of.fanout);
      int64_t* places = of.neighbours + i * of.fanout;
      if (degree <= of.fanout) {
        for (int64_t k = 0; k < degree; ++k) places[k] = k;
      } else {
        Draws draws(of.seed, of.round, static_cast<uint64_t>(node));
        draw_places(draws, degree, of.fanout, places);
      }
      for (int64_t k = 0; k < of.counts[i]; ++k) __builtin_prefetch(row + places[k]);
    }
    for (int64_t i = from; i < to; ++i) {
      int64_t* places = of.neighbours + i * of.fanout;
      for (int64_t k = 0; k < of.counts[i]; ++k) places[k] = static_cast<int64_t>(rows[i - from][places[k]]);
    }
  });
}

// Returns how many numbers there are. One thread: the order is that of the arguments.
inline int64_t renumber(const hp_renumber& of) {
  constexpr int64_t kAhead = 16;
  struct Slot {
    int64_t node, number;
  };
  size_t size = 64;
  while (size < 2 * static_cast<size_t>(of.num_known + of.num_others)) size *= 2;
  std::vector<Slot> slots(size, Slot{-1, 0});
  int64_t count = 0;
  const auto slot_of = [&](int64_t node) { return mixed(static_cast<uint64_t>(node)) & (size - 1); };
  const auto number_of = [&](int64_t node) {
    size_t at = slot_of(node);
    while (slots[at].node != node) {
      if (slots[at].node < 0) {
        slots[at] = {node, count}, of.nodes[count++] = node;
        break;
      }
      at = (at + 1) & (size - 1);
    }
    return slots[at].number;
  };
  for (int64_t i = 0; i < of.num_known; ++i) number_of(of.known[i]);
  for (int64_t i = 0; i < of.num_others; ++i) {
    __builtin_prefetch(&slots[slot_of(of.others[std::min(i + kAhead, of.num_others - 1)])]);
    of.numbers[i] = number_of(of.others[i]);
  }
  return count;
}

inline void gather_rows(const hp_gather& of, int32_t threads) {
  constexpr int64_t kRows = 256, kAhead = 16;
  for_blocks((of.num_rows + kRows - 1) / kRows, threads, [&](int64_t block) {
    const int64_t from = block * kRows, to = std::min(of.num_rows, from + kRows);
    for (int64_t p = 0; p < of.num_panels; ++p) {
      const int64_t width = of.width[p];
      for (int64_t i = from; i < to; ++i) {
        __builtin_prefetch(of.panels[p] + of.rows[std::min(i + kAhead, to - 1)] * width);
        const float* row = of.panels[p] + of.rows[i] * width;
        std::copy(row, row + width, of.out + i * of.stride + of.column[p]);
      }
    }
  });
}

}  // namespace hp
