// exp, log and whole powers of our own: those of C libraries differ between systems and processors.
#pragma once
#include <limits>

#include "simd.h"

namespace hp {

// Relative error below 2e-7.
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

// Relative error below 4e-16: the power series on |x| <= log(2) / 2.
inline Vec<double> exp_vector(Vec<double> x) {
  typedef int64_t Ints __attribute__((vector_size(HP_VECTOR_BYTES)));
  const Vec<double> low = splat(-708.0), high = splat(709.0), magic = splat(6755399441055744.0);
  x = x < low ? low : x;
  x = x > high ? high : x;
  const Vec<double> shifted = x * 1.4426950408889634 + magic;  // its last bits are a whole number
  const Vec<double> turns = shifted - magic;
  x = x - turns * 6.93147180369123816490e-01;
  x = x - turns * 1.90821492927058770002e-10;
  constexpr int kDegree = 13;
  constexpr double kFactorials[kDegree + 1] = {
      1.0,    1.0,     2.0,      6.0,       24.0,       120.0,       720.0,
      5040.0, 40320.0, 362880.0, 3628800.0, 39916800.0, 479001600.0, 6227020800.0};
  Vec<double> y = splat(1.0 / kFactorials[kDegree]);
  for (int k = kDegree - 1; k >= 0; --k) y = y * x + 1.0 / kFactorials[k];
  return y * (Vec<double>)(((Ints)shifted + 1023) << 52);
}

template <class T>
inline void exp_inplace(T* x, int count) {  // x: whole vectors
  for (int i = 0; i < count; i += kLanes<T>) store(x + i, exp_vector(load(x + i)));
}

// Natural logarithm of a normal number, within 1e-15 of it: x = m 2^n, log m = 2 artanh((m-1)/(m+1)).
inline double log_of(double x) {
  if (!(x < std::numeric_limits<double>::infinity())) return x;
  int64_t bits;
  std::memcpy(&bits, &x, sizeof x);
  constexpr int64_t kHalfRoot = 0x3FE6A09E667F3BCD;  // sqrt(1/2)
  const int64_t turns = (bits - kHalfRoot) >> 52;
  bits -= turns << 52;
  double m;
  std::memcpy(&m, &bits, sizeof m);
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * z;
  const double n = static_cast<double>(turns);
  return n * 6.93147180369123816490e-01 + (2.0 * (s + s * series) + n * 1.90821492927058770002e-10);
}

// (e^x - e^-x) / (e^x + e^-x), within 2e-7 (float) and 1e-15 (double) of it: polynomials near 0, an
// exponential elsewhere.
inline Vec<float> tanh_near(Vec<float> x) {
  const Vec<float> z = x * x;
  Vec<float> y = splat(-5.70498872745e-3f);
  y = y * z + 2.06390887954e-2f;
  y = y * z - 5.37397155531e-2f;
  y = y * z + 1.33314422036e-1f;
  y = y * z - 3.33332819422e-1f;
  return y * z * x + x;
}
inline Vec<double> tanh_near(Vec<double> x) {
  const Vec<double> z = x * x;
  const Vec<double> above = (z * -9.64399179425052238628e-1 - 9.92877231001918586564e1) * z - 1.61468768441708447952e3;
  const Vec<double> below =
      ((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3;
  return x * z * (above / below) + x;
}
template <class T>
inline Vec<T> tanh_vector(Vec<T> x) {
  const Vec<T> size = x < Vec<T>{} ? -x : x;
  const Vec<T> beyond = exp_vector(size * T(-2));
  const Vec<T> far = (T(1) - beyond) / (T(1) + beyond);
  return size < splat(T(0.625)) ? tanh_near(x) : x < Vec<T>{} ? -far : far;
}

inline double power(double base, int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

}  // namespace hp
