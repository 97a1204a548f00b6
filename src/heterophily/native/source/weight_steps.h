// Steps that learn a matrix: products with X and with a weight; mixing.
#pragma once
#include <memory>
#include <vector>

#include "dense.h"
#include "dropout.h"
#include "graph.h"
#include "mixing.h"
#include "step.h"

namespace hp {

// X W + b. The gradient of W is summed over rows of X where W is small, else column by column.
template <class T>
class FeaturesStep final : public Step<T> {
 public:
  FeaturesStep(const hp_step& spec, const Graph<T>& graph, uint64_t seed)
      : Step<T>(spec), graph_(graph), seed_(seed), weight_(graph.num_features, spec.width) {
    if (spec.bias >= 0) bias_ = Weight<T>(1, spec.width);
    is_by_row_ = graph.num_features * this->stride <= kSmall;
    if (!is_by_row_) gradient_ = Matrix<T>(graph.num_nodes, spec.width);
    if (spec.first > 0) values_.resize(static_cast<size_t>(graph.features.indptr[graph.num_nodes]));
  }
  bool differs_in_training() const override { return this->spec.first > 0; }
  void begin(uint64_t step) override {
    entries_ = graph_.features;
    mask_ = step > 0 ? Mask(seed_, step, static_cast<uint64_t>(this->spec.site), this->spec.first) : Mask();
    if (!mask_.is_active()) return;
    mask_.apply<T>(graph_.features.values, nullptr, 0, static_cast<int64_t>(values_.size()), values_.data());
    entries_.values = values_.data();
  }
  bool is_heavy() const override { return true; }

  void forward(const Rows& nodes, const View<const T>*, const View<T>& out, const View<T>&,
               int) override {
    const T* w = weight_.value.data();
    for_tiles<T>(this->stride, [&](auto tile, int64_t column) {
      using Tile = decltype(tile);
      for (int64_t row = 0; row < out.rows; ++row) {
        const auto total = gather<T, Tile, false>(entries_, nodes[row], w + column, this->stride);
        for (int i = 0; i < Tile::vectors; ++i) {
          const int64_t at = column + i * kLanes<T>;
          store(out.row(row) + at, bias_.empty() ? total.sum[i] : total.sum[i] + load(bias_.value.data() + at));
        }
      }
    });
  }
  void backward(const Rows& nodes, const Backward<T>& given) override {
    if (!bias_.empty()) add_rows<T>(given.to_out, given.totals + num_row_totals());
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      const T* g = given.to_out.row(row);
      if (!is_by_row_) {
        std::memcpy(gradient_.row(nodes[row]), g, static_cast<size_t>(this->stride) * sizeof(T));
        continue;
      }
      const int64_t node = nodes[row];
      for (int64_t e = entries_.indptr[node]; e < entries_.indptr[node + 1]; ++e) {
        T* target = given.totals + entries_.indices[e] * this->stride;
        for (int64_t j = 0; j < this->stride; j += kLanes<T>)
          store(target + j, load(target + j) + load(g + j) * entries_.values[e]);
      }
    }
  }

  int64_t num_totals() const override { return num_row_totals() + (bias_.empty() ? 0 : this->stride); }
  void update(const Adam<T>& adam, const T* totals, Team& team) override {
    if (!bias_.empty()) adam.rows(bias_, 0, 1, totals + num_row_totals());
    if (is_by_row_) return adam.rows(weight_, 0, graph_.num_features, totals);
    Sparse<T> columns = graph_.features_t;
    if (mask_.is_active()) {
      selected_.reserve(columns.rows, columns.indptr[columns.rows]);
      selected_.select(columns.rows, columns.indptr, columns.indices, columns.values,
                       graph_.features_order, mask_);
      columns = {columns.rows, selected_.indptr.data(), selected_.indices.data(), selected_.values.data()};
    }
    constexpr int64_t kFeatures = 64;
    team.run((columns.rows + kFeatures - 1) / kFeatures, [&](int64_t piece, int) {
      const int64_t end = std::min(columns.rows, (piece + 1) * kFeatures);
      for_tiles<T>(this->stride, [&](auto tile, int64_t column) {
        using Tile = decltype(tile);
        for (int64_t row = piece * kFeatures; row < end; ++row) {
          const auto total = gather<T, Tile, false>(columns, row, gradient_.data() + column, this->stride);
          for (int i = 0; i < Tile::vectors; ++i) {
            const int64_t at = column + i * kLanes<T>;
            adam.vector(weight_.value.row(row) + at, weight_.first.row(row) + at,
                        weight_.second.row(row) + at, total.sum[i]);
          }
        }
      });
    });
  }
  void exchange(const typename Step<T>::Copy& copy) override {
    exchange_weight<T>(
        weight_, stack(), [&](int64_t i) { return static_cast<int64_t>(graph_.columns[i]); }, copy);
    exchange_weight<T>(bias_, this->spec.bias, copy);
  }
  void for_unused(const typename Step<T>::Visit& visit) const override {
    const Stack of = stack();
    for (int64_t j = 0; j < this->spec.width; j += of.width)
      for (int32_t f : graph_.unused) visit(of.place(f, j), of.width);
  }

 private:
  static constexpr int64_t kSmall = 64 * 1024;  // entries of W whose sums every chunk of rows may keep
  Stack stack() const { return {this->spec, graph_.all_features}; }
  int64_t num_row_totals() const { return is_by_row_ ? graph_.num_features * this->stride : 0; }

  const Graph<T>& graph_;
  uint64_t seed_;
  Weight<T> weight_, bias_;
  Mask mask_;
  Sparse<T> entries_;
  std::vector<T> values_;
  Selection<T> selected_;
  Matrix<T> gradient_;
  bool is_by_row_;
};

// A W_A: every node has a row of the weight.
template <class T>
class StructureStep final : public Step<T> {
 public:
  StructureStep(const hp_step& spec, const Graph<T>& graph)
      : Step<T>(spec), graph_(graph), weight_(graph.num_nodes, spec.width), gradient_(graph.num_nodes, spec.width) {}
  bool is_heavy() const override { return true; }

  void forward(const Rows& nodes, const View<const T>*, const View<T>& out, const View<T>&,
               int) override {
    const Sparse<T>& matrix = graph_.structure.direct;
    const T* w = weight_.value.data();
    for_tiles<T>(this->stride, [&](auto tile, int64_t column) {
      using Tile = decltype(tile);
      for (int64_t row = 0; row < out.rows; ++row) {
        const auto total = matrix.values != nullptr
                               ? gather<T, Tile, false, true>(matrix, nodes[row], w + column, this->stride)
                               : gather<T, Tile, false, false>(matrix, nodes[row], w + column, this->stride);
        for (int i = 0; i < Tile::vectors; ++i)
          store(out.row(row) + column + i * kLanes<T>, total.sum[i]);
      }
    });
  }
  void backward(const Rows& nodes, const Backward<T>& given) override {
    for (int64_t row = 0; row < given.to_out.rows; ++row)
      std::memcpy(gradient_.row(nodes[row]), given.to_out.row(row), static_cast<size_t>(this->stride) * sizeof(T));
  }
  void update(const Adam<T>& adam, const T*, Team& team) override {
    multiply_into_adam<T>(team, Operator<T>{graph_.structure_t.direct}, gradient_, Matrix<T>(), adam, weight_);
  }
  void exchange(const typename Step<T>::Copy& copy) override {
    exchange_weight<T>(weight_, this->spec.weight, copy);
  }

 private:
  const Graph<T>& graph_;
  Weight<T> weight_;
  Matrix<T> gradient_;
};

// x W + b.
template <class T>
class LinearStep final : public Step<T> {
 public:
  LinearStep(const hp_step& spec, int64_t inner)
      : Step<T>(spec), inner_(inner), weight_(inner, spec.width), transpose_(spec.width, inner) {
    if (spec.bias >= 0) bias_ = Weight<T>(1, spec.width);
  }
  bool needs_inputs() const override { return true; }
  bool is_heavy() const override { return true; }
  void begin(uint64_t step) override {
    if (step > 0) transpose_rows<T>(weight_.value, 0, inner_, transpose_);
  }
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&,
               int) override {
    dense_product<T>(in[0], inner_, weight_.value, 0, true, out, {},
                     bias_.empty() ? nullptr : bias_.value.data());
  }
  void backward(const Rows&, const Backward<T>& given) override {
    const int64_t rows = given.to_out.rows;
    dense_product<T>(given.to_out, this->spec.width, transpose_, 0, !given.to_in[0].adds,
                     given.to_in[0].view);
    weight_gradient<T>(given.in[0], inner_, given.to_out, {given.totals, this->stride, inner_});
    if (!bias_.empty()) add_rows<T>({given.to_out.data, this->stride, rows}, given.totals + inner_ * this->stride);
  }
  int64_t num_totals() const override { return (inner_ + !bias_.empty()) * this->stride; }
  void update(const Adam<T>& adam, const T* totals, Team&) override {
    adam.rows(weight_, 0, inner_, totals);
    if (!bias_.empty()) adam.rows(bias_, 0, 1, totals + inner_ * this->stride);
  }
  void exchange(const typename Step<T>::Copy& copy) override {
    exchange_weight<T>(weight_, Stack(this->spec, inner_), [](int64_t i) { return i; }, copy);
    exchange_weight<T>(bias_, this->spec.bias, copy);
  }

 private:
  int64_t inner_;
  Weight<T> weight_, bias_;
  Matrix<T> transpose_;
};

// Steps 2 and 3 of ACM on channels that are its inputs.
template <class T>
class MixStep final : public Step<T> {
 public:
  MixStep(const hp_step& spec, int workers) : Step<T>(spec), learned_(*spec.mixer) {
    for (int i = 0; i < workers; ++i) {
      mixers_.push_back(std::make_unique<Mixer<T>>(*spec.mixer, learned_));
      totals_.push_back(learned_.totals());
    }
  }
  bool needs_inputs() const override { return true; }
  void begin(uint64_t) override { learned_.prepare(); }
  void forward(const Rows&, const View<const T>* in, const View<T>& out, const View<T>&,
               int worker) override {
    Mixer<T>& mixer = *mixers_[worker];
    for (int64_t begin = 0; begin < out.rows; begin += kBlock) {
      const int count = show(mixer, in, begin, out.rows);
      for (int b = 0; b < count; ++b)
        std::memcpy(out.row(begin + b), mixer.mixture(b), static_cast<size_t>(this->stride) * sizeof(T));
    }
  }
  void backward(const Rows&, const Backward<T>& given) override {
    Mixer<T>& mixer = *mixers_[given.worker];
    MixerTotals<T>& totals = totals_[given.worker];
    totals.clear();
    mixer.collect(totals);
    for (int64_t begin = 0; begin < given.to_out.rows; begin += kBlock) {
      const int count = show(mixer, given.in, begin, given.to_out.rows);
      for (int b = 0; b < count; ++b)
        std::memcpy(mixer.mixture(b), given.to_out.row(begin + b), static_cast<size_t>(this->stride) * sizeof(T));
      mixer.backward(count);
      for (int k = 0; k < this->spec.num_inputs; ++k)
        for (int b = 0; b < count; ++b)
          for (int64_t j = 0; j < this->stride; j += kLanes<T>)
            given.to_in[k].give(begin + b, j, load(mixer.gradient(k, b) + j));
    }
    T* total = given.totals;
    totals.each([&](const T* part, int64_t count) {
      for (int64_t i = 0; i < count; ++i) *total++ += part[i];
    });
  }
  int64_t num_totals() const override {
    int64_t size = 0;
    learned_.totals().each([&](const T*, int64_t count) { size += count; });
    return size;
  }
  void update(const Adam<T>& adam, const T* totals, Team&) override {
    totals_[0].each([&](T* part, int64_t count) {
      std::copy(totals, totals + count, part);
      totals += count;
    });
    learned_.update(adam, totals_[0]);
  }
  void exchange(const typename Step<T>::Copy& copy) override { learned_.exchange(*this->spec.mixer, copy); }

 private:
  // Channels of up to 16 rows to the mixer, and their mixture.
  int show(Mixer<T>& mixer, const View<const T>* in, int64_t begin, int64_t rows) const {
    const int count = static_cast<int>(std::min<int64_t>(kBlock, rows - begin));
    for (int k = 0; k < this->spec.num_inputs; ++k) mixer.see(k, in[k].row(begin), in[k].stride);
    mixer.forward(count);
    return count;
  }

  MixerParameters<T> learned_;
  std::vector<std::unique_ptr<Mixer<T>>> mixers_;  // these and the totals: one for each worker
  std::vector<MixerTotals<T>> totals_;
};

}  // namespace hp
