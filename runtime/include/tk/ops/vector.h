// SPDX-License-Identifier: MIT
// Up to 16 bytes moved by one load or store.
#pragma once

#include "tk/arch.h"
#include "tk/types/dtype.h"

namespace tk::detail {

/// N values of T in one machine word (2 to 16 bytes).
template <class T, int N>
struct alignas(N * sizeof(T)) vector {
    T value[N];
};

template <int Bytes>
struct word;
template <> struct word<1> { using type = uint8_t; };
template <> struct word<2> { using type = uint16_t; };
template <> struct word<4> { using type = uint32_t; };
template <> struct word<8> { struct alignas(8) type { uint32_t x, y; }; };
template <> struct word<16> { struct alignas(16) type { uint32_t x, y, z, w; }; };

/// Values that move together where a thread holds `Vec` neighbours: as many as fit 16 bytes.
template <class T, int Vec>
inline constexpr int vector_length = Vec * int(sizeof(T)) <= 16 ? Vec : 16 / int(sizeof(T));

/// N values as one machine word, not taken apart.
template <class T, int N>
TK_DEVICE auto load_word(const void* from) {
    return arch::load_global(static_cast<const typename word<N * int(sizeof(T))>::type*>(from));
}

template <class T, int N>
TK_DEVICE auto filled_word(T value) {
    vector<T, N> v;
    TK_UNROLL
    for (int n = 0; n < N; ++n) v.value[n] = value;
    return __builtin_bit_cast(typename word<N * int(sizeof(T))>::type, v);
}

template <class T, int N>
TK_DEVICE vector<T, N> load_vector(const void* from) {
    using W = typename word<N * int(sizeof(T))>::type;
    return __builtin_bit_cast(vector<T, N>, arch::load_global(static_cast<const W*>(from)));
}

template <class T, int N>
TK_DEVICE void store_vector(void* to, const vector<T, N>& v) {
    using W = typename word<N * int(sizeof(T))>::type;
    arch::store_global(static_cast<W*>(to), __builtin_bit_cast(W, v));
}

template <class T, int N>
TK_DEVICE vector<T, N> load_shared_vector(uint32_t from) {
    using W = typename word<N * int(sizeof(T))>::type;
    return __builtin_bit_cast(vector<T, N>, arch::load_shared<W>(from));
}

template <class T, int N>
TK_DEVICE void store_shared_vector(uint32_t to, const vector<T, N>& v) {
    using W = typename word<N * int(sizeof(T))>::type;
    arch::store_shared(to, __builtin_bit_cast(W, v));
}

/// Value n of the N that a word holds. By shifts: a vector of 16-bit values would be taken apart by instructions of its own.
template <class T, int N>
TK_HOST_DEVICE T element_of(const typename word<N * int(sizeof(T))>::type& bits, int n) {
    constexpr int width = 8 * int(sizeof(T)), size = N * int(sizeof(T));
    if constexpr (N == 1 || width > 32) {
        return __builtin_bit_cast(vector<T, N>, bits).value[n];
    } else {
        using whole = typename word<int(sizeof(T))>::type;
        if constexpr (size <= 4) return __builtin_bit_cast(T, whole(bits >> width * n));
        else return __builtin_bit_cast(T, whole(__builtin_bit_cast(vector<uint32_t, size / 4>, bits).value[width * n / 32] >> width * n % 32));
    }
}

/// The word that N neighbours make up. Bytes four or two at a time: what a conversion left side by side stays so.
template <class T, int N>
TK_DEVICE auto word_of(const T* values) {
    using Word = typename word<N * int(sizeof(T))>::type;
    if constexpr (sizeof(T) == 1 && N % 2 == 0) {
        using part = std::conditional_t<N % 4 == 0, uint32_t, uint16_t>;
        vector<part, N / int(sizeof(part))> parts;
        TK_UNROLL
        for (int n = 0; n < N; n += int(sizeof(part))) __builtin_memcpy(&parts.value[n / int(sizeof(part))], values + n, sizeof(part));
        return __builtin_bit_cast(Word, parts);
    } else {
        vector<T, N> v;
        TK_UNROLL
        for (int n = 0; n < N; ++n) v.value[n] = values[n];
        return __builtin_bit_cast(Word, v);
    }
}

}  // namespace tk::detail
