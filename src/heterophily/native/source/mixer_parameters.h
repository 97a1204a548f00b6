// What a mixer learns: score vectors, W_mix, layer norm; how they are read, updated and stored.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "adam.h"
#include "api.h"
#include "simd.h"

namespace hp {

// Sums over nodes in a backward pass: gradients of the directions, of W_mix, of the raw scores.
template <class T>
struct MixerTotals {
  Matrix<T> directions, mix, score_sums;

  MixerTotals() = default;
  MixerTotals(int64_t pairs, int64_t channels, int64_t width)
      : directions(pairs, width), mix(1, channels * channels), score_sums(1, channels) {}
  // use(values, their number) for each of them.
  template <class Use>
  void each(Use&& use) {
    for (Matrix<T>* sums : {&directions, &mix, &score_sums})
      use(sums->data(), static_cast<int64_t>(sums->size()));
  }
  void add(MixerTotals& other) {
    for (auto [to, from] : {std::pair(&directions, &other.directions), std::pair(&mix, &other.mix),
                            std::pair(&score_sums, &other.score_sums)})
      for (size_t i = 0; i < to->size(); ++i) to->data()[i] += from->data()[i];
  }
  void clear() {
    each([](T* values, int64_t count) { std::fill(values, values + count, T(0)); });
  }
};

// Names as in mixing.h: v are `vectors`, u are `directions`.
template <class T>
struct MixerParameters {
  struct Pair {
    int channel, score;
  };

  int channels;
  int64_t width;
  bool is_adaptive, has_norm, has_mix;
  std::vector<Pair> pairs;
  Weight<T> vectors, mix, gain, shift;
  Matrix<T> directions, flat;  // u, u - mean(u)
  std::vector<T> direction_sums, constants;

  explicit MixerParameters(const hp_layer& spec)
      : channels(spec.num_channels), width(spec.width), is_adaptive(spec.is_adaptive),
        has_norm(spec.norm_gain >= 0), has_mix(spec.mix_weight >= 0) {
    if (!is_adaptive) return;
    for (int k = 0; k < channels; ++k)
      for (int t = 0; t < channels; ++t)
        if (spec.is_combined || k == t) pairs.push_back({k, t});
    const int count = static_cast<int>(pairs.size());
    vectors = Weight<T>(count, width);
    directions = Matrix<T>(count, width);
    flat = Matrix<T>(count, width);
    if (has_mix) mix = Weight<T>(1, channels * channels);
    if (has_norm) {
      gain = Weight<T>(channels, width);
      shift = Weight<T>(channels, width);
    }
    direction_sums.resize(count);
    constants.resize(channels);
  }

  // Zeros for a backward pass.
  MixerTotals<T> totals() const {
    return is_adaptive ? MixerTotals<T>(static_cast<int64_t>(pairs.size()), channels, width) : MixerTotals<T>();
  }

  // What all nodes share; call after the parameters have changed.
  void prepare() {
    if (!is_adaptive) return;
    for (T& constant : constants) constant = 0;
    for (size_t p = 0; p < pairs.size(); ++p) {
      const T* v = vectors.value.row(p);
      T* u = directions.row(p);
      T total = 0;
      for (int64_t j = 0; j < width; ++j) {
        u[j] = has_norm ? gain.value.row(pairs[p].channel)[j] * v[j] : v[j];
        total += u[j];
        if (has_norm) constants[pairs[p].score] += shift.value.row(pairs[p].channel)[j] * v[j];
      }
      direction_sums[p] = total;
      for (int64_t j = 0; j < width; ++j) flat.row(p)[j] = u[j] - total / static_cast<T>(width);
    }
  }

  // One Adam step on the parameters; `totals` are used up.
  void update(const Adam<T>& adam, MixerTotals<T>& totals) {
    if (!is_adaptive) return;
    Matrix<T> to_gain, to_shift;
    if (has_norm) {
      to_gain = Matrix<T>(channels, width);
      to_shift = Matrix<T>(channels, width);
    }
    for (size_t p = 0; p < pairs.size() && has_norm; ++p) {
      const int k = pairs[p].channel;
      const T total = totals.score_sums.row(0)[pairs[p].score];
      for (int64_t j = 0; j < width; ++j) {
        const T to_u = totals.directions.row(p)[j], v = vectors.value.row(p)[j];
        to_gain.row(k)[j] += to_u * v;
        to_shift.row(k)[j] += v * total;
        totals.directions.row(p)[j] = to_u * gain.value.row(k)[j] + shift.value.row(k)[j] * total;
      }
    }
    adam.rows(vectors, 0, vectors.value.rows(), totals.directions.data());
    if (has_mix) adam.rows(mix, 0, 1, totals.mix.data());
    if (has_norm) {
      adam.rows(gain, 0, channels, to_gain.data());
      adam.rows(shift, 0, channels, to_shift.data());
    }
  }

  void remember() {
    if (!is_adaptive) return;
    for (int i = 0; i < 4; ++i)
      if (!weights(i).empty()) best[i].assign(weights(i).value);
  }
  void return_to_best() {
    if (!is_adaptive) return;
    for (int i = 0; i < 4; ++i)
      if (!weights(i).empty()) weights(i).value.assign(best[i]);
    prepare();
  }

  // Copies between the torch layout and this one: vectors (K, H, 1 or K), W_mix (K, K), norm (K, H).
  template <class Copy>
  void exchange(const hp_layer& spec, Copy&& copy) {
    if (!is_adaptive) return;
    const int64_t columns = spec.is_combined ? channels : 1;
    for (size_t p = 0; p < pairs.size(); ++p)
      for (int64_t j = 0; j < width; ++j)
        copy(vectors.value.row(p)[j],
             spec.vectors + (pairs[p].channel * width + j) * columns +
                 (spec.is_combined ? pairs[p].score : 0));
    for (int64_t i = 0; i < channels * channels && has_mix; ++i)
      copy(mix.value.row(0)[i], spec.mix_weight + i);
    for (int k = 0; k < channels && has_norm; ++k)
      for (int64_t j = 0; j < width; ++j) {
        copy(gain.value.row(k)[j], spec.norm_gain + k * width + j);
        copy(shift.value.row(k)[j], spec.norm_shift + k * width + j);
      }
  }

 private:
  Weight<T>& weights(int i) { return i == 0 ? vectors : i == 1 ? mix : i == 2 ? gain : shift; }

  Matrix<T> best[4];
};

}  // namespace hp
