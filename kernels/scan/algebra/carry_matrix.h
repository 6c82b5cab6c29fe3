// How the state of a lane crosses a stretch of values, for sums of any order: the one-round carry.
//
// The state after a value x is S = (y1 ... yq) with y1 += x, y2 += y1, ..., yq += y(q-1). Every
// step is linear, so after L values that start from state A the state is P(L) A + B, where B is
// what the same values give from a zero state.
//
//   P(1) is lower triangular and all ones: yi becomes y1 + ... + yi. It is the Toeplitz matrix of
//   the power series 1 + z + z^2 + ... = 1/(1-z) cut after q terms. Products of such matrices are
//   products of the series, so P(L) belongs to (1-z)^-L, whose coefficient m is c_m(L) = C(L + m -
//   1, m). Hence P(a) P(b) = P(a + b), the matrices commute, and a stretch is summarised by its
//   length and q words: all orders travel in one exchange.
//
// The integers c_m(L) are reduced mod 2^w. They are computed by squaring the series (no division),
// so they are exact for every L; with 64-bit words c_m also has a period in L that no caller needs
// to know about. The same holds over GF(2) bit by bit for xor: there c_m(L) mod 2 is the mask, see
// `xor_carry_coefficients`.
#pragma once

#include <cstdint>

#include "kernels/device/host_device.h"
#if defined(__CUDA_ARCH__)
#define GDELTA_CARRY_UNROLL _Pragma("unroll")
#else
#define GDELTA_CARRY_UNROLL
#endif

namespace gdelta {

/// First column of P(L): c[m] = C(L + m - 1, m) mod 2^w for m = 0 ... Order - 1; c[0] is always 1.
template <class Word, int Order>
struct CarryMatrix {
  Word c[Order];
};

/// P(a + b) from P(a) and P(b): a product of two power series, Order (Order + 1) / 2 multiply-adds.
template <class Word, int Order>
GDELTA_HD CarryMatrix<Word, Order> multiply(const CarryMatrix<Word, Order>& a,
                                            const CarryMatrix<Word, Order>& b) {
  CarryMatrix<Word, Order> product;
  GDELTA_CARRY_UNROLL
  for (int m = 0; m < Order; ++m) {
    Word sum = 0;
    GDELTA_CARRY_UNROLL
    for (int i = 0; i <= m; ++i) sum += a.c[i] * b.c[m - i];
    product.c[m] = sum;
  }
  return product;
}

/// P(-a) from P(a): the reciprocal of the series, order by order.
template <class Word, int Order>
GDELTA_HD CarryMatrix<Word, Order> inverse(const CarryMatrix<Word, Order>& a) {
  CarryMatrix<Word, Order> reciprocal;
  reciprocal.c[0] = 1;
  GDELTA_CARRY_UNROLL
  for (int m = 1; m < Order; ++m) {
    Word sum = 0;
    GDELTA_CARRY_UNROLL
    for (int i = 1; i <= m; ++i) sum += a.c[i] * reciprocal.c[m - i];
    reciprocal.c[m] = Word(0) - sum;
  }
  return reciprocal;
}

/// base^exponent by repeated squaring: about 2 log2(exponent) products of series.
template <class Word, int Order>
GDELTA_HD CarryMatrix<Word, Order> power(CarryMatrix<Word, Order> base, std::uint64_t exponent) {
  CarryMatrix<Word, Order> result;
  GDELTA_CARRY_UNROLL
  for (int m = 0; m < Order; ++m) result.c[m] = m == 0 ? 1 : 0;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

/// P(length).
template <class Word, int Order>
GDELTA_HD CarryMatrix<Word, Order> carry_coefficients(std::uint64_t length) {
  CarryMatrix<Word, Order> one;
  GDELTA_CARRY_UNROLL
  for (int m = 0; m < Order; ++m) one.c[m] = 1;
  return power(one, length);
}

/// P(-length), the inverse of P(length): the series (1 - z)^length, alternating binomials. It pulls
/// a state back to where a stretch began, so that states of many stretches can be added up at one
/// common place.
template <class Word, int Order>
GDELTA_HD CarryMatrix<Word, Order> inverse_carry_coefficients(std::uint64_t length) {
  CarryMatrix<Word, Order> back;
  GDELTA_CARRY_UNROLL
  for (int m = 0; m < Order; ++m) back.c[m] = m == 0 ? 1 : m == 1 ? Word(0) - Word(1) : Word(0);
  return power(back, length);
}

/// The masks of xor: bit m is C(L + m - 1, m) mod 2, for m = 0 ... 7. By Lucas the binomial is odd
/// exactly if adding m and L - 1 carries nowhere, that is where m & (L - 1) == 0; for L = 0 only
/// c_0 is not zero.
GDELTA_HD inline std::uint32_t xor_carry_coefficients(std::uint64_t length) {
  if (length == 0) return 1;
  std::uint32_t bits = 0;
  for (std::uint32_t m = 0; m < 8; ++m) {
    if ((m & static_cast<std::uint32_t>(length - 1)) == 0) bits |= 1u << m;
  }
  return bits;
}

/// The same for P(-L): bit m is C(L, m) mod 2, odd exactly if m is a submask of L.
GDELTA_HD inline std::uint32_t inverse_xor_carry_coefficients(std::uint64_t length) {
  std::uint32_t bits = 0;
  for (std::uint32_t m = 0; m < 8; ++m) {
    if ((m & ~static_cast<std::uint32_t>(length)) == 0) bits |= 1u << m;
  }
  return bits;
}

}  // namespace gdelta
