// What an evaluation finds: sums over nodes.
#pragma once
#include <cstdint>

namespace hp {

struct Score {
  double loss = 0, weight = 0;  // of the labelled nodes
  int64_t right = 0;
  void add(const Score& other) {
    loss += other.loss;
    weight += other.weight;
    right += other.right;
  }
};

}  // namespace hp
