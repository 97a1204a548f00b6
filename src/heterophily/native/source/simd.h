// Vectors of the instruction set this file is compiled for (GCC/Clang vector extensions) and the
// padded matrix they work on.
//
// Answers are the same bits on every instruction set. What could depend on the size or number of the
// registers is therefore counted in rows of 64 bytes ("wide"), which one register or several
// hold: padding, the lanes of a sum over columns, the chains of a sum over entries. Only + - * /
// and the square root are used, each rounded once (no fused multiply-add: -ffp-contract=off).
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
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(HP_VECTOR_BYTES)  // a test that holds 64 bytes in other registers
#elif defined(__AVX512F__)
#define HP_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define HP_VECTOR_BYTES 32
#else
#define HP_VECTOR_BYTES 16
#endif
#if HP_VECTOR_BYTES == 64 || defined(__aarch64__)
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
constexpr int kWideBytes = 64, kParts = kWideBytes / HP_VECTOR_BYTES;
template <class T>
constexpr int kWide = kWideBytes / static_cast<int>(sizeof(T));  // lanes, on every instruction set

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
// The sum of the lanes: halves upon halves.
template <class T>
inline T sum(Vec<T> v) {
  T total[kLanes<T>];
  std::memcpy(total, &v, sizeof v);
  for (int half = kLanes<T> / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) total[i] += total[i + half];
  return total[0];
}
#if defined(__AVX2__)
inline float sum_of_eight(__m256 v) {
  __m128 x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  x = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}
#if HP_VECTOR_BYTES == 32
template <>
inline float sum<float>(Vec<float> v) {
  return sum_of_eight((__m256)v);
}
#elif HP_VECTOR_BYTES == 64 && defined(__AVX512F__)
template <>
inline float sum<float>(Vec<float> v) {
  const __m512 x = (__m512)v;
  return sum_of_eight(_mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1)));
}
#endif
#endif

// The sum of term(column) over columns, a whole number of wide rows: one sum for each lane of 64
// bytes, then halves upon halves.
template <class T, class Term>
HP_INLINE T sum_columns(int64_t columns, Term&& term) {
  Vec<T> part[kParts];
  HP_UNROLL
  for (int i = 0; i < kParts; ++i) part[i] = Vec<T>{};
  for (int64_t j = 0; j < columns; j += kWide<T>) {
    HP_UNROLL
    for (int i = 0; i < kParts; ++i) part[i] += term(j + i * kLanes<T>);
  }
  HP_UNROLL
  for (int half = kParts / 2; half > 0; half /= 2) {
    HP_UNROLL
    for (int i = 0; i < half; ++i) part[i] += part[i + half];
  }
  return sum<T>(part[0]);
}

template <class T>
inline Vec<T> square_root(Vec<T> x) {
  Vec<T> root;
  for (int i = 0; i < kLanes<T>; ++i) root[i] = std::sqrt(x[i]);
  return root;
}
#if HP_VECTOR_BYTES == 64 && defined(__AVX512F__)
template <>
inline Vec<float> square_root<float>(Vec<float> x) {
  return (Vec<float>)_mm512_sqrt_ps((__m512)x);
}
template <>
inline Vec<double> square_root<double>(Vec<double> x) {
  return (Vec<double>)_mm512_sqrt_pd((__m512d)x);
}
#elif HP_VECTOR_BYTES == 32 && defined(__AVX2__)
template <>
inline Vec<float> square_root<float>(Vec<float> x) {
  return (Vec<float>)_mm256_sqrt_ps((__m256)x);
}
template <>
inline Vec<double> square_root<double>(Vec<double> x) {
  return (Vec<double>)_mm256_sqrt_pd((__m256d)x);
}
#elif HP_VECTOR_BYTES == 16 && defined(__SSE2__)
template <>
inline Vec<float> square_root<float>(Vec<float> x) {
  return (Vec<float>)_mm_sqrt_ps((__m128)x);
}
template <>
inline Vec<double> square_root<double>(Vec<double> x) {
  return (Vec<double>)_mm_sqrt_pd((__m128d)x);
}
#endif

template <class T>
constexpr int64_t padded(int64_t columns) {
  return (columns + kWide<T> - 1) / kWide<T> * kWide<T>;
}

// A zeroed, aligned, row-major matrix whose rows are padded to 64 bytes. Padding stays zero:
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

// Consecutive rows of a matrix.
template <class T>
struct View {
  T* data = nullptr;
  int64_t stride = 0, rows = 0;
  T* row(int64_t i) const { return data + i * stride; }
  View part(int64_t first, int64_t count) const { return {row(first), stride, count}; }
  operator View<const T>() const { return {data, stride, rows}; }
};
template <class T>
View<T> view(Matrix<T>& matrix) {
  return {matrix.data(), matrix.stride(), matrix.rows()};
}
template <class T>
View<const T> view(const Matrix<T>& matrix) {
  return {matrix.data(), matrix.stride(), matrix.rows()};
}

// Columns whose sums are kept in registers together: so many vectors, and so many independent
// chains of additions for each of them.
template <int Vectors, int Chains>
struct Tile {
  static constexpr int vectors = Vectors, chains = Chains;
};

// Calls work(tile, first column) for tiles of 4, 2 or 1 wide rows. Four wide sums in flight hide
// the latency of additions, so a tile has 4, 2 or 1 vectors and 1, 2 or 4 chains: that is the order
// of the sums, whatever the registers. Where they are too few, a tile is cut into parts of columns;
// `Sets`: how many sums of one chain the work keeps instead.
template <class T, int Sets = 0, class Work>
inline void for_tiles(int64_t stride, Work&& work) {
  const auto tile = [&](auto wides, int64_t column) HP_INLINE_LAMBDA {
    constexpr int kWides = decltype(wides)::value;
    constexpr int kSums = (Sets > 0 ? Sets * kWides : 4) * kParts;
    constexpr int kCuts = kSums > HP_REGISTERS / 2 ? kSums / (HP_REGISTERS / 2) : 1;
    constexpr int kVectors = kWides * kParts / kCuts;
    for (int cut = 0; cut < kCuts; ++cut)
      work(Tile<kVectors, 4 / kWides>{}, column + cut * kVectors * kLanes<T>);
  };
  int64_t column = 0;
  for (; column + 4 * kWide<T> <= stride; column += 4 * kWide<T>)
    tile(std::integral_constant<int, 4>{}, column);
  if (column + 2 * kWide<T> <= stride) {
    tile(std::integral_constant<int, 2>{}, column);
    column += 2 * kWide<T>;
  }
  if (column < stride) tile(std::integral_constant<int, 1>{}, column);
}

// Lines of the cache that a tile of a row occupies.
template <int Vectors>
constexpr int kLines = (Vectors * HP_VECTOR_BYTES + 63) / 64;

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
