// How the steps of a network are grouped, and which of their values are kept.
//
// A segment is a run of steps that need other nodes only at its beginning (steps that look around among
// the rows of values that earlier segments made). Inside it a block of nodes passes through all steps while its rows are in the
// cache, and blocks may be handled by any thread. Only what crosses a segment's border is a matrix
// of all nodes; of the rest, what a backward pass needs is kept if it is expensive (products) and made
// again if it is cheap.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "around_steps.h"

namespace hp {

// A matrix of all nodes that several values or gradients use, one after the other.
constexpr int kNoBuffer = -1;

struct Value {
  int segment = 0, position = 0;       // the place among the steps of its segment
  bool crosses = false;                // a later segment reads it
  bool is_kept = false;                // all rows are stored in a training pass
  int buffer = kNoBuffer;              // of the values
  int slope_buffer = kNoBuffer;        // of the step's slopes
  int to_buffer = kNoBuffer;           // of the gradient that later segments hand back
  int whole_buffer = kNoBuffer;        // of all gradients of a step that looks around
  int last_local_reader = -1;          // segment that reads its rows in place
  std::vector<int> around;             // steps that read all of it
};

struct Segment {
  std::vector<int> steps, again;  // all; those to be made again before the backward pass
  std::vector<int> seen;          // values of earlier segments whose rows are read in place
};

// Values, segments and buffers of a program.
template <class T>
struct Layout {
  std::vector<Value> values;
  std::vector<Segment> segments;
  std::vector<int64_t> widths;  // of the buffers

  explicit Layout(const std::vector<std::unique_ptr<Step<T>>>& steps) : values(steps.size()) {
    for (int i = 0; i < size(); ++i) place(steps, i);
    for (int i = 0; i < size(); ++i)
      for (int input : inputs(steps, i)) connect(steps, i, input);
    for (int s = 0; s + 1 < static_cast<int>(segments.size()); ++s) choose_kept(steps, segments[s]);
    assign_buffers(steps);
  }
  int last_segment() const { return static_cast<int>(segments.size()) - 1; }

 private:
  static std::vector<int> inputs(const std::vector<std::unique_ptr<Step<T>>>& steps, int i) {
    return {steps[i]->spec.inputs, steps[i]->spec.inputs + steps[i]->spec.num_inputs};
  }
  int size() const { return static_cast<int>(values.size()); }

  void place(const std::vector<std::unique_ptr<Step<T>>>& steps, int i) {
    int segment = 0;
    for (int input : inputs(steps, i)) segment = std::max(segment, values[input].segment);
    segment += steps[i]->looks_around();
    if (segment >= static_cast<int>(segments.size())) segments.resize(segment + 1);
    values[i].segment = segment;
    values[i].position = static_cast<int>(segments[segment].steps.size());
    segments[segment].steps.push_back(i);
  }

  void connect(const std::vector<std::unique_ptr<Step<T>>>& steps, int i, int input) {
    Value& value = values[input];
    if (value.segment == values[i].segment) return;
    value.crosses = true;
    if (steps[i]->looks_around()) {
      value.around.push_back(i);
      value.is_kept = value.is_kept || steps[i]->needs_inputs();  // to hand gradients back
      return;
    }
    value.last_local_reader = std::max(value.last_local_reader, values[i].segment);
    std::vector<int>& seen = segments[values[i].segment].seen;
    if (std::find(seen.begin(), seen.end(), input) == seen.end()) seen.push_back(input);
  }

  // The last segment goes back right after it went forth, so it keeps nothing.
  void choose_kept(const std::vector<std::unique_ptr<Step<T>>>& steps, Segment& segment) {
    std::vector<char> needed(values.size(), 0);
    for (int i : segment.steps) {
      if (steps[i]->needs_output()) needed[i] = 1;
      if (steps[i]->needs_inputs())
        for (int input : inputs(steps, i)) needed[input] = 1;
    }
    for (size_t place = segment.steps.size(); place-- > 0;) {
      const int i = segment.steps[place];
      Value& value = values[i];
      if (!needed[i]) continue;
      if (value.crosses || steps[i]->is_heavy()) {
        value.is_kept = true;
        continue;
      }
      segment.again.push_back(i);
      for (int input : inputs(steps, i)) needed[input] = 1;
    }
    std::reverse(segment.again.begin(), segment.again.end());
    for (int i = 0; i < size(); ++i)
      if (needed[i] && values[i].crosses) values[i].is_kept = true;
  }

  // Time: segments forth, then back. Two matrices that are never needed at the same time share memory.
  void assign_buffers(const std::vector<std::unique_ptr<Step<T>>>& steps) {
    const int count = static_cast<int>(segments.size());
    // The last segment goes forth and back in one pass.
    const auto back = [&](int segment) { return 2 * count - 1 - segment; };
    const auto read = [&](int segment) { return segment + 1 == count ? count : segment; };
    std::vector<int> free_after;  // of each buffer
    const auto take = [&](int64_t width, int from, int until) {
      size_t b = 0;
      while (b < widths.size() && (widths[b] != width || free_after[b] >= from)) ++b;
      if (b == widths.size()) {
        widths.push_back(width);
        free_after.push_back(0);
      }
      free_after[b] = until;
      return static_cast<int>(b);
    };
    for (int time = 0; time < 2 * count; ++time) {
      const bool is_back = time >= count;
      const int segment = is_back ? back(time) : time;
      if (!is_back)
        for (int i : segments[segment].steps) {
          Value& value = values[i];
          if (steps[i]->has_slope() && segment + 1 < count)
            value.slope_buffer = take(steps[i]->spec.width, time, back(segment));
          if (!value.crosses && !value.is_kept) continue;
          int until = value.last_local_reader < 0 ? time : read(value.last_local_reader);
          for (int p : value.around) until = std::max(until, read(values[p].segment));
          // Whoever reads a kept value on the way back: its own segment is the last.
          if (value.is_kept) until = back(segment);
          value.buffer = take(steps[i]->spec.width, time, until);
        }
      if (!is_back) continue;
      for (int i : segments[segment].steps)
        if (steps[i]->looks_around()) {
          int until = time;
          for (int input : inputs(steps, i)) until = std::max(until, back(values[input].segment));
          values[i].whole_buffer = take(steps[i]->spec.width, time, until);
        }
      for (int i : segments[segment].seen)
        if (values[i].last_local_reader == segment)
          values[i].to_buffer = take(steps[i]->spec.width, time, back(values[i].segment));
    }
  }
};

}  // namespace hp
