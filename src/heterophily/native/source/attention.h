// Columns in heads side by side, and sums over edges with a coefficient for each edge and head.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "sparse.h"

namespace hp {

template <class T>
struct IndexOf {
  using Type = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  typedef Type Vec __attribute__((vector_size(HP_VECTOR_BYTES)));
};

// x[places], lane by lane.
template <class T>
HP_INLINE Vec<T> picked(Vec<T> x, typename IndexOf<T>::Vec places) {
#if defined(__clang__)
  Vec<T> y;
  for (int i = 0; i < kLanes<T>; ++i) y[i] = x[places[i]];
  return y;
#else
  return __builtin_shuffle(x, places);
#endif
}

// How heads and vectors of columns meet: one head; each vector belongs to one; a vector may hold several.
enum HeadForm { kOneHead, kWholeVectors, kMixedVectors };

// `count` heads of `width` columns. A number for each head of an edge or a node takes `places`, a power
// of two, so that the lanes of 64 bytes belong to the heads in turn. Such numbers repeat after `period`.
template <class T>
class Heads {
 public:
  const int64_t count, width, places, period;

  Heads(int64_t count, int64_t columns, int64_t places)
      : count(count), width(columns / count), places(places), period(std::max<int64_t>(places, kWide<T>)) {
    for (int64_t column = 0; column < padded<T>(columns); column += kLanes<T>) {
      const int64_t first = std::min(column / width, count - 1);
      first_.push_back(first);
      for (int64_t lane = 0; lane < kLanes<T>; ++lane)
        index_.push_back(static_cast<Index>(std::min((column + lane) / width, count - 1) - first));
    }
    for (int half = 1; half < kLanes<T>; half *= 2)
      for (int lane = 0; lane < kLanes<T>; ++lane) turned_[half * kLanes<T> + lane] = static_cast<Index>(lane ^ half);
    form_ = count == 1 ? kOneHead : width % kLanes<T> == 0 ? kWholeVectors : kMixedVectors;
  }

  // Numbers of `edges` edges, up to whole periods.
  int64_t size(int64_t edges) const { return (edges * places + period - 1) / period * period; }

  // work(form) with the form as a compile-time constant.
  template <class Work>
  HP_INLINE void with_form(Work&& work) const {
    if (form_ == kOneHead) return work(std::integral_constant<int, kOneHead>{});
    if (form_ == kWholeVectors) return work(std::integral_constant<int, kWholeVectors>{});
    work(std::integral_constant<int, kMixedVectors>{});
  }

  // The numbers of the heads that the columns of NV vectors belong to.
  template <int Form, int NV>
  struct Columns {
    int64_t first[NV];
    typename IndexOf<T>::Vec index[NV];
    HP_INLINE Vec<T> of(const T* numbers, int i) const {
      if constexpr (Form == kOneHead) return splat(numbers[0]);
      if constexpr (Form == kWholeVectors) return splat(numbers[first[i]]);
      Vec<T> some;
      std::memcpy(&some, numbers + first[i], sizeof some);
      return picked<T>(some, index[i]);
    }
  };
  template <int Form, int NV>
  HP_INLINE Columns<Form, NV> columns(int64_t column) const {
    Columns<Form, NV> found;
    HP_UNROLL
    for (int i = 0; i < NV; ++i) {
      const int64_t vector = column / kLanes<T> + i;
      found.first[i] = first_[vector];
      std::memcpy(&found.index[i], index_.data() + vector * kLanes<T>, sizeof found.index[i]);
    }
    return found;
  }

  // use(column, numbers of the heads of a vector of columns, others of them), for all columns.
  template <class Use>
  HP_INLINE void for_columns(const T* one, const T* two, Use&& use) const {
    with_form([&](auto form) HP_INLINE_LAMBDA {
      for (size_t vector = 0; vector < first_.size(); ++vector) {
        const int64_t column = static_cast<int64_t>(vector) * kLanes<T>;
        const auto found = columns<decltype(form)::value, 1>(column);
        use(column, found.of(one, 0), found.of(two, 0));
      }
    });
  }

  // out[k] = the inner product of the columns of head k.
  void products(const T* x, const T* y, T* out) const {
    for (int64_t k = 0; k < count; ++k, x += width, y += width) {
      if (width % kWide<T> == 0) {
        out[k] = sum_columns<T>(width, [&](int64_t j) { return load(x + j) * load(y + j); });
        continue;
      }
      T part[4] = {};
      int64_t j = 0;
      for (; j + 4 <= width; j += 4)
        for (int i = 0; i < 4; ++i) part[i] += x[j + i] * y[j + i];
      for (; j < width; ++j) part[0] += x[j] * y[j];
      out[k] = (part[0] + part[2]) + (part[1] + part[3]);
    }
  }

  // work(number of heads with their padding), a compile-time constant if it is 1, 4 or 8, else 0.
  template <class Work>
  HP_INLINE void with_places(Work&& work) const {
    switch (places) {
      case 1: return work(std::integral_constant<int, 1>{});
      case 4: return work(std::integral_constant<int, 4>{});
      case 8: return work(std::integral_constant<int, 8>{});
      default: return work(std::integral_constant<int, 0>{});
    }
  }
  HP_INLINE void copy(const T* from, T* to) const { std::memcpy(to, from, static_cast<size_t>(places) * sizeof(T)); }
  // Numbers of the nodes indices[0 .. count], rows of `stride` that begin at `from`, one node after
  // the other; then `rest` up to whole periods.
  HP_INLINE void collect(const int32_t* indices, int64_t count, const T* from, int64_t stride, T rest, T* to) const {
    with_places([&](auto constant) HP_INLINE_LAMBDA {
      const int64_t each = constant.value > 0 ? constant.value : places;
      for (int64_t e = 0; e < count; ++e)
        std::memcpy(to + e * each, from + indices[e] * stride, static_cast<size_t>(each) * sizeof(T));
    });
    finish(count, rest, to);
  }
  HP_INLINE void finish(int64_t edges, T rest, T* numbers) const {
    for (int64_t p = edges * places, end = size(edges); p < end; ++p) numbers[p] = rest;
  }
  // numbers[places] again and again, up to a period.
  void repeat(T* numbers) const {
    for (int64_t i = places; i < period; ++i) numbers[i] = numbers[i - places];
  }

  // numbers[j] = join(the values of term(p) at p = j, j + period, .. < size); then lanes of one head are
  // joined, halves with halves, and all of them hold the answer.
  template <class Term, class Join>
  HP_INLINE void reduce(int64_t size, Vec<T> start, Term&& term, Join&& join, T* numbers) const {
    for (int64_t j = 0; j < period; j += kWide<T>) {
      Vec<T> part[kParts];
      HP_UNROLL
      for (int i = 0; i < kParts; ++i) part[i] = start;
      for (int64_t p = j; p < size; p += period) {
        HP_UNROLL
        for (int i = 0; i < kParts; ++i) part[i] = join(part[i], term(p + i * kLanes<T>, j + i * kLanes<T>));
      }
      if (places < kWide<T>) fold(part, join);
      HP_UNROLL
      for (int i = 0; i < kParts; ++i) store(numbers + j + i * kLanes<T>, part[i]);
    }
  }
  template <class Term>
  HP_INLINE void sum(int64_t size, Term&& term, T* numbers) const {
    reduce(size, Vec<T>{}, term, [](auto x, auto y) { return x + y; }, numbers);
  }
  template <class Term>
  HP_INLINE void largest(int64_t size, Term&& term, T* numbers) const {
    reduce(size, splat(std::numeric_limits<T>::lowest()), term,
           [](auto x, auto y) { return x > y ? x : y; }, numbers);
  }

 private:
  using Index = typename IndexOf<T>::Type;

  template <class Join>
  HP_INLINE void fold(Vec<T>* part, Join&& join) const {
    HP_UNROLL
    for (int half = kParts / 2; half > 0; half /= 2) {
      if (half * kLanes<T> < places) return;
      HP_UNROLL
      for (int i = 0; i < kParts; ++i)
        if ((i & half) == 0) part[i] = part[i + half] = join(part[i], part[i + half]);
    }
    for (int half = kLanes<T> / 2; half >= places; half /= 2) {
      typename IndexOf<T>::Vec turned;
      std::memcpy(&turned, turned_ + half * kLanes<T>, sizeof turned);
      HP_UNROLL
      for (int i = 0; i < kParts; ++i) part[i] = join(part[i], picked<T>(part[i], turned));
    }
  }
  std::vector<int64_t> first_;  // head of the first lane of each vector of columns
  std::vector<Index> index_;    // heads of all lanes, counted from there
  Index turned_[kLanes<T> * kLanes<T>] = {};  // row `half`: each lane's place when halves of 2 * half change places
  int form_;
};

// For the columns of a tile: sums over the entries of a row of first[entry, head] * dense[index], and
// of second[entry, head] * dense[index] where asked for. The sums of a tile of 64 bytes are made in two
// chains, those of wider ones in one, with one or both of them.
template <class T, class Tile, int Form, bool Both>
struct HeadSums {
  static constexpr int NV = Tile::vectors, kChains = Tile::chains == 4 ? 2 : 1;
  Vec<T> first[kChains * NV], second[kChains * NV];

  HP_INLINE HeadSums(const Sparse<T>& matrix, int64_t row, const T* dense, int64_t stride,
                     const Heads<T>& heads, const T* one, const T* two, int64_t column) {
    HP_UNROLL
    for (int i = 0; i < kChains * NV; ++i) {
      first[i] = Vec<T>{};
      if constexpr (Both) second[i] = Vec<T>{};
    }
    const auto columns = heads.template columns<Form, NV>(column);
    const int64_t begin = matrix.indptr[row], end = matrix.indptr[row + 1], places = heads.places;
    const auto add = [&](auto chain, int64_t entry) HP_INLINE_LAMBDA {
      constexpr int at = decltype(chain)::value * NV;
      const T* source = dense + static_cast<int64_t>(matrix.indices[entry]) * stride + column;
      prefetch_later<T, NV>(matrix, entry, dense + column, stride);
      const int64_t offset = (entry - begin) * places;
      HP_UNROLL
      for (int i = 0; i < NV; ++i) {
        const Vec<T> x = load(source + i * kLanes<T>);
        first[at + i] += x * columns.of(one + offset, i);
        if constexpr (Both) second[at + i] += x * columns.of(two + offset, i);
      }
    };
    int64_t entry = begin;
    for (; entry + kChains <= end; entry += kChains) {
      add(std::integral_constant<int, 0>{}, entry);
      if constexpr (kChains == 2) add(std::integral_constant<int, 1>{}, entry + 1);
    }
    for (; entry < end; ++entry) add(std::integral_constant<int, 0>{}, entry);
    if constexpr (kChains == 2) {
      HP_UNROLL
      for (int i = 0; i < NV; ++i) {
        first[i] += first[NV + i];
        if constexpr (Both) second[i] += second[NV + i];
      }
    }
  }
};

// use(column of a vector, sum, second sum or 0) for all columns of a row; the sums times `scale`, a number for
// each head, if there is one.
template <class T, bool Scaled, class Use>
HP_INLINE void sum_by_heads(const Sparse<T>& matrix, int64_t row, const T* dense, int64_t stride,
                            const Heads<T>& heads, const T* one, const T* two, const T* scale, Use&& use) {
  const auto with = [&](auto form, auto both) HP_INLINE_LAMBDA {
    constexpr bool kBoth = decltype(both)::value;
    for_tiles<T, 2>(stride, [&](auto tile, int64_t column) {
      using Tile = decltype(tile);
      constexpr int kForm = decltype(form)::value, NV = Tile::vectors;
      const HeadSums<T, Tile, kForm, kBoth> sums(matrix, row, dense, stride, heads, one, two, column);
      const auto columns = heads.template columns<kForm, NV>(column);
      HP_UNROLL
      for (int i = 0; i < NV; ++i) {
        Vec<T> first = sums.first[i], second = {};
        if constexpr (kBoth) second = sums.second[i];
        if constexpr (Scaled) {
          const Vec<T> factor = columns.of(scale, i);
          first = first * factor;
          second = second * factor;
        }
        use(column + i * kLanes<T>, first, second);
      }
    });
  };
  heads.with_form([&](auto form) HP_INLINE_LAMBDA {
    if (two == nullptr)
      with(form, std::false_type{});
    else
      with(form, std::true_type{});
  });
}

}  // namespace hp
