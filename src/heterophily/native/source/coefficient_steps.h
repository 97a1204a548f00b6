// Steps that weigh their inputs with a learned number each: polynomials of an operator, softmax weights.
#pragma once
#include <vector>

#include "step.h"

namespace hp {

// Numbers c = table f(w), one for each input of a step; f is the identity, softmax or positive part.
template <class T>
class Coefficients {
 public:
  explicit Coefficients(const hp_step& spec)
      : spec_(spec), weight_(1, spec.num_inputs), formed_(1, spec.num_inputs), found_(1, spec.num_inputs) {}
  T operator[](int i) const { return found_.data()[i]; }
  int64_t num_totals() const { return weight_.value.stride(); }
  void exchange(const typename Step<T>::Copy& copy) { exchange_weight<T>(weight_, spec_.weight, copy); }

  void prepare() {
    const int count = spec_.num_inputs;
    const T* w = weight_.value.data();
    T *formed = formed_.data(), *found = found_.data();
    std::copy(w, w + count, formed);
    if (spec_.form == HP_POSITIVE_PART)
      for (int i = 0; i < count; ++i) formed[i] = w[i] < T(0) ? T(0) : w[i];
    if (spec_.form == HP_SOFTMAX) softmax(formed, count);
    std::copy(formed, formed + count, found);
    if (spec_.table == nullptr) return;
    for (int i = 0; i < count; ++i) {
      T sum = 0;
      for (int j = 0; j < count; ++j) sum += entry(i, j) * formed[j];
      found[i] = sum;
    }
  }

  // `totals`: the gradient of c. Through the table: that of f; with s = softmax(w): s_i (g_i - sum s g).
  void update(const Adam<T>& adam, const T* totals) {
    const int count = spec_.num_inputs;
    const T *w = weight_.value.data(), *formed = formed_.data();
    Matrix<T> gradient(1, count);
    T* to_w = gradient.data();
    std::copy(totals, totals + count, to_w);
    if (spec_.table != nullptr)
      for (int j = 0; j < count; ++j) {
        to_w[j] = 0;
        for (int i = 0; i < count; ++i) to_w[j] += entry(i, j) * totals[i];
      }
    if (spec_.form == HP_POSITIVE_PART)
      for (int i = 0; i < count; ++i) to_w[i] = w[i] > T(0) ? to_w[i] : T(0);
    if (spec_.form == HP_SOFTMAX) {
      T mean = 0;
      for (int i = 0; i < count; ++i) mean += formed[i] * to_w[i];
      for (int i = 0; i < count; ++i) to_w[i] = formed[i] * (to_w[i] - mean);
    }
    adam.rows(weight_, 0, 1, to_w);
  }

 private:
  T entry(int row, int column) const { return static_cast<T>(spec_.table[row * spec_.num_inputs + column]); }
  void softmax(T* x, int count) const {
    T top = x[0], total = 0;
    for (int i = 1; i < count; ++i) top = x[i] > top ? x[i] : top;
    for (int i = 0; i < count; ++i) x[i] -= top;
    exp_inplace(x, static_cast<int>(formed_.stride()));
    for (int i = 0; i < count; ++i) total += x[i];
    for (int i = 0; i < count; ++i) x[i] /= total;
    for (int64_t i = count; i < formed_.stride(); ++i) x[i] = 0;
  }

  const hp_step& spec_;
  Weight<T> weight_;
  Matrix<T> formed_, found_;
};

// The sum of c_i x_i.
template <class T>
class CombineStep final : public Step<T> {
 public:
  explicit CombineStep(const hp_step& spec) : Step<T>(spec), learned_(spec) {}
  bool needs_inputs() const override { return true; }
  void begin(uint64_t) override { learned_.prepare(); }
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&, int) override {
    this->for_vectors(out.rows, [&](int64_t row, int64_t j) {
      Vec<T> sum = load(in[0].row(row) + j) * learned_[0];
      for (int i = 1; i < this->spec.num_inputs; ++i) sum += load(in[i].row(row) + j) * learned_[i];
      store(out.row(row) + j, sum);
    });
  }
  void backward(const Rows&, const Backward<T>& given) override {
    const T* g = given.to_out.data;  // the rows of a block lie one after the other
    for (int i = 0; i < this->spec.num_inputs; ++i) {
      const T *x = given.in[i].data, factor = learned_[i];
      given.totals[i] += sum_columns<T>(given.to_out.rows * this->stride,
                                        [&](int64_t j) { return load(g + j) * load(x + j); });
      this->for_vectors(given.to_out.rows, [&](int64_t row, int64_t j) {
        given.to_in[i].give(row, j, load(given.to_out.row(row) + j) * factor);
      });
    }
  }
  int64_t num_totals() const override { return learned_.num_totals(); }
  void update(const Adam<T>& adam, const T* totals, Team&) override { learned_.update(adam, totals); }
  void exchange(const typename Step<T>::Copy& copy) override { learned_.exchange(copy); }

 private:
  Coefficients<T> learned_;
};

// [c_0 x_0, c_1 x_1, ..].
template <class T>
class JoinStep final : public Step<T> {
 public:
  JoinStep(const hp_step& spec, std::vector<int64_t> widths, int workers)
      : Step<T>(spec), learned_(spec), widths_(std::move(widths)),
        part_(workers, *std::max_element(widths_.begin(), widths_.end())) {}
  bool needs_inputs() const override { return true; }
  void begin(uint64_t) override { learned_.prepare(); }
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&, int worker) override {
    T* part = part_.row(worker);
    for (int64_t row = 0; row < out.rows; ++row) {
      T* target = out.row(row);
      for (size_t i = 0; i < widths_.size(); target += widths_[i++]) {
        const T *x = in[i].row(row), factor = learned_[static_cast<int>(i)];
        for (int64_t j = 0; j < in[i].stride; j += kLanes<T>) store(part + j, load(x + j) * factor);
        std::memcpy(target, part, static_cast<size_t>(widths_[i]) * sizeof(T));
      }
    }
  }
  void backward(const Rows&, const Backward<T>& given) override {
    T* part = part_.row(given.worker);
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      const T* source = given.to_out.row(row);
      for (size_t i = 0; i < widths_.size(); source += widths_[i++]) {
        const T *x = given.in[i].row(row), factor = learned_[static_cast<int>(i)];
        const int64_t stride = given.in[i].stride;
        std::memcpy(part, source, static_cast<size_t>(widths_[i]) * sizeof(T));
        for (int64_t j = widths_[i]; j < stride; ++j) part[j] = 0;
        given.totals[i] += sum_columns<T>(stride, [&](int64_t j) { return load(part + j) * load(x + j); });
        for (int64_t j = 0; j < stride; j += kLanes<T>) given.to_in[i].give(row, j, load(part + j) * factor);
      }
    }
  }
  int64_t num_totals() const override { return learned_.num_totals(); }
  void update(const Adam<T>& adam, const T* totals, Team&) override { learned_.update(adam, totals); }
  void exchange(const typename Step<T>::Copy& copy) override { learned_.exchange(copy); }

 private:
  Coefficients<T> learned_;
  std::vector<int64_t> widths_;
  Matrix<T> part_;  // columns of an input, a row for each worker
};

}  // namespace hp
