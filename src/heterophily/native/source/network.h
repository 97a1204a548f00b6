// A whole network: layers wired as a stack or a snowball, dropout, ReLU and the residual H_X.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "dropout.h"
#include "layer.h"
#include "loss.h"
#include "ranking.h"
#include "score.h"

namespace hp {

// H_X = relu(X W_X + b).
template <class T>
struct Residual {
  Weight<T> weight, bias;
  Matrix<T> signal, next, gradient, best, best_bias;

  Residual() = default;
  Residual(int64_t nodes, int64_t features, int64_t width, bool has_bias, bool has_next)
      : weight(features, width), signal(nodes, width), gradient(nodes, width) {
    if (has_bias) bias = Weight<T>(1, width);
    if (has_next) next = Matrix<T>(nodes, width);
  }
  // An evaluation (`features` given) or the training step after it, as in a layer.
  void linear(Team& team, const FeatureView<T>* features) {
    if (features != nullptr)
      feature_product<T>(team, *features, weight.value, signal, next);
    else if (!next.empty())
      std::swap(signal, next);
  }
  bool empty() const { return weight.empty(); }
  Vec<T> at(int64_t node, int64_t column) const {
    Vec<T> x = load(signal.row(node) + column);
    if (!bias.empty()) x = x + load(bias.value.data() + column);
    return relu<T>(x);
  }
  void update(Team& team, const FeatureGradient<T>& features, int64_t num_features, const Adam<T>& adam) {
    const NodeParts parts(signal.rows(), signal.rows());
    team.for_rows(signal.rows(), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n)
        for (int64_t j = 0; j < signal.stride(); j += kLanes<T>)
          store(gradient.row(n) + j, where_positive<T>(at(n, j), load(gradient.row(n) + j)));
    });
    if (!bias.empty()) {
      const Matrix<T> total = sum_of_parts<T>(
          team, parts, 1, signal.columns(), [&](int64_t begin, int64_t end, Matrix<T>& sum) {
            for (int64_t n = begin; n < end; ++n)
              for (int64_t j = 0; j < signal.stride(); j += kLanes<T>)
                store(sum.data() + j, load(sum.data() + j) + load(gradient.row(n) + j));
          });
      adam.rows(bias, 0, 1, total.data());
    }
    feature_update<T>(team, parts, features, gradient, adam, num_features, weight);
  }
};

template <class T>
class Network {
 public:
  // `weights` of the nodes in the losses; nullptr: all 1. The threads of the team share the work.
  Network(const Graph<T>& graph, const hp_model& model, int64_t classes, const int32_t* labels,
          const T* weights, uint64_t seed, Team& team)
      : graph_(graph), model_(model), classes_(classes), labels_(labels), weights_(weights), seed_(seed),
        team_(team) {
    const int64_t nodes = graph.num_nodes;
    const bool drops_features = model.input_rate > 0;
    std::vector<int64_t> widths;
    for (int l = 0; l < model.num_layers; ++l) {
      const bool is_output = l + 1 == model.num_layers;
      layers_.push_back(std::make_unique<Layer<T>>(graph, model.layers[l], model, widths, is_output, team));
      if (is_output) break;
      widths.push_back(model.layers[l].width);
      states_.emplace_back(nodes, widths.back());
      to_states_.emplace_back(nodes, widths.back());
    }
    if (model.hidden_residual >= 0)
      hidden_ = Residual<T>(nodes, graph.num_features, model.layers[0].width, model.hidden_bias >= 0,
                            drops_features);
    if (model.output_residual >= 0)
      output_ = Residual<T>(nodes, graph.num_features, classes, model.output_bias >= 0, drops_features);
    const int64_t widest = widths.empty() ? 1 : *std::max_element(widths.begin(), widths.end());
    for (int w = 0; w < team.size(); ++w) rows_.emplace_back(kNumRows, std::max(widest, classes));
    const int64_t entries = graph.features.indptr[nodes];
    is_large_ = nodes >= HP_LARGE_GRAPH;
    // Few features and many nodes: their gradient stays in the cache, the nodes' would not.
    is_by_row_ = nodes * kPanelColumns * sizeof(T) > kCache && graph.num_features * 4 < nodes &&
                 (!is_large_ || graph.num_features <= kMostSummed);
    if (!drops_features) return;
    next_values_.resize(entries);
    if (is_large_)
      column_values_.resize(is_by_row_ ? 0 : entries);
    else
      selected_.reserve(is_by_row_ ? nodes : graph.num_features, entries);
  }

  // Forward without dropout, up to the signals of the output layer; also the products with the
  // features that step `next` will see.
  void forward_evaluation(uint64_t next) {
    FeatureView<T> view{graph_.features, graph_.features.values};
    if (!next_values_.empty()) {
      drop(feature_mask(next), view.entries.values, nullptr, next_values_);
      view.next_values = next_values_.data();
    }
    forward(&view, 0, false);
  }

  // Forward with the masks of a step, from what forward_evaluation(step) left behind: nothing is
  // to be done without dropout.
  void forward_training(uint64_t step) {
    if (model_.input_rate > 0 || model_.rate > 0) forward(nullptr, step, true);
  }

  // Logits of some rows, after a forward; loss (a sum) and number of right predictions.
  Score evaluate(const Rows& rows, int32_t* predictions, Ranked* ranked = nullptr) {
    Layer<T>& last = *layers_.back();
    last.begin_filter();
    const NodeParts parts(rows.count, graph_.num_nodes);
    std::vector<Score> scores(static_cast<size_t>(parts.count()));
    for_blocks(parts, [&](int64_t begin, int count, int64_t part, int w) {
      Score& score = scores[static_cast<size_t>(part)];
      last.filter_block(rows, begin, count, false, w);
      last.load_block(rows, begin, count, false, w);
      last.mixer(w).forward(count);
      for (int b = 0; b < count; ++b) {
        const int64_t node = rows[begin + b];
        T* logits = last.mixer(w).mixture(b);
        finish_logits(node, logits);
        const int32_t predicted = predicted_class<T>(logits, classes_);
        if (predictions) predictions[node] = predicted;
        if (labels_[node] < 0) continue;
        score.right += predicted == labels_[node];
        const T weight = weights_ == nullptr ? T(1) : weights_[node];
        score.weight += weight;
        if (ranked) ranked->before(begin + b, logits);
        score.loss += cross_entropy<T>(logits, classes_, labels_[node], false) * weight;
        if (ranked) ranked->after(begin + b, logits);
      }
    });
    Score total;
    for (const Score& score : scores) total.add(score);
    return total;
  }

  // Keeps what the logits of all nodes need, after a forward; predictions of that moment.
  void remember() {
    layers_.back()->remember();
    if (output_.empty()) return;
    output_.best.assign(output_.signal);
    if (!output_.bias.empty()) output_.best_bias.assign(output_.bias.value);
  }
  void predict_best(int32_t* predictions) {
    layers_.back()->return_to_best();
    if (!output_.empty()) {
      output_.signal.assign(output_.best);
      if (!output_.bias.empty()) output_.bias.value.assign(output_.best_bias);
    }
    evaluate(Rows{nullptr, graph_.num_nodes}, predictions);
  }

  // After forward_training(step): loss of the training rows, backward pass and Adam step.
  double train(const Rows& rows, uint64_t step, const Adam<T>& adam) {
    const FeatureGradient<T> features = feature_gradient(step);
    const double loss = output_pass(rows);
    std::vector<char> has_gradient(states_.size(), 0);
    if (!hidden_.empty()) hidden_.gradient.clear();
    for (int l = model_.num_layers - 1; l >= 0; --l) {
      if (l + 1 < model_.num_layers) hidden_backward(l, step);
      layers_[l]->filter_backward();
      layers_[l]->linear_backward(features, states_, adam, to_states_, has_gradient);
    }
    if (!hidden_.empty()) hidden_.update(team_, features, graph_.num_features, adam);
    if (!output_.empty()) output_.update(team_, features, graph_.num_features, adam);
    return loss;
  }

  // copy(parameter, place in the flat vector) for every parameter.
  template <class Copy>
  void exchange(Copy&& copy) {
    for (auto& layer : layers_) layer->exchange(copy);
    const auto feature = [&](int64_t i) { return static_cast<int64_t>(graph_.columns[i]); };
    const auto same = [](int64_t i) { return i; };
    exchange_matrix(hidden_.weight, model_.hidden_residual, feature, copy);
    exchange_matrix(hidden_.bias, model_.hidden_bias, same, copy);
    exchange_matrix(output_.weight, model_.output_residual, feature, copy);
    exchange_matrix(output_.bias, model_.output_bias, same, copy);
  }

  // visit(place, width) for the rows of weights that belong to features no node has. They are no
  // part of this network: nothing but weight decay ever changes them.
  template <class Visit>
  void for_unused(Visit&& visit) const {
    for (auto& layer : layers_) layer->for_unused(visit);
    for (int32_t f : graph_.unused) {
      const int64_t hidden = hidden_.weight.value.columns(), output = output_.weight.value.columns();
      if (!hidden_.empty()) visit(model_.hidden_residual + f * hidden, hidden);
      if (!output_.empty()) visit(model_.output_residual + f * output, output);
    }
  }

 private:
  static constexpr size_t kCache = 1536 * 1024;
  static constexpr int64_t kMostSummed = 16 * 1024;  // features whose gradient every part of nodes may sum
  enum { kFactor, kSecond, kBefore, kNumRows };      // rows that a thread has of its own

  // work(first row, number of rows, part, worker) for the blocks of all parts.
  template <class Work>
  void for_blocks(const NodeParts& parts, Work&& work) {
    team_.run(parts.count(), [&](int64_t part, int w) {
      parts.for_blocks(part, [&](int64_t begin, int count) { work(begin, count, part, w); });
    });
  }
  // Entries after dropout; number: entry -> index of the mask (nullptr: its own position).
  void drop(const Mask& mask, const T* values, const uint32_t* number, std::vector<T>& out) {
    team_.for_rows(static_cast<int64_t>(out.size()), [&](int64_t begin, int64_t end) {
      mask.apply<T>(values, number, begin, end, out.data());
    });
  }

  void forward(const FeatureView<T>* view, uint64_t step, bool is_training) {
    if (!hidden_.empty()) hidden_.linear(team_, view);
    if (!output_.empty()) output_.linear(team_, view);
    for (int l = 0; l < model_.num_layers; ++l) {
      layers_[l]->linear(view, states_);
      layers_[l]->learned.prepare();
      if (l + 1 == model_.num_layers) break;
      hidden_forward(l, is_training, step);
    }
  }

  // Sites number the calls of dropout in a forward pass, as torch would make them.
  Mask feature_mask(uint64_t step) const { return Mask(seed_, step, 0, model_.input_rate); }
  Mask state_mask(int l, uint64_t step) const {
    const int residual = model_.residual == HP_RESIDUAL_ONCE && !hidden_.empty() && l > 0;
    return Mask(seed_, step, (model_.input_rate > 0) + l + residual, model_.rate);
  }
  Mask residual_mask(uint64_t step) const {
    return Mask(seed_, step, (model_.input_rate > 0) + 1, model_.rate);
  }
  bool adds_residual(int l) const {
    return !hidden_.empty() && (model_.residual == HP_RESIDUAL_EVERY_LAYER || l == 0);
  }

  // Filter, mixture and state of hidden layer l: ReLU, residual, dropout.
  void hidden_forward(int l, bool is_training, uint64_t step) {
    Layer<T>& layer = *layers_[l];
    const int64_t width = model_.layers[l].width;
    const Mask mask = state_mask(l, step), other = residual_mask(step);
    const bool drops = is_training && mask.is_active(), adds = adds_residual(l);
    const bool is_once = model_.residual == HP_RESIDUAL_ONCE;
    const Rows all{nullptr, graph_.num_nodes};
    // Filtered rows are needed again by the backward pass; an evaluation is one only if the next
    // step will use it.
    bool is_kept = is_training || (model_.input_rate == 0 && model_.rate == 0);
    const bool needs_shares = is_kept;
    layer.begin_filter();
    // One panel after the other: a panel of some thousand nodes stays in the second-level cache,
    // two of them would not. With a quotient rows are not gathered and blocks are better.
    const bool is_at_once = !graph_.op.has_quotient();
    if (is_at_once) layer.filter_all();
    is_kept = is_kept || is_at_once;
    for_blocks(NodeParts(all.count, all.count), [&](int64_t begin, int count, int64_t, int w) {
      T *factor = rows_[w].row(kFactor), *second = rows_[w].row(kSecond);
      if (!is_at_once) layer.filter_block(all, begin, count, is_kept, w);
      layer.load_block(all, begin, count, is_kept, w);
      layer.mixer(w).forward(count);
      if (needs_shares) layer.keep(begin / kBlock, w);
      for (int b = 0; b < count; ++b) {
        const int64_t node = begin + b;
        const T* mixture = layer.mixer(w).mixture(b);
        T* state = states_[l].row(node);
        if (drops) mask.row<T>(static_cast<uint32_t>(node * width), static_cast<int>(width), factor);
        if (drops && adds && is_once)
          other.row<T>(static_cast<uint32_t>(node * width), static_cast<int>(width), second);
        for (int64_t j = 0; j < states_[l].stride(); j += kLanes<T>) {
          Vec<T> x = relu<T>(load(mixture + j));
          if (adds && !is_once) x = x + hidden_.at(node, j);
          if (drops) x = x * load(factor + j);
          if (adds && is_once) {
            const Vec<T> r = hidden_.at(node, j);
            x = x + (drops ? r * load(second + j) : r);
          }
          store(state + j, x);
        }
      }
    });
  }

  // Gradient of state l -> gradients of the channels of layer l.
  void hidden_backward(int l, uint64_t step) {
    Layer<T>& layer = *layers_[l];
    const int64_t width = model_.layers[l].width;
    const Mask mask = state_mask(l, step), other = residual_mask(step);
    const bool drops = mask.is_active(), adds = adds_residual(l);
    const bool is_once = model_.residual == HP_RESIDUAL_ONCE;
    const T scale = static_cast<T>(mask.scale());
    const Rows all{nullptr, graph_.num_nodes};
    const NodeParts parts(all.count, all.count);
    layer.begin_backward(parts.count());
    for_blocks(parts, [&](int64_t begin, int count, int64_t part, int w) {
      Mixer<T>& mixer = layer.mixer(w);
      T *factor = rows_[w].row(kFactor), *second = rows_[w].row(kSecond);
      layer.begin_part(part, w);
      layer.load_block(all, begin, count, true, w);
      if (adds || !mixer.can_keep())
        mixer.forward(count);
      else
        layer.recall(begin / kBlock, w);  // the mixture itself is not needed
      for (int b = 0; b < count; ++b) {
        const int64_t node = begin + b;
        T* mixture = mixer.mixture(b);
        const T* gradient = to_states_[l].row(node);
        if (!adds) {  // a state is positive where the mixture is and the mask keeps it
          const T* state = states_[l].row(node);
          for (int64_t j = 0; j < states_[l].stride(); j += kLanes<T>)
            store(mixture + j, where_positive<T>(load(state + j), load(gradient + j) * scale));
          continue;
        }
        if (drops) mask.row<T>(static_cast<uint32_t>(node * width), static_cast<int>(width), factor);
        if (drops && is_once)
          other.row<T>(static_cast<uint32_t>(node * width), static_cast<int>(width), second);
        for (int64_t j = 0; j < states_[l].stride(); j += kLanes<T>) {
          const Vec<T> g = load(gradient + j);
          const Vec<T> kept = drops ? g * load(factor + j) : g;
          const Vec<T> to_residual = !is_once ? kept : drops ? g * load(second + j) : g;
          T* total = hidden_.gradient.row(node) + j;
          store(total, load(total) + to_residual);
          store(mixture + j, where_positive<T>(load(mixture + j), kept));
        }
      }
      layer.backward_block(all, begin, count, w);
    });
  }

  void finish_logits(int64_t node, T* logits) const {
    for (int64_t j = 0; j < padded<T>(classes_); j += kLanes<T>) {
      Vec<T> x = load(logits + j);
      if (model_.output_relu) x = relu<T>(x);
      if (!output_.empty()) x = x + output_.at(node, j);
      store(logits + j, x);
    }
  }

  // Loss of the training rows and the gradients of the output layer's channels.
  double output_pass(const Rows& rows) {
    Layer<T>& last = *layers_.back();
    const NodeParts parts(rows.count, graph_.num_nodes);
    last.begin_filter();
    last.begin_backward(parts.count());
    double weight = static_cast<double>(rows.count);
    if (weights_ != nullptr) {
      weight = 0;
      for (int64_t i = 0; i < rows.count; ++i) weight += weights_[rows[i]];
    }
    const T share = T(1) / static_cast<T>(weight);
    const int64_t stride = padded<T>(classes_);
    std::vector<double> losses(static_cast<size_t>(parts.count()));
    for_blocks(parts, [&](int64_t begin, int count, int64_t part, int w) {
      Mixer<T>& mixer = last.mixer(w);
      T* before = rows_[w].row(kBefore);
      last.begin_part(part, w);
      last.filter_block(rows, begin, count, false, w);
      last.load_block(rows, begin, count, false, w);
      mixer.forward(count);
      for (int b = 0; b < count; ++b) {
        const int64_t node = rows[begin + b];
        T* logits = mixer.mixture(b);
        std::memcpy(before, logits, static_cast<size_t>(stride) * sizeof(T));
        finish_logits(node, logits);
        const T own = weights_ == nullptr ? T(1) : weights_[node];
        losses[static_cast<size_t>(part)] += cross_entropy<T>(logits, classes_, labels_[node], true) * own;
        for (int64_t j = 0; j < stride; j += kLanes<T>) {
          Vec<T> g = load(logits + j) * (share * own);
          if (!output_.empty()) store(output_.gradient.row(node) + j, g);
          if (model_.output_relu) g = where_positive<T>(load(before + j), g);
          store(logits + j, g);
        }
      }
      mixer.backward(count);
      last.store_block(rows, begin, count, w);
    });
    double loss = 0;
    for (double each : losses) loss += each;
    return loss / weight;
  }

  FeatureGradient<T> feature_gradient(uint64_t step) {
    FeatureGradient<T> view;
    view.is_by_row = is_by_row_;
    const Sparse<T>& x = is_by_row_ ? graph_.features : graph_.features_t;
    view.entries = x;
    const Mask mask = feature_mask(step);
    if (!mask.is_active()) return view;
    if (is_large_) {  // with zeros for dropped entries: any thread may make them
      if (!is_by_row_) drop(mask, x.values, graph_.features_order, column_values_);
      view.entries.values = is_by_row_ ? next_values_.data() : column_values_.data();
      return view;
    }
    selected_.select(x.rows, x.indptr, x.indices, x.values,
                     is_by_row_ ? nullptr : graph_.features_order, mask);
    view.entries = {x.rows, selected_.indptr.data(), selected_.indices.data(), selected_.values.data()};
    return view;
  }

  template <class Place, class Copy>
  static void exchange_matrix(Weight<T>& weight, int64_t start, Place&& place, Copy&& copy) {
    if (weight.empty()) return;
    for (int64_t i = 0; i < weight.value.rows(); ++i)
      for (int64_t j = 0; j < weight.value.columns(); ++j)
        copy(weight.value.row(i)[j], start + place(i) * weight.value.columns() + j);
  }

  const Graph<T>& graph_;
  const hp_model& model_;
  int64_t classes_;
  const int32_t* labels_;
  const T* weights_;
  uint64_t seed_;
  Team& team_;
  std::vector<std::unique_ptr<Layer<T>>> layers_;
  std::vector<Matrix<T>> states_, to_states_;
  Residual<T> hidden_, output_;
  std::vector<Matrix<T>> rows_;  // by worker
  std::vector<T> next_values_, column_values_;  // X and its transpose after dropout
  Selection<T> selected_;                       // the same, packed: on small graphs
  bool is_by_row_, is_large_;
};

}  // namespace hp
