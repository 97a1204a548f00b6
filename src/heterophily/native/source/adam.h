// Adam and AdamW on one row of a weight, with the gradient still in registers.
#pragma once
#include "elementary.h"

namespace hp {

// A parameter with the two moments of Adam.
template <class T>
struct Weight {
  Matrix<T> value, first, second;
  Weight() = default;
  Weight(int64_t rows, int64_t columns) : value(rows, columns), first(rows, columns), second(rows, columns) {}
  bool empty() const { return value.empty(); }
  // A row of the three arrays that will be needed soon: more streams than processors foresee.
  template <int NV>
  HP_INLINE void prefetch(int64_t row, int64_t column) const {
    if (row >= value.rows()) return;
    for (const Matrix<T>* array : {&value, &first, &second})
      HP_UNROLL
      for (int i = 0; i < kLines<NV>; ++i) __builtin_prefetch(array->row(row) + column + i * kWide<T>, 1);
  }
};

constexpr int kRowsAhead = 10;

//   Adam:   g <- g + decay * w                     AdamW:  w <- w - lr * decay * w
//   m <- b1 m + (1 - b1) g,   v <- b2 v + (1 - b2) g^2
//   w <- w - lr / (1 - b1^t) * m / (sqrt(v / (1 - b2^t)) + eps)
template <class T>
struct Adam {
  static constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8;
  T size, root_scale, penalty, shrink;

  Adam(double lr, double weight_decay, bool is_decoupled, int64_t step) {
    size = static_cast<T>(lr / (1.0 - power(kBeta1, step)));
    root_scale = static_cast<T>(1.0 / std::sqrt(1.0 - power(kBeta2, step)));
    penalty = static_cast<T>(is_decoupled ? 0.0 : weight_decay);
    shrink = static_cast<T>(is_decoupled ? 1.0 - lr * weight_decay : 1.0);
  }

  void vector(T* w, T* m, T* v, Vec<T> gradient) const {
    Vec<T> weight = load(w) * shrink;
    gradient = gradient + weight * penalty;
    const Vec<T> first = load(m) * T(kBeta1) + gradient * T(1.0 - kBeta1);
    const Vec<T> second = load(v) * T(kBeta2) + (gradient * gradient) * T(1.0 - kBeta2);
    store(m, first);
    store(v, second);
    store(w, weight - first / (square_root<T>(second) * root_scale + T(kEps)) * size);
  }

  // Rows begin .. begin + count of a weight, from a stored gradient.
  void rows(Weight<T>& weight, int64_t begin, int64_t count, const T* gradient) const {
    const int64_t offset = begin * weight.value.stride();
    for (int64_t i = 0; i < count * weight.value.stride(); i += kLanes<T>)
      vector(weight.value.data() + offset + i, weight.first.data() + offset + i,
             weight.second.data() + offset + i, load(gradient + i));
  }
};

}  // namespace hp
