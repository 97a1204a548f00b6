// Steps beside the attention itself: scores of nodes, the mean of heads, ELU.
#pragma once
#include <vector>

#include "attention.h"
#include "step.h"

namespace hp {

// Two scores of a node for each head, the inner products of its columns with learned vectors: as a
// receiver, then from half of the width on, as a sender.
template <class T>
class ScoresStep final : public Step<T> {
 public:
  ScoresStep(const hp_step& spec, int64_t columns, int workers)
      : Step<T>(spec), heads_(spec.heads, columns, spec.width / 2), columns_(padded<T>(columns)),
        receiver_(1, columns), sender_(1, columns), numbers_(2 * workers, heads_.places) {}
  bool needs_inputs() const override { return true; }
  bool is_heavy() const override { return true; }

  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&, int) override {
    for (int64_t row = 0; row < out.rows; ++row) {
      heads_.products(in[0].row(row), receiver_.value.data(), out.row(row));
      heads_.products(in[0].row(row), sender_.value.data(), out.row(row) + heads_.places);
    }
  }
  void backward(const Rows&, const Backward<T>& given) override {
    T *to_receiver = given.totals, *to_sender = given.totals + columns_;
    T *received = numbers_.row(2 * given.worker), *sent = numbers_.row(2 * given.worker + 1);
    const T *receiver = receiver_.value.data(), *sender = sender_.value.data();
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      const T* x = given.in[0].row(row);
      heads_.copy(given.to_out.row(row), received);
      heads_.copy(given.to_out.row(row) + heads_.places, sent);
      heads_.for_columns(received, sent, [&](int64_t j, Vec<T> r, Vec<T> s) HP_INLINE_LAMBDA {
        const Vec<T> own = load(x + j);
        store(to_receiver + j, load(to_receiver + j) + r * own);
        store(to_sender + j, load(to_sender + j) + s * own);
        given.to_in[0].give(row, j, r * load(receiver + j) + s * load(sender + j));
      });
    }
  }
  int64_t num_totals() const override { return 2 * columns_; }
  void update(const Adam<T>& adam, const T* totals, Team&) override {
    adam.rows(receiver_, 0, 1, totals);
    adam.rows(sender_, 0, 1, totals + columns_);
  }
  void exchange(const typename Step<T>::Copy& copy) override {
    exchange_weight<T>(receiver_, this->spec.weight, copy);
    exchange_weight<T>(sender_, this->spec.bias, copy);
  }

 private:
  const Heads<T> heads_;
  const int64_t columns_;
  Weight<T> receiver_, sender_;
  Matrix<T> numbers_;  // two rows for each worker
};

// The mean of the heads of x.
template <class T>
class AverageStep final : public Step<T> {
 public:
  using Step<T>::Step;
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&, int) override {
    const int64_t width = this->spec.width, heads = this->spec.heads;
    for (int64_t row = 0; row < out.rows; ++row) {
      const T* x = in[0].row(row);
      for (int64_t j = 0; j < this->stride; ++j) {
        T total = 0;
        for (int64_t k = 0; j < width && k < heads; ++k) total += x[k * width + j];
        out.row(row)[j] = total / static_cast<T>(heads);
      }
    }
  }
  void backward(const Rows&, const Backward<T>& given) override {
    const int64_t width = this->spec.width, heads = this->spec.heads;
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      const T* g = given.to_out.row(row);
      T* target = given.to_in[0].view.row(row);
      for (int64_t k = 0; k < heads; ++k, target += width)
        for (int64_t j = 0; j < width; ++j) {
          const T part = g[j] / static_cast<T>(heads);
          target[j] = given.to_in[0].adds ? target[j] + part : part;
        }
    }
  }
};

// x where x > 0, else exp(x) - 1.
template <class T>
class EluStep final : public Step<T> {
 public:
  using Step<T>::Step;
  bool needs_output() const override { return true; }
  bool is_heavy() const override { return true; }
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&, int) override {
    this->for_vectors(out.rows, [&](int64_t row, int64_t j) {
      const Vec<T> x = load(in[0].row(row) + j);
      const Vec<T> t = tanh_vector<T>(x * T(0.5));
      store(out.row(row) + j, x > Vec<T>{} ? x : (t + t) / (T(1) - t));
    });
  }
  void backward(const Rows&, const Backward<T>& given) override {
    this->for_vectors(given.to_out.rows, [&](int64_t row, int64_t j) {
      const Vec<T> y = load(given.out.row(row) + j), g = load(given.to_out.row(row) + j);
      given.to_in[0].give(row, j, y > Vec<T>{} ? g : g * (y + T(1)));
    });
  }
};

}  // namespace hp
