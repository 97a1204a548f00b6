// One layer: step 1 of ACM (linear maps and filters of all channels) around the mixer.
//
// Channels live in panels: matrices (N, columns) that are multiplied as a whole. Channels that
// share a filter length are packed side by side while they fit into 64 columns, so the low and
// high pass of an output layer of few classes cost one sparse product of one vector a node.
//
// Forward   signal P = [X, H_1, ..] W (or A W_A),    filtered Y = identity * P + aggregate * A^h P
//           ACM: h = relu(Y);  ACMII: Y is made from relu(P), h = Y
// Backward  G = gradient of Y,   D = identity * G + aggregate * (A^T)^h G = gradient of P,
//           W receives X^T D and H^T D, A^T D for W_A; the states receive D W^T
// In hidden layers G takes Y's place in memory and D that of P.
#pragma once
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "dense.h"
#include "feature_product.h"
#include "graph.h"
#include "mixing.h"
#include "panel.h"

namespace hp {

template <class T>
class Layer {
 public:
  MixerParameters<T> learned;

  Layer(const Graph<T>& graph, const hp_layer& spec, const hp_model& model,
        const std::vector<int64_t>& state_widths, bool is_output, Team& team)
      : learned(spec), graph_(graph), spec_(spec), team_(team), width_(spec.width) {
    num_inputs_ = spec.sees_features ? graph.num_features : 0;
    for (int s = 0; s < spec.num_states; ++s) {
      state_rows_.push_back(num_inputs_);
      state_widths_.push_back(state_widths[spec.first_state + s]);
      num_inputs_ += state_widths_.back();
    }
    places_.resize(spec.num_channels);
    for (int k = 0; k < spec.num_channels; ++k) place(k);
    // Without dropout of the features, a layer of features only trains on the evaluation's product.
    const bool has_next = spec.sees_features &&
                          (model.input_rate > 0 || (model.rate > 0 && spec.num_states > 0));
    for (Panel<T>& panel : panels_) allocate(panel, is_output, has_next);
    for (int w = 0; w < team.size(); ++w) workers_.push_back(std::make_unique<Worker>(spec, learned, panels_));
    const int64_t blocks = (graph.num_nodes + kBlock - 1) / kBlock;
    if (!is_output) kept_ = Matrix<T>(mixer(0).num_kept_rows() * blocks, kBlock);
  }

  Mixer<T>& mixer(int worker) { return workers_[worker]->mixer; }
  // Gates and alpha of a block of all nodes, from the forward to the backward pass.
  void keep(int64_t block, int worker) {
    if (mixer(worker).can_keep()) mixer(worker).keep(block, kept_);
  }
  void recall(int64_t block, int worker) { mixer(worker).recall(block, kept_); }

  // Before a backward pass over so many parts of nodes, and before a worker begins with one of them.
  void begin_backward(int64_t num_parts) {
    while (static_cast<int64_t>(totals_.size()) < num_parts) totals_.push_back(learned.totals());
    for (MixerTotals<T>& totals : totals_) totals.clear();
  }
  void begin_part(int64_t part, int worker) { mixer(worker).collect(totals_[part]); }

  // Signals of all channels. An evaluation (`features` given) also makes the products with X of the
  // training step after it, which begins where they end. A W_A is the same in both. Channels
  // without aggregation are finished here: their signal is h_k.
  void linear(const FeatureView<T>* features, const std::vector<Matrix<T>>& states) {
    for (Panel<T>& panel : panels_) {
      const bool is_last = spec_.num_states == 0 || panel.is_structure;
      const Finish<T> finish = panel.aggregates ? Finish<T>{} : finish_of(panel);
      if (features == nullptr && !panel.next.empty()) std::swap(panel.signal, panel.next);
      if (features != nullptr && panel.is_structure)
        multiply_structure(panel, finish);
      else if (features != nullptr && spec_.sees_features)
        feature_product<T>(team_, *features, panel.weight.value, panel.signal, panel.next,
                           is_last ? finish : Finish<T>{});
      if (is_last) continue;
      for (int s = 0; s < spec_.num_states; ++s)
        team_.for_rows(graph_.num_nodes, [&](int64_t begin, int64_t end) {
          dense_product<T>(view(states[spec_.first_state + s]).part(begin, end - begin), state_widths_[s],
                           panel.weight.value, state_rows_[s], !spec_.sees_features && s == 0,
                           view(panel.signal).part(begin, end - begin),
                           s + 1 == spec_.num_states ? finish : Finish<T>{});
        });
    }
  }

  // What the filters of all rows share: hops but the last, sums of classes.
  void begin_filter() {
    const bool relu_first = spec_.activates && spec_.activates_first;
    for (Panel<T>& panel : panels_) {
      if (!panel.aggregates) continue;
      panel.source = &panel.signal;
      for (int hop = 1; hop < panel.hops; ++hop) {
        Matrix<T>& next = temporary(panel, hop);
        if (hop == 1 && relu_first)
          plain_filter<true>(graph_.op, panel, *panel.source, next);
        else
          plain_filter<false>(graph_.op, panel, *panel.source, next);
        panel.source = &next;
      }
      if (relu_first && panel.hops == 1)
        sum_classes<T, true>(team_, graph_.op, *panel.source, inner(panel.columns), panel.sums);
      else
        sum_classes<T, false>(team_, graph_.op, *panel.source, inner(panel.columns), panel.sums);
    }
  }

  // Filters of all nodes, kept for the backward pass: one panel after the other.
  void filter_all() {
    for (Panel<T>& panel : panels_)
      if (panel.aggregates)
        team_.for_rows(graph_.num_nodes, [&](int64_t begin, int64_t end) {
          filter_panel(panel, Rows{nullptr, end - begin, begin}, false, panel.filtered);
        });
  }
  // Filters of a block of nodes; kept for the backward pass or only for load_block().
  void filter_block(const Rows& rows, int64_t begin, int64_t count, bool is_kept, int worker) {
    for (size_t p = 0; p < panels_.size(); ++p)
      if (panels_[p].aggregates)
        filter_panel(panels_[p], rows.part(begin, count), !is_kept,
                     is_kept ? panels_[p].filtered : workers_[worker]->blocks[p]);
  }

  // Shows the mixer h_k of a block of nodes: where filter_block() left them, or a copy.
  void load_block(const Rows& rows, int64_t begin, int count, bool is_kept, int worker) {
    Mixer<T>& mixer = this->mixer(worker);
    with_vectors(mixer.stride() / kLanes<T>, [&](auto vectors) {
      const int64_t end = vectors > 0 ? vectors * kLanes<T> : mixer.stride();
      for (int k = 0; k < spec_.num_channels; ++k) {
        const Panel<T>& panel = panels_[places_[k].panel];
        const bool is_packed = panel.aggregates && !is_kept;
        const Matrix<T>& from = is_packed ? workers_[worker]->blocks[places_[k].panel] : panel.aggregates ? panel.filtered : panel.signal;
        if (is_aligned(k) && (is_packed || rows.list == nullptr)) {
          const int64_t first = is_packed ? 0 : rows[begin];
          mixer.see(k, from.row(first) + places_[k].column, from.stride());
          continue;
        }
        T* h = mixer.own_rows(k);
        for (int b = 0; b < count; ++b, h += mixer.stride()) {
          const T* source = from.row(is_packed ? b : rows[begin + b]) + places_[k].column;
          if (is_aligned(k))
            for (int64_t j = 0; j < end; j += kLanes<T>) store(h + j, load(source + j));
          else
            std::memcpy(h, source, width_ * sizeof(T));
        }
      }
    });
  }

  // Gradients of all channels of a block, after load_block(); `rows` is a range.
  void backward_block(const Rows& rows, int64_t begin, int count, int worker) {
    Mixer<T>& mixer = this->mixer(worker);
    bool is_direct = mixer.is_simple() && rows.list == nullptr;
    for (int k = 0; k < spec_.num_channels && is_direct; ++k) is_direct = is_aligned(k) && has_plain_mask(k);
    if (!is_direct) {
      mixer.backward(count);
      return store_block(rows, begin, count, worker);
    }
    std::vector<typename Mixer<T>::Target>& targets = workers_[worker]->targets;
    targets.clear();
    for (int k = 0; k < spec_.num_channels; ++k) {
      Panel<T>& panel = panels_[places_[k].panel];
      Matrix<T>& to = panel.of_filtered();
      const T own = panel.aggregates ? T(1) : static_cast<T>(spec_.channels[k].identity);
      const bool is_masked = spec_.activates && (!spec_.activates_first || !panel.aggregates);
      targets.push_back({to.row(rows[begin]) + places_[k].column, to.stride(), own, is_masked});
    }
    mixer.backward_into(count, targets.data());
  }

  // Gradients of h_k from the mixer to the panels.
  void store_block(const Rows& rows, int64_t begin, int count, int worker) {
    Mixer<T>& mixer = this->mixer(worker);
    with_vectors(mixer.stride() / kLanes<T>, [&](auto vectors) {
      const int64_t end = vectors > 0 ? vectors * kLanes<T> : mixer.stride();
      for (int k = 0; k < spec_.num_channels; ++k) {
        Panel<T>& panel = panels_[places_[k].panel];
        Matrix<T>& to = panel.of_filtered();
        const T own = panel.aggregates ? T(1) : static_cast<T>(spec_.channels[k].identity);
        const bool relu_before = !panel.aggregates && spec_.activates && spec_.activates_first;
        const bool relu_after = spec_.activates && !spec_.activates_first;
        for (int b = 0; b < count; ++b) {
          const int64_t row = rows[begin + b];
          T* g = mixer.gradient(k, b);
          const T* h = mixer.channel(k, b);
          T* target = to.row(row) + places_[k].column;
          if (relu_before) {
            const T* before = panel.signal.row(row) + places_[k].column;
            for (int64_t j = 0; j < width_; ++j) g[j] = before[j] * own > T(0) ? g[j] : T(0);
          }
          T* out = is_aligned(k) ? target : g;
          for (int64_t j = 0; j < end; j += kLanes<T>) {
            const Vec<T> x = load(g + j) * own;
            store(out + j, relu_after ? where_positive<T>(load(h + j), x) : x);
          }
          if (out == g) std::memcpy(target, g, width_ * sizeof(T));
        }
      }
    });
  }

  // G -> D in all panels.
  void filter_backward() {
    for (Panel<T>& panel : panels_) {
      if (!panel.aggregates) continue;
      const Matrix<T>& gradient = panel.of_filtered();
      const Matrix<T>* source = &gradient;
      for (int hop = 1; hop < panel.hops; ++hop) {
        Matrix<T>& next = temporary(panel, hop);
        plain_filter<false>(graph_.op_t, panel, *source, next);
        source = &next;
      }
      const T *keep = panel.identity.data(), *move = panel.aggregate.data();
      sum_classes<T, false>(team_, graph_.op_t, *source, inner(panel.columns), panel.sums);
      team_.for_rows(graph_.num_nodes, [&](int64_t begin, int64_t end) {
        const Rows range{nullptr, end - begin, begin};
        if (spec_.activates && spec_.activates_first)
          filter<T, false, false, true>(graph_.op_t, *source, gradient, keep, move, range,
                                        panel.signal.data(), panel.sums, false, false, panel.signal);
        else
          filter<T, false, false, false>(graph_.op_t, *source, gradient, keep, move, range, nullptr,
                                         panel.sums, false, false, panel.signal);
      });
    }
  }

  // D -> gradients of the states; Adam on all parameters of the layer.
  void linear_backward(const FeatureGradient<T>& features, const std::vector<Matrix<T>>& states,
                       const Adam<T>& adam, std::vector<Matrix<T>>& to_states,
                       std::vector<char>& has_gradient) {
    const NodeParts parts(graph_.num_nodes, graph_.num_nodes);
    for (Panel<T>& panel : panels_) {
      Matrix<T>& gradient = panel.of_signal();
      if (panel.is_structure) {
        sum_classes<T, false>(team_, graph_.structure_t, gradient, inner(panel.columns), panel.sums);
        multiply_into_adam<T>(team_, graph_.structure_t, gradient, panel.sums, adam, panel.weight);
        continue;
      }
      for (int s = 0; s < spec_.num_states; ++s) {
        const int state = spec_.first_state + s;
        const int64_t rows = state_widths_[s];
        Matrix<T> transpose(panel.columns, rows);
        transpose_rows<T>(panel.weight.value, state_rows_[s], rows, transpose);
        const View<const T> given = view(std::as_const(gradient)), seen = view(states[state]);
        team_.for_rows(graph_.num_nodes, [&](int64_t begin, int64_t end) {
          dense_product<T>(given.part(begin, end - begin), panel.columns, transpose, 0, !has_gradient[state],
                           view(to_states[state]).part(begin, end - begin));
        });
        has_gradient[state] = 1;
        const Matrix<T> total = sum_of_parts<T>(
            team_, parts, rows, panel.columns, [&](int64_t begin, int64_t end, Matrix<T>& sum) {
              weight_gradient<T>(seen.part(begin, end - begin), rows, given.part(begin, end - begin), view(sum));
            });
        adam.rows(panel.weight, state_rows_[s], rows, total.data());
      }
      if (spec_.sees_features)
        feature_update<T>(team_, parts, features, gradient, adam, graph_.num_features, panel.weight);
    }
    if (!learned.is_adaptive) return;
    for (size_t part = 1; part < totals_.size(); ++part) totals_[0].add(totals_[part]);
    learned.update(adam, totals_[0]);
  }

  // Output layers: the signals and mixer of the best epoch so far, and back to them.
  void remember() {
    for (Panel<T>& panel : panels_) panel.best.assign(panel.signal);
    learned.remember();
  }
  void return_to_best() {
    for (Panel<T>& panel : panels_) panel.signal.assign(panel.best);
    learned.return_to_best();
  }

  // copy(parameter, place in the flat vector of the torch module) for every parameter.
  template <class Copy>
  void exchange(Copy&& copy) {
    learned.exchange(spec_, copy);
    int64_t feature_channel = 0;
    for (int k = 0; k < spec_.num_channels; ++k) {
      Panel<T>& panel = panels_[places_[k].panel];
      const int64_t start =
          panel.is_structure ? spec_.structure_weight : start_of(feature_channel++);
      for (int64_t i = 0; i < panel.weight.value.rows(); ++i) {
        const int64_t row = panel.is_structure ? i : place_of_input(i);
        for (int64_t j = 0; j < width_; ++j)
          copy(panel.weight.value.row(i)[places_[k].column + j], start + row * width_ + j);
      }
    }
  }

  // visit(place, width) for the rows of weights that belong to features no node has.
  template <class Visit>
  void for_unused(Visit&& visit) const {
    if (!spec_.sees_features) return;
    int64_t feature_channel = 0;
    for (int k = 0; k < spec_.num_channels; ++k) {
      if (panels_[places_[k].panel].is_structure) continue;
      const int64_t start = start_of(feature_channel++);
      for (int32_t f : graph_.unused) visit(start + f * width_, width_);
    }
  }

 private:
  struct Place {
    int panel;
    int64_t column;
  };
  // What a thread has of its own.
  struct Worker {
    Mixer<T> mixer;
    std::vector<Matrix<T>> blocks;  // filtered rows of a block of nodes, by panel
    std::vector<typename Mixer<T>::Target> targets;
    Worker(const hp_layer& spec, const MixerParameters<T>& learned, const std::vector<Panel<T>>& panels)
        : mixer(spec, learned) {
      for (const Panel<T>& panel : panels)
        blocks.push_back(panel.aggregates ? Matrix<T>(kBlock, panel.columns) : Matrix<T>());
    }
  };

  // Filtered rows of a panel; packed: from row 0 of `out` on.
  void filter_panel(const Panel<T>& panel, const Rows& rows, bool is_packed, Matrix<T>& out) {
    const bool relu_first = spec_.activates && spec_.activates_first;
    const bool relu_after = spec_.activates && !spec_.activates_first;
    const T *keep = panel.identity.data(), *move = panel.aggregate.data();
    if (!relu_first)
      filter<T, false, false, false>(graph_.op, *panel.source, panel.signal, keep, move, rows,
                                     nullptr, panel.sums, is_packed, relu_after, out);
    else if (panel.hops == 1)
      filter<T, true, true, false>(graph_.op, *panel.source, panel.signal, keep, move, rows,
                                   nullptr, panel.sums, is_packed, relu_after, out);
    else
      filter<T, false, true, false>(graph_.op, *panel.source, panel.signal, keep, move, rows,
                                    nullptr, panel.sums, is_packed, relu_after, out);
  }

  // Rows of the torch module's weight: all features, then the states.
  int64_t place_of_input(int64_t row) const {
    if (!spec_.sees_features) return row;
    const int64_t left_out = graph_.all_features - graph_.num_features;
    return row < graph_.num_features ? graph_.columns[row] : row + left_out;
  }
  int64_t start_of(int64_t feature_channel) const {
    const int64_t left_out = spec_.sees_features ? graph_.all_features - graph_.num_features : 0;
    return spec_.weight + feature_channel * (num_inputs_ + left_out) * width_;
  }

  void multiply_structure(Panel<T>& panel, const Finish<T>& finish) {
    sum_classes<T, false>(team_, graph_.structure, panel.weight.value, inner(panel.columns), panel.sums);
    multiply<T>(team_, graph_.structure, panel.weight.value, panel.sums, panel.signal, finish);
  }

  void place(int k) {
    const hp_channel& channel = spec_.channels[k];
    const bool aggregates = channel.aggregate != 0.0;
    const int hops = aggregates ? channel.hops : 1;
    size_t p = 0;
    for (; p < panels_.size() && !channel.is_structure; ++p) {
      const Panel<T>& panel = panels_[p];
      if (panel.is_structure || panel.columns + width_ > kPanelColumns) continue;
      if (panel.aggregates == aggregates && panel.hops == hops) break;
      // A channel without aggregation (coefficient 0) may fill columns that were padding.
      if (panel.aggregates && !aggregates && panel.columns + width_ <= padded<T>(panel.columns)) break;
    }
    if (p >= panels_.size() || channel.is_structure) {
      p = panels_.size();
      panels_.emplace_back();
      panels_[p].aggregates = aggregates;
      panels_[p].is_structure = channel.is_structure;
      panels_[p].hops = hops;
    }
    places_[k] = {static_cast<int>(p), panels_[p].columns};
    panels_[p].channels.push_back(k);
    panels_[p].columns += width_;
  }

  void allocate(Panel<T>& panel, bool is_output, bool has_next) {
    const int64_t nodes = graph_.num_nodes;
    panel.weight = Weight<T>(panel.is_structure ? nodes : num_inputs_, panel.columns);
    panel.signal = Matrix<T>(nodes, panel.columns);
    if (has_next && !panel.is_structure) panel.next = Matrix<T>(nodes, panel.columns);
    if (panel.aggregates && !is_output) panel.filtered = Matrix<T>(nodes, panel.columns);
    const Operator<T>& op = panel.is_structure ? graph_.structure : graph_.op;
    if (op.has_quotient()) panel.sums = Matrix<T>(op.classes.rows, panel.columns);
    if (is_output) panel.gradient = Matrix<T>(nodes, panel.columns);
    panel.identity = Matrix<T>(1, panel.columns);
    panel.aggregate = Matrix<T>(1, panel.columns);
    for (int k : panel.channels)
      for (int64_t j = 0; j < width_; ++j) {
        panel.identity.data()[places_[k].column + j] = static_cast<T>(spec_.channels[k].identity);
        panel.aggregate.data()[places_[k].column + j] = static_cast<T>(spec_.channels[k].aggregate);
      }
  }

  // From the signal of a channel without aggregation to h_k.
  Finish<T> finish_of(const Panel<T>& panel) const {
    return {panel.identity.data(), spec_.activates && spec_.activates_first,
            spec_.activates && !spec_.activates_first};
  }

  // One hop on its way to A_hat^h.
  template <bool Relu>
  void plain_filter(const Operator<T>& op, Panel<T>& panel, const Matrix<T>& in, Matrix<T>& out) {
    Matrix<T> zeros(1, panel.columns), ones(1, panel.columns);
    for (int64_t j = 0; j < panel.columns; ++j) ones.data()[j] = 1;
    sum_classes<T, Relu>(team_, op, in, inner(panel.columns), panel.sums);
    team_.for_rows(graph_.num_nodes, [&](int64_t begin, int64_t end) {
      filter<T, Relu, false, false>(op, in, in, zeros.data(), ones.data(), Rows{nullptr, end - begin, begin},
                                    nullptr, panel.sums, false, false, out);
    });
  }

  Matrix<T>& inner(int64_t columns) {
    Matrix<T>& sums = inner_[columns];
    const int64_t classes = std::max(graph_.op.members.rows, graph_.structure.members.rows);
    if (classes > 0 && sums.empty()) sums = Matrix<T>(classes, columns);
    return sums;
  }

  Matrix<T>& temporary(Panel<T>& panel, int hop) {
    Matrix<T>& buffer = panel.hop_results[hop % 2];
    if (buffer.empty()) buffer = Matrix<T>(graph_.num_nodes, panel.columns);
    return buffer;
  }

  // Is the ReLU of a channel seen in the sign of h_k? Not when a negative factor follows it.
  bool has_plain_mask(int k) const {
    return panels_[places_[k].panel].aggregates || !spec_.activates || !spec_.activates_first ||
           spec_.channels[k].identity > 0;
  }

  // Columns of a packed channel may lie across vectors; they are copied, without padding.
  bool is_aligned(int k) const {
    return panels_[places_[k].panel].channels.size() == 1 ||
           (places_[k].column % kWide<T> == 0 && width_ % kWide<T> == 0);
  }

  const Graph<T>& graph_;
  const hp_layer& spec_;
  Team& team_;
  int64_t width_, num_inputs_;
  std::vector<int64_t> state_rows_, state_widths_;
  std::vector<Panel<T>> panels_;
  std::vector<Place> places_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<MixerTotals<T>> totals_;  // by part of nodes
  Matrix<T> kept_;
  std::map<int64_t, Matrix<T>> inner_;  // sums within classes, by columns
};

}  // namespace hp
