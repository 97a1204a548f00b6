// Vectors of the instruction set this file is compiled for (GCC/Clang vector extensions), the
// padded matrix they work on, and the few functions that need more than + and *.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define HP_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define HP_VECTOR_BYTES 32
#else
#define HP_VECTOR_BYTES 16
#endif
#if defined(__AVX512F__) || defined(__aarch64__)
#define HP_REGISTERS 32
#else
#define HP_REGISTERS 16
#endif

// Sums of a tile must stay in registers: at most so many of them, inlined, and with every small
// loop unrolled.
#define HP_INLINE inline __attribute__((always_inline))
#define HP_INLINE_LAMBDA __attribute__((always_inline))
#define HP_UNROLL _Pragma("GCC unroll 16")

namespace hp {

template <class T>
struct Simd {
  typedef T Vec __attribute__((vector_size(HP_VECTOR_BYTES)));
  static constexpr int lanes = HP_VECTOR_BYTES / sizeof(T);
};
template <class T>
using Vec = typename Simd<T>::Vec;
template <class T>
constexpr int kLanes = Simd<T>::lanes;

template <class T>
inline Vec<T> load(const T* p) {
  return *reinterpret_cast<const Vec<T>*>(p);
}
template <class T>
inline void store(T* p, Vec<T> v) {
  *reinterpret_cast<Vec<T>*>(p) = v;
}
template <class T>
inline Vec<T> splat(T x) {
  return Vec<T>{} + x;
}
template <class T>
inline Vec<T> relu(Vec<T> x) {
  return x < Vec<T>{} ? Vec<T>{} : x;  // not-a-number stays visible
}
// x where gate > 0, else 0: the gradient through a ReLU.
template <class T>
inline Vec<T> where_positive(Vec<T> gate, Vec<T> x) {
  return gate > Vec<T>{} ? x : Vec<T>{};
}
template <class T>
inline T sum(Vec<T> v) {
  T total[kLanes<T>];
  std::memcpy(total, &v, sizeof v);
  for (int half = kLanes<T> / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) total[i] += total[i + half];
  return total[0];
}
#if defined(__AVX512F__)
template <>
inline float sum<float>(Vec<float> v) {
  return _mm512_reduce_add_ps((__m512)v);
}
#elif defined(__AVX2__)
template <>
inline float sum<float>(Vec<float> v) {
  __m128 x = _mm_add_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
  x = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}
#endif

// exp: the double comes from the C library, the float from a polynomial on a vector (relative
// error below 2e-7).
inline void exp_inplace(double* x, int count) {
  for (int i = 0; i < count; ++i) x[i] = std::exp(x[i]);
}
inline Vec<float> exp_vector(Vec<float> x) {
  typedef int32_t Ints __attribute__((vector_size(HP_VECTOR_BYTES)));
  const Vec<float> low = splat(-87.0f), high = splat(88.0f), magic = splat(12582912.0f);
  x = x < low ? low : x;
  x = x > high ? high : x;
  const Vec<float> turns = (x * 1.44269504f + magic) - magic;  // nearest whole number
  x = x - turns * 0.693359375f;
  x = x + turns * 2.12194440e-4f;
  Vec<float> y = splat(1.9875691500e-4f);
  y = y * x + 1.3981999507e-3f;
  y = y * x + 8.3334519073e-3f;
  y = y * x + 4.1665795894e-2f;
  y = y * x + 1.6666665459e-1f;
  y = y * x + 5.0000001201e-1f;
  y = y * (x * x) + x + 1.0f;
  const Ints power = (__builtin_convertvector(turns, Ints) + 127) << 23;
  return y * (Vec<float>)power;
}
inline void exp_inplace(float* x, int count) {  // x: whole vectors
  for (int i = 0; i < count; i += kLanes<float>) store(x + i, exp_vector(load(x + i)));
}

// m / (sqrt(v) * scale + eps): the step of Adam.
template <class T>
inline Vec<T> adam_direction(Vec<T> m, Vec<T> v, T scale, T eps) {
  Vec<T> root;
  for (int i = 0; i < kLanes<T>; ++i) root[i] = std::sqrt(v[i]);
  return m / (root * scale + eps);
}
#if defined(__AVX512F__)
template <>
inline Vec<float> adam_direction<float>(Vec<float> m, Vec<float> v, float scale, float eps) {
  // Estimates of 14 bits and one Newton step each: a fifth of the time of sqrt and divide.
  const Vec<float> tiny = splat(1e-37f);
  const Vec<float> x = v > tiny ? v : tiny;
  __m512 estimate = _mm512_rsqrt14_ps((__m512)x);
  Vec<float> r = (Vec<float>)estimate;
  r = r * (1.5f - (0.5f * x) * (r * r));
  const Vec<float> below = (v * r) * scale + eps;
  __m512 inverse = _mm512_rcp14_ps((__m512)below);
  Vec<float> q = (Vec<float>)inverse;
  q = q * (2.0f - below * q);
  return m * q;
}
template <>
inline Vec<double> adam_direction<double>(Vec<double> m, Vec<double> v, double scale, double eps) {
  __m512d root = _mm512_sqrt_pd((__m512d)v);
  return m / ((Vec<double>)root * scale + eps);
}
#elif defined(__AVX2__)
template <>
inline Vec<float> adam_direction<float>(Vec<float> m, Vec<float> v, float scale, float eps) {
  __m256 root = _mm256_sqrt_ps((__m256)v);
  return m / ((Vec<float>)root * scale + eps);
}
#endif

template <class T>
constexpr int64_t padded(int64_t columns) {
  return (columns + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
}

// A zeroed, aligned, row-major matrix whose rows are padded to whole vectors. Padding stays zero:
// weights there begin at zero and receive zero gradients.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(int64_t rows, int64_t columns) : rows_(rows), columns_(columns), stride_(padded<T>(columns)) {
    // Matrices begin at different places of a page, or equal rows of several would compete for
    // the same lines of the cache.
    static thread_local unsigned number = 0;
    const size_t shift = number++ % 16 * 5 * 64;
    const size_t wanted = static_cast<size_t>(rows) * stride_ * sizeof(T) + 64 + shift;
    const size_t page = wanted >= kHugePage / 2 ? kHugePage : 64;
    const size_t bytes = (wanted + page - 1) / page * page;
    memory_ = static_cast<char*>(std::aligned_alloc(page, bytes));
    if (memory_ == nullptr) throw std::bad_alloc();
    data_ = reinterpret_cast<T*>(memory_ + shift);
#if defined(__linux__)
    if (page == kHugePage) madvise(memory_, bytes, MADV_HUGEPAGE);  // gathers touch a page a row
#endif
    std::memset(memory_, 0, bytes);
  }
  Matrix(Matrix&& other) noexcept { swap(other); }
  Matrix& operator=(Matrix&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Matrix() { std::free(memory_); }
  T* row(int64_t i) { return data_ + i * stride_; }
  const T* row(int64_t i) const { return data_ + i * stride_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t stride() const { return stride_; }
  size_t size() const { return static_cast<size_t>(rows_ * stride_); }
  bool empty() const { return data_ == nullptr; }
  // Takes over the values (and the shape, if it has none yet).
  void assign(const Matrix& other) {
    if (empty()) *this = Matrix(other.rows_, other.columns_);
    std::memcpy(static_cast<void*>(data_), other.data_, size() * sizeof(T));
  }
  void clear() { std::memset(static_cast<void*>(data_), 0, size() * sizeof(T)); }

 private:
  static constexpr size_t kHugePage = size_t{2} << 20;
  void swap(Matrix& other) {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(rows_, other.rows_);
    std::swap(columns_, other.columns_);
    std::swap(stride_, other.stride_);
  }
  char* memory_ = nullptr;
  T* data_ = nullptr;
  int64_t rows_ = 0, columns_ = 0, stride_ = 0;
};

// Calls work(number of vectors, first column) for tiles of 8, 4, 2 or 1 vectors and at most 64
// columns (what the accumulators of a row may occupy); the number is a compile-time constant.
template <class T, int Most = 8, class Work>
inline void for_tiles(int64_t stride, Work&& work) {
  constexpr int most = 64 / kLanes<T> < Most ? 64 / kLanes<T> : Most;
  for (int64_t column = 0; column < stride;) {
    const int64_t vectors = (stride - column) / kLanes<T>;
    int64_t done = 1;
    if (most >= 8 && vectors >= 8)
      work(std::integral_constant<int, most >= 8 ? 8 : 1>{}, column), done = 8;
    else if (vectors >= 4)
      work(std::integral_constant<int, 4>{}, column), done = 4;
    else if (vectors >= 2)
      work(std::integral_constant<int, 2>{}, column), done = 2;
    else
      work(std::integral_constant<int, 1>{}, column);
    column += done * kLanes<T>;
  }
}

// Calls work(number of vectors) with the number as a compile-time constant if it is 1, 2, 4 or 8
// (what widths of 16, 32 and 64 need), else with 0.
template <class Work>
inline void with_vectors(int64_t vectors, Work&& work) {
  switch (vectors) {
    case 1: return work(std::integral_constant<int, 1>{});
    case 2: return work(std::integral_constant<int, 2>{});
    case 4: return work(std::integral_constant<int, 4>{});
    case 8: return work(std::integral_constant<int, 8>{});
    default: return work(std::integral_constant<int, 0>{});
  }
}

}  // namespace hp
