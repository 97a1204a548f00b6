// Nodes in parts, and sums over nodes part by part.
#pragma once
#include <algorithm>
#include <vector>

#include "simd.h"
#include "team.h"

#ifndef HP_LARGE_GRAPH  // nodes from which the threads of a team share a network of channels
#define HP_LARGE_GRAPH 100000
#endif

namespace hp {

constexpr int kBlock = 16;  // nodes of a block of a mixer

// Rows in parts: a sum over rows is made part by part, and the parts are added in order. They depend
// on the graph and the number of rows alone, so any number of threads gives the same bits. A small
// graph is one part.
struct NodeParts {
  int64_t rows, size;  // of all, of a part: whole blocks

  NodeParts(int64_t rows, int64_t num_nodes) : rows(rows), size(std::max<int64_t>(rows, 1)) {
    if (num_nodes >= HP_LARGE_GRAPH) size = (rows / kMost / kBlock + 1) * kBlock;
  }
  int64_t count() const { return (rows + size - 1) / size; }
  int64_t begin(int64_t part) const { return part * size; }
  int64_t end(int64_t part) const { return std::min(rows, (part + 1) * size); }
  // work(first row, number of rows) for the blocks of a part.
  template <class Work>
  void for_blocks(int64_t part, Work&& work) const {
    for (int64_t at = begin(part); at < end(part); at += kBlock)
      work(at, static_cast<int>(std::min<int64_t>(kBlock, end(part) - at)));
  }

 private:
  static constexpr int64_t kMost = 32;
};

// The sum that add(begin, end, sum) makes of all parts, in a new matrix.
template <class T, class Add>
Matrix<T> sum_of_parts(Team& team, const NodeParts& parts, int64_t rows, int64_t columns, Add&& add) {
  std::vector<Matrix<T>> sums(static_cast<size_t>(std::max<int64_t>(parts.count(), 1)));
  for (Matrix<T>& sum : sums) sum = Matrix<T>(rows, columns);
  team.run(parts.count(), [&](int64_t part, int) {
    add(parts.begin(part), parts.end(part), sums[static_cast<size_t>(part)]);
  });
  Matrix<T>& total = sums[0];
  if (parts.count() > 1)
    team.for_rows(rows, [&](int64_t begin, int64_t end) {
      for (size_t part = 1; part < sums.size(); ++part)
        for (T *to = total.row(begin), *from = sums[part].row(begin); to < total.row(end);
             to += kLanes<T>, from += kLanes<T>)
          store(to, load(to) + load(from));
    });
  return std::move(total);
}

}  // namespace hp
