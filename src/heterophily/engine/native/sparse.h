// Sparse times dense: every product of a layer with X, A_hat or A, and the gradients of weights
// that meet a sparse matrix, which go from registers into Adam.
#pragma once
#include "adam.h"
#include "simd.h"

namespace hp {

// A view on CSR arrays.
template <class T>
struct Sparse {
  int64_t rows = 0;
  const int64_t* indptr = nullptr;
  const int32_t* indices = nullptr;
  const T* values = nullptr;
};

constexpr int kPrefetchAhead = 12;  // entries

template <class T, int NV>
struct Accumulator {
  Vec<T> sum[NV];
};

// sum over entries e of values[e] * (relu of) dense[indices[e]], columns of one tile.
template <class T, int NV, bool Relu>
HP_INLINE Accumulator<T, NV> gather(const Sparse<T>& matrix, int64_t row, const T* dense,
                                    int64_t stride) {
  constexpr int kUnroll = NV == 1 ? 4 : 2;  // independent chains of additions
  Vec<T> part[kUnroll * NV];
  HP_UNROLL
  for (int i = 0; i < kUnroll * NV; ++i) part[i] = Vec<T>{};
  const int64_t end = matrix.indptr[row + 1], last = matrix.indptr[matrix.rows] - 1;
  int64_t e = matrix.indptr[row];
  const auto add = [&](auto chain, int64_t entry) HP_INLINE_LAMBDA {
    constexpr int first = decltype(chain)::value * NV;
    const T* source = dense + static_cast<int64_t>(matrix.indices[entry]) * stride;
    const T value = matrix.values[entry];
    if constexpr (NV > 1) {  // rows of `dense` come in no order a processor could foresee
      const int64_t later = entry + kPrefetchAhead < last ? entry + kPrefetchAhead : last;
      const T* next = dense + static_cast<int64_t>(matrix.indices[later]) * stride;
      HP_UNROLL
      for (int i = 0; i < NV; ++i) __builtin_prefetch(next + i * kLanes<T>);
    }
    HP_UNROLL
    for (int i = 0; i < NV; ++i) {
      Vec<T> x = load(source + i * kLanes<T>);
      if constexpr (Relu) x = relu<T>(x);
      part[first + i] += x * value;
    }
  };
  for (; e + kUnroll <= end; e += kUnroll) {
    add(std::integral_constant<int, 0>{}, e);
    add(std::integral_constant<int, 1>{}, e + 1);
    if constexpr (kUnroll == 4) {
      add(std::integral_constant<int, 2>{}, e + 2);
      add(std::integral_constant<int, 3>{}, e + 3);
    }
  }
  for (; e < end; ++e) add(std::integral_constant<int, 0>{}, e);
  Accumulator<T, NV> total;
  HP_UNROLL
  for (int i = 0; i < NV; ++i) {
    total.sum[i] = part[i] + part[NV + i];
    if constexpr (kUnroll == 4) total.sum[i] += part[2 * NV + i] + part[3 * NV + i];
  }
  return total;
}

// Which rows a pass computes: a list, or all of them.
struct Rows {
  const int32_t* list = nullptr;
  int64_t count = 0;
  int64_t first = 0;  // of a range
  int64_t operator[](int64_t place) const { return list ? list[place] : first + place; }
  Rows part(int64_t begin, int64_t size) const {
    return {list ? list + begin : nullptr, size, first + begin};
  }
};

// out = matrix * dense (or out = relu-gathered product).
template <class T, bool Relu = false>
void multiply(const Sparse<T>& matrix, const Matrix<T>& dense, Matrix<T>& out) {
  for_tiles<T>(dense.stride(), [&](auto vectors, int64_t column) {
    constexpr int NV = decltype(vectors)::value;
    for (int64_t row = 0; row < matrix.rows; ++row) {
      const auto total = gather<T, NV, Relu>(matrix, row, dense.data() + column, dense.stride());
      for (int i = 0; i < NV; ++i) store(out.row(row) + column + i * kLanes<T>, total.sum[i]);
    }
  });
}

// out = (out - matrix * dense) * scale: the product of kept entries from that of all entries and
// the dropped ones, cheaper than the direct one while fewer than half are dropped.
template <class T>
void subtract_and_scale(const Sparse<T>& matrix, const Matrix<T>& dense, T scale, Matrix<T>& out) {
  for_tiles<T>(dense.stride(), [&](auto vectors, int64_t column) {
    constexpr int NV = decltype(vectors)::value;
    for (int64_t row = 0; row < matrix.rows; ++row) {
      const auto total = gather<T, NV, false>(matrix, row, dense.data() + column, dense.stride());
      T* target = out.row(row) + column;
      for (int i = 0; i < NV; ++i)
        store(target + i * kLanes<T>, (load(target + i * kLanes<T>) - total.sum[i]) * scale);
    }
  });
}

// A_hat or its transpose, as a plain matrix or through classes of nodes with equal neighbours.
template <class T>
struct Operator {
  Sparse<T> direct;
  Sparse<T> members, classes;  // class -> nodes (weighted), class -> classes
  const int32_t* class_of = nullptr;
  const T *scale = nullptr, *diagonal = nullptr;
  bool has_quotient() const { return class_of != nullptr; }
};

// For each class, the sum over the nodes beside it.
template <class T, bool Relu>
void sum_classes(const Operator<T>& op, const Matrix<T>& dense, Matrix<T>& inner, Matrix<T>& sums) {
  if (!op.has_quotient()) return;
  multiply<T, Relu>(op.members, dense, inner);
  multiply<T>(op.classes, inner, sums);
}

// out = identity * own + aggregate * (operator * dense), with one coefficient for each column: the
// filters of all channels of a panel in one product. `gate`, if given, masks the result (ACMII's
// ReLU); it may be `out` itself; `activates`: a ReLU on the result (ACM's). With `is_packed` row i of the list is written to row i of `out`.
// The sums of the classes must be up to date: sum_classes().
template <class T, bool ReluGathered, bool ReluOwn, bool Gated>
void filter(const Operator<T>& op, const Matrix<T>& dense, const Matrix<T>& own, const T* identity,
            const T* aggregate, const Rows& rows, const T* gate,
            const Matrix<T>& sums, bool is_packed, bool activates, Matrix<T>& out) {
  for_tiles<T>(dense.stride(), [&](auto vectors, int64_t column) {
    constexpr int NV = decltype(vectors)::value;
    Vec<T> keep[NV], move[NV];
    for (int i = 0; i < NV; ++i) {
      keep[i] = load(identity + column + i * kLanes<T>);
      move[i] = load(aggregate + column + i * kLanes<T>);
    }
    for (int64_t place = 0; place < rows.count; ++place) {
      const int64_t row = rows[place];
      Accumulator<T, NV> total;
      if (op.has_quotient()) {
        const T* of_class = sums.row(op.class_of[row]) + column;
        const T* of_node = dense.row(row) + column;
        for (int i = 0; i < NV; ++i) {
          Vec<T> x = load(of_node + i * kLanes<T>);
          if constexpr (ReluGathered) x = relu<T>(x);
          total.sum[i] = load(of_class + i * kLanes<T>) * op.scale[row] + x * op.diagonal[row];
        }
      } else {
        total = gather<T, NV, ReluGathered>(op.direct, row, dense.data() + column, dense.stride());
      }
      const T* mine = own.row(row) + column;
      T* target = out.row(is_packed ? place : row) + column;
      for (int i = 0; i < NV; ++i) {
        Vec<T> x = load(mine + i * kLanes<T>);
        if constexpr (ReluOwn) x = relu<T>(x);
        Vec<T> y = x * keep[i] + total.sum[i] * move[i];
        if constexpr (Gated)
          y = where_positive<T>(load(gate + row * out.stride() + column + i * kLanes<T>), y);
        if (activates) y = relu<T>(y);
        store(target + i * kLanes<T>, y);
      }
    }
  });
}

// One Adam step on rows 0 .. matrix.rows of a weight with gradient matrix * dense; the gradient
// is never stored.
template <class T>
void multiply_into_adam(const Sparse<T>& matrix, const Matrix<T>& dense, const Adam<T>& adam,
                        Weight<T>& weight) {
  for_tiles<T>(dense.stride(), [&](auto vectors, int64_t column) {
    constexpr int NV = decltype(vectors)::value;
    for (int64_t row = 0; row < matrix.rows; ++row) {
      const auto total = gather<T, NV, false>(matrix, row, dense.data() + column, dense.stride());
      T* w = weight.value.row(row) + column;
      T* m = weight.first.row(row) + column;
      T* v = weight.second.row(row) + column;
      for (int i = 0; i < NV; ++i)
        adam.vector(w + i * kLanes<T>, m + i * kLanes<T>, v + i * kLanes<T>, total.sum[i]);
    }
  });
}

// out += transpose(matrix) * dense in the order of the rows of `matrix`: for few columns and many
// rows, where `out` stays in the cache and `dense` would not.
template <class T>
void scatter_add(const Sparse<T>& matrix, const Matrix<T>& dense, Matrix<T>& out) {
  for_tiles<T>(dense.stride(), [&](auto vectors, int64_t column) {
    constexpr int NV = decltype(vectors)::value;
    for (int64_t row = 0; row < matrix.rows; ++row) {
      Vec<T> x[NV];
      for (int i = 0; i < NV; ++i) x[i] = load(dense.row(row) + column + i * kLanes<T>);
      for (int64_t e = matrix.indptr[row]; e < matrix.indptr[row + 1]; ++e) {
        T* target = out.row(matrix.indices[e]) + column;
        for (int i = 0; i < NV; ++i)
          store(target + i * kLanes<T>, load(target + i * kLanes<T>) + x[i] * matrix.values[e]);
      }
    }
  });
}

}  // namespace hp
