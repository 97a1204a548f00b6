// The standard normal distribution: its share below x and its density, for GELU.
//
// With t = |x| / sqrt(2) the share beyond |x| is erfc(t) / 2 = exp(-t^2) u Q(v), where
// u = 1 / (1 + t / k), v is u stretched to [-1, 1], and Q is a polynomial: the Chebyshev
// interpolation of exp(t^2) erfc(t) / (2 u). One division and one exponential serve both results.
#pragma once
#include "elementary.h"

namespace hp {

template <class T>
struct Normal;

template <>
struct Normal<float> {  // k = 3, t <= 9.4; relative error of Q 4e-9
  static constexpr float kInner = 0.23570226f, kStretch = 2.63829787f, kShift = -1.63829787f;
  static constexpr int kDegree = 9;
  static constexpr float kTail[kDegree + 1] = {
      0.221184501f,   0.155494957f,   8.24856864e-2f,  3.20272098e-2f, 8.21801486e-3f,
      8.77662551e-4f, -2.16638379e-4f, -8.01277729e-5f, 4.11744725e-6f, 4.61762728e-6f};
};

template <>
struct Normal<double> {  // k = 3.75, t <= 27; relative error of Q 5e-18
  static constexpr double kInner = 0.18856180831641267, kStretch = 2.2777777777777778,
                          kShift = -1.2777777777777778;
  static constexpr int kDegree = 22;
  static constexpr double kTail[kDegree + 1] = {
      0.16276642972507543,     0.13608505808359685,     9.6959620345662670e-2,   5.8497657324256581e-2,
      2.9425544195474711e-2,   1.1961189591411031e-2,   3.6717967040917330e-3,   6.9727803640276955e-4,
      -5.5659096515105644e-6,  -5.0152476069569455e-5,  -1.1705818837831717e-5,  1.6564278560355813e-6,
      1.2858667290950932e-6,   2.7403703304617488e-8,   -1.1923991734749133e-7,  -1.2265021130438096e-8,
      1.1641391001353565e-8,   1.6461635091651810e-9,   -1.2545157813509936e-9,  -1.6263752275808564e-10,
      1.3482394221574376e-10,  9.9752150114044810e-12,  -9.9631868234483074e-12};
};

template <class T>
HP_INLINE void normal(Vec<T> x, Vec<T>& share, Vec<T>& density) {
  using N = Normal<T>;
  const Vec<T> size = x < Vec<T>{} ? -x : x;
  const Vec<T> u = splat(T(1)) / (size * N::kInner + T(1));
  const Vec<T> v = u * N::kStretch + N::kShift;
  Vec<T> tail = splat(N::kTail[N::kDegree]);
  HP_UNROLL
  for (int i = N::kDegree - 1; i >= 0; --i) tail = tail * v + N::kTail[i];
  const Vec<T> bell = exp_vector(x * x * T(-0.5));
  tail = tail * u * bell;
  share = x < Vec<T>{} ? tail : T(1) - tail;
  density = bell * T(0.39894228040143268);
}

}  // namespace hp
