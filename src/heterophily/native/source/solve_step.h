// GloGNN's sums over all nodes in closed form: products with the inverse of a small matrix.
#pragma once
#include <cmath>
#include <vector>

#include "around_steps.h"

namespace hp {

// [D K, H K] of [D, H], with K = (first I + second H^T H)^-1. The sums over nodes and the inverse are
// worked out in double, in the order of the nodes.
template <class T>
class SolveStep final : public AroundStep<T> {
 public:
  explicit SolveStep(const hp_step& spec)
      : AroundStep<T>(spec), half_(spec.width / 2), inverse_(half_ * half_), by_inverse_(half_, half_),
        by_transpose_(half_, half_), by_gram_(half_, half_) {}
  bool needs_inputs() const override { return true; }
  bool is_heavy() const override { return true; }
  bool observes_evaluations() const override { return true; }

  void observe(const View<const T>& input, const Chunks& chunks, Team& team) override {
    const int64_t n = half_;
    std::vector<double> parts(static_cast<size_t>(chunks.count() * n * n));
    team.run(chunks.count(), [&](int64_t chunk, int) {
      double* gram = parts.data() + chunk * n * n;
      chunks.for_blocks(chunk, [&](int64_t begin, int64_t rows) {
        for (int64_t row = begin; row < begin + rows; ++row) {
          const T* h = input.row(row) + n;
          for (int64_t i = 0; i < n; ++i)
            for (int64_t j = 0; j < n; ++j) gram[i * n + j] += static_cast<double>(h[i]) * static_cast<double>(h[j]);
        }
      });
    });
    std::vector<double> matrix(parts.begin(), parts.begin() + n * n);
    for (int64_t chunk = 1; chunk < chunks.count(); ++chunk)
      for (int64_t i = 0; i < n * n; ++i) matrix[i] += parts[chunk * n * n + i];
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        matrix[i * n + j] = this->spec.second * matrix[i * n + j] + (i == j ? this->spec.first : 0.0);
    invert(matrix);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        by_inverse_.row(i)[j] = static_cast<T>(inverse_[i * n + j]);
        by_transpose_.row(i)[j] = static_cast<T>(inverse_[j * n + i]);
      }
  }

  void forward(const Rows& nodes, const View<const T>* in, const View<T>& out, const View<T>&, int) override {
    for (int64_t row = 0; row < out.rows; ++row) {
      const T* x = in[0].row(nodes[row]);
      T* y = out.row(row);
      std::fill(y, y + this->stride, T(0));
      add_product(x, by_inverse_, y);
      add_product(x + half_, by_inverse_, y + half_);
    }
  }
  // To K: D^T g_1 + H^T g_2.
  void backward(const Rows& nodes, const Backward<T>& given) override {
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      const T *x = given.in[0].row(nodes[row]), *g = given.to_out.row(row);
      for (const int64_t side : {int64_t{0}, half_})
        for (int64_t i = 0; i < half_; ++i)
          for (int64_t j = 0; j < half_; ++j) given.totals[i * half_ + j] += x[side + i] * g[side + j];
    }
  }
  // Through the inverse: to M = -K^T (to K) K^T; to H = H (to M + its transpose) second.
  void update(const Adam<T>&, const T* totals, Team&) override {
    const int64_t n = half_;
    std::vector<double> left(n * n), to_matrix(n * n);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t k = 0; k < n; ++k) left[i * n + j] += inverse_[k * n + i] * static_cast<double>(totals[k * n + j]);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t k = 0; k < n; ++k) to_matrix[i * n + j] -= left[i * n + k] * inverse_[j * n + k];
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        by_gram_.row(i)[j] = static_cast<T>(this->spec.second * (to_matrix[i * n + j] + to_matrix[j * n + i]));
  }
  void hand_back(const Rows& nodes, const HandBack<T>& given) override {
    for (int64_t row = 0; row < given.to_in.view.rows; ++row) {
      const T *x = given.in[0].row(nodes[row]), *g = given.to_out.row(nodes[row]);
      T* to = given.to_in.view.row(row);
      if (!given.to_in.adds) std::fill(to, to + this->stride, T(0));
      add_product(g, by_transpose_, to);
      add_product(g + half_, by_transpose_, to + half_);
      add_product(x + half_, by_gram_, to + half_);
    }
  }
  int64_t num_totals() const override { return padded<T>(half_ * half_); }

 private:
  // y += x matrix.
  void add_product(const T* x, const Matrix<T>& matrix, T* y) const {
    for (int64_t i = 0; i < half_; ++i) {
      const T *row = matrix.row(i), factor = x[i];
      for (int64_t j = 0; j < half_; ++j) y[j] += factor * row[j];
    }
  }
  // Gauss and Jordan, with the largest entry of a column as pivot.
  void invert(std::vector<double>& matrix) {
    const int64_t n = half_;
    std::fill(inverse_.begin(), inverse_.end(), 0.0);
    for (int64_t i = 0; i < n; ++i) inverse_[i * n + i] = 1.0;
    for (int64_t c = 0; c < n; ++c) {
      int64_t top = c;
      for (int64_t r = c + 1; r < n; ++r)
        if (std::fabs(matrix[r * n + c]) > std::fabs(matrix[top * n + c])) top = r;
      for (int64_t j = 0; j < n && top != c; ++j) {
        std::swap(matrix[c * n + j], matrix[top * n + j]);
        std::swap(inverse_[c * n + j], inverse_[top * n + j]);
      }
      const double pivot = matrix[c * n + c];
      for (int64_t j = 0; j < n; ++j) {
        matrix[c * n + j] /= pivot;
        inverse_[c * n + j] /= pivot;
      }
      for (int64_t r = 0; r < n; ++r) {
        if (r == c) continue;
        const double factor = matrix[r * n + c];
        for (int64_t j = 0; j < n; ++j) {
          matrix[r * n + j] -= factor * matrix[c * n + j];
          inverse_[r * n + j] -= factor * inverse_[c * n + j];
        }
      }
    }
  }

  int64_t half_;
  std::vector<double> inverse_;
  Matrix<T> by_inverse_, by_transpose_, by_gram_;  // K, its transpose, what H is multiplied with on the way back
};

}  // namespace hp
