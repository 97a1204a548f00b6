// Small dense products between node states (N, H) and weights (H, columns).
#pragma once
#include "simd.h"

namespace hp {

constexpr int kRowsAtOnce = 4;

// out[n] (+)= in[n][0 .. inner) * weight[first .. first + inner), for all n.
template <class T>
void dense_product(const Matrix<T>& in, int64_t inner, const Matrix<T>& weight, int64_t first,
                   bool is_first, Matrix<T>& out) {
  constexpr int most = 4;  // vectors of columns at once: 4 x 4 accumulators
  const int64_t nodes = in.rows(), step = weight.stride();
  const auto tile = [&](auto vectors, auto height, int64_t node, int64_t column) {
    constexpr int NV = decltype(vectors)::value, R = decltype(height)::value;
    constexpr int kChains = NV == 1 ? 2 : 1;  // independent sums, to hide the latency
    Vec<T> total[kChains][R][NV] = {};
    const T* rows[R];
    for (int r = 0; r < R; ++r) {
      rows[r] = in.row(node + r);
      for (int i = 0; i < NV && !is_first; ++i)
        total[0][r][i] = load(out.row(node + r) + column + i * kLanes<T>);
    }
    const T* w = weight.row(first) + column;
    const auto add = [&](int chain, int64_t j) {
      Vec<T> x[NV];
      for (int i = 0; i < NV; ++i) x[i] = load(w + j * step + i * kLanes<T>);
      for (int r = 0; r < R; ++r)
        for (int i = 0; i < NV; ++i) total[chain][r][i] += x[i] * rows[r][j];
    };
    int64_t j = 0;
    for (; j + kChains <= inner; j += kChains)
      for (int chain = 0; chain < kChains; ++chain) add(chain, j + chain);
    for (; j < inner; ++j) add(0, j);
    for (int r = 0; r < R; ++r)
      for (int i = 0; i < NV; ++i) {
        Vec<T> sum_of_chains = total[0][r][i];
        for (int chain = 1; chain < kChains; ++chain) sum_of_chains += total[chain][r][i];
        store(out.row(node + r) + column + i * kLanes<T>, sum_of_chains);
      }
  };
  const auto columns = [&](auto height, int64_t node) {
    int64_t column = 0;
    for (; column + most * kLanes<T> <= out.stride(); column += most * kLanes<T>)
      tile(std::integral_constant<int, most>{}, height, node, column);
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
  constexpr int kNodes = 2 * kRowsAtOnce;
  const int64_t nodes = in.rows();
  const auto tile = [&](auto height, int64_t node, int64_t column) {
    constexpr int R = decltype(height)::value;
    Vec<T> g[R];
    const T* rows[R];
    for (int r = 0; r < R; ++r) {
      g[r] = load(gradient.row(node + r) + column);
      rows[r] = in.row(node + r);
    }
    T* target = out.data() + column;
    for (int64_t j = 0; j < inner; ++j, target += out.stride()) {
      Vec<T> total = load(target);
      for (int r = 0; r < R; ++r) total += g[r] * rows[r][j];
      store(target, total);
    }
  };
  for (int64_t column = 0; column < out.stride(); column += kLanes<T>) {
    int64_t node = 0;
    for (; node + kNodes <= nodes; node += kNodes)
      tile(std::integral_constant<int, kNodes>{}, node, column);
    for (; node < nodes; ++node) tile(std::integral_constant<int, 1>{}, node, column);
  }
}

// out = transpose of rows first .. first + inner of the weight, (weight columns, inner).
template <class T>
void transpose_rows(const Matrix<T>& weight, int64_t first, int64_t inner, Matrix<T>& out) {
  for (int64_t j = 0; j < inner; ++j)
    for (int64_t c = 0; c < weight.columns(); ++c) out.row(c)[j] = weight.row(first + j)[c];
}

}  // namespace hp
