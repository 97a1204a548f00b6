// The graph as all replicas share it: views on the buffers of the caller.
#pragma once
#include <algorithm>
#include <vector>

#include "api.h"
#include "sparse.h"

namespace hp {

// Features that no node has are left out: they never meet a gradient (see Network::for_unused).
template <class T>
class Graph {
 public:
  int64_t num_nodes, num_features, all_features;  // features that occur; all of them
  std::vector<int32_t> columns, unused;           // numbers of those that occur, of the others
  Sparse<T> features, features_t;
  Operator<T> op, op_t, structure, structure_t;
  std::vector<Sparse<T>> others, others_t;  // further operators
  const uint32_t* features_order;  // number of each entry of features_t

  explicit Graph(const hp_graph& graph)
      : num_nodes(graph.num_nodes), all_features(graph.features.cols),
        features(plain(graph.features)), features_t(transposed(graph.features)),
        op(with_quotient(plain(graph.op), graph.quotient, false)),
        op_t(with_quotient(transposed(graph.op), graph.quotient, true)),
        structure(with_quotient(plain(graph.structure), graph.structure_quotient, false)),
        structure_t(with_quotient(transposed(graph.structure), graph.structure_quotient, true)),
        features_order(graph.features.transpose_order) {
    for (Sparse<T>* matrix : {&structure.direct, &structure_t.direct}) drop_ones(*matrix);
    for (int64_t i = 0; i < graph.num_others; ++i) {
      others.push_back(plain(graph.others[i]));
      others_t.push_back(transposed(graph.others[i]));
    }
    std::vector<int32_t> place(all_features);
    for (int32_t f = 0; f < all_features; ++f) {
      const bool occurs = features_t.indptr[f] < features_t.indptr[f + 1];
      place[f] = static_cast<int32_t>(columns.size());
      (occurs ? columns : unused).push_back(f);
    }
    num_features = static_cast<int64_t>(columns.size());
    if (unused.empty()) return;
    const int64_t entries = features.indptr[num_nodes];
    for (int64_t e = 0; e < entries; ++e) indices_.push_back(place[features.indices[e]]);
    for (int32_t f : columns) indptr_.push_back(features_t.indptr[f]);
    indptr_.push_back(entries);
    features.indices = indices_.data();
    features_t.rows = num_features;
    features_t.indptr = indptr_.data();
  }
  Graph(const Graph&) = delete;

 private:
  static Sparse<T> plain(const hp_sparse& m) {
    return {m.rows, m.indptr, m.indices, static_cast<const T*>(m.values)};
  }
  static Sparse<T> transposed(const hp_sparse& m) {
    return {m.cols, m.transpose_indptr, m.transpose_indices,
            static_cast<const T*>(m.transpose_values)};
  }
  static Operator<T> with_quotient(const Sparse<T>& direct, const hp_quotient& q, bool is_transposed) {
    Operator<T> op{direct};
    if (q.num_classes == 0) return op;
    const auto values = [](const void* array) { return static_cast<const T*>(array); };
    op.classes = {q.num_classes, q.indptr, q.indices, nullptr};
    op.members = {q.num_classes, q.member_indptr, q.members,
                  is_transposed ? values(q.member_scale) : nullptr};
    op.class_of = q.class_of;
    op.scale = values(is_transposed ? q.ones : q.scale);
    op.diagonal = values(q.diagonal);
    return op;
  }
  static void drop_ones(Sparse<T>& matrix) {
    if (matrix.values == nullptr) return;
    const T* end = matrix.values + matrix.indptr[matrix.rows];
    if (std::all_of(matrix.values, end, [](T value) { return value == T(1); })) matrix.values = nullptr;
  }

  std::vector<int32_t> indices_;  // of features and of the rows of features_t, without the unused
  std::vector<int64_t> indptr_;
};

}  // namespace hp
