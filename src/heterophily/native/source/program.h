// A network that is a list of steps: passes over its segments, loss, gradients, Adam.
//
// Sums over nodes (gradients of weights, losses) are made for chunks of rows that depend on the number
// of rows alone, and then added in order: any number of threads gives the same bits.
#pragma once
#include <map>

#include "loss.h"
#include "ranking.h"
#include "score.h"
#include "segments.h"
#include "step_kinds.h"
#include "ties.h"

namespace hp {

template <class T>
class Program {
 public:
  Program(const Graph<T>& graph, const hp_task& task, int64_t classes, const int32_t* labels, Team& team)
      : graph_(graph), task_(task), classes_(classes), labels_(labels),
        weights_(static_cast<const T*>(task.weights)), team_(team),
        steps_(made_steps(graph, *task.program, task.replica.seed, team.size())), layout_(steps_), ties_(steps_) {
    for (int64_t width : layout_.widths) buffers_.emplace_back(graph.num_nodes, width);
    for (const auto& step : steps_) differs_ = differs_ || step->differs_in_training();
    for (int w = 0; w < team.size(); ++w) workers_.push_back(made_worker());
    best_.resize(static_cast<size_t>(task.program->num_parameters));
  }

  // All segments but the last, without dropout; what they keep serves the next training step if
  // that does the same (no dropout, no batch norm).
  void forward_evaluation(uint64_t) { forward(0); }
  void forward_training(uint64_t step) {
    if (differs_)
      forward(step);
    else
      begin(step);
  }

  // The last segment on some rows, after a forward pass; their loss and right predictions.
  Score evaluate(const Rows& rows, int32_t* predictions, Ranked* ranked = nullptr) {
    begin(0);
    observe(layout_.last_segment());
    std::vector<Score> scores(num_chunks(rows.count));
    for_blocks(rows, [&](const Rows& nodes, int64_t chunk, int w) {
      forward_block(layout_.last_segment(), nodes, workers_[w], false, w);
      const View<T>& logits = workers_[w].values[steps_.size() - 1];
      for (int64_t row = 0; row < nodes.count; ++row) {
        const int64_t node = nodes[row];
        const int32_t predicted = predicted_class<T>(logits.row(row), classes_);
        if (predictions) predictions[node] = predicted;
        if (labels_[node] < 0) continue;
        const T weight = weights_ == nullptr ? T(1) : weights_[node];
        scores[chunk].right += predicted == labels_[node];
        scores[chunk].weight += weight;
        const int64_t place = nodes.first - rows.first + row;
        if (ranked) ranked->before(place, logits.row(row));
        scores[chunk].loss += cross_entropy<T>(logits.row(row), classes_, labels_[node], false) * weight;
        if (ranked) ranked->after(place, logits.row(row));
      }
    });
    Score total;
    for (const Score& score : scores) total.add(score);
    return total;
  }

  // After forward_training(step): loss of the training rows, backward pass and Adam step.
  double train(const Rows& rows, uint64_t step, const Adam<T>& adam) {
    const Adam<T> own(task_.own_lr, task_.own_weight_decay, task_.replica.is_adamw, static_cast<int64_t>(step));
    const double loss = last_pass(rows);
    update(layout_.last_segment(), num_chunks(rows.count), adam, own);
    const Rows all{nullptr, graph_.num_nodes};
    for (int s = layout_.last_segment() - 1; s >= 0; --s) {
      clear_totals(s, num_chunks(all.count));
      for_blocks(all, [&](const Rows& nodes, int64_t chunk, int w) {
        again_block(s, nodes, workers_[w], w);
        backward_block(s, nodes, workers_[w], totals_.row(chunk), w);
      });
      update(s, num_chunks(all.count), adam, own);
    }
    return loss;
  }

  // The parameters of this moment, to which predict_best() returns.
  void remember() {
    exchange([&](T& parameter, int64_t place) { best_[static_cast<size_t>(place)] = parameter; });
  }
  void predict_best(int32_t* predictions) {
    exchange([&](T& parameter, int64_t place) { parameter = best_[static_cast<size_t>(place)]; });
    forward_evaluation(0);
    evaluate(Rows{nullptr, graph_.num_nodes}, predictions);
  }

  // copy(parameter, place in the flat vector) for every parameter.
  void exchange(const typename Step<T>::Copy& copy) {
    for (auto& step : steps_) step->exchange(copy);
  }
  void for_unused(const typename Step<T>::Visit& visit) const {
    for (const auto& step : steps_) step->for_unused(visit);
  }

 private:
  using Steps = std::vector<std::unique_ptr<Step<T>>>;

  // Where the rows of the block that a thread works on lie, by step; and memory for those that are
  // not stored, shared by steps with the same place in their segments.
  struct Worker {
    std::vector<View<T>> values, gradients, slopes;
    std::vector<char> has_gradient;
    std::vector<View<T>> own_values, own_gradients, own_slopes;
    std::vector<View<const T>> in;  // of the step at hand
    std::vector<Gradient<T>> to_in;
    std::map<std::pair<int, int64_t>, Matrix<T>> memory;
  };

  static Steps made_steps(const Graph<T>& graph, const hp_program& program, uint64_t seed, int workers) {
    Steps steps;
    for (int64_t i = 0; i < program.num_steps; ++i)
      steps.push_back(made_step<T>(graph, program, program.steps[i], seed, workers));
    return steps;
  }
  Worker made_worker() const {
    Worker worker;
    const size_t count = steps_.size();
    worker.values.resize(count);
    worker.gradients.resize(count);
    worker.slopes.resize(count);
    worker.has_gradient.resize(count);
    worker.own_values.resize(count);
    worker.own_gradients.resize(count);
    worker.own_slopes.resize(count);
    const auto own = [&](int key, int64_t width) {
      auto found = worker.memory.find({key, width});
      if (found == worker.memory.end())
        found = worker.memory.emplace(std::make_pair(key, width), Matrix<T>(kBlockRows, width)).first;
      return view(found->second);
    };
    const std::vector<int>& seen = layout_.segments.back().seen;
    for (size_t i = 0; i < count; ++i) {
      const int64_t width = steps_[i]->spec.width;
      // Values that the last segment sees of earlier ones are copied: it works on lists of rows.
      const bool is_seen = std::find(seen.begin(), seen.end(), static_cast<int>(i)) != seen.end();
      const int place = is_seen ? -1 - static_cast<int>(i) : layout_.values[i].position;
      worker.own_values[i] = own(3 * place, width);
      worker.own_gradients[i] = own(3 * place + 1, width);
      if (steps_[i]->has_slope()) worker.own_slopes[i] = own(3 * place + 2, width);
    }
    return worker;
  }

  static int64_t num_chunks(int64_t rows) { return Chunks(rows).count(); }

  // work(nodes, chunk, worker) for all blocks; those of a chunk one after the other.
  template <class Work>
  void for_blocks(const Rows& rows, Work&& work) {
    const Chunks chunks(rows.count);
    team_.run(chunks.count(), [&](int64_t chunk, int w) {
      chunks.for_blocks(chunk, [&](int64_t begin, int64_t count) { work(rows.part(begin, count), chunk, w); });
    });
  }

  void begin(uint64_t step) {
    is_training_ = step > 0;
    for (auto& each : steps_) each->begin(step);
  }

  void forward(uint64_t step) {
    begin(step);
    const bool keeps = is_training_ || !differs_;
    const Rows all{nullptr, graph_.num_nodes};
    for (int s = 0; s < layout_.last_segment(); ++s) {
      observe(s);
      for_blocks(all, [&](const Rows& nodes, int64_t, int w) {
        forward_block(s, nodes, workers_[w], keeps, w);
      });
    }
  }

  // Shows the whole inputs of a segment to the steps that look around, in a training pass.
  void observe(int s) {
    for (int i : layout_.segments[s].steps)
      if (steps_[i]->looks_around() && (is_training_ || around(i).observes_evaluations()))
        around(i).observe(input(i), Chunks(graph_.num_nodes), team_);
  }
  AroundStep<T>& around(int i) { return static_cast<AroundStep<T>&>(*steps_[i]); }
  View<const T> input(int i, int k = 0) const {
    return whole(layout_.values[steps_[i]->spec.inputs[k]].buffer);
  }

  View<T> stored(int buffer, const Rows& nodes) {
    return view(buffers_[buffer]).part(nodes.first, nodes.count);
  }

  View<const T> whole(int buffer) const { return view(buffers_[buffer]); }

  // Rows of values of earlier segments: in place, or a copy for a list of nodes.
  void show_seen(const Segment& segment, const Rows& nodes, Worker& worker) {
    for (int i : segment.seen) {
      const Matrix<T>& from = buffers_[layout_.values[i].buffer];
      if (nodes.list == nullptr && &segment != &layout_.segments.back()) {
        worker.values[i] = stored(layout_.values[i].buffer, nodes);
        continue;
      }
      worker.values[i] = worker.own_values[i].part(0, nodes.count);
      for (int64_t row = 0; row < nodes.count; ++row)
        std::memcpy(worker.values[i].row(row), from.row(nodes[row]),
                    static_cast<size_t>(from.stride()) * sizeof(T));
    }
  }

  void run_step(int i, const Rows& nodes, Worker& worker, int w) {
    const hp_step& spec = steps_[i]->spec;
    worker.in.clear();
    for (int k = 0; k < spec.num_inputs; ++k) {
      worker.in.push_back(steps_[i]->looks_around() ? input(i, k) : View<const T>(worker.values[spec.inputs[k]]));
    }
    steps_[i]->forward(nodes, worker.in.data(), worker.values[i], worker.slopes[i], w);
  }

  void forward_block(int s, const Rows& nodes, Worker& worker, bool keeps, int w) {
    const Segment& segment = layout_.segments[s];
    show_seen(segment, nodes, worker);
    for (int i : segment.steps) {
      const Value& value = layout_.values[i];
      const bool is_stored = value.crosses || (keeps && value.is_kept);
      if (!is_training_ && !is_stored && steps_[i]->spec.kind == HP_DROPOUT) {
        worker.values[i] = worker.values[steps_[i]->spec.inputs[0]];
        continue;
      }
      worker.values[i] = is_stored ? stored(value.buffer, nodes) : worker.own_values[i].part(0, nodes.count);
      worker.slopes[i] = keeps ? slope(i, nodes, worker) : View<T>{};
      run_step(i, nodes, worker, w);
    }
  }

  // Rows for the slopes of a step, if it has any.
  View<T> slope(int i, const Rows& nodes, const Worker& worker) {
    if (!steps_[i]->has_slope()) return {};
    const int buffer = layout_.values[i].slope_buffer;
    return buffer == kNoBuffer ? worker.own_slopes[i].part(0, nodes.count) : stored(buffer, nodes);
  }

  // Shows the values that a backward pass needs, and makes the cheap ones again.
  void again_block(int s, const Rows& nodes, Worker& worker, int w) {
    const Segment& segment = layout_.segments[s];
    show_seen(segment, nodes, worker);
    for (int i : segment.steps) {
      worker.values[i] = layout_.values[i].is_kept ? stored(layout_.values[i].buffer, nodes)
                                                   : worker.own_values[i].part(0, nodes.count);
      worker.slopes[i] = slope(i, nodes, worker);
    }
    for (int i : segment.again) run_step(i, nodes, worker, w);
  }

  // The last segment: forth, loss, back, block by block.
  double last_pass(const Rows& rows) {
    const int s = layout_.last_segment();
    const Segment& segment = layout_.segments[s];
    for (int i : segment.steps)
      if (steps_[i]->looks_around()) clear(layout_.values[i].whole_buffer);
    for (int i : segment.seen) clear(layout_.values[i].to_buffer);
    observe(s);
    double weight = static_cast<double>(rows.count);
    if (weights_ != nullptr) {
      weight = 0;
      for (int64_t i = 0; i < rows.count; ++i) weight += weights_[rows[i]];
    }
    const T share = T(1) / static_cast<T>(weight);
    std::vector<double> losses(num_chunks(rows.count));
    clear_totals(s, num_chunks(rows.count));
    for_blocks(rows, [&](const Rows& nodes, int64_t chunk, int w) {
      Worker& worker = workers_[w];
      forward_block(s, nodes, worker, true, w);
      const int last = static_cast<int>(steps_.size()) - 1;
      const View<T> to_logits = worker.own_gradients[last].part(0, nodes.count);
      for (int64_t row = 0; row < nodes.count; ++row) {
        const int64_t node = nodes[row];
        T* logits = worker.values[last].row(row);
        const T part = weights_ == nullptr ? T(1) : weights_[node];
        losses[chunk] += cross_entropy<T>(logits, classes_, labels_[node], true) * part;
        for (int64_t j = 0; j < to_logits.stride; j += kLanes<T>)
          store(to_logits.row(row) + j, load(logits + j) * (share * part));
      }
      backward_block(s, nodes, worker, totals_.row(chunk), w);
    });
    double total = 0;
    for (double loss : losses) total += loss;
    return total / weight;
  }

  void backward_block(int s, const Rows& nodes, Worker& worker, T* totals, int w) {
    const bool is_last = s == layout_.last_segment();
    const Segment& segment = layout_.segments[s];
    for (int i : segment.steps) begin_gradient(i, nodes, worker, is_last, w);
    for (int i : segment.seen) {
      const Value& value = layout_.values[i];
      // Of several segments that see a value the latest comes first.
      worker.has_gradient[i] = value.last_local_reader > s;
      worker.gradients[i] =
          is_last ? worker.own_gradients[i].part(0, nodes.count) : stored(value.to_buffer, nodes);
    }
    for (size_t place = segment.steps.size(); place-- > 0;) {
      const int i = segment.steps[place];
      T* own_totals = totals + offsets_[place];
      if (!worker.has_gradient[i]) continue;
      worker.in.clear();
      worker.to_in.clear();
      if (steps_[i]->looks_around()) worker.in.push_back(input(i));  // gradients are handed back later
      for (int k = 0; !steps_[i]->looks_around() && k < steps_[i]->spec.num_inputs; ++k) {
        const int input = steps_[i]->spec.inputs[k];
        worker.in.push_back(worker.values[input]);
        worker.to_in.push_back({worker.gradients[input], static_cast<bool>(worker.has_gradient[input])});
        worker.has_gradient[input] = 1;
      }
      steps_[i]->backward(nodes, {worker.in.data(), worker.values[i], worker.slopes[i],
                                  worker.gradients[i], worker.to_in.data(), own_totals, w});
    }
    if (!is_last) return;
    for (int i : segment.steps)
      if (steps_[i]->looks_around()) spread(i, layout_.values[i].whole_buffer, nodes, worker);
    for (int i : segment.seen) spread(i, layout_.values[i].to_buffer, nodes, worker);
  }

  // What later segments hand back for a value of this one.
  void begin_gradient(int i, const Rows& nodes, Worker& worker, bool is_last, int w) {
    const Value& value = layout_.values[i];
    const bool is_whole = steps_[i]->looks_around() && !is_last;
    worker.gradients[i] =
        is_whole ? stored(value.whole_buffer, nodes) : worker.own_gradients[i].part(0, nodes.count);
    worker.has_gradient[i] = is_last && i + 1 == static_cast<int>(steps_.size());
    if (value.last_local_reader >= 0) {
      const View<T> from = stored(value.to_buffer, nodes);
      std::memcpy(worker.gradients[i].data, from.data,
                  static_cast<size_t>(from.stride * from.rows) * sizeof(T));
      worker.has_gradient[i] = 1;
    }
    for (int p : value.around) {
      const hp_step& spec = steps_[p]->spec;
      worker.in.clear();
      for (int k = 0; k < spec.num_inputs; ++k) worker.in.push_back(input(p, k));
      const int which = static_cast<int>(std::find(spec.inputs, spec.inputs + spec.num_inputs, i) - spec.inputs);
      around(p).hand_back(nodes, {which, worker.in.data(), whole(layout_.values[p].whole_buffer),
                                  {worker.gradients[i], static_cast<bool>(worker.has_gradient[i])}, w});
      worker.has_gradient[i] = 1;
    }
  }

  // Gradients of a list of nodes to their rows of a matrix of all nodes.
  void spread(int i, int buffer, const Rows& nodes, const Worker& worker) {
    Matrix<T>& to = buffers_[buffer];
    for (int64_t row = 0; row < nodes.count; ++row)
      std::memcpy(to.row(nodes[row]), worker.gradients[i].row(row),
                  static_cast<size_t>(to.stride()) * sizeof(T));
  }

  void clear(int buffer) {
    for_blocks(Rows{nullptr, graph_.num_nodes}, [&](const Rows& nodes, int64_t, int) {
      const View<T> rows = stored(buffer, nodes);
      std::memset(static_cast<void*>(rows.data), 0, static_cast<size_t>(rows.stride * rows.rows) * sizeof(T));
    });
  }

  void clear_totals(int s, int64_t chunks) {
    offsets_.clear();
    int64_t size = 0;
    for (int i : layout_.segments[s].steps) {
      offsets_.push_back(size);
      size += steps_[i]->num_totals();
    }
    if (totals_.empty() || totals_.columns() < size || totals_.rows() < chunks)
      totals_ = Matrix<T>(std::max(chunks, totals_.rows()), std::max<int64_t>({size, totals_.columns(), 1}));
    used_totals_ = size;
    team_.run(chunks, [&](int64_t chunk, int) {
      std::memset(static_cast<void*>(totals_.row(chunk)), 0, static_cast<size_t>(size) * sizeof(T));
    });
  }

  // Sums of the chunks, in order; Adam on the parameters of a segment, with their own rates if they have some.
  void update(int s, int64_t chunks, const Adam<T>& adam, const Adam<T>& own) {
    constexpr int64_t kColumns = 4096;
    team_.run((used_totals_ + kColumns - 1) / kColumns, [&](int64_t piece, int) {
      const int64_t begin = piece * kColumns, end = std::min(used_totals_, begin + kColumns);
      for (int64_t chunk = 1; chunk < chunks; ++chunk)
        for (int64_t j = begin; j < end; j += kLanes<T>)
          store(totals_.row(0) + j, load(totals_.row(0) + j) + load(totals_.row(chunk) + j));
    });
    const std::vector<int>& steps = layout_.segments[s].steps;
    const auto step = [&](int i, const T* totals) {
      steps_[i]->update(steps_[i]->spec.has_own_rates ? own : adam, totals, team_);
    };
    for (size_t place = steps.size(); place-- > 0;) {
      const T* totals = totals_.row(0) + offsets_[place];
      if (ties_.has(steps[place]))
        ties_.add(steps[place], totals, step);
      else
        step(steps[place], totals);
    }
  }

  const Graph<T>& graph_;
  const hp_task& task_;
  int64_t classes_;
  const int32_t* labels_;
  const T* weights_;
  Team& team_;
  Steps steps_;
  Layout<T> layout_;
  Ties<T> ties_;
  std::vector<Matrix<T>> buffers_;
  std::vector<Worker> workers_;
  Matrix<T> totals_;               // gradients of the parameters of a segment, a row for each chunk
  std::vector<int64_t> offsets_;   // of the steps of the segment in such a row
  int64_t used_totals_ = 0;
  std::vector<T> best_;
  bool differs_ = false, is_training_ = false;
};

}  // namespace hp
