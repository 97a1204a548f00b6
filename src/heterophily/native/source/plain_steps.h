// Steps that treat each node by itself and learn nothing, or a row: norm, activations, dropout, sums.
#pragma once
#include <vector>

#include "dropout.h"
#include "normal.h"
#include "step.h"

namespace hp {

// y = gain (x - mean) / std + shift over the columns of a node.
template <class T>
class NormStep final : public Step<T> {
 public:
  NormStep(const hp_step& spec, int workers)
      : Step<T>(spec), gain_(1, spec.width), shift_(1, spec.width), centred_(workers, spec.width) {}
  bool needs_inputs() const override { return true; }

  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&,
               int) override {
    const T *gain = gain_.value.data(), *shift = shift_.value.data();
    for (int64_t row = 0; row < out.rows; ++row) {
      T* y = out.row(row);
      const T inverse = centre(in[0].row(row), y);
      for (int64_t j = 0; j < this->stride; j += kLanes<T>)
        store(y + j, load(y + j) * inverse * load(gain + j) + load(shift + j));
    }
  }

  // With c = x - mean, s = 1 / std, h = gain g:  to_x = s (h - mean(h) - c s^2 mean(h c)).
  void backward(const Rows&, const Backward<T>& given) override {
    T* centred = centred_.row(given.worker);
    const T* gain = gain_.value.data();
    T *to_gain = given.totals, *to_shift = given.totals + this->stride;
    const T inverse_width = T(1) / static_cast<T>(this->spec.width);
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      const T* g = given.to_out.row(row);
      const T inverse = centre(given.in[0].row(row), centred);
      const T mean = sum_columns<T>(this->stride, [&](int64_t j) { return load(g + j) * load(gain + j); }) *
                     inverse_width;
      const T along = sum_columns<T>(this->stride, [&](int64_t j) {
                        return load(g + j) * load(gain + j) * load(centred + j);
                      }) * inverse_width * inverse * inverse;
      for (int64_t j = 0; j < this->stride; j += kLanes<T>) {
        const Vec<T> c = load(centred + j), toward = load(g + j);
        store(to_gain + j, load(to_gain + j) + toward * c * inverse);
        store(to_shift + j, load(to_shift + j) + toward);
        store(centred + j, (toward * load(gain + j) - mean - c * along) * inverse);
      }
      for (int64_t j = this->spec.width; j < this->stride; ++j) centred[j] = 0;
      for (int64_t j = 0; j < this->stride; j += kLanes<T>) given.to_in[0].give(row, j, load(centred + j));
    }
  }

  int64_t num_totals() const override { return 2 * this->stride; }
  void update(const Adam<T>& adam, const T* totals, Team&) override {
    adam.rows(gain_, 0, 1, totals);
    adam.rows(shift_, 0, 1, totals + this->stride);
  }
  void exchange(const typename Step<T>::Copy& copy) override {
    exchange_weight<T>(gain_, this->spec.weight, copy);
    exchange_weight<T>(shift_, this->spec.bias, copy);
  }

 private:
  // Writes x - mean (padding: 0) and returns 1 / std.
  HP_INLINE T centre(const T* x, T* out) const {
    const T inverse_width = T(1) / static_cast<T>(this->spec.width);
    const T mean = sum_columns<T>(this->stride, [&](int64_t j) { return load(x + j); }) * inverse_width;
    for (int64_t j = 0; j < this->stride; j += kLanes<T>) store(out + j, load(x + j) - mean);
    for (int64_t j = this->spec.width; j < this->stride; ++j) out[j] = 0;
    const T squares = sum_columns<T>(this->stride, [&](int64_t j) { return load(out + j) * load(out + j); });
    return T(1) / std::sqrt(squares * inverse_width + static_cast<T>(this->spec.first));
  }

  Weight<T> gain_, shift_;
  Matrix<T> centred_;  // a row for each worker
};

// x times the share of the normal distribution below x. Share and density cost an exponential, so
// the derivative is stored on the way forth.
template <class T>
class GeluStep final : public Step<T> {
 public:
  using Step<T>::Step;
  bool has_slope() const override { return true; }
  bool is_heavy() const override { return true; }
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>& slope, int) override {
    this->for_vectors(out.rows, [&](int64_t row, int64_t j) {
      const Vec<T> x = load(in[0].row(row) + j);
      Vec<T> share, density;
      normal<T>(x, share, density);
      store(out.row(row) + j, x * share);
      if (slope.data != nullptr) store(slope.row(row) + j, share + x * density);
    });
  }
  void backward(const Rows&, const Backward<T>& given) override {
    this->for_vectors(given.to_out.rows, [&](int64_t row, int64_t j) {
      given.to_in[0].give(row, j, load(given.to_out.row(row) + j) * load(given.slope.row(row) + j));
    });
  }
};

template <class T>
class ReluStep final : public Step<T> {
 public:
  using Step<T>::Step;
  bool needs_output() const override { return true; }
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&,
               int) override {
    this->for_vectors(out.rows, [&](int64_t row, int64_t j) {
      store(out.row(row) + j, relu<T>(load(in[0].row(row) + j)));
    });
  }
  void backward(const Rows&, const Backward<T>& given) override {
    this->for_vectors(given.to_out.rows, [&](int64_t row, int64_t j) {
      const Vec<T> g = load(given.to_out.row(row) + j);
      given.to_in[0].give(row, j, where_positive<T>(load(given.out.row(row) + j), g));
    });
  }
};

// Entries are dropped by their number node * width + column; an evaluation keeps all.
template <class T>
class DropoutStep final : public Step<T> {
 public:
  DropoutStep(const hp_step& spec, uint64_t seed) : Step<T>(spec), seed_(seed) {}
  bool differs_in_training() const override { return this->spec.first > 0; }
  void begin(uint64_t step) override {
    mask_ = step > 0 ? Mask(seed_, step, static_cast<uint64_t>(this->spec.site), this->spec.first) : Mask();
  }
  void forward(const Rows& nodes, const View<const T>* in, const View<T>& out, const View<T>&,
               int) override {
    for_kept(nodes, out.rows, [&](int64_t row, int64_t j, Vec<T> factor) {
      store(out.row(row) + j, load(in[0].row(row) + j) * factor);
    });
  }
  void backward(const Rows& nodes, const Backward<T>& given) override {
    for_kept(nodes, given.to_out.rows, [&](int64_t row, int64_t j, Vec<T> factor) {
      given.to_in[0].give(row, j, load(given.to_out.row(row) + j) * factor);
    });
  }

 private:
  template <class Use>
  HP_INLINE void for_kept(const Rows& nodes, int64_t rows, Use&& use) const {
    constexpr int kColumns = 64;
    alignas(64) T factor[kColumns] = {};
    for (int64_t row = 0; row < rows; ++row) {
      const uint32_t first = static_cast<uint32_t>(nodes[row] * this->spec.width);
      for (int64_t begin = 0; begin < this->stride; begin += kColumns) {
        const int64_t count = std::min<int64_t>(kColumns, this->stride - begin);
        mask_.row<T>(first + static_cast<uint32_t>(begin), static_cast<int>(count), factor);
        for (int64_t j = 0; j < count; j += kLanes<T>) use(row, begin + j, load(factor + j));
      }
    }
  }
  uint64_t seed_;
  Mask mask_;
};

// first * x + second * y.
template <class T>
class AddStep final : public Step<T> {
 public:
  using Step<T>::Step;
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&,
               int) override {
    const T first = static_cast<T>(this->spec.first), second = static_cast<T>(this->spec.second);
    this->for_vectors(out.rows, [&](int64_t row, int64_t j) {
      store(out.row(row) + j, load(in[0].row(row) + j) * first + load(in[1].row(row) + j) * second);
    });
  }
  void backward(const Rows&, const Backward<T>& given) override {
    const T factors[] = {static_cast<T>(this->spec.first), static_cast<T>(this->spec.second)};
    for (int i = 0; i < 2; ++i)
      this->for_vectors(given.to_out.rows, [&](int64_t row, int64_t j) {
        given.to_in[i].give(row, j, load(given.to_out.row(row) + j) * factors[i]);
      });
  }
};

template <class T>
class ConcatStep final : public Step<T> {
 public:
  ConcatStep(const hp_step& spec, std::vector<int64_t> widths) : Step<T>(spec), widths_(std::move(widths)) {}
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&,
               int) override {
    for (int64_t row = 0; row < out.rows; ++row) {
      T* target = out.row(row);
      for (size_t i = 0; i < widths_.size(); target += widths_[i++])
        std::memcpy(target, in[i].row(row), static_cast<size_t>(widths_[i]) * sizeof(T));
    }
  }
  void backward(const Rows&, const Backward<T>& given) override {
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      const T* source = given.to_out.row(row);
      for (size_t i = 0; i < widths_.size(); source += widths_[i++]) {
        T* target = given.to_in[i].view.row(row);
        for (int64_t j = 0; j < widths_[i]; ++j)
          target[j] = given.to_in[i].adds ? target[j] + source[j] : source[j];
      }
    }
  }

 private:
  std::vector<int64_t> widths_;
};

// The largest of several values; those that tie share the gradient, as in torch.
template <class T>
class MaximumStep final : public Step<T> {
 public:
  using Step<T>::Step;
  bool needs_inputs() const override { return true; }
  bool needs_output() const override { return true; }
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&,
               int) override {
    this->for_vectors(out.rows, [&](int64_t row, int64_t j) {
      Vec<T> top = load(in[0].row(row) + j);
      for (int i = 1; i < this->spec.num_inputs; ++i) {
        const Vec<T> x = load(in[i].row(row) + j);
        top = x > top ? x : top;
      }
      store(out.row(row) + j, top);
    });
  }
  void backward(const Rows&, const Backward<T>& given) override {
    this->for_vectors(given.to_out.rows, [&](int64_t row, int64_t j) {
      const Vec<T> top = load(given.out.row(row) + j), none = {}, one = splat(T(1));
      Vec<T> ties = none;
      for (int i = 0; i < this->spec.num_inputs; ++i)
        ties = ties + (load(given.in[i].row(row) + j) == top ? one : none);
      const Vec<T> part = load(given.to_out.row(row) + j) / ties;
      for (int i = 0; i < this->spec.num_inputs; ++i)
        given.to_in[i].give(row, j, load(given.in[i].row(row) + j) == top ? part : none);
    });
  }
};

}  // namespace hp
