// The metrics' side of the library: one pass over the edges of a labelled graph counts everything
// that edge, node and class homophily, the compatibility matrix and aggregation homophily need.
//
// Rows are cut into blocks by the graph alone, never by the threads, and sums over blocks are added
// in the order of the blocks: results are bit for bit the same for any number of threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

extern "C" {

// A CSR adjacency with labels, and where the results go. Label num_classes or above: no class.
struct hp_edges {
  int64_t num_nodes, num_classes;
  int32_t index_bytes, weight_bytes, label_bytes;  // 4 or 8; 4 or 8; 1 or 4
  int32_t reserved;
  const void *indptr, *indices, *weights, *labels;
  double* neighbours;   // (N, C): A Z; or nullptr, when only the totals are wanted
  double* degrees;      // (N,): row sums of A; or nullptr
  double* class_pairs;  // (C, C): Z^T A Z
  double* class_loops;  // (C,): the diagonal of A, summed over the nodes of each class
  double* shares;       // (2,): sum of own-class shares of neighbours, and over how many nodes
};

// The signal weight_v rows_v + diagonal_v e(label_v) of each node, times two matrices of class
// means: own_v and other_v use the row of the node's label; 0 for a node without a class.
struct hp_class_means {
  int64_t num_nodes, num_classes;
  const int64_t* labels;
  const double *rows, *weight, *diagonal;  // (N, C), (N,), (N,)
  const double *own_mean, *other_mean;     // (C, C)
  double *own, *other;                     // (N,)
};
}

namespace hp {

// Calls work(number) for every block, on several threads.
template <class Work>
void for_blocks(int64_t count, int32_t threads, const Work& work) {
  std::atomic<int64_t> next{0};
  const auto some = [&] {
    for (int64_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> pool;
  const int64_t wanted = std::min<int64_t>(threads, count);
  pool.reserve(static_cast<size_t>(wanted));
  try {
    for (int64_t t = 1; t < wanted; ++t) pool.emplace_back(some);
  } catch (const std::system_error&) {
  }  // fewer threads then: the work is the same
  some();
  for (std::thread& thread : pool) thread.join();
}

template <class Index, class Weight, class Label>
class EdgePass {
 public:
  explicit EdgePass(const hp_edges& graph)
      : graph_(graph),
        classes_(graph.num_classes),
        indptr_(static_cast<const Index*>(graph.indptr)),
        indices_(static_cast<const Index*>(graph.indices)),
        weights_(static_cast<const Weight*>(graph.weights)),
        labels_(static_cast<const Label*>(graph.labels)) {
    for (int64_t k = 0; k < std::min<int64_t>(classes_, kWords * kFields); ++k)
      packed_[k].word[k / kFields] = uint64_t{1} << (8 * (k % kFields));
  }

  void run(int32_t threads) {
    const int64_t nodes = graph_.num_nodes, size = classes_ * classes_ + classes_ + 2;
    // As many blocks as threads may want; their totals take no more room than A Z would.
    const int64_t count = std::clamp<int64_t>(nodes / std::max<int64_t>(classes_, 1), 1, kBlocks);
    std::vector<double> sums(static_cast<size_t>(count * size + (count + 1) * classes_));
    double* totals = sums.data();
    double* scratch = totals + count * size;  // a row for each block
    const int64_t edges = indptr_[nodes];
    const auto cut = [&](int64_t block) {  // the row at which a block of edges begins
      if (block == count) return nodes;
      const Index wanted = static_cast<Index>(edges / count * block);
      return static_cast<int64_t>(std::lower_bound(indptr_, indptr_ + nodes, wanted) - indptr_);
    };
    for_blocks(count, threads, [&](int64_t block) {
      count_rows(block == 0 ? 0 : cut(block), cut(block + 1), scratch + block * classes_,
                 Totals(totals + block * size, classes_));
    });
    for (int64_t i = size; i < count * size; ++i) totals[i % size] += totals[i];
    const Totals all(totals, classes_);
    std::copy_n(all.pairs, classes_ * classes_, graph_.class_pairs);
    std::copy_n(all.loops, classes_, graph_.class_loops);
    std::copy_n(all.shares, 2, graph_.shares);
  }

 private:
  static constexpr int kFields = 8, kWords = 2;  // classes in a word, one byte each; words
  static constexpr int64_t kFull = 255;          // neighbours that a byte can count
  static constexpr int64_t kBlocks = 64;
  struct Packed {
    uint64_t word[kWords] = {};
  };
  struct Totals {
    double *pairs, *loops, *shares;
    Totals(double* memory, int64_t classes)
        : pairs(memory), loops(pairs + classes * classes), shares(loops + classes) {}
  };

  void count_rows(int64_t first, int64_t last, double* scratch, const Totals& totals) const {
    const Weight* weights = weights_ + indptr_[first];
    int32_t differs = 0;  // without a branch, so that the loop becomes vectors
    for (int64_t e = 0, edges = indptr_[last] - indptr_[first]; e < edges; ++e)
      differs |= weights[e] != Weight{1};
    const bool is_counted = !differs && sizeof(Label) == 1;
    for (int64_t v = first; v < last; ++v) {
      double* row = graph_.neighbours ? graph_.neighbours + v * classes_ : scratch;
      const bool is_short = is_counted && indptr_[v + 1] - indptr_[v] <= kFull;
      if (is_short && classes_ <= kFields)
        count_bytes<1>(v, row, totals);
      else if (is_short && classes_ <= kWords * kFields)
        count_bytes<kWords>(v, row, totals);
      else
        add_weights(v, row, totals);
    }
  }

  // Entries of weight 1. Every class owns a byte of a word, so that the sum of the neighbours'
  // words counts all classes at once.
  template <int W>
  void count_bytes(int64_t v, double* row, const Totals& totals) const {
    const Index node = static_cast<Index>(v);
    const int64_t begin = indptr_[v], end = indptr_[v + 1], label = labels_[v];
    uint64_t sum[W] = {};
    int32_t loops = 0;
    for (int64_t e = begin; e < end; ++e) {
      const Index other = indices_[e];
      const Packed& of = packed_[labels_[other] & 255];  // a byte already; for the compiler
      for (int w = 0; w < W; ++w) sum[w] += of.word[w];
      loops += other == node;
    }
    const auto count = [&](int64_t k) {
      return static_cast<double>(sum[W == 1 ? 0 : k / kFields] >> (8 * (k % kFields)) & 255);
    };
    if (graph_.neighbours)
      for (int64_t k = 0; k < classes_; ++k) row[k] = count(k);
    if (graph_.degrees) graph_.degrees[v] = static_cast<double>(end - begin);
    if (label >= classes_) return;
    double any = 0;
    for (int64_t k = 0; k < classes_; ++k) {
      totals.pairs[label * classes_ + k] += count(k);
      any += count(k);
    }
    add_node(label, count(label), any, loops, totals);
  }

  // Any weights, added in the order of the entries, as a product of sparse and dense would.
  void add_weights(int64_t v, double* row, const Totals& totals) const {
    std::fill_n(row, classes_, 0.0);
    const int64_t label = labels_[v];
    double loops = 0, degree = 0, any = 0;
    for (int64_t e = indptr_[v]; e < indptr_[v + 1]; ++e) {
      const double weight = static_cast<double>(weights_[e]);
      const int64_t other = labels_[indices_[e]];
      if (other < classes_) row[other] += weight;
      if (indices_[e] == v) loops += weight;
      degree += weight;
    }
    if (graph_.degrees) graph_.degrees[v] = degree;
    if (label >= classes_) return;
    for (int64_t k = 0; k < classes_; ++k) {
      totals.pairs[label * classes_ + k] += row[k];
      any += row[k];
    }
    add_node(label, row[label], any, loops, totals);
  }

  static void add_node(int64_t label, double own, double any, double loops, const Totals& totals) {
    totals.loops[label] += loops;
    if (any > 0) totals.shares[0] += own / any, totals.shares[1] += 1;
  }

  const hp_edges graph_;
  const int64_t classes_;
  const Index *indptr_, *indices_;
  const Weight* weights_;
  const Label* labels_;
  Packed packed_[256];
};

// Calls work(value) with a value of the first type if `condition`, else of the second.
template <class First, class Second, class Work>
void with_type(bool condition, const Work& work) {
  condition ? work(First{}) : work(Second{});
}

inline void count_edges(const hp_edges& graph, int32_t threads) {
  with_type<int32_t, int64_t>(graph.index_bytes == 4, [&](auto index) {
    with_type<float, double>(graph.weight_bytes == 4, [&](auto weight) {
      with_type<uint8_t, uint32_t>(graph.label_bytes == 1, [&](auto label) {
        EdgePass<decltype(index), decltype(weight), decltype(label)>(graph).run(threads);
      });
    });
  });
}

inline void class_means(const hp_class_means& of, int32_t threads) {
  constexpr int64_t kRows = 16384;
  const int64_t classes = of.num_classes;
  for_blocks((of.num_nodes + kRows - 1) / kRows, threads, [&](int64_t block) {
    for (int64_t v = block * kRows; v < std::min(of.num_nodes, (block + 1) * kRows); ++v) {
      const int64_t label = of.labels[v];
      double own = 0, other = 0;
      if (label >= 0) {
        const double* row = of.rows + v * classes;
        const double* own_mean = of.own_mean + label * classes;
        const double* other_mean = of.other_mean + label * classes;
        for (int64_t k = 0; k < classes; ++k) {
          own += row[k] * own_mean[k];
          other += row[k] * other_mean[k];
        }
        own = own * of.weight[v] + of.diagonal[v] * own_mean[label];
        other = other * of.weight[v] + of.diagonal[v] * other_mean[label];
      }
      of.own[v] = own;
      of.other[v] = other;
    }
  });
}

}  // namespace hp
