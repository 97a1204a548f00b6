// Steps of ordered columns: gates that grow along a row and from layer to layer, and what they let pass.
#pragma once
#include "elementary.h"
#include "step.h"

namespace hp {

// With p the softmax of a row of x and c its running sums: c, or b + (1 - b) c for gates b before.
template <class T>
class GateStep final : public Step<T> {
 public:
  GateStep(const hp_step& spec, int workers) : Step<T>(spec), part_(workers, spec.width) {}
  bool needs_inputs() const override { return true; }
  bool is_heavy() const override { return true; }

  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&, int worker) override {
    T* share = part_.row(worker);
    for (int64_t row = 0; row < out.rows; ++row) {
      softmax(in[0].row(row), share);
      const T* before = this->spec.num_inputs > 1 ? in[1].row(row) : nullptr;
      T *gate = out.row(row), sum = 0;
      for (int64_t j = 0; j < this->spec.width; ++j) {
        sum += share[j];
        gate[j] = before == nullptr ? sum : before[j] + (T(1) - before[j]) * sum;
      }
      for (int64_t j = this->spec.width; j < this->stride; ++j) gate[j] = 0;
    }
  }

  // To c: r = g (1 - b); to b: g (1 - c). With s_j the sum of r from j on: to_x_j = p_j (s_j - sum p s).
  void backward(const Rows&, const Backward<T>& given) override {
    T* share = part_.row(given.worker);
    const int64_t width = this->spec.width;
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      softmax(given.in[0].row(row), share);
      T* g = const_cast<T*>(given.to_out.row(row));  // of no use afterwards
      if (this->spec.num_inputs > 1) {
        const T* before = given.in[1].row(row);
        const Gradient<T>& to = given.to_in[1];
        T* to_before = to.view.row(row);
        T sum = 0;
        for (int64_t j = 0; j < width; ++j) {
          sum += share[j];
          const T toward = g[j] * (T(1) - sum);
          to_before[j] = to.adds ? to_before[j] + toward : toward;
          g[j] *= T(1) - before[j];
        }
        for (int64_t j = width; j < this->stride && !to.adds; ++j) to_before[j] = 0;
      }
      T rest = 0;
      for (int64_t j = width; j-- > 0;) g[j] = rest += g[j];
      const T mean = sum_columns<T>(this->stride, [&](int64_t j) { return load(share + j) * load(g + j); });
      for (int64_t j = 0; j < this->stride; j += kLanes<T>)
        given.to_in[0].give(row, j, load(share + j) * (load(g + j) - mean));
    }
  }

 private:
  void softmax(const T* x, T* share) const {
    const int64_t width = this->spec.width;
    T top = x[0];
    for (int64_t j = 1; j < width; ++j) top = x[j] > top ? x[j] : top;
    for (int64_t j = 0; j < this->stride; j += kLanes<T>) store(share + j, load(x + j) - top);
    exp_inplace(share, static_cast<int>(this->stride));
    for (int64_t j = width; j < this->stride; ++j) share[j] = 0;
    const T total = sum_columns<T>(this->stride, [&](int64_t j) { return load(share + j); });
    for (int64_t j = 0; j < this->stride; j += kLanes<T>) store(share + j, load(share + j) / total);
  }
  Matrix<T> part_;  // a row for each worker
};

// k x + (1 - k) y of gates, x, y; a gate k is that of `number` columns side by side.
template <class T>
class BlendStep final : public Step<T> {
 public:
  BlendStep(const hp_step& spec, int64_t gates, int workers)
      : Step<T>(spec), gates_(gates), part_(2 * workers, spec.width) {}
  bool needs_inputs() const override { return true; }

  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&, int worker) override {
    for (int64_t row = 0; row < out.rows; ++row) {
      const T *gate = spread(in[0].row(row), worker), *x = in[1].row(row), *y = in[2].row(row);
      for (int64_t j = 0; j < this->stride; j += kLanes<T>)
        store(out.row(row) + j, load(gate + j) * load(x + j) + (T(1) - load(gate + j)) * load(y + j));
    }
  }
  void backward(const Rows&, const Backward<T>& given) override {
    const int64_t each = this->spec.number;
    T* slope = part_.row(2 * given.worker + 1);
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      const T *gate = spread(given.in[0].row(row), given.worker), *g = given.to_out.row(row);
      const T *x = given.in[1].row(row), *y = given.in[2].row(row);
      for (int64_t j = 0; j < this->stride; j += kLanes<T>) {
        const Vec<T> toward = load(g + j), kept = toward * load(gate + j);
        store(slope + j, toward * (load(x + j) - load(y + j)));
        given.to_in[1].give(row, j, kept);
        given.to_in[2].give(row, j, toward - kept);
      }
      const Gradient<T>& to = given.to_in[0];
      T* to_gate = to.view.row(row);
      for (int64_t d = 0; d < gates_; ++d) {
        T sum = 0;
        for (int64_t j = d * each; j < (d + 1) * each; ++j) sum += slope[j];
        to_gate[d] = to.adds ? to_gate[d] + sum : sum;
      }
      for (int64_t d = gates_; d < to.view.stride && !to.adds; ++d) to_gate[d] = 0;
    }
  }

 private:
  // Gates for all columns.
  const T* spread(const T* gate, int worker) {
    T* all = part_.row(2 * worker);
    for (int64_t d = 0; d < gates_; ++d)
      for (int64_t j = 0; j < this->spec.number; ++j) all[d * this->spec.number + j] = gate[d];
    return all;
  }
  int64_t gates_;
  Matrix<T> part_;  // two rows for each worker
};

}  // namespace hp
