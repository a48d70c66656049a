// SPDX-License-Identifier: MIT
// Blocks whose rows begin anywhere, in registers and in shared memory and back: every element against the tensor, edges on all sides,
// rows of different alignment. Only the tensor's elements exist on the simulator, for exact blocks only the block's, so that any access
// beside them is found.
#include <cstring>

#include "test/sim/run_kernel.h"

namespace tk::sim_test {
namespace {

/// Element (r, c) of the tensor is a number of its own, as far as T has so many.
template <class T>
T element(int r, int c) {
    return T(float((r * 37 + c * 5) % 61 + 1));
}

/// rows x cols elements that begin `offset` elements behind a multiple of 256 bytes, with a row every `pitch` elements. What lies
/// between and around them does not exist.
template <class T>
struct matrix {
    static constexpr int guard = 64;
    sim::region* memory;
    tensor<T, 2> elements;

    matrix(int rows, int cols, int pitch, int offset, bool filled) {
        const size_t n = size_t(guard + offset + rows * pitch + guard);
        memory = &sim::add_region("tensor", n * sizeof(T), 256, int(sizeof(T)), filled);
        std::memset(memory->data, 0x5a, memory->bytes);
        memory->exists.assign(memory->bytes, false);
        elements = {reinterpret_cast<T*>(memory->data) + guard + offset, {rows, cols}, {pitch, 1}};
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < cols; ++c) {
                T* const at = elements.data + r * pitch + c;
                for (size_t b = 0; b < sizeof(T); ++b) memory->exists[size_t(reinterpret_cast<unsigned char*>(at) - memory->data) + b] = true;
                if (filled) *at = element<T>(r, c);
            }
    }
    bool has(int r, int c) const { return r >= 0 && r < elements.extent[0] && c >= 0 && c < elements.extent[1]; }
    /// Nothing but R x C elements from (row, col) on exists any more.
    void keep(int R, int C, int row, int col) {
        for (int r = 0; r < elements.extent[0]; ++r)
            for (int c = 0; c < elements.extent[1]; ++c) {
                const T* const at = elements.data + r * elements.stride[0] + c;
                const bool kept = r >= row && r < row + R && c >= col && c < col + C;
                for (size_t b = 0; b < sizeof(T) && !kept; ++b) memory->exists[size_t(reinterpret_cast<const unsigned char*>(at) - memory->data) + b] = false;
            }
    }
};

/// Whether others may write what lies beside a block.
template <bool Exact, class T>
TK_DEVICE auto with_neighbours(const global_block<T>& block) {
    if constexpr (Exact) return exact(block);
    else return block;
}

template <class T>
T element_or_fill(const matrix<T>& m, int r, int c) {
    return m.has(r, c) ? element<T>(r, c) : T(7.0f);
}

constexpr int kThreads = 4 * arch::lanes;

template <bool Exact, class T, int R, int C, class L>
TK_KERNEL(kThreads)
load_tile(tensor<const T, 2> from, T* registers, int row, int col) {
    grid::wait_previous();
    const auto tile = warpgroup::load<R, C, L>(with_neighbours<Exact>(from.block(span(row), span(col))), 7.0f);
    for (int n = 0; n < tile.size; ++n) arch::store_global(registers + thread::index() * tile.size + n, tile.data[n]);
}

template <class T, int R, int C, class L>
TK_KERNEL(kThreads)
store_tile(tensor<T, 2> to, int row, int col) {
    grid::wait_previous();
    using tile = register_tile<T, R, C, L>;
    tile x;
    const lane_position at = warpgroup::position();
    for (int n = 0; n < tile::size; ++n) {
        const place p = tile::place_of(n);
        x.data[n] = element<T>(row + (R == 1 ? 0 : L::row(at, p.i, p.h)), col + L::col(at, p.j, p.e));
    }
    warpgroup::store(to.block(span(row), span(col)), x);
}

/// The elements of R x C from (row, col) on, and no others, hold their number; the rest is as it was.
template <class T>
void expect_stored(const matrix<T>& m, int R, int C, int row, int col) {
    int wrong = 0;
    const int pitch = int(m.elements.stride[0]);
    const T* const first = reinterpret_cast<const T*>(m.memory->data);
    const int n = int(m.memory->bytes / sizeof(T)), start = int(m.elements.data - first);
    for (int i = 0; i < n; ++i) {
        const int r = i < start ? -1 : (i - start) / pitch, c = i < start ? -1 : (i - start) % pitch;
        T expected;
        std::memset(&expected, 0x5a, sizeof(T));
        if (m.has(r, c) && r >= row && r < row + R && c >= col && c < col + C) expected = element<T>(r, c);
        wrong += std::memcmp(&expected, first + i, sizeof(T)) != 0;
    }
    EXPECT_EQ(wrong, 0);
}

/// f(rows, cols, pitch, offset, row, col) for tensors and blocks of R x C in them: inside, over each edge and beside.
template <class F>
void each_case(int R, int C, F f) {
    for (int offset = 0; offset < 8; ++offset)
        for (const int pitch : {3 * C + 1, 3 * C + 3, 3 * C + 8}) f(R + 1, 3 * C, pitch, offset, 0, C);
    for (const int offset : {0, 3})
        for (const int cols : {1, 7, C - 1, C, C + 5, 2 * C - 9})
            for (const int col : {0, C, -3, 5})
                for (const int pitch : {cols, cols + (cols + 1) % 2}) f(R, cols, pitch, offset, R > 1 ? 1 : 0, col);
}

std::string describe(int rows, int cols, int pitch, int offset, int row, int col) {
    return std::to_string(rows) + " x " + std::to_string(cols) + ", pitch " + std::to_string(pitch) + ", offset " + std::to_string(offset) +
           ", block at (" + std::to_string(row) + ", " + std::to_string(col) + ")";
}

template <bool Exact, class T, int R, int C, class L>
void check_load() {
    using tile = register_tile<T, R, C, L>;
    each_case(R, C, [&](int rows, int cols, int pitch, int offset, int row, int col) {
        SCOPED_TRACE(describe(rows, cols, pitch, offset, row, col));
        fresh_machine(1);
        matrix<T> from(rows, cols, pitch, offset, true);
        if (Exact) from.keep(R, C, row, col);
        T* const registers = tensor_memory<T>("registers", size_t(kThreads * tile::size), false);
        const tensor<const T, 2> elements{from.elements.data, {rows, cols}, {pitch, 1}};
        const outcome loaded = run<load_tile<Exact, T, R, C, L>>(1, kThreads, 0, elements, registers, row, col);
        EXPECT_TRUE(loaded.findings.empty()) << loaded.text();
        int wrong = 0;
        for (int t = 0; t < kThreads; ++t)
            for (int n = 0; n < tile::size; ++n) {
                const place p = tile::place_of(n);
                const lane_position at{t / arch::lanes, t % arch::lanes};
                const T expected = element_or_fill(from, row + (R == 1 ? 0 : L::row(at, p.i, p.h)), col + L::col(at, p.j, p.e));
                wrong += std::memcmp(&expected, registers + t * tile::size + n, sizeof(T)) != 0;
            }
        EXPECT_EQ(wrong, 0);
    });
}

template <class T, int R, int C, class L>
void check() {
    check_load<false, T, R, C, L>();
    check_load<true, T, R, C, L>();
    each_case(R, C, [&](int rows, int cols, int pitch, int offset, int row, int col) {
        SCOPED_TRACE(describe(rows, cols, pitch, offset, row, col));
        fresh_machine(1);
        const matrix<T> to(rows, cols, pitch, offset, false);
        const outcome stored = run<store_tile<T, R, C, L>>(1, kThreads, 0, to.elements, row, col);
        EXPECT_TRUE(stored.findings.empty()) << stored.text();
        expect_stored(to, R, C, row, col);
    });
}

/// What was loaded, and the same converted, at once and from a copy.
template <class T, int C, class L>
TK_KERNEL(kThreads)
load_vector(tensor<const T, 1> from, T* loaded, float* converted, int col) {
    grid::wait_previous();
    const auto row = warpgroup::load<1, C, L>(transposed(from.block(span(col))), 7.0f);
    const register_tile<T, 1, C, L> copy = row;
    const auto wide = convert<float>(row), again = convert_anew<float>(copy);
    for (int n = 0; n < row.size; ++n) {
        arch::store_global(loaded + thread::index() * row.size + n, row.data[n]);
        arch::store_global(converted + thread::index() * row.size + n, wide.data[n] == again.data[n] ? wide.data[n] : -1.0f);
    }
}

/// Rows that are parts of a vector.
template <class T, int C, class L>
void check_vector() {
    using tile = register_tile<T, 1, C, L>;
    each_case(1, C, [&](int, int cols, int pitch, int offset, int, int col) {
        SCOPED_TRACE(describe(1, cols, pitch, offset, 0, col));
        fresh_machine(1);
        const matrix<T> from(1, cols, pitch, offset, true);
        T* const loaded = tensor_memory<T>("loaded", size_t(kThreads * tile::size), false);
        float* const converted = tensor_memory<float>("converted", size_t(kThreads * tile::size), false);
        const tensor<const T, 1> elements{from.elements.data, {cols}, {1}};
        const outcome result = run<load_vector<T, C, L>>(1, kThreads, 0, elements, loaded, converted, col);
        EXPECT_TRUE(result.findings.empty()) << result.text();
        int wrong = 0;
        for (int t = 0; t < kThreads; ++t)
            for (int n = 0; n < tile::size; ++n) {
                const place p = tile::place_of(n);
                const T expected = element_or_fill(from, 0, col + L::col({t / arch::lanes, t % arch::lanes}, p.j, p.e));
                wrong += std::memcmp(&expected, loaded + t * tile::size + n, sizeof(T)) != 0;
                wrong += converted[t * tile::size + n] != float(expected);
            }
        EXPECT_EQ(wrong, 0);
    });
}

constexpr int kHalf = arch::lanes / 2;

TEST(UnalignedRows, OneWarpARow) { check<bf16, 8, 2 * arch::lanes * 8, layout<arch::lanes, 8, 1, 1, 4>>(); }
TEST(UnalignedRows, FourWarpsARow) { check<bf16, 1, 8 * arch::lanes * 8, layout<arch::lanes, 8, 1, 1, 1, 4>>(); }
TEST(UnalignedRows, HalfAWarpARow) { check<bf16, 16, kHalf * 8, layout<kHalf, 8, 2, 2, 4>>(); }
TEST(UnalignedRows, CopiesOfARow) { check<bf16, 1, kHalf * 8, layout<kHalf, 8, 1, 2, 4>>(); }
TEST(UnalignedRows, ManyRowsOfAThread) { check<bf16, 32, kHalf * 8, layout<kHalf, 8, 1, 2, 2, 1>>(); }
TEST(UnalignedRows, TwoRunsOfALane) { check<float, 4, 2 * arch::lanes * 8, layout<arch::lanes, 8, 1, 1, 4>>(); }
TEST(UnalignedRows, Floats) { check<float, 4, 2 * arch::lanes * 4, layout<arch::lanes, 4, 1, 1, 4>>(); }
TEST(UnalignedRows, Bytes) { check<e4m3, 4, 2 * arch::lanes * 8, layout<arch::lanes, 8, 1, 1, 4>>(); }
TEST(UnalignedRows, SixteenBytes) { check<e4m3, 2, arch::lanes * 16, layout<arch::lanes, 16, 1, 1, 2>>(); }
TEST(UnalignedRows, FourBytes) { check<e4m3, 4, arch::lanes * 4, layout<arch::lanes, 4, 1, 1, 4>>(); }
TEST(UnalignedRows, PartsOfAVector) { check_vector<bf16, 8 * arch::lanes * 8, layout<arch::lanes, 8, 1, 1, 1, 4>>(); }
TEST(UnalignedRows, PartsOfAVectorForRows) { check_vector<f16, 2 * arch::lanes * 8, layout<arch::lanes, 8, 1, 1, 4>>(); }
TEST(UnalignedRows, TwoRunsOfAVector) { check_vector<bf16, kHalf * 16, layout<kHalf, 16, 1, 2, 4>>(); }
TEST(UnalignedRows, ColumnsFirst) { check<bf16, 4 * arch::lanes / 4, 32, layout<4, 8, 1, arch::lanes / 4, 4, 1, true>>(); }
TEST(UnalignedRows, Fragments) { check<bf16, 64, 32, layout<4, 2, 2, 8, 4>>(); }

enum class copier { guarded, guarded_exact, issued, issued_exact };

template <copier By, class T, int R, int C, swizzle S>
TK_KERNEL(kThreads)
copy_tile(tensor<const T, 2> from, T* elements, int row, int col) {
    constexpr bool is_exact = By == copier::guarded_exact || By == copier::issued_exact;
    auto& tile = block::shared<shared_tile<T, R, C, S>>();
    grid::wait_previous();
    const auto block = with_neighbours<is_exact>(from.block(span(row), span(col)));
    if constexpr (By == copier::guarded || By == copier::guarded_exact) {
        warpgroup::copy_global_to_shared(tile, block, 7.0f);
    } else {
        block::copy_async<kThreads>(tile, block);
        commit_copies();
        wait_copies<0>();
    }
    block::sync();
    for (int n = thread::index(); n < R * C; n += kThreads)
        arch::store_global(elements + n, detail::load_shared_vector<T, 1>(tile.view().address(n / C, n % C)).value[0]);
}

template <copier By, class T, int R, int C, swizzle S>
void check_copy_by() {
    each_case(R, C, [&](int rows, int cols, int pitch, int offset, int row, int col) {
        SCOPED_TRACE(describe(rows, cols, pitch, offset, row, col));
        fresh_machine(1);
        matrix<T> from(rows, cols, pitch, offset, true);
        if (By == copier::guarded_exact || By == copier::issued_exact) from.keep(R, C, row, col);
        T* const copied = tensor_memory<T>("copied", size_t(R * C), false);
        const tensor<const T, 2> elements{from.elements.data, {rows, cols}, {pitch, 1}};
        const outcome o = run<copy_tile<By, T, R, C, S>>(1, kThreads, int(sizeof(shared_tile<T, R, C, S>)), elements, copied, row, col);
        EXPECT_TRUE(o.findings.empty()) << o.text();
        int wrong = 0;
        for (int n = 0; n < R * C; ++n) {
            const bool is_zero = (By == copier::issued || By == copier::issued_exact) && !from.has(row + n / C, col + n % C);
            const T expected = is_zero ? T(0.0f) : element_or_fill(from, row + n / C, col + n % C);
            wrong += std::memcmp(&expected, copied + n, sizeof(T)) != 0;
        }
        EXPECT_EQ(wrong, 0);
    });
}

template <class T, int R, int C, swizzle S>
void check_copy() {
    check_copy_by<copier::guarded, T, R, C, S>();
    check_copy_by<copier::guarded_exact, T, R, C, S>();
    check_copy_by<copier::issued, T, R, C, S>();
    check_copy_by<copier::issued_exact, T, R, C, S>();
}

TEST(UnalignedRows, CopiedToSwizzledTile) { check_copy<bf16, 24, 64, swizzle::b128>(); }
TEST(UnalignedRows, CopiedToPlainTile) { check_copy<bf16, 5, 24, swizzle::none>(); }
TEST(UnalignedRows, CopiedInNarrowPieces) { check_copy<bf16, 16, 20, swizzle::none>(); }
TEST(UnalignedRows, CopiedBytes) { check_copy<e4m3, 16, 64, swizzle::b64>(); }
TEST(UnalignedRows, CopiedFloats) { check_copy<float, 8, 32, swizzle::b128>(); }

/// Rows of bytes that are padded to 16 each, of a tensor of three dimensions.
TEST(UnalignedRows, Repacked) {
    for (int offset = 0; offset < 17; ++offset)
        for (const int cols : {1, 15, 16, 33, 5000}) {
            SCOPED_TRACE("offset " + std::to_string(offset) + ", " + std::to_string(cols) + " bytes a row");
            fresh_machine(1);
            const int planes = 2, rows = 3, pitch = cdiv(cols, 16) * 16, row_stride = cols + offset % 3;
            sim::region& from = sim::add_region("from", size_t(offset + planes * rows * row_stride), 256, 1, true);
            for (size_t i = 0; i < from.bytes; ++i) from.data[i] = uint8_t(i * 7 + 1);
            from.exists.assign(from.bytes, false);
            uint8_t* const to = tensor_memory<uint8_t>("to", size_t(planes * rows * pitch), false);
            for (int r = 0; r < planes * rows; ++r)
                for (int c = 0; c < cols; ++c) from.exists[size_t(offset + r * row_stride + c)] = true;
            const host::repack_arguments<uint8_t> arguments{from.data + offset, to, 3, {planes, rows, cols}, {rows * row_stride, row_stride, 1}, planes * rows, pitch};
            const outcome packed = run<host::repack_rows<uint8_t>>(2, host::repack_threads, 0, arguments);
            EXPECT_TRUE(packed.findings.empty()) << packed.text();
            int wrong = 0;
            for (int r = 0; r < planes * rows; ++r)
                for (int c = 0; c < pitch; ++c) wrong += to[r * pitch + c] != (c < cols ? from.data[offset + r * row_stride + c] : 0);
            EXPECT_EQ(wrong, 0);
        }
}

}  // namespace
}  // namespace tk::sim_test
