// Dropout masks as a function, not a state: keep(i) = hash(seed, step, site, i) < level.
// The same function is written in NumPy in engine/counter.py, so that torch can replay a run.
#pragma once
#include <cstdint>
#include <vector>

#include "simd.h"

namespace hp {

inline uint64_t split_mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// One mask: a call of dropout. The rate is rounded to a multiple of 1/65536 and kept entries are
// scaled by the rounded share, as layers/dropout.py does.
struct Mask {
  static constexpr uint32_t kLevels = 65536;
  uint32_t first = 0, second = 0, kept_levels = kLevels;

  Mask() = default;
  Mask(uint64_t seed, uint64_t step, uint64_t site, double rate) {
    const uint64_t key = split_mix(split_mix(split_mix(seed) + step) + site);
    first = static_cast<uint32_t>(key);
    second = static_cast<uint32_t>(key >> 32);
    const double kept = std::nearbyint((1.0 - rate) * kLevels);  // half to even, as Python rounds
    kept_levels = kept < 1.0 ? 1 : static_cast<uint32_t>(kept);
  }
  bool is_active() const { return kept_levels < kLevels; }
  double scale() const { return static_cast<double>(kLevels) / kept_levels; }
  uint32_t hash(uint32_t i) const {
    uint32_t x = (i ^ first) * 0x9E3779B1u;
    x = (x ^ (x >> 15)) + second;
    x *= 0x85EBCA77u;
    x = (x ^ (x >> 13)) * 0xC2B2AE3Du;
    return x ^ (x >> 16);
  }
  bool keeps(uint32_t i) const { return (hash(i) >> 16) < kept_levels; }

  // factor[j] = scale or 0 for the entries begin .. begin + count of a dense matrix.
  template <class T>
  void row(uint32_t begin, int count, T* factor) const {
    const T scale_of_kept = static_cast<T>(scale());
    for (int j = 0; j < count; ++j)
      factor[j] = (hash(begin + static_cast<uint32_t>(j)) >> 16) < kept_levels ? scale_of_kept : T(0);
  }

  // The entries begin .. end of a sparse matrix after dropout, dropped ones as zeros. number: entry ->
  // index of the mask (nullptr: the entry's own position).
  template <class T>
  void apply(const T* values, const uint32_t* number, int64_t begin, int64_t end, T* out) const {
    const T scale_of_kept = static_cast<T>(scale());
    if (number == nullptr)
      for (int64_t e = begin; e < end; ++e)
        out[e] = keeps(static_cast<uint32_t>(e)) ? values[e] * scale_of_kept : T(0);
    else
      for (int64_t e = begin; e < end; ++e) out[e] = keeps(number[e]) ? values[e] * scale_of_kept : T(0);
  }
};

#if defined(__AVX2__) && !defined(__AVX512F__)
// For each set of 8 bits, the places of its ones: a permutation that moves them to the front.
struct Compress {
  uint64_t places[256];
  constexpr Compress() : places() {
    for (int bits = 0; bits < 256; ++bits)
      for (int i = 0, out = 0; i < 8; ++i)
        if (bits >> i & 1) places[bits] |= static_cast<uint64_t>(i) << (8 * out++);
  }
  __m256i order(uint32_t bits) const {
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<int64_t>(places[bits])));
  }
};
inline constexpr Compress kCompress{};
#endif

// The entries of a sparse matrix that a mask keeps, packed one after the other.
template <class T>
struct Selection {
  std::vector<int64_t> indptr;
  std::vector<int32_t> indices;
  std::vector<T> values;

  void reserve(int64_t rows, int64_t entries) {
    indptr.resize(rows + 1);
    indices.resize(entries + kSlack);
    values.resize(entries + kSlack);
  }

  // number: entry -> index of the mask (nullptr: the entry's own position).
  void select(int64_t rows, const int64_t* begin, const int32_t* from_indices, const T* from_values,
              const uint32_t* number, const Mask& mask);

 private:
  static constexpr int kSlack = 16;
};

template <class T>
void Selection<T>::select(int64_t rows, const int64_t* begin, const int32_t* from_indices,
                          const T* from_values, const uint32_t* number, const Mask& mask) {
  constexpr int kChunk = 16;
  const T scale = static_cast<T>(mask.scale());
  const int64_t entries = begin[rows];
  int64_t out = 0, row = 0;
  for (int64_t e = 0; e < entries; e += kChunk) {
    const int count = static_cast<int>(entries - e < kChunk ? entries - e : kChunk);
    uint32_t bits = 0;  // one bit for each selected entry of the chunk
#if defined(__AVX512F__)
    const __m512i places = _mm512_add_epi32(
        _mm512_set1_epi32(static_cast<int>(e)),
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    const __mmask16 valid = static_cast<__mmask16>((1u << count) - 1u);
    __m512i x = number ? _mm512_maskz_loadu_epi32(valid, number + e) : places;
    x = _mm512_mullo_epi32(_mm512_xor_si512(x, _mm512_set1_epi32(static_cast<int>(mask.first))),
                           _mm512_set1_epi32(static_cast<int>(0x9E3779B1u)));
    x = _mm512_add_epi32(_mm512_xor_si512(x, _mm512_srli_epi32(x, 15)),
                         _mm512_set1_epi32(static_cast<int>(mask.second)));
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32(static_cast<int>(0x85EBCA77u)));
    x = _mm512_mullo_epi32(_mm512_xor_si512(x, _mm512_srli_epi32(x, 13)),
                           _mm512_set1_epi32(static_cast<int>(0xC2B2AE3Du)));
    x = _mm512_srli_epi32(_mm512_xor_si512(x, _mm512_srli_epi32(x, 16)), 16);
    bits = _mm512_cmplt_epu32_mask(x, _mm512_set1_epi32(static_cast<int>(mask.kept_levels)));
    bits &= valid;
#else
    uint32_t places[kChunk] = {}, kept[kChunk];
    for (int i = 0; i < count; ++i) places[i] = number ? number[e + i] : static_cast<uint32_t>(e + i);
    for (int i = 0; i < kChunk; ++i) kept[i] = mask.hash(places[i]) >> 16;
    for (int i = 0; i < kChunk; ++i) bits |= static_cast<uint32_t>(kept[i] < mask.kept_levels) << i;
    bits &= (1u << count) - 1u;
#endif
    for (; row <= rows && begin[row] < e + count; ++row)
      indptr[row] = out + __builtin_popcount(bits & ((1u << (begin[row] - e)) - 1u));
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) {
      const __mmask16 chosen = static_cast<__mmask16>(bits);
      _mm512_storeu_si512(indices.data() + out,
                          _mm512_maskz_compress_epi32(
                              chosen, _mm512_maskz_loadu_epi32(valid, from_indices + e)));
      _mm512_storeu_ps(values.data() + out,
                       _mm512_mul_ps(_mm512_maskz_compress_ps(
                                         chosen, _mm512_maskz_loadu_ps(valid, from_values + e)),
                                     _mm512_set1_ps(scale)));
      out += __builtin_popcount(bits);
      continue;
    }
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) {
      if (count == kChunk) {
        for (int half = 0; half < kChunk; half += 8) {
          const uint32_t chosen = (bits >> half) & 255u;
          const __m256i order = kCompress.order(chosen);
          const __m256i from = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from_indices + e + half));
          const __m256 value = _mm256_mul_ps(_mm256_loadu_ps(from_values + e + half), _mm256_set1_ps(scale));
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(indices.data() + out),
                              _mm256_permutevar8x32_epi32(from, order));
          _mm256_storeu_ps(values.data() + out, _mm256_permutevar8x32_ps(value, order));
          out += __builtin_popcount(chosen);
        }
        continue;
      }
    }
#endif
    for (int i = 0; i < count; ++i) {
      indices[out] = from_indices[e + i];
      values[out] = from_values[e + i] * scale;
      out += (bits >> i) & 1u;
    }
  }
  for (; row <= rows; ++row) indptr[row] = out;
}

}  // namespace hp
