// Sparse times dense: every product of a layer with X, A_hat or A, and the gradients of weights
// that meet a sparse matrix, which go from registers into Adam.
#pragma once
#include "adam.h"
#include "simd.h"
#include "team.h"

namespace hp {

// A view on CSR arrays; without values every entry is 1.
template <class T>
struct Sparse {
  int64_t rows = 0;
  const int64_t* indptr = nullptr;
  const int32_t* indices = nullptr;
  const T* values = nullptr;
};

template <class T, int NV>
struct Accumulator {
  Vec<T> sum[NV];
};

// Rows of `dense` come in no order that a processor could foresee.
template <class T, int NV>
HP_INLINE void prefetch_later(const Sparse<T>& matrix, int64_t entry, const T* dense, int64_t stride) {
  constexpr int kEntriesAhead = 12;
  const int64_t last = matrix.indptr[matrix.rows] - 1;
  const int64_t later = entry + kEntriesAhead < last ? entry + kEntriesAhead : last;
  const T* row = dense + static_cast<int64_t>(matrix.indices[later]) * stride;
  HP_UNROLL
  for (int i = 0; i < kLines<NV>; ++i) __builtin_prefetch(row + i * kWide<T>);
}

// sum over entries e of values[e] * (relu of) dense[indices[e]], columns of one tile. Entry e of
// the row belongs to chain e mod chains, those that are left over at the end to chain 0.
template <class T, class Tile, bool Relu, bool Weighted = true>
HP_INLINE Accumulator<T, Tile::vectors> gather(const Sparse<T>& matrix, int64_t row, const T* dense,
                                               int64_t stride) {
  constexpr int NV = Tile::vectors, kChains = Tile::chains;
  Vec<T> part[kChains * NV];
  HP_UNROLL
  for (int i = 0; i < kChains * NV; ++i) part[i] = Vec<T>{};
  const int64_t end = matrix.indptr[row + 1];
  int64_t e = matrix.indptr[row];
  const auto add = [&](auto chain, int64_t entry) HP_INLINE_LAMBDA {
    constexpr int first = decltype(chain)::value * NV;
    const T* source = dense + static_cast<int64_t>(matrix.indices[entry]) * stride;
    // Sums over classes of nodes (no values) stay in the cache; there it would cost more than it gains.
    if constexpr (kChains < 4 && Weighted) prefetch_later<T, NV>(matrix, entry, dense, stride);
    HP_UNROLL
    for (int i = 0; i < NV; ++i) {
      Vec<T> x = load(source + i * kLanes<T>);
      if constexpr (Relu) x = relu<T>(x);
      if constexpr (Weighted)
        part[first + i] += x * matrix.values[entry];
      else
        part[first + i] += x;
    }
  };
  for (; e + kChains <= end; e += kChains) {
    add(std::integral_constant<int, 0>{}, e);
    if constexpr (kChains > 1) add(std::integral_constant<int, 1>{}, e + 1);
    if constexpr (kChains == 4) {
      add(std::integral_constant<int, 2>{}, e + 2);
      add(std::integral_constant<int, 3>{}, e + 3);
    }
  }
  for (; e < end; ++e) add(std::integral_constant<int, 0>{}, e);
  Accumulator<T, NV> total;
  HP_UNROLL
  for (int i = 0; i < NV; ++i) {
    total.sum[i] = part[i];
    if constexpr (kChains > 1) total.sum[i] += part[NV + i];
    if constexpr (kChains == 4) total.sum[i] += part[2 * NV + i] + part[3 * NV + i];
  }
  return total;
}

// The same for a range of rows: use(row, sums), with or without values.
template <class T, class Tile, bool Relu, class Use>
HP_INLINE void gather_rows(const Sparse<T>& matrix, int64_t begin, int64_t end, const T* dense,
                           int64_t stride, Use&& use) {
  if (matrix.values != nullptr)
    for (int64_t row = begin; row < end; ++row)
      use(row, gather<T, Tile, Relu, true>(matrix, row, dense, stride));
  else
    for (int64_t row = begin; row < end; ++row)
      use(row, gather<T, Tile, Relu, false>(matrix, row, dense, stride));
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

// A, A_hat or a transpose of them, as a plain matrix or through classes of nodes with equal
// neighbours.
template <class T>
struct Operator {
  Sparse<T> direct;
  Sparse<T> members, classes;  // class -> nodes (weighted), class -> classes
  const int32_t* class_of = nullptr;
  const T *scale = nullptr, *diagonal = nullptr;
  bool has_quotient() const { return class_of != nullptr; }
};

// A row of operator * dense from the sum of its class and its own diagonal.
template <class T, int NV, bool Relu>
HP_INLINE Accumulator<T, NV> of_class(const Operator<T>& op, int64_t row, const Matrix<T>& dense,
                                      const Matrix<T>& sums, int64_t column) {
  const T *shared = sums.row(op.class_of[row]) + column, *own = dense.row(row) + column;
  Accumulator<T, NV> total;
  HP_UNROLL
  for (int i = 0; i < NV; ++i) {
    Vec<T> x = load(own + i * kLanes<T>);
    if constexpr (Relu) x = relu<T>(x);
    total.sum[i] = load(shared + i * kLanes<T>) * op.scale[row] + x * op.diagonal[row];
  }
  return total;
}

// use(row, row of operator * dense) for a range of rows; `sums`: see sum_classes().
template <class T, class Tile, bool Relu, class Use>
HP_INLINE void aggregate_rows(const Operator<T>& op, int64_t begin, int64_t end,
                              const Matrix<T>& dense, const Matrix<T>& sums, int64_t column, Use&& use) {
  if (!op.has_quotient())
    return gather_rows<T, Tile, Relu>(op.direct, begin, end, dense.data() + column, dense.stride(), use);
  for (int64_t row = begin; row < end; ++row)
    use(row, of_class<T, Tile::vectors, Relu>(op, row, dense, sums, column));
}

// What a product is turned into before it is stored: f * x with a factor for each column, and a
// ReLU before or after it. Without factors it is stored as it is.
template <class T>
struct Finish {
  const T* factor = nullptr;
  bool relu_before = false, relu_after = false;
  HP_INLINE Vec<T> operator()(Vec<T> x, int64_t column) const {
    if (factor == nullptr) return x;
    if (relu_before) x = relu<T>(x);
    x = x * load(factor + column);
    return relu_after ? relu<T>(x) : x;
  }
};

// out = operator * dense (or the product with relu(dense)).
template <class T, bool Relu = false>
void multiply(Team& team, const Operator<T>& op, const Matrix<T>& dense, const Matrix<T>& sums,
              Matrix<T>& out, const Finish<T>& finish = {}) {
  team.for_rows(op.direct.rows, [&](int64_t begin, int64_t end) {
    for_tiles<T>(dense.stride(), [&](auto tile, int64_t column) {
      using Tile = decltype(tile);
      constexpr int NV = Tile::vectors;
      aggregate_rows<T, Tile, Relu>(
          op, begin, end, dense, sums, column,
          [&](int64_t row, const Accumulator<T, NV>& total) HP_INLINE_LAMBDA {
            for (int i = 0; i < NV; ++i) {
              const int64_t at = column + i * kLanes<T>;
              store(out.row(row) + at, finish(total.sum[i], at));
            }
          });
    });
  });
}
template <class T, bool Relu = false>
void multiply(Team& team, const Sparse<T>& matrix, const Matrix<T>& dense, Matrix<T>& out,
              const Finish<T>& finish = {}) {
  multiply<T, Relu>(team, Operator<T>{matrix}, dense, Matrix<T>(), out, finish);
}

// out = matrix * dense and second = the same with other values, from one reading of `dense`.
template <class T>
void multiply_both(const Sparse<T>& matrix, int64_t begin, int64_t end, const T* other_values,
                   const Matrix<T>& dense, Matrix<T>& out, Matrix<T>& second, const Finish<T>& finish) {
  for_tiles<T, 2>(dense.stride(), [&](auto tile, int64_t column) {
    using Tile = decltype(tile);
    constexpr int NV = Tile::vectors;
    for (int64_t row = begin; row < end; ++row) {
      Vec<T> total[NV], other[NV];
      HP_UNROLL
      for (int i = 0; i < NV; ++i) total[i] = other[i] = Vec<T>{};
      for (int64_t e = matrix.indptr[row]; e < matrix.indptr[row + 1]; ++e) {
        const T* source = dense.row(matrix.indices[e]) + column;
        const T value = matrix.values[e], other_value = other_values[e];
        if constexpr (Tile::chains < 4) prefetch_later<T, NV>(matrix, e, dense.data() + column, dense.stride());
        HP_UNROLL
        for (int i = 0; i < NV; ++i) {
          const Vec<T> x = load(source + i * kLanes<T>);
          total[i] += x * value;
          other[i] += x * other_value;
        }
      }
      HP_UNROLL
      for (int i = 0; i < NV; ++i) {
        const int64_t at = column + i * kLanes<T>;
        store(out.row(row) + at, finish(total[i], at));
        store(second.row(row) + at, finish(other[i], at));
      }
    }
  });
}

// For each class, the sum over the nodes beside it.
template <class T, bool Relu>
void sum_classes(Team& team, const Operator<T>& op, const Matrix<T>& dense, Matrix<T>& inner,
                 Matrix<T>& sums) {
  if (!op.has_quotient()) return;
  multiply<T, Relu>(team, op.members, dense, inner);
  multiply<T>(team, op.classes, inner, sums);
}

// out = identity * own + aggregate * (operator * dense), with one coefficient for each column: the
// filters of all channels of a panel in one product. `gate`, if given, masks the result (ACMII's
// ReLU); it may be `out` itself; `activates`: a ReLU on the result (ACM's). With `is_packed` row i
// of the list is written to row i of `out`. The sums of the classes must be up to date: sum_classes().
template <class T, bool ReluGathered, bool ReluOwn, bool Gated>
void filter(const Operator<T>& op, const Matrix<T>& dense, const Matrix<T>& own, const T* identity,
            const T* aggregate, const Rows& rows, const T* gate,
            const Matrix<T>& sums, bool is_packed, bool activates, Matrix<T>& out) {
  for_tiles<T>(dense.stride(), [&](auto tile, int64_t column) {
    using Tile = decltype(tile);
    constexpr int NV = Tile::vectors;
    Vec<T> keep[NV], move[NV];
    for (int i = 0; i < NV; ++i) {
      keep[i] = load(identity + column + i * kLanes<T>);
      move[i] = load(aggregate + column + i * kLanes<T>);
    }
    for (int64_t place = 0; place < rows.count; ++place) {
      const int64_t row = rows[place];
      const auto total =
          op.has_quotient()
              ? of_class<T, NV, ReluGathered>(op, row, dense, sums, column)
              : gather<T, Tile, ReluGathered>(op.direct, row, dense.data() + column, dense.stride());
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

// One Adam step on a weight with gradient operator * dense, a row of it for a row of the weight;
// the gradient is never stored.
template <class T>
void multiply_into_adam(Team& team, const Operator<T>& op, const Matrix<T>& dense,
                        const Matrix<T>& sums, const Adam<T>& adam, Weight<T>& weight) {
  team.for_rows(op.direct.rows, [&](int64_t begin, int64_t end) {
    for_tiles<T>(dense.stride(), [&](auto tile, int64_t column) {
      using Tile = decltype(tile);
      constexpr int NV = Tile::vectors;
      aggregate_rows<T, Tile, false>(
          op, begin, end, dense, sums, column,
          [&](int64_t row, const Accumulator<T, NV>& total) HP_INLINE_LAMBDA {
            weight.template prefetch<NV>(row + kRowsAhead, column);
            T* w = weight.value.row(row) + column;
            T* m = weight.first.row(row) + column;
            T* v = weight.second.row(row) + column;
            HP_UNROLL
            for (int i = 0; i < NV; ++i)
              adam.vector(w + i * kLanes<T>, m + i * kLanes<T>, v + i * kLanes<T>, total.sum[i]);
          });
    });
  });
}

// out += transpose(matrix) * dense in the order of the rows begin .. end of `matrix`: for few columns
// and many rows, where `out` stays in the cache and `dense` would not.
template <class T>
void scatter_add(const Sparse<T>& matrix, int64_t begin, int64_t end, const Matrix<T>& dense,
                 Matrix<T>& out) {
  for_tiles<T>(dense.stride(), [&](auto tile, int64_t column) {
    using Tile = decltype(tile);
    constexpr int NV = Tile::vectors;
    for (int64_t row = begin; row < end; ++row) {
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
