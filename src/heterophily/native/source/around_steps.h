// Steps that look at other nodes: propagation, and batch norm, which needs sums over all nodes.
//
// Their input is a whole matrix that an earlier segment made. The gradient of that is made by
// hand_back(), when the gradients of all rows of the output are there.
#pragma once
#include <vector>

#include "graph.h"
#include "step.h"

namespace hp {

// What hand_back() is given: which of the step's inputs asks, all of them, and the gradient of the output.
template <class T>
struct HandBack {
  int input;
  const View<const T>* in;
  View<const T> to_out;
  Gradient<T> to_in;
  int worker;
};

template <class T>
class AroundStep : public Step<T> {
 public:
  using Step<T>::Step;
  bool looks_around() const override { return true; }
  // Before a segment with this step, in a training pass: the whole input. `chunks` are those of its rows.
  virtual bool observes_evaluations() const { return false; }  // too
  virtual void observe(const View<const T>&, const Chunks&, Team&) {}
  // Rows of an input's gradient from all gradients of the output. Of several inputs, the one that was
  // made first asks first.
  virtual void hand_back(const Rows& nodes, const HandBack<T>& given) = 0;
};

// identity * x + aggregate * (A_hat x), or another operator in place of A_hat.
template <class T>
class PropagateStep final : public AroundStep<T> {
 public:
  PropagateStep(const hp_step& spec, const Graph<T>& graph)
      : AroundStep<T>(spec), forth_(spec.number == 0 ? graph.op.direct : graph.others[spec.number - 1]),
        back_(spec.number == 0 ? graph.op_t.direct : graph.others_t[spec.number - 1]) {}
  bool is_heavy() const override { return true; }
  void forward(const Rows& nodes, const View<const T>* in, const View<T>& out, const View<T>&,
               int) override {
    filter(forth_, nodes, in[0], {out, false});
  }
  void backward(const Rows&, const Backward<T>&) override {}
  void hand_back(const Rows& nodes, const HandBack<T>& given) override {
    filter(back_, nodes, given.to_out, given.to_in);
  }

 private:
  void filter(const Sparse<T>& matrix, const Rows& nodes, const View<const T>& from,
              const Gradient<T>& out) const {
    const T keep = static_cast<T>(this->spec.first), move = static_cast<T>(this->spec.second);
    for_tiles<T>(this->stride, [&](auto tile, int64_t column) {
      using Tile = decltype(tile);
      for (int64_t row = 0; row < out.view.rows; ++row) {
        const int64_t node = nodes[row];
        const auto total = gather<T, Tile, false>(matrix, node, from.data + column, this->stride);
        for (int i = 0; i < Tile::vectors; ++i) {
          const int64_t at = column + i * kLanes<T>;
          Vec<T> x = total.sum[i] * move;
          if (keep != T(0)) x = load(from.row(node) + at) * keep + x;
          out.give(row, at, x);
        }
      }
    });
  }
  const Sparse<T> forth_, back_;
};

// y = gain (x - mean) / std + shift, mean and std of a column: over all nodes in training, where
// running means of both are kept for evaluations, as in torch.
template <class T>
class BatchNormStep final : public AroundStep<T> {
 public:
  explicit BatchNormStep(const hp_step& spec)
      : AroundStep<T>(spec), gain_(1, spec.width), shift_(1, spec.width), running_(2, spec.width),
        seen_(kSeen, spec.width) {}
  bool needs_inputs() const override { return true; }
  bool differs_in_training() const override { return true; }

  void begin(uint64_t step) override {
    if (step == 0) set_statistics(running_.row(0), running_.row(1));
  }
  void observe(const View<const T>& input, const Chunks& chunks, Team& team) override {
    const int64_t width = this->spec.width;
    const double count = static_cast<double>(input.rows);
    std::vector<T> mean(this->stride), variance(this->stride);
    const std::vector<double> sums = totals(input, chunks, team, [](Vec<T> x, Vec<T>) { return x; }, mean.data());
    for (int64_t j = 0; j < width; ++j) mean[j] = static_cast<T>(sums[j] / count);
    const std::vector<double> squares = totals(
        input, chunks, team, [](Vec<T> x, Vec<T> m) { return (x - m) * (x - m); }, mean.data());
    const T rate = static_cast<T>(this->spec.second);
    T *running_mean = running_.row(0), *running_variance = running_.row(1);
    for (int64_t j = 0; j < width; ++j) {
      variance[j] = static_cast<T>(squares[j] / count);
      running_mean[j] = (T(1) - rate) * running_mean[j] + rate * mean[j];
      running_variance[j] =
          (T(1) - rate) * running_variance[j] + rate * static_cast<T>(squares[j] / (count - 1));
    }
    passes_ += T(1);
    rows_ = count;
    set_statistics(mean.data(), variance.data());
  }
  void forward(const Rows& nodes, const View<const T>* in, const View<T>& out, const View<T>&,
               int) override {
    const T *mean = seen_.row(kMean), *inverse = seen_.row(kInverse);
    const T *gain = gain_.value.data(), *shift = shift_.value.data();
    for (int64_t row = 0; row < out.rows; ++row) {
      const T* x = in[0].row(nodes[row]);
      for (int64_t j = 0; j < this->stride; j += kLanes<T>)
        store(out.row(row) + j,
              (load(x + j) - load(mean + j)) * load(inverse + j) * load(gain + j) + load(shift + j));
    }
  }
  void backward(const Rows& nodes, const Backward<T>& given) override {
    const T *mean = seen_.row(kMean), *inverse = seen_.row(kInverse);
    T *to_gain = given.totals, *to_shift = given.totals + this->stride;
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      const T *g = given.to_out.row(row), *x = given.in[0].row(nodes[row]);
      for (int64_t j = 0; j < this->stride; j += kLanes<T>) {
        const Vec<T> toward = load(g + j), normal = (load(x + j) - load(mean + j)) * load(inverse + j);
        store(to_gain + j, load(to_gain + j) + toward * normal);
        store(to_shift + j, load(to_shift + j) + toward);
      }
    }
  }
  // With z = (x - mean) / std:  to_x = gain / std (g - mean(g) - z mean(g z)), means over all nodes.
  void hand_back(const Rows& nodes, const HandBack<T>& given) override {
    const T *mean = seen_.row(kMean), *inverse = seen_.row(kInverse), *scale = seen_.row(kScale);
    const T *along = seen_.row(kAlong), *level = seen_.row(kLevel);
    for (int64_t row = 0; row < given.to_in.view.rows; ++row) {
      const T *g = given.to_out.row(nodes[row]), *x = given.in[0].row(nodes[row]);
      for (int64_t j = 0; j < this->stride; j += kLanes<T>) {
        const Vec<T> normal = (load(x + j) - load(mean + j)) * load(inverse + j);
        given.to_in.give(row, j, (load(g + j) - load(level + j) - normal * load(along + j)) * load(scale + j));
      }
    }
  }

  int64_t num_totals() const override { return 2 * this->stride; }
  void update(const Adam<T>& adam, const T* totals, Team&) override {
    const T *to_gain = totals, *to_shift = totals + this->stride;
    for (int64_t j = 0; j < this->spec.width; ++j) {
      seen_.row(kAlong)[j] = to_gain[j] / static_cast<T>(rows_);
      seen_.row(kLevel)[j] = to_shift[j] / static_cast<T>(rows_);
      seen_.row(kScale)[j] = gain_.value.data()[j] * seen_.row(kInverse)[j];
    }
    adam.rows(gain_, 0, 1, to_gain);
    adam.rows(shift_, 0, 1, to_shift);
  }
  void exchange(const typename Step<T>::Copy& copy) override {
    exchange_weight<T>(gain_, this->spec.weight, copy);
    exchange_weight<T>(shift_, this->spec.bias, copy);
    const int64_t width = this->spec.width, start = this->spec.running;
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < width; ++j) copy(running_.row(i)[j], start + i * width + j);
    copy(passes_, start + 2 * width);
  }

 private:
  enum { kMean, kInverse, kScale, kAlong, kLevel, kSeen };  // rows of seen_

  void set_statistics(const T* mean, const T* variance) {
    for (int64_t j = 0; j < this->spec.width; ++j) {
      seen_.row(kMean)[j] = mean[j];
      seen_.row(kInverse)[j] = T(1) / std::sqrt(variance[j] + static_cast<T>(this->spec.first));
    }
  }

  // The sums of term(x, beside) over all nodes. Blocks of rows are added in T, blocks in double.
  template <class Term>
  std::vector<double> totals(const View<const T>& input, const Chunks& chunks, Team& team, Term&& term,
                             const T* beside) const {
    const int64_t width = this->spec.width, lanes = kLanes<T>;
    std::vector<double> sums(static_cast<size_t>(chunks.count() * width));
    team.run(chunks.count(), [&](int64_t chunk, int) {
      double* total = sums.data() + chunk * width;
      alignas(64) T part[kLanes<T>];
      chunks.for_blocks(chunk, [&](int64_t begin, int64_t rows) {
        for (int64_t j = 0; j < this->stride; j += lanes) {
          Vec<T> m, sum = {};
          std::memcpy(&m, beside + j, sizeof m);
          for (int64_t row = begin; row < begin + rows; ++row) sum += term(load(input.row(row) + j), m);
          store(part, sum);
          for (int64_t i = 0; i < lanes && j + i < width; ++i) total[j + i] += static_cast<double>(part[i]);
        }
      });
    });
    for (int64_t chunk = 1; chunk < chunks.count(); ++chunk)
      for (int64_t j = 0; j < width; ++j) sums[j] += sums[chunk * width + j];
    return sums;
  }

  Weight<T> gain_, shift_;
  Matrix<T> running_;  // mean, variance
  Matrix<T> seen_;     // what the pass at hand normalises with, and what the way back needs
  T passes_ = 0;       // training passes so far
  double rows_ = 1;
};

}  // namespace hp
