// SPDX-License-Identifier: MIT
// Arithmetic on scalars and register tiles: operators, comparisons, where, and the usual functions.
// 16-bit floats are converted to f32 first (`convert`): rounding stays visible.
#pragma once

#include "tk/arch.h"
#include "tk/types/register_tile.h"

#ifdef TK_SIM
#include <cmath>
#endif

namespace tk {

// Scalars. Names as in .tk; f32 throughout.
/// Relative error about 2^-22.
TK_DEVICE float exp2(float x) { return arch::ex2_approx(x); }
TK_DEVICE float reciprocal(float x) { return arch::rcp_approx(x); }
#ifdef TK_SIM
inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }
#else
TK_DEVICE float rsqrt(float x) { return ::rsqrtf(x); }
#endif
// One instruction each, where the general min and max would compare and select. A NaN loses against a number. These and `abs` are
// computed by launchers, too.
TK_HOST_DEVICE float max(float x, float y) { return ::fmaxf(x, y); }
TK_HOST_DEVICE float min(float x, float y) { return ::fminf(x, y); }
/// Relative error below 2^-21. The rounding of x * log2(e) alone would cost 2^-18 at x = 80; what it left out, d = x - p * ln(2), is
/// put back as e^d = 1 + d. Rounding p down keeps d above zero where the result overflows, so that inf does not meet -inf; for an
/// infinite x, d is a NaN, which `min` turns into a number.
TK_DEVICE float exp(float x) {
    const float p = arch::mul_down(x, 1.4426950408889634f);
    const float y = exp2(p), d = min(::fmaf(-p, 0.6931471805599453f, x), 1.0f);
    return ::fmaf(y, d, y);
}
// Not by the hardware's approximation, whose error near 1 is large beside a result near 0.
TK_DEVICE float log2(float x) { return ::log2f(x); }
TK_DEVICE float log(float x) { return ::logf(x); }
// e^-x without what `exp` puts back: beside the 1 it matters below -8 only.
TK_DEVICE float sigmoid(float x) { return reciprocal(1.0f + exp2(-1.4426950408889634f * x)); }
TK_DEVICE float sqrt(float x) { return ::sqrtf(x); }
TK_DEVICE float tanh(float x) { return ::tanhf(x); }
TK_DEVICE float erf(float x) { return ::erff(x); }
TK_DEVICE float floor(float x) { return ::floorf(x); }
TK_DEVICE float ceil(float x) { return ::ceilf(x); }
/// Of two integers as near, the even one.
TK_DEVICE float round(float x) { return ::rintf(x); }
/// x, and 0 for infinities and NaN.
TK_DEVICE float finite(float x) { return ::fabsf(x) < infinity() ? x : 0.0f; }
TK_DEVICE float sin(float x) { return ::sinf(x); }
/// As if of another x than sin: the compiler would have the quarter turns and the rest of all elements of a tile once, and keep these
/// until it comes to the second function, in three times the registers of the tile.
TK_DEVICE float cos(float x) {
    TK_TIE_VALUE("+" TK_FLOAT_REGISTER(x));
    return ::cosf(x);
}
TK_HOST_DEVICE float abs(float x) { return ::fabsf(x); }
template <class T>
    requires(std::is_integral_v<T>)
TK_HOST_DEVICE T abs(T x) {
    if constexpr (std::is_signed_v<T>) return x < 0 ? negated(x) : x;
    else return x;
}
TK_DEVICE float pow(float x, float y) { return ::powf(x, y); }
/// 1 / y, also where that is subnormal, which the hardware's approximation flushes to zero; a subnormal y counts as zero.
TK_DEVICE float inverse(float y) {
    const float scale = abs(y) > 0x1p125f ? 0x1p-8f : 1.0f;
    return reciprocal(y * scale) * scale;
}
/// x / y. Relative error below 2^-21.
TK_DEVICE float quotient(float x, float y) { return x * inverse(y); }

#define TK_UNARY(NAME)                                                                                                 \
    template <tile X>                                                                                                  \
    TK_DEVICE auto NAME(const X& x) { return map([](auto a) { return NAME(a); }, x); }
TK_UNARY(exp2) TK_UNARY(exp) TK_UNARY(log2) TK_UNARY(log) TK_UNARY(sqrt) TK_UNARY(rsqrt) TK_UNARY(reciprocal)
TK_UNARY(tanh) TK_UNARY(erf) TK_UNARY(sigmoid) TK_UNARY(abs) TK_UNARY(floor) TK_UNARY(ceil) TK_UNARY(round) TK_UNARY(finite)
TK_UNARY(sin) TK_UNARY(cos)
#undef TK_UNARY

#define TK_BINARY(NAME)                                                                                                \
    template <class A, class B>                                                                                        \
        requires tile_operands<A, B>                                                                                   \
    TK_DEVICE auto NAME(const A& a, const B& b) { return map([](auto x, auto y) { return NAME(x, y); }, a, b); }
TK_BINARY(min) TK_BINARY(max) TK_BINARY(pow) TK_BINARY(floor_div) TK_BINARY(floor_mod)
#undef TK_BINARY

#define TK_OPERATOR(OP)                                                                                                \
    template <class A, class B>                                                                                        \
        requires tile_operands<A, B>                                                                                   \
    TK_DEVICE auto operator OP(const A& a, const B& b) { return map([](auto x, auto y) { return x OP y; }, a, b); }
TK_OPERATOR(%)
TK_OPERATOR(<) TK_OPERATOR(<=) TK_OPERATOR(>) TK_OPERATOR(>=) TK_OPERATOR(==) TK_OPERATOR(!=)
#undef TK_OPERATOR

#define TK_ARITHMETIC(OP, NAME)                                                                                        \
    template <class A, class B>                                                                                        \
        requires tile_operands<A, B>                                                                                   \
    TK_DEVICE auto operator OP(const A& a, const B& b) { return map([](auto x, auto y) { return NAME(x, y); }, a, b); }
TK_ARITHMETIC(+, plus) TK_ARITHMETIC(-, minus) TK_ARITHMETIC(*, times)
#undef TK_ARITHMETIC

/// A column, as the statistics of rows are, is divided with one rounding; what has more elements by `quotient`.
template <class A, class B>
    requires tile_operands<A, B>
TK_DEVICE auto operator/(const A& a, const B& b) {
    using result = broadcast_tile<float, A, B>;
    if constexpr (result::cols > 1 && std::is_same_v<B, float>) {
        return a * inverse(b);  // the compiler does not see that it is the same for all elements
    } else {
        return map([](auto x, auto y) {
            static_assert(std::is_same_v<decltype(x), float>, "integers are divided by floor_div");
            if constexpr (result::cols == 1) return x / y;
            else return quotient(x, y);
        }, a, b);
    }
}

// `and`, `or` of masks, and the bit operations of integers.
#define TK_BITWISE(OP)                                                                                                 \
    template <class A, class B>                                                                                        \
        requires tile_operands<A, B>                                                                                   \
    TK_DEVICE auto operator OP(const A& a, const B& b) {                                                               \
        return map([](auto x, auto y) { return static_cast<decltype(x)>(x OP y); }, a, b);                             \
    }
TK_BITWISE(&) TK_BITWISE(|) TK_BITWISE(^)
#undef TK_BITWISE

// The tile on the left keeps its shape and type.
#define TK_COMPOUND(OP)                                                                                                \
    template <tile A, class B>                                                                                         \
        requires tile_operands<A, B>                                                                                   \
    TK_DEVICE A& operator OP##=(A& a, const B& b) {                                                                    \
        static_assert(detail::fits<A, B>, "the right side must broadcast to the left");                                \
        return a = a OP b;                                                                                             \
    }
TK_COMPOUND(+) TK_COMPOUND(-) TK_COMPOUND(*) TK_COMPOUND(/)
#undef TK_COMPOUND

template <tile X>
TK_DEVICE auto operator-(const X& x) {
    return map([](auto a) {
        if constexpr (std::is_integral_v<decltype(a)>) return negated(a);
        else return -a;
    }, x);
}
/// `not` of a mask.
template <tile X>
TK_DEVICE auto operator!(const X& x) { return map([](auto a) { return !a; }, x); }

/// a where mask holds, else b: a select, so that what is not chosen may be NaN.
template <class M, class A, class B>
    requires(tile_operands<M, A, B> && (tile<A> || tile<B> || detail::is_scalar<A>))
TK_DEVICE auto where(const M& mask, const A& a, const B& b) {
    if constexpr (tile<A> && !tile<B>) return map([](bool m, auto x, auto y) { return m ? x : static_cast<decltype(x)>(y); }, mask, a, b);
    else if constexpr (tile<B> && !tile<A>) return map([](bool m, auto x, auto y) { return m ? static_cast<decltype(y)>(x) : y; }, mask, a, b);
    else return map([](bool m, auto x, auto y) { return m ? x : y; }, mask, a, b);
}

}  // namespace tk
