// A step of a network: makes rows of a value from rows of earlier values, and hands gradients back.
//
// Steps see blocks of nodes. A value they read lies in the rows 0 .. count - 1 of a view, in the order
// of the nodes of the block; only steps that look around (around_steps.h) read the whole matrix.
#pragma once
#include <algorithm>
#include <functional>

#include "adam.h"
#include "program_api.h"
#include "sparse.h"
#include "team.h"

namespace hp {

constexpr int kBlockRows = 48;  // nodes of a block: a multiple of the tiles of dense products and of a mixer's

// Rows in chunks that depend on their number alone, and chunks in blocks.
struct Chunks {
  static constexpr int64_t kMost = 32, kLeastRows = 21 * kBlockRows;
  int64_t rows, size;  // of all, of a chunk

  explicit Chunks(int64_t rows) : rows(rows) {
    const int64_t wanted = std::max(kLeastRows, (rows + kMost - 1) / kMost);
    size = (wanted + kBlockRows - 1) / kBlockRows * kBlockRows;
  }
  int64_t count() const { return (rows + size - 1) / size; }
  // work(first row, number of rows) for the blocks of a chunk.
  template <class Work>
  void for_blocks(int64_t chunk, Work&& work) const {
    const int64_t end = std::min(rows, (chunk + 1) * size);
    for (int64_t begin = chunk * size; begin < end; begin += kBlockRows)
      work(begin, std::min<int64_t>(kBlockRows, end - begin));
  }
};

// Where a gradient goes; the first of several that meet there is stored, the others are added.
template <class T>
struct Gradient {
  View<T> view;
  bool adds = false;
  HP_INLINE void give(int64_t row, int64_t column, Vec<T> x) const {
    T* target = view.row(row) + column;
    store(target, adds ? load(target) + x : x);
  }
};

// What a backward step is given: its input and its output, if it needs them, and their gradients.
template <class T>
struct Backward {
  const View<const T>* in;
  View<const T> out, slope, to_out;
  const Gradient<T>* to_in;
  T* totals;  // gradients of the step's parameters, to be added to
  int worker;
};

template <class T>
class Step {
 public:
  using Copy = std::function<void(T& parameter, int64_t place)>;
  using Visit = std::function<void(int64_t place, int64_t width)>;

  explicit Step(const hp_step& spec) : spec(spec), stride(padded<T>(spec.width)) {}
  Step(const Step&) = delete;
  virtual ~Step() = default;
  const hp_step& spec;
  const int64_t stride;

  // `slope`, in a training pass of a step that has one: rows for what backward() will multiply with.
  virtual void forward(const Rows& nodes, const View<const T>* in, const View<T>& out, const View<T>& slope,
                       int worker) = 0;
  virtual void backward(const Rows& nodes, const Backward<T>& given) = 0;

  virtual bool needs_inputs() const { return false; }  // in backward()
  virtual bool needs_output() const { return false; }
  virtual bool has_slope() const { return false; }
  virtual bool is_heavy() const { return false; }  // better stored than made twice
  virtual bool looks_around() const { return false; }
  virtual bool differs_in_training() const { return false; }  // from an evaluation

  // Before a pass: number of the training step (0: an evaluation).
  virtual void begin(uint64_t) {}
  virtual int64_t num_totals() const { return 0; }
  virtual void update(const Adam<T>&, const T* /*totals*/, Team&) {}
  virtual void exchange(const Copy&) {}
  virtual void for_unused(const Visit&) const {}

 protected:
  template <class Use>
  HP_INLINE void for_vectors(int64_t rows, Use&& use) const {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t j = 0; j < stride; j += kLanes<T>) use(row, j);
  }
};

// Where a stack of weights (panels, rows, width) of a torch module, which lie side by side here, has
// column j of row `row`.
struct Stack {
  int64_t start, rows, width;
  Stack(const hp_step& spec, int64_t rows)
      : start(spec.weight), rows(rows), width(spec.width / std::max(1, spec.panels)) {}
  int64_t place(int64_t row, int64_t j) const { return start + (j / width * rows + row) * width + j % width; }
};

// copy(parameter, place) for a weight whose row i is row place_of(i) of the torch module's.
template <class T, class Place>
void exchange_weight(Weight<T>& weight, const Stack& stack, Place&& place_of, const typename Step<T>::Copy& copy) {
  for (int64_t i = 0; i < weight.value.rows(); ++i)
    for (int64_t j = 0; j < weight.value.columns(); ++j) copy(weight.value.row(i)[j], stack.place(place_of(i), j));
}
template <class T>
void exchange_weight(Weight<T>& weight, int64_t start, const typename Step<T>::Copy& copy) {
  const int64_t width = weight.value.columns();
  for (int64_t i = 0; i < weight.value.rows(); ++i)
    for (int64_t j = 0; j < width; ++j) copy(weight.value.row(i)[j], start + i * width + j);
}

// total += the sum of the rows.
template <class T>
void add_rows(const View<const T>& rows, T* total) {
  for (int64_t j = 0; j < rows.stride; j += kLanes<T>) {
    Vec<T> sum = load(total + j);
    for (int64_t row = 0; row < rows.rows; ++row) sum += load(rows.row(row) + j);
    store(total + j, sum);
  }
}

}  // namespace hp
