// Small dense products between node states (N, H) and weights (H, columns).
#pragma once
#include "sparse.h"

namespace hp {

constexpr int kRowsAtOnce = 8;

// out[n] (+)= in[n][0 .. inner) * weight[first .. first + inner), for all n.
template <class T>
void dense_product(const Matrix<T>& in, int64_t inner, const Matrix<T>& weight, int64_t first,
                   bool is_first, Matrix<T>& out, const Finish<T>& finish = {}) {
  constexpr int most = 4;  // vectors of columns at once: 4 x 4 accumulators, or 8 x 1
  const int64_t nodes = in.rows(), step = weight.stride();
  const auto tile = [&](auto vectors, auto height, int64_t node, int64_t column) {
    constexpr int NV = decltype(vectors)::value, R = decltype(height)::value;
    Vec<T> total[R * NV];
    const T* rows[R];
    HP_UNROLL
    for (int r = 0; r < R; ++r) {
      rows[r] = in.row(node + r);
      HP_UNROLL
      for (int i = 0; i < NV; ++i)
        total[r * NV + i] =
            is_first ? Vec<T>{} : load(out.row(node + r) + column + i * kLanes<T>);
    }
    const T* w = weight.row(first) + column;
    for (int64_t j = 0; j < inner; ++j, w += step) {
      HP_UNROLL
      for (int r = 0; r < R; ++r) {
        HP_UNROLL
        for (int i = 0; i < NV; ++i) total[r * NV + i] += load(w + i * kLanes<T>) * rows[r][j];
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
  const auto columns = [&](auto height, int64_t node) {
    constexpr int R = decltype(height)::value, kFew = R < 4 ? R : 4;
    int64_t column = 0;
    for (; column + most * kLanes<T> <= out.stride(); column += most * kLanes<T>)
      for (int r = 0; r < R; r += kFew)
        tile(std::integral_constant<int, most>{}, std::integral_constant<int, kFew>{}, node + r, column);
    for (; column < out.stride(); column += kLanes<T>)
      tile(std::integral_constant<int, 1>{}, height, node, column);
  };
  int64_t node = 0;
  for (; node + kRowsAtOnce <= nodes; node += kRowsAtOnce)
    columns(std::integral_constant<int, kRowsAtOnce>{}, node);
  for (; node < nodes; ++node) columns(std::integral_constant<int, 1>{}, node);
}

// out[j] += sum over n of in[n][j] * gradient[n]: the gradient of the weight, (inner, columns).
template <class T>
void weight_gradient(const Matrix<T>& in, int64_t inner, const Matrix<T>& gradient, Matrix<T>& out) {
  constexpr int most = 16;  // rows of the weight at once, their sums in registers
  const int64_t nodes = in.rows();
  const auto tile = [&](auto height, int64_t j, int64_t column) {
    constexpr int R = decltype(height)::value;
    Vec<T> total[R];
    HP_UNROLL
    for (int r = 0; r < R; ++r) total[r] = load(out.row(j + r) + column);
    for (int64_t n = 0; n < nodes; ++n) {
      const Vec<T> g = load(gradient.row(n) + column);
      const T* x = in.row(n) + j;
      HP_UNROLL
      for (int r = 0; r < R; ++r) total[r] += g * x[r];
    }
    HP_UNROLL
    for (int r = 0; r < R; ++r) store(out.row(j + r) + column, total[r]);
  };
  for (int64_t column = 0; column < out.stride(); column += kLanes<T>) {
    int64_t j = 0;
    for (; j + most <= inner; j += most) tile(std::integral_constant<int, most>{}, j, column);
    for (; j < inner; ++j) tile(std::integral_constant<int, 1>{}, j, column);
  }
}

// out = transpose of rows first .. first + inner of the weight, (weight columns, inner).
template <class T>
void transpose_rows(const Matrix<T>& weight, int64_t first, int64_t inner, Matrix<T>& out) {
  for (int64_t j = 0; j < inner; ++j)
    for (int64_t c = 0; c < weight.columns(); ++c) out.row(c)[j] = weight.row(first + j)[c];
}

}  // namespace hp
