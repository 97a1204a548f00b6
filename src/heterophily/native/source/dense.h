// Small dense products between node states (N, H) and weights (H, columns).
#pragma once
#include "sparse.h"

namespace hp {

// Sums of a product are kept in registers, for so many vectors of columns and rows at once: rows
// of nodes in a product, of the weight in its gradient.
constexpr int kTileVectors = HP_REGISTERS / 8, kTileNodes = HP_REGISTERS < 32 ? 6 : 4, kTileRows = 4;

// out[n] (+)= in[n][0 .. inner) * weight[first .. first + inner), for all n; `start`, if given, is a
// row that every sum begins with.
template <class T>
void dense_product(const View<const T>& in, int64_t inner, const Matrix<T>& weight, int64_t first,
                   bool is_first, const View<T>& out, const Finish<T>& finish = {},
                   const T* start = nullptr) {
  const int64_t nodes = in.rows, step = weight.stride();
  const auto tile = [&](auto vectors, auto height, int64_t node, int64_t column) HP_INLINE_LAMBDA {
    constexpr int NV = decltype(vectors)::value, R = decltype(height)::value;
    Vec<T> total[R * NV];
    const T* x[R];
    HP_UNROLL
    for (int r = 0; r < R; ++r) {
      x[r] = in.row(node + r);
      HP_UNROLL
      for (int i = 0; i < NV; ++i)
        total[r * NV + i] = start != nullptr ? load(start + column + i * kLanes<T>)
                            : is_first       ? Vec<T>{}
                                             : load(out.row(node + r) + column + i * kLanes<T>);
    }
    const T* w = weight.row(first) + column;
    for (int64_t j = 0; j < inner; ++j, w += step) {
      HP_UNROLL
      for (int r = 0; r < R; ++r) {
        HP_UNROLL
        for (int i = 0; i < NV; ++i) total[r * NV + i] += load(w + i * kLanes<T>) * x[r][j];
      }
    }
    HP_UNROLL
    for (int r = 0; r < R; ++r) {
      HP_UNROLL
      for (int i = 0; i < NV; ++i)
        store(out.row(node + r) + column + i * kLanes<T>,
              finish(total[r * NV + i], column + i * kLanes<T>));
    }
  };
  // Columns of a vector or a few come first: their part of the weight stays in the cache.
  const auto rows = [&](auto vectors, auto height, int64_t column) {
    constexpr int R = decltype(height)::value;
    int64_t node = 0;
    for (; node + R <= nodes; node += R) tile(vectors, height, node, column);
    for (; node < nodes; ++node) tile(vectors, std::integral_constant<int, 1>{}, node, column);
  };
  int64_t column = 0;
  for (; column + kTileVectors * kLanes<T> <= out.stride; column += kTileVectors * kLanes<T>)
    rows(std::integral_constant<int, kTileVectors>{}, std::integral_constant<int, kTileNodes>{}, column);
  for (; column < out.stride; column += kLanes<T>)
    rows(std::integral_constant<int, 1>{}, std::integral_constant<int, 2 * kTileNodes>{}, column);
}
template <class T>
void dense_product(const Matrix<T>& in, int64_t inner, const Matrix<T>& weight, int64_t first,
                   bool is_first, Matrix<T>& out, const Finish<T>& finish = {}) {
  dense_product<T>(view(in), inner, weight, first, is_first, view(out), finish);
}

// out[j] += sum over n of in[n][j] * gradient[n]: the gradient of the weight, (inner, columns).
// Nodes come in blocks that stay in the first-level cache while all of `out` passes by.
template <class T>
void weight_gradient(const View<const T>& in, int64_t inner, const View<const T>& gradient,
                     const View<T>& out) {
  constexpr int64_t kNodes = 64;
  for (int64_t begin = 0; begin < in.rows; begin += kNodes) {
    const int64_t end = begin + kNodes < in.rows ? begin + kNodes : in.rows;
    const auto tile = [&](auto vectors, auto height, int64_t j, int64_t column) {
      constexpr int NV = decltype(vectors)::value, R = decltype(height)::value;
      Vec<T> total[R * NV];
      HP_UNROLL
      for (int r = 0; r < R; ++r) {
        HP_UNROLL
        for (int i = 0; i < NV; ++i) total[r * NV + i] = load(out.row(j + r) + column + i * kLanes<T>);
      }
      for (int64_t n = begin; n < end; ++n) {
        const T *g = gradient.row(n) + column, *x = in.row(n) + j;
        HP_UNROLL
        for (int r = 0; r < R; ++r) {
          HP_UNROLL
          for (int i = 0; i < NV; ++i) total[r * NV + i] += load(g + i * kLanes<T>) * x[r];
        }
      }
      HP_UNROLL
      for (int r = 0; r < R; ++r) {
        HP_UNROLL
        for (int i = 0; i < NV; ++i) store(out.row(j + r) + column + i * kLanes<T>, total[r * NV + i]);
      }
    };
    const auto rows = [&](auto vectors, int64_t column) {
      int64_t j = 0;
      for (; j + kTileRows <= inner; j += kTileRows)
        tile(vectors, std::integral_constant<int, kTileRows>{}, j, column);
      for (; j < inner; ++j) tile(vectors, std::integral_constant<int, 1>{}, j, column);
    };
    int64_t column = 0;
    for (; column + kTileVectors * kLanes<T> <= out.stride; column += kTileVectors * kLanes<T>)
      rows(std::integral_constant<int, kTileVectors>{}, column);
    for (; column < out.stride; column += kLanes<T>) rows(std::integral_constant<int, 1>{}, column);
  }
}
template <class T>
void weight_gradient(const Matrix<T>& in, int64_t inner, const Matrix<T>& gradient, Matrix<T>& out) {
  weight_gradient<T>(view(in), inner, view(gradient), view(out));
}

// out = transpose of rows first .. first + inner of the weight, (weight columns, inner).
template <class T>
void transpose_rows(const Matrix<T>& weight, int64_t first, int64_t inner, Matrix<T>& out) {
  for (int64_t j = 0; j < inner; ++j)
    for (int64_t c = 0; c < weight.columns(); ++c) out.row(c)[j] = weight.row(first + j)[c];
}

}  // namespace hp
