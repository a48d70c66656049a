// SPDX-License-Identifier: MIT
// The tensor copy engine: an instruction becomes one operation, whose rows (tensor_box.h) are known at once and whose
// data move when the engine says so. A load fills its box whole, zeros outside the tensor; a store takes what exists.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/sim/agent.h"
#include "runtime/sim/swizzle.h"
#include "runtime/sim/tensor_box.h"
#include "runtime/sim/tensor_map.h"
#include "tk/sim/sm90/tma.h"

namespace tk::sim {

namespace {

constexpr int kLoadCycles = 650;   // nominal, from issue to the barrier
constexpr int kSkipCycles = 1;
constexpr int kStoreCycles = 700;  // from issue to global memory

/// The map, if it is one for boxes of this rank; else a finding.
bool read_map(const tensor_map* map, int rank, tensor_map_fields& fields) {
    if (reinterpret_cast<uintptr_t>(map) % 64 != 0)
        report("misaligned", "a tensor map does not lie at a multiple of 64 bytes");
    if (!decode(map->opaque, fields)) {
        report("out-of-bounds", "a copy through a tensor map that was never made: its 128 bytes describe nothing");
        return false;
    }
    if (fields.rank == rank) return true;
    report("out-of-bounds",
           "a copy with " + std::to_string(rank) + " coordinates through a map of rank " + std::to_string(fields.rank));
    return false;
}

void check_alignment(uint32_t address) {
    if (address % 128 != 0)
        report("misaligned", "a tensor copy at shared-memory address " + std::to_string(address & 0xffffff) +
                                 ", which is not a multiple of 128");
}

/// What the engine of an H200 refuses as an illegal instruction: an innermost coordinate off 16 bytes, and a store
/// that begins before the tensor in any dimension. Coordinates behind the tensor's end are fine for all.
void check_coordinates(const char* what, const tensor_map_fields& map, const int* at, bool for_store) {
    const std::string copy = std::string("a ") + what;
    if (const int64_t bytes = int64_t(at[0]) * map.element_bytes; bytes % 16 != 0)
        report("misaligned", copy + " at innermost coordinate " + std::to_string(at[0]) + ", which is " +
                                 std::to_string(bytes) + " bytes: not a multiple of 16, an illegal instruction");
    for (int d = 0; for_store && d < map.rank; ++d)
        if (at[d] < 0)
            report("out-of-bounds", copy + " at the negative coordinate " + std::to_string(at[d]) + " in dimension " +
                                        std::to_string(d) + ", counted from the innermost: an illegal instruction");
}

/// A row of the box in flight: its bytes in global memory (null: nothing exists) and where they lie in shared memory.
struct moving_row {
    unsigned char* global;
    uint32_t shared;        // with the number of the block, before swizzling
    uint32_t begin, bytes;  // what exists: byte offset in the row, and length
};

/// f(offset in the row, address, bytes) for the pieces of a row's bytes [begin, end) that lie together in shared
/// memory.
template <class F>
void for_each_piece(const tensor_map_fields& map, uint32_t row, uint32_t begin, uint32_t end, F f) {
    if (map.swizzle == 0) return begin < end ? f(begin, row + begin, end - begin) : void();
    while (begin < end) {
        const uint32_t stop = std::min(end, (row + begin) / 16 * 16 + 16 - row);
        f(begin, swizzle_address(row + begin, map.swizzle), stop - begin);
        begin = stop;
    }
}

/// What is touched in shared memory: whole swizzle lines at once, else pieces.
template <class F>
void for_each_touched(const tensor_map_fields& map, uint32_t row, uint32_t begin, uint32_t end, F f) {
    const uint32_t width = uint32_t(map.swizzle);
    if (width != 0 && begin == 0 && end == width && row % width == 0) return f(row, width);
    for_each_piece(map, row, begin, end, [&](uint32_t, uint32_t address, uint32_t bytes) { f(address, bytes); });
}

/// f(rank) for each block of the cluster that a multicast goes to.
template <class F>
void for_each_block(uint32_t blocks, F f) {
    if (blocks == 0 || blocks >> self().cluster != 0)
        report("out-of-bounds", "a multicast to the blocks of mask " + std::to_string(blocks) + " in a cluster of " +
                                    std::to_string(self().cluster));
    for (int rank = 0; rank < self().cluster; ++rank)
        if (blocks >> rank & 1) f(uint32_t(rank));
}

void load_into(uint32_t to, const tensor_map_fields& map, const int* at, uint32_t barrier) {
    operation* copy = begin_copy("tensor load", barrier);
    const uint32_t first = absolute(to), width = map.box[0] * uint32_t(map.element_bytes);
    auto rows = std::make_shared<std::vector<moving_row>>();
    for (uint32_t n = 0; n < box_rows(map); ++n) {
        const box_row row = row_of_box(map, at, n, false);
        const uint32_t begin = row.begin * uint32_t(map.element_bytes),
                       bytes = (row.end - row.begin) * uint32_t(map.element_bytes);
        moving_row moving{nullptr, first + row.shared, begin, bytes};
        if (bytes > 0) {
            const auto* from = reinterpret_cast<const void*>(map.base + uint64_t(row.global) + begin);
            read_global(copy, from, bytes);
            moving.global = place_global(from, bytes);
        }
        for_each_touched(map, moving.shared, 0, width,
                         [&](uint32_t address, uint32_t piece) { write_shared(copy, address, int(piece)); });
        rows->push_back(moving);
    }
    finish(copy, {.cycles = kLoadCycles, .bytes = int(box_bytes(map))}, [rows, map, width] {
        for (const moving_row& row : *rows) {
            unsigned char line[256 * 8] = {};
            if (row.global) std::memcpy(line + row.begin, row.global, row.bytes);
            for_each_piece(map, row.shared, 0, width, [&](uint32_t offset, uint32_t address, uint32_t bytes) {
                if (unsigned char* place = place_shared(address, int(bytes))) std::memcpy(place, line + offset, bytes);
            });
        }
    });
}

}  // namespace

void prefetch_map(const tensor_map* map) {
    tensor_map_fields fields;
    if (!decode(map->opaque, fields)) report("out-of-bounds", "a prefetch of a tensor map that was never made");
}

void tensor_load(uint32_t to, const tensor_map* map, const int* at, int rank, uint32_t barrier) {
    tensor_map_fields fields;
    if (!read_map(map, rank, fields)) return;
    check_alignment(to);
    check_coordinates("tensor load", fields, at, false);
    load_into(to, fields, at, barrier);
}

void tensor_skip(uint32_t to, uint32_t bytes, uint32_t barrier) {
    operation* copy = begin_copy("tensor load left out", barrier);
    write_shared(copy, to, int(bytes));
    const uint32_t first = absolute(to);
    finish(copy, {.cycles = kSkipCycles, .bytes = int(bytes)}, [first, bytes] {
        if (unsigned char* place = place_shared(first, int(bytes))) std::memset(place, 0xff, bytes);
    });
}

void tensor_load_multicast(uint32_t to, const tensor_map* map, const int* at, int rank, uint32_t barrier,
                           uint32_t blocks) {
    tensor_map_fields fields;
    if (!read_map(map, rank, fields)) return;
    check_alignment(to);
    check_coordinates("multicast tensor load", fields, at, false);
    for_each_block(blocks, [&](uint32_t block) { load_into(map_to_block(to, block), fields, at, map_to_block(barrier, block)); });
}

void tensor_skip_multicast(uint32_t to, uint32_t bytes, uint32_t barrier, uint32_t blocks) {
    for_each_block(blocks, [&](uint32_t block) { tensor_skip(map_to_block(to, block), bytes, map_to_block(barrier, block)); });
}

void tensor_store(const tensor_map* pointer, const int* at, int rank, uint32_t from) {
    tensor_map_fields map;
    if (!read_map(pointer, rank, map)) return;
    check_alignment(from);
    check_coordinates("tensor store", map, at, true);
    operation* store = begin_store("tensor store");
    const uint32_t first = absolute(from);
    struct payload {
        std::vector<moving_row> rows;
        std::vector<unsigned char> data;
    };
    auto moving = std::make_shared<payload>();
    size_t total = 0;
    for (uint32_t n = 0; n < box_rows(map); ++n) {
        const box_row row = row_of_box(map, at, n, true);
        const uint32_t begin = row.begin * uint32_t(map.element_bytes),
                       bytes = (row.end - row.begin) * uint32_t(map.element_bytes);
        if (bytes == 0) continue;
        auto* to = reinterpret_cast<void*>(map.base + uint64_t(row.global) + begin);
        for_each_touched(map, first + row.shared, begin, begin + bytes,
                         [&](uint32_t address, uint32_t piece) { read_shared(store, address, int(piece)); });
        write_global(store, to, bytes);
        moving->rows.push_back({place_global(to, bytes), first + row.shared, begin, bytes});
        total += bytes;
    }
    moving->data.resize(total);
    finish_store(
        store, {.cycles = kStoreCycles, .bytes = int(box_bytes(map))},
        [moving, map] {
            unsigned char* next = moving->data.data();
            for (const moving_row& row : moving->rows) {
                for_each_piece(map, row.shared, row.begin, row.begin + row.bytes,
                               [&](uint32_t offset, uint32_t address, uint32_t bytes) {
                                   if (const unsigned char* place = place_shared(address, int(bytes)))
                                       std::memcpy(next + offset - row.begin, place, bytes);
                               });
                next += row.bytes;
            }
        },
        [moving] {
            const unsigned char* next = moving->data.data();
            for (const moving_row& row : moving->rows) {
                if (row.global) std::memcpy(row.global, next, row.bytes);
                next += row.bytes;
            }
        });
}

const char* encode_tensor_map(tensor_map& map, void* data, int dtype, int rank, const uint64_t* extent,
                              const uint64_t* stride, const uint32_t* box, int swizzle) {
    tensor_map_fields fields;
    fields.base = reinterpret_cast<uintptr_t>(data);
    fields.dtype = dtype;
    fields.rank = rank;
    fields.swizzle = swizzle;
    for (int d = 0; d < rank && d < 5; ++d) {
        fields.extent[d] = extent[d];
        fields.box[d] = box[d];
        fields.stride[d] = d > 0 ? stride[d - 1] : uint64_t(element_bytes(dtype));
    }
    return encode(map.opaque, fields);
}

}  // namespace tk::sim
