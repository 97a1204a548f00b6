// Steps 2 and 3 of ACM (section 4.2) for blocks of 16 nodes: scores of the channels, weights
// alpha, mixture, and all gradients.
//
// Channel k of a node is a row h_k of width H; with layer norm its mean is mu_k and 1/std is s_k.
// A pair (k, t) is "score t sees channel k": t = k for raw features, all K x K for combined ones.
//   u_kt    = gain_k * v_kt  (v_kt alone without layer norm, mu = 0, s = 1)
//   c_kt    = h_k . u_kt - mu_k * sum(u_kt)
//   score_t = sum_k (c_kt * s_k + shift_k . v_kt),          gate_t = sigmoid(score_t)
//   alpha   = softmax(gate W_mix / T),                      mixture = scale * sum_k alpha_k h_k
// Backward, from g = gradient of the mixture:
//   a_k      = scale * g . h_k                              (to alpha)
//   l_k      = alpha_k (a_k - sum_j alpha_j a_j) / T        (to the softmax' input)
//   W_mix   += gate_j l_k,   d_t = (W_mix l)_t gate_t (1 - gate_t)       (to the score)
//   u_kt    += d_t s_k (h_k - mu_k),   v += gain * to_u + shift * sum d,
//   gain    += to_u * v,               shift += v * sum d
//   h_k     += scale alpha_k g + sum_t d_t s_k (u_kt - mean(u_kt)) - pull_k (h_k - mu_k),
//   pull_k   = sum_t d_t s_k c_kt s_k^2 / H                 (layer norm only)
#pragma once
#include <vector>

#include "mixer_parameters.h"
#include "node_parts.h"

namespace hp {

constexpr double kNormEpsilon = 1e-5;

// One for each thread; what is learned is shared.
template <class T>
class Mixer {
 public:
  const MixerParameters<T>& learned;

  Mixer(const hp_layer& spec, const MixerParameters<T>& shared)
      : learned(shared), channels_(spec.num_channels), width_(spec.width),
        stride_(padded<T>(spec.width)), is_adaptive_(spec.is_adaptive),
        temperature_(static_cast<T>(spec.temperature)),
        scale_(static_cast<T>(spec.is_adaptive ? spec.scale : 1.0)),
        values_(channels_ * kBlock, spec.width), gradients_(channels_ * kBlock, spec.width),
        mixture_(kBlock, spec.width), rows_(spec.num_channels) {
    for (int k = 0; k < channels_; ++k) own_rows(k);
    if (!spec.is_adaptive) return;
    for (Matrix<T>* table : {&gates_, &alpha_, &mean_, &inverse_, &to_alpha_, &to_scores_, &pull_})
      *table = Matrix<T>(channels_, kBlock);
    centred_ = Matrix<T>(learned.pairs.size(), kBlock);
  }

  int64_t stride() const { return stride_; }
  const T* channel(int k, int b) const { return rows_[k].first + b * rows_[k].step; }  // h_k of node b
  // Where the rows of a channel of this block lie: in a panel, or in this mixer's own memory.
  void see(int k, const T* first, int64_t step) { rows_[k] = {first, step}; }
  T* own_rows(int k) {
    rows_[k] = {values_.row(k * kBlock), stride_};
    return values_.row(k * kBlock);
  }
  T* gradient(int k, int b) { return gradients_.row(k * kBlock + b); }  // of h_k
  T* mixture(int b) { return mixture_.row(b); }
  bool is_adaptive() const { return is_adaptive_; }

  // channel(k, b) -> mixture(b), for the nodes b < count.
  void forward(int count) {
    with_vectors(stride_ / kLanes<T>, [&](auto vectors) {
      const Span<decltype(vectors)::value> span(stride_);
      if (is_adaptive_) weigh(span, count);
      for (int b = 0; b < count; ++b) {
        T* out = mixture(b);
        if constexpr (decltype(vectors)::value > 0) {  // the sum stays in registers
          constexpr int NV = decltype(vectors)::value;
          Vec<T> total[NV];
          HP_UNROLL
          for (int i = 0; i < NV; ++i) total[i] = Vec<T>{};
          for (int k = 0; k < channels_; ++k) {
            const T* h = channel(k, b);
            const T part = is_adaptive_ ? alpha_.row(k)[b] * scale_ : T(1);
            HP_UNROLL
            for (int i = 0; i < NV; ++i) total[i] += load(h + i * kLanes<T>) * part;
          }
          HP_UNROLL
          for (int i = 0; i < NV; ++i) store(out + i * kLanes<T>, total[i]);
          continue;
        }
        for (int64_t j = 0; j < span.end(); j += kLanes<T>) {
          Vec<T> total = {};
          for (int k = 0; k < channels_; ++k)
            total += load(channel(k, b) + j) * (is_adaptive_ ? alpha_.row(k)[b] * scale_ : T(1));
          store(out + j, total);
        }
      }
    });
  }

  // mixture(b) holds the gradient of the mixture; writes gradient(k, b). After forward(count).
  void backward(int count) {
    with_vectors(stride_ / kLanes<T>, [&](auto vectors) {
      const Span<decltype(vectors)::value> span(stride_);
      if (is_adaptive_) to_shares(span, count);
      for (int k = 0; k < channels_; ++k)
        for (int b = 0; b < count; ++b) {
          const T share = is_adaptive_ ? alpha_.row(k)[b] * scale_ : T(1);
          const T* from = mixture(b);
          T* out = gradient(k, b);
          for (int64_t j = 0; j < span.end(); j += kLanes<T>) store(out + j, load(from + j) * share);
        }
      if (!is_adaptive_) return;
      if (learned.has_norm)
        for (int k = 0; k < channels_; ++k) std::memset(pull_.row(k), 0, kBlock * sizeof(T));
      for (size_t p = 0; p < learned.pairs.size(); ++p) through_pair(span, p, count);
      if (learned.has_norm) through_norm(span, count);
    });
  }

  // Gates and alpha of a block, kept from the forward to the backward pass.
  bool can_keep() const { return !learned.has_norm; }
  int64_t num_kept_rows() const { return is_adaptive_ && can_keep() ? 2 * channels_ : 0; }  // of a block
  void keep(int64_t block, Matrix<T>& kept) const {
    if (!is_adaptive_) return;
    const size_t size = static_cast<size_t>(channels_ * gates_.stride());
    std::memcpy(kept.row(2 * block * channels_), gates_.data(), size * sizeof(T));
    std::memcpy(kept.row((2 * block + 1) * channels_), alpha_.data(), size * sizeof(T));
  }
  void recall(int64_t block, const Matrix<T>& kept) {
    if (!is_adaptive_) return;
    const size_t size = static_cast<size_t>(channels_ * gates_.stride());
    std::memcpy(gates_.data(), kept.row(2 * block * channels_), size * sizeof(T));
    std::memcpy(alpha_.data(), kept.row((2 * block + 1) * channels_), size * sizeof(T));
  }
  // Where backward passes add up from now on.
  void collect(MixerTotals<T>& totals) { totals_ = &totals; }

  // Where the gradient of a channel goes, and how: times `factor`, masked by h_k > 0.
  struct Target {
    T* first;
    int64_t step;
    T factor;
    bool is_masked;
  };
  bool is_simple() const {
    const bool is_raw = !is_adaptive_ || learned.pairs.size() == static_cast<size_t>(channels_);
    return is_raw && !learned.has_norm;
  }

  // backward() in one pass, for raw features without layer norm. Targets may be the channels' rows.
  void backward_into(int count, const Target* targets) {
    with_vectors(stride_ / kLanes<T>, [&](auto vectors) {
      const Span<decltype(vectors)::value> span(stride_);
      if (is_adaptive_) to_shares(span, count);
      for (int k = 0; k < channels_; ++k) {
        const Target to = targets[k];
        T shares[kBlock], steps[kBlock];
        for (int b = 0; b < count; ++b) {
          shares[b] = (is_adaptive_ ? alpha_.row(k)[b] * scale_ : T(1)) * to.factor;
          steps[b] = is_adaptive_ ? to_scores_.row(k)[b] : T(0);
        }
        for (int64_t j = 0; j < span.end(); j += kLanes<T>) {
          Vec<T> direction = {}, total = {};
          if (is_adaptive_) {
            direction = load(learned.directions.row(k) + j) * to.factor;
            total = load(totals_->directions.row(k) + j);
          }
          for (int b = 0; b < count; ++b) {
            const Vec<T> h = load(channel(k, b) + j);
            const Vec<T> g = load(mixture(b) + j) * shares[b] + direction * steps[b];
            total += h * steps[b];
            store(to.first + b * to.step + j, to.is_masked ? where_positive<T>(h, g) : g);
          }
          if (is_adaptive_) store(totals_->directions.row(k) + j, total);
        }
      }
    });
  }

 private:
  struct ChannelRows {
    const T* first;
    int64_t step;
  };

  // The columns of a row: whole vectors, their number known to the compiler if it is 1, 2 or 4.
  template <int NV>
  struct Span {
    int64_t columns;
    explicit Span(int64_t stride) : columns(stride) {}
    int64_t end() const { return NV > 0 ? NV * kLanes<T> : columns; }
  };

  // Gradient of alpha, then of the scores.
  template <class S>
  void to_shares(const S& span, int count) {
    for (int k = 0; k < channels_; ++k)
      for (int b = 0; b < count; ++b) {
        const T *g = mixture(b), *h = channel(k, b);
        to_alpha_.row(k)[b] =
            sum_columns<T>(span.end(), [&](int64_t j) { return load(g + j) * load(h + j); }) * scale_;
      }
    to_scores(count);
  }

  // Scores, gates and alpha of the block.
  template <class S>
  void weigh(const S& span, int count) {
    if (learned.has_norm) normalise(span, count);
    for (int t = 0; t < channels_; ++t)
      for (int b = 0; b < kBlock; ++b) gates_.row(t)[b] = learned.constants[t];
    for (size_t p = 0; p < learned.pairs.size(); ++p) {
      const int k = learned.pairs[p].channel;
      const T* u = learned.directions.row(p);
      T* scores = gates_.row(learned.pairs[p].score);
      for (int b = 0; b < count; ++b) {
        const T* h = channel(k, b);
        T dot = sum_columns<T>(span.end(), [&](int64_t j) { return load(h + j) * load(u + j); });
        if (learned.has_norm) {
          dot -= mean_.row(k)[b] * learned.direction_sums[p];
          centred_.row(p)[b] = dot;
          dot *= inverse_.row(k)[b];
        }
        scores[b] += dot;
      }
    }
    for (int t = 0; t < channels_; ++t) {
      T* gate = gates_.row(t);
      for (int b = 0; b < kBlock; ++b) gate[b] = -gate[b];
      exp_inplace(gate, kBlock);
      for (int b = 0; b < kBlock; ++b) gate[b] = T(1) / (T(1) + gate[b]);
    }
    // Gates lie in (0, 1) and are divided by T; subtracting the largest keeps any W_mix safe.
    T top[kBlock], total[kBlock];
    const T* mix = learned.has_mix ? learned.mix.value.row(0) : nullptr;
    for (int k = 0; k < channels_; ++k) {
      T* logits = alpha_.row(k);
      for (int b = 0; b < kBlock; ++b) logits[b] = learned.has_mix ? T(0) : gates_.row(k)[b];
      for (int j = 0; j < channels_ && learned.has_mix; ++j)
        for (int b = 0; b < kBlock; ++b) logits[b] += gates_.row(j)[b] * mix[j * channels_ + k];
      for (int b = 0; b < kBlock; ++b) {
        logits[b] /= temperature_;
        top[b] = k == 0 || logits[b] > top[b] ? logits[b] : top[b];
      }
    }
    for (int b = 0; b < kBlock; ++b) total[b] = 0;
    for (int k = 0; k < channels_; ++k) {
      T* share = alpha_.row(k);
      for (int b = 0; b < kBlock; ++b) share[b] -= top[b];
      exp_inplace(share, kBlock);
      for (int b = 0; b < kBlock; ++b) total[b] += share[b];
    }
    for (int k = 0; k < channels_; ++k)
      for (int b = 0; b < kBlock; ++b) alpha_.row(k)[b] /= total[b];
  }

  // Mean and 1/std of each channel row; two passes, so that no digits cancel.
  template <class S>
  void normalise(const S& span, int count) {
    const T inverse_width = T(1) / static_cast<T>(width_);
    for (int k = 0; k < channels_; ++k)
      for (int b = 0; b < count; ++b) {
        const T* h = channel(k, b);
        const T mean =
            sum_columns<T>(span.end(), [&](int64_t j) { return load(h + j); }) * inverse_width;
        const T squares = sum_columns<T>(span.end(), [&](int64_t j) {
          const Vec<T> x = load(h + j) - mean;
          return x * x;
        });
        // Padding contributed mean^2 a column.
        const T variance =
            (squares - static_cast<T>(stride_ - width_) * mean * mean) * inverse_width;
        mean_.row(k)[b] = mean;
        inverse_.row(k)[b] = T(1) / std::sqrt((variance > 0 ? variance : T(0)) + T(kNormEpsilon));
      }
  }

  // to_alpha -> to_scores, and the gradient of W_mix.
  void to_scores(int count) {
    T dot[kBlock] = {};
    for (int k = 0; k < channels_; ++k) {
      for (int b = count; b < kBlock; ++b) to_alpha_.row(k)[b] = 0;
      for (int b = 0; b < kBlock; ++b) dot[b] += alpha_.row(k)[b] * to_alpha_.row(k)[b];
    }
    for (int k = 0; k < channels_; ++k)
      for (int b = 0; b < kBlock; ++b)
        to_alpha_.row(k)[b] = alpha_.row(k)[b] * (to_alpha_.row(k)[b] - dot[b]) / temperature_;
    for (int j = 0; j < channels_; ++j) {
      T* out = to_scores_.row(j);
      if (learned.has_mix) {
        for (int b = 0; b < kBlock; ++b) out[b] = 0;
        for (int k = 0; k < channels_; ++k) {
          const T weight = learned.mix.value.row(0)[j * channels_ + k];
          T total = 0;
          for (int b = 0; b < kBlock; ++b) {
            total += gates_.row(j)[b] * to_alpha_.row(k)[b];
            out[b] += weight * to_alpha_.row(k)[b];
          }
          totals_->mix.row(0)[j * channels_ + k] += total;
        }
      } else {
        for (int b = 0; b < kBlock; ++b) out[b] = to_alpha_.row(j)[b];
      }
      T total = 0;
      for (int b = 0; b < kBlock; ++b) {
        out[b] *= gates_.row(j)[b] * (T(1) - gates_.row(j)[b]);
        total += out[b];
      }
      totals_->score_sums.row(0)[j] += total;
    }
  }

  template <class S>
  void through_pair(const S& span, size_t p, int count) {
    const int k = learned.pairs[p].channel;
    const T* toward = learned.has_norm ? learned.flat.row(p) : learned.directions.row(p);
    T* to_u = totals_->directions.row(p);
    T steps[kBlock], offsets = 0;
    for (int b = 0; b < count; ++b) {
      steps[b] = to_scores_.row(learned.pairs[p].score)[b];
      if (!learned.has_norm) continue;
      const T inverse = inverse_.row(k)[b];
      steps[b] *= inverse;
      offsets += steps[b] * mean_.row(k)[b];
      pull_.row(k)[b] += steps[b] * centred_.row(p)[b] * inverse * inverse / static_cast<T>(width_);
    }
    for (int64_t j = 0; j < span.end(); j += kLanes<T>) {
      const Vec<T> direction = load(toward + j);
      Vec<T> total = load(to_u + j);
      for (int b = 0; b < count; ++b) {
        total += load(channel(k, b) + j) * steps[b];
        store(gradient(k, b) + j, load(gradient(k, b) + j) + direction * steps[b]);
      }
      store(to_u + j, total);
    }
    for (int64_t j = 0; j < width_ && learned.has_norm; ++j) to_u[j] -= offsets;
  }

  template <class S>
  void through_norm(const S& span, int count) {
    for (int k = 0; k < channels_; ++k)
      for (int b = 0; b < count; ++b) {
        const T pull = pull_.row(k)[b], mean = mean_.row(k)[b];
        T* out = gradient(k, b);
        const T* h = channel(k, b);
        for (int64_t j = 0; j < span.end(); j += kLanes<T>)
          store(out + j, load(out + j) - (load(h + j) - mean) * pull);
        for (int64_t j = width_; j < stride_; ++j) out[j] = 0;
      }
  }

  int channels_;
  int64_t width_, stride_;
  bool is_adaptive_;
  T temperature_, scale_;
  Matrix<T> values_, gradients_, mixture_;                                    // of one block
  std::vector<ChannelRows> rows_;
  MixerTotals<T>* totals_ = nullptr;
  Matrix<T> gates_, alpha_, mean_, inverse_, to_alpha_, to_scores_, pull_, centred_;
};

}  // namespace hp
