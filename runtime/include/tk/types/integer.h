// SPDX-License-Identifier: MIT
// Integer helpers with the meaning .tk gives them: division floors, cdiv rounds up.
#pragma once

#include <type_traits>

#include "tk/platform.h"

namespace tk {

/// Element offsets and strides. 32 bits do where a tile or a coordinate is meant.
using index = int64_t;

/// -a as two's complement has it: of the smallest number it is that number again.
template <class T>
TK_HOST_DEVICE constexpr T negated(T a) { return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a)); }

namespace detail {
/// The type in which an element is added and multiplied: unsigned for signed integers, whose overflow compilers take for impossible.
template <class T>
struct modular {
    using type = T;
};
template <class T>
    requires(std::is_integral_v<T> && std::is_signed_v<T>)
struct modular<T> {
    using type = std::make_unsigned_t<T>;
};
}  // namespace detail

// Numbers of one type. Integers are those of two's complement, modulo 2^n.
template <class T>
TK_HOST_DEVICE constexpr T plus(T a, T b) { return static_cast<T>(typename detail::modular<T>::type(a) + typename detail::modular<T>::type(b)); }
template <class T>
TK_HOST_DEVICE constexpr T minus(T a, T b) { return static_cast<T>(typename detail::modular<T>::type(a) - typename detail::modular<T>::type(b)); }
template <class T>
TK_HOST_DEVICE constexpr T times(T a, T b) { return static_cast<T>(typename detail::modular<T>::type(a) * typename detail::modular<T>::type(b)); }

/// ceil(a / b), any signs; 0 for b = 0. Machines trap on that, or on the smallest number by -1.
template <class T>
TK_HOST_DEVICE constexpr T cdiv(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_unsigned_v<T>) return a / b + (a % b != 0);
    else return b == -1 ? negated(a) : a / b + (a % b != 0 && (a % b < 0) == (b < 0));
}

/// floor(a / b), any signs; 0 for b = 0.
template <class T>
    requires(std::is_arithmetic_v<T>)
TK_HOST_DEVICE constexpr T floor_div(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_unsigned_v<T>) return a / b;
    else return b == -1 ? negated(a) : a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

/// a - b * floor_div(a, b): in 0 .. b-1 for b > 0, a for b = 0.
template <class T>
    requires(std::is_arithmetic_v<T>)
TK_HOST_DEVICE constexpr T floor_mod(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_unsigned_v<T>) return a % b;
    else return b == -1 ? 0 : a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);
}

template <class T>
    requires(std::is_arithmetic_v<T>)
TK_HOST_DEVICE constexpr T min(T a, T b) { return b < a ? b : a; }

template <class T>
    requires(std::is_arithmetic_v<T>)
TK_HOST_DEVICE constexpr T max(T a, T b) { return a < b ? b : a; }

/// The least and the largest of several.
template <class T, class... More>
    requires(std::is_arithmetic_v<T> && sizeof...(More) > 0)
TK_HOST_DEVICE constexpr T min(T a, T b, More... more) { return min<T>(min<T>(a, b), more...); }
template <class T, class... More>
    requires(std::is_arithmetic_v<T> && sizeof...(More) > 0)
TK_HOST_DEVICE constexpr T max(T a, T b, More... more) { return max<T>(max<T>(a, b), more...); }

}  // namespace tk
