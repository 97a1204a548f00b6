// Sums over neighbours with learned weights: GAT's softmax and FAGCN's signed coefficients.
//
//   y_i = sum_j w_ij x_j,   w_ij = f(r_i + s_j)   with scores r of receivers and s of senders.
//
// The inner products <g_i, x_j> that f's slope is multiplied with are never made edge by edge. They are
// linear, so sums of x (or g) over the edges of a node, weighted by the slopes of f, are made beside the
// sums that are needed anyway, and one inner product for each node and head ends them:
//
//   to_r_i = <g_i, sum_j f'_ij x_j>,   to_s_j = <sum_i f'_ij g_i, x_j>.
//
// Weights are made again where a transposed row is read, so nothing is stored for an edge.
#pragma once
#include <memory>
#include <vector>

#include "around_steps.h"
#include "attention.h"
#include "dropout.h"

namespace hp {

template <class T>
class NeighbourSumStep : public AroundStep<T> {
 public:
  // Inputs: x and the scores; `seen`: numbers of a receiver for each head that its senders ask for.
  NeighbourSumStep(const hp_step& spec, const Graph<T>& graph, int64_t scores, int seen, uint64_t seed, int workers)
      : AroundStep<T>(spec), heads_(spec.heads, spec.width, scores / 2), forth_(graph.op.direct),
        back_(graph.op_t.direct), seen_(graph.num_nodes, seen * heads_.places),
        to_scores_(graph.num_nodes, scores), seed_(seed) {
    int64_t most = 1;
    for (const Sparse<T>* matrix : {&forth_, &back_})
      for (int64_t row = 0; row < matrix->rows; ++row)
        most = std::max(most, matrix->indptr[row + 1] - matrix->indptr[row]);
    for (int w = 0; w < workers; ++w) buffers_.emplace_back(heads_, most, this->stride);
    if (spec.first > 0) number_edges(graph.num_nodes);
  }
  bool is_heavy() const override { return true; }
  bool needs_inputs() const override { return true; }
  bool needs_output() const override { return true; }
  bool has_slope() const override { return true; }
  bool differs_in_training() const override { return this->spec.first > 0; }
  void begin(uint64_t step) override {
    mask_ = step > 0 && this->spec.first > 0
                ? Mask(seed_, step, static_cast<uint64_t>(this->spec.site), this->spec.first)
                : Mask();
  }

  // The step's slope of a row: sum_j f'_ij x_j; behind a softmax the part of y with scores above 0.
  void forward(const Rows& nodes, const View<const T>* in, const View<T>& out, const View<T>& slope,
               int worker) override {
    Buffer& buffer = buffers_[static_cast<size_t>(worker)];
    const bool trains = slope.data != nullptr;
    for (int64_t row = 0; row < out.rows; ++row) {
      const int64_t node = nodes[row], begin = forth_.indptr[node], edges = forth_.indptr[node + 1] - begin;
      T* sent = buffer.streams.row(0);
      heads_.collect(forth_.indices + begin, edges, in[1].data + heads_.places, in[1].stride, kNone, sent);
      heads_.copy(in[1].row(node), buffer.own.row(0));
      heads_.repeat(buffer.own.row(0));
      weigh(node, edges, buffer, trains);
      drop(begin, edges, nullptr, buffer, trains);
      sum_by_heads<T, true>(forth_, node, in[0].data, this->stride, heads_, sent,
                            trains ? buffer.streams.row(1) : nullptr, buffer.own.row(1),
                            [&](int64_t j, Vec<T> first, Vec<T> second) HP_INLINE_LAMBDA {
                              store(out.row(row) + j, first);
                              if (trains) store(slope.row(row) + j, second);
                            });
    }
  }
  void backward(const Rows& nodes, const Backward<T>& given) override {
    Buffer& buffer = buffers_[static_cast<size_t>(given.worker)];
    for (int64_t row = 0; row < given.to_out.rows; ++row) {
      T *along = buffer.own.row(0), *steep = buffer.own.row(1);
      heads_.products(given.to_out.row(row), given.out.row(row), along);
      heads_.products(given.to_out.row(row), given.slope.row(row), steep);
      to_receiver(nodes[row], along, steep, to_scores_.row(nodes[row]));
    }
  }
  void hand_back(const Rows& nodes, const HandBack<T>& given) override {
    if (given.input == 1) {
      for (int64_t row = 0; row < given.to_in.view.rows; ++row)
        for (int64_t j = 0; j < to_scores_.stride(); j += kLanes<T>)
          given.to_in.give(row, j, load(to_scores_.row(nodes[row]) + j));
      return;
    }
    Buffer& buffer = buffers_[static_cast<size_t>(given.worker)];
    const int64_t places = heads_.places;
    for (int64_t row = 0; row < given.to_in.view.rows; ++row) {
      const int64_t node = nodes[row], begin = back_.indptr[node], edges = back_.indptr[node + 1] - begin;
      for (int64_t i = 0; i * places < seen_.columns(); ++i)
        heads_.collect(back_.indices + begin, edges, seen_.data() + i * places, seen_.stride(), T(0),
                       buffer.streams.row(i));
      heads_.copy(given.in[1].row(node) + places, buffer.own.row(0));
      heads_.repeat(buffer.own.row(0));
      weigh_back(begin, edges, buffer);
      drop(begin, edges, edge_.data(), buffer, true);
      T* steep = buffer.columns.row(0);
      sum_by_heads<T, false>(back_, node, given.to_out.data, this->stride, heads_, buffer.streams.row(0),
                             buffer.streams.row(1), nullptr,
                             [&](int64_t j, Vec<T> first, Vec<T> second) HP_INLINE_LAMBDA {
                               given.to_in.give(row, j, first);
                               store(steep + j, second);
                             });
      T* to_sender = to_scores_.row(node) + places;
      heads_.products(steep, given.in[0].row(node), buffer.own.row(0));
      for (int64_t k = 0; k < heads_.count; ++k) to_sender[k] = buffer.own.row(0)[k] - buffer.own.row(1)[k];
    }
  }

 protected:
  static constexpr T kNone = T(-1e30);  // a score without an edge
  // What a worker needs for the node at hand.
  struct Buffer {
    Matrix<T> streams;  // numbers of its edges
    Matrix<T> own;      // numbers of the node
    Matrix<T> columns;
    std::vector<uint32_t> places;  // of the edges' numbers in the mask
    Buffer(const Heads<T>& heads, int64_t edges, int64_t columns)
        : streams(4, heads.size(edges) + kWide<T>), own(5, heads.period + kWide<T>), columns(1, columns) {}
  };

  // Stream 0 (the senders' scores) to the weights, and stream 1 to what the step's slope is summed with,
  // if asked for; own row 0 holds r, own row 1 is set to a factor of the sums.
  virtual void weigh(int64_t node, int64_t edges, Buffer& buffer, bool trains) = 0;
  // From <g, y> and <g, the step's slope>: the gradient of r.
  virtual void to_receiver(int64_t node, const T* along, const T* steep, T* to_score) = 0;
  // Of an edge of a transposed row: the streams hold the receivers' numbers, own row 0 holds s. Streams 0
  // and 1 become weights and slopes; own row 1 what is to be taken off the gradient of s.
  virtual void weigh_back(int64_t begin, int64_t edges, Buffer& buffer) = 0;

  const Heads<T> heads_;
  const Sparse<T> forth_, back_;
  Matrix<T> seen_, to_scores_;

 private:
  // Weights and slopes after dropout. Entry (edge, head) of the mask has the number edge * heads + head.
  void drop(int64_t begin, int64_t edges, const uint32_t* number, Buffer& buffer, bool trains) const {
    if (!mask_.is_active()) return;
    const int64_t places = heads_.places, size = edges * places;
    const uint32_t count = static_cast<uint32_t>(heads_.count);
    buffer.places.resize(static_cast<size_t>(size));
    uint32_t* place = buffer.places.data();
    for (int64_t e = 0; e < edges; ++e) {
      const uint32_t edge = number == nullptr ? static_cast<uint32_t>(begin + e) : number[begin + e];
      for (int64_t k = 0; k < places; ++k) place[e * places + k] = edge * count + static_cast<uint32_t>(k);
    }
    const T scale = static_cast<T>(mask_.scale());
    T *weight = buffer.streams.row(0), *slope = buffer.streams.row(1);
    for (int64_t p = 0; p < size; ++p) {
      const T factor = (mask_.hash(place[p]) >> 16) < mask_.kept_levels ? scale : T(0);
      weight[p] *= factor;
      if (trains) slope[p] *= factor;
    }
  }

  // The number of each entry of the transpose among those of the operator.
  void number_edges(int64_t nodes) {
    std::vector<int64_t> next(back_.indptr, back_.indptr + nodes);
    edge_.resize(static_cast<size_t>(back_.indptr[nodes]));
    for (int64_t e = 0; e < static_cast<int64_t>(edge_.size()); ++e)
      edge_[static_cast<size_t>(next[static_cast<size_t>(forth_.indices[e])]++)] = static_cast<uint32_t>(e);
  }

  std::vector<Buffer> buffers_;  // one for each worker
  std::vector<uint32_t> edge_;
  uint64_t seed_;
  Mask mask_;
};

// w = softmax_j(LeakyReLU(r_i + s_j)), head by head; `second`: the slope of LeakyReLU below 0.
template <class T>
class AttentionStep final : public NeighbourSumStep<T> {
 public:
  AttentionStep(const hp_step& spec, const Graph<T>& graph, int64_t scores, uint64_t seed, int workers)
      : NeighbourSumStep<T>(spec, graph, scores, kSeen, seed, workers), below_(static_cast<T>(spec.second)),
        share_(graph.num_nodes, heads_.places) {}

 protected:
  using Buffer = typename NeighbourSumStep<T>::Buffer;
  using NeighbourSumStep<T>::heads_;
  using NeighbourSumStep<T>::kNone;
  using NeighbourSumStep<T>::seen_;

  // Weights before the division by their sum, which is left to the factor.
  void weigh(int64_t node, int64_t edges, Buffer& buffer, bool trains) override {
    const int64_t places = heads_.places, size = heads_.size(edges);
    T *weight = buffer.streams.row(0), *slope = buffer.streams.row(1);
    T *received = buffer.own.row(0), *factor = buffer.own.row(1), *top = buffer.own.row(2), *sum = buffer.own.row(3);
    if (edges == 0) return std::fill(factor, factor + heads_.period, T(0));
    heads_.largest(size, [&](int64_t p, int64_t j) HP_INLINE_LAMBDA {
      const Vec<T> x = load(weight + p) + load(received + j), score = x > Vec<T>{} ? x : x * below_;
      store(weight + p, score);
      return score;
    }, top);
    heads_.finish(edges, kNone, weight);
    heads_.sum(size, [&](int64_t p, int64_t j) HP_INLINE_LAMBDA {
      const Vec<T> score = load(weight + p);
      const Vec<T> w = score == splat(kNone) ? Vec<T>{} : exp_vector(score - load(top + j));
      store(weight + p, w);
      if (trains) store(slope + p, score > Vec<T>{} ? w : Vec<T>{});
      return w;
    }, sum);
    for (int64_t i = 0; i < heads_.period; i += kLanes<T>) store(factor + i, T(1) / load(sum + i));
    if (!trains) return;
    T* above = buffer.own.row(4);
    heads_.sum(size, [&](int64_t p, int64_t) HP_INLINE_LAMBDA { return load(slope + p); }, above);
    T* seen = seen_.row(node);
    heads_.copy(received, seen + kReceived * places);
    heads_.copy(top, seen + kTop * places);
    heads_.copy(factor, seen + kFactor * places);
    for (int64_t k = 0; k < places; ++k) share_.row(node)[k] = above[k] / sum[k];
  }

  // With t = <g, y> and l' the slope of LeakyReLU:  sum_j w l' (<g, x_j> - t). Without l' it would be 0, so
  // the edges with scores above 0 say all; where these are all edges or none, it is 0 without rounding.
  void to_receiver(int64_t node, const T* along, const T* steep, T* to_score) override {
    T* seen = seen_.row(node) + kAlong * heads_.places;
    for (int64_t k = 0; k < heads_.count; ++k) {
      seen[k] = along[k];
      to_score[k] = (steep[k] - along[k] * share_.row(node)[k]) * (T(1) - below_);
    }
  }

  void weigh_back(int64_t, int64_t edges, Buffer& buffer) override {
    T *weight = buffer.streams.row(0), *slope = buffer.streams.row(1);
    const T *factor = buffer.streams.row(kFactor), *along = buffer.streams.row(kAlong), *sent = buffer.own.row(0);
    heads_.sum(heads_.size(edges), [&](int64_t p, int64_t j) HP_INLINE_LAMBDA {
      const Vec<T> x = load(weight + p) + load(sent + j), score = x > Vec<T>{} ? x : x * below_;
      const Vec<T> w = exp_vector(score - load(slope + p)) * load(factor + p);
      const Vec<T> steep = x > Vec<T>{} ? w : w * below_;
      store(weight + p, w);
      store(slope + p, steep);
      return steep * load(along + p);
    }, buffer.own.row(1));
  }

 private:
  enum { kReceived, kTop, kFactor, kAlong, kSeen };  // r, largest score, 1 / sum, <g, y>

  const T below_;
  Matrix<T> share_;  // of a node's weights, those of scores above 0
};

// w = tanh(r_i + s_j) times the operator's entry; one head.
template <class T>
class SignedSumStep final : public NeighbourSumStep<T> {
 public:
  SignedSumStep(const hp_step& spec, const Graph<T>& graph, int64_t scores, uint64_t seed, int workers)
      : NeighbourSumStep<T>(spec, graph, scores, 1, seed, workers) {}

 protected:
  using Buffer = typename NeighbourSumStep<T>::Buffer;

  void weigh(int64_t node, int64_t edges, Buffer& buffer, bool trains) override {
    *buffer.own.row(1) = T(1);
    if (trains) *this->seen_.row(node) = *buffer.own.row(0);
    set(this->forth_, this->forth_.indptr[node], edges, buffer);
  }
  void to_receiver(int64_t, const T*, const T* steep, T* to_score) override { *to_score = *steep; }
  void weigh_back(int64_t begin, int64_t edges, Buffer& buffer) override {
    *buffer.own.row(1) = T(0);
    set(this->back_, begin, edges, buffer);
  }

 private:
  void set(const Sparse<T>& matrix, int64_t begin, int64_t edges, Buffer& buffer) const {
    T *weight = buffer.streams.row(0), *slope = buffer.streams.row(1), *value = buffer.streams.row(2);
    const T other = *buffer.own.row(0);
    std::copy(matrix.values + begin, matrix.values + begin + edges, value);
    for (int64_t p = 0; p < this->heads_.size(edges); p += kLanes<T>) {
      const Vec<T> w = tanh_vector<T>(load(weight + p) + other), entry = load(value + p);
      store(weight + p, w * entry);
      store(slope + p, (T(1) - w * w) * entry);
    }
  }
};

}  // namespace hp
