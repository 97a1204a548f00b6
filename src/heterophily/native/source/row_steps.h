// Steps on rows as they are: a bias, some of the columns, rows of length 1.
#pragma once
#include "step.h"

namespace hp {

// x + b.
template <class T>
class BiasStep final : public Step<T> {
 public:
  explicit BiasStep(const hp_step& spec) : Step<T>(spec), bias_(1, spec.width) {}
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&, int) override {
    this->for_vectors(out.rows, [&](int64_t row, int64_t j) {
      store(out.row(row) + j, load(in[0].row(row) + j) + load(bias_.value.data() + j));
    });
  }
  void backward(const Rows&, const Backward<T>& given) override {
    add_rows<T>(given.to_out, given.totals);
    this->for_vectors(given.to_out.rows, [&](int64_t row, int64_t j) {
      given.to_in[0].give(row, j, load(given.to_out.row(row) + j));
    });
  }
  int64_t num_totals() const override { return this->stride; }
  void update(const Adam<T>& adam, const T* totals, Team&) override { adam.rows(bias_, 0, 1, totals); }
  void exchange(const typename Step<T>::Copy& copy) override { exchange_weight<T>(bias_, this->spec.bias, copy); }

 private:
  Weight<T> bias_;
};

// Columns number .. number + width of x.
template <class T>
class ColumnsStep final : public Step<T> {
 public:
  using Step<T>::Step;
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&, int) override {
    for (int64_t row = 0; row < out.rows; ++row)
      std::memcpy(out.row(row), in[0].row(row) + this->spec.number, static_cast<size_t>(this->spec.width) * sizeof(T));
  }
  void backward(const Rows&, const Backward<T>& given) override {
    const View<T>& to = given.to_in[0].view;
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      const T* source = given.to_out.row(row);
      T* target = to.row(row);
      if (!given.to_in[0].adds) std::memset(static_cast<void*>(target), 0, static_cast<size_t>(to.stride) * sizeof(T));
      target += this->spec.number;
      for (int64_t j = 0; j < this->spec.width; ++j) target[j] += source[j];
    }
  }
};

// y = x / n with n the length of the row, at least `first`. With n above that:
// to_x = (g - y sum(g y)) / n, else to_x = g / n.
template <class T>
class UnitStep final : public Step<T> {
 public:
  using Step<T>::Step;
  bool needs_inputs() const override { return true; }
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&, int) override {
    for (int64_t row = 0; row < out.rows; ++row) {
      const T *x = in[0].row(row), size = std::max(length(x), least());
      for (int64_t j = 0; j < this->stride; j += kLanes<T>) store(out.row(row) + j, load(x + j) / size);
    }
  }
  void backward(const Rows&, const Backward<T>& given) override {
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      const T *x = given.in[0].row(row), *g = given.to_out.row(row);
      const T found = length(x), size = std::max(found, least());
      T along = 0;
      if (found >= least())
        along = sum_columns<T>(this->stride, [&](int64_t j) { return load(g + j) * (load(x + j) / size); }) / size;
      for (int64_t j = 0; j < this->stride; j += kLanes<T>)
        given.to_in[0].give(row, j, (load(g + j) - load(x + j) * along) / size);
    }
  }

 private:
  T least() const { return static_cast<T>(this->spec.first); }
  T length(const T* x) const {
    return std::sqrt(sum_columns<T>(this->stride, [&](int64_t j) { return load(x + j) * load(x + j); }));
  }
};

}  // namespace hp
