// SPDX-License-Identifier: MIT
// What generated launchers use beyond `call`: maps that pack their tensor where they must, presets, scratch tensors, and the grid.
#pragma once

#include <initializer_list>

#include "tk/host/call.h"
#include "tk/host/preset.h"

namespace tk::host::inline TK_MACHINE {

/// a * b, a + b and a - b, or the nearest numbers to them that 64 bits hold: what is too much does not look like little.
inline index product(index a, index b) {
    index result = 0;
    if (!__builtin_mul_overflow(a, b, &result)) return result;
    return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}
inline index sum(index a, index b) {
    index result = 0;
    if (!__builtin_add_overflow(a, b, &result)) return result;
    return a < 0 ? INT64_MIN : INT64_MAX;
}
inline index difference(index a, index b) {
    index result = 0;
    if (!__builtin_sub_overflow(a, b, &result)) return result;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

/// Schedules that do the same at different costs.
class offers {
public:
    void add(int schedule, index cost) {
        if (any() && cost >= least_) return;
        cheapest_ = schedule;
        least_ = cost;
    }
    bool any() const { return cheapest_ >= 0; }
    /// The first of those of the least cost.
    int cheapest() const { return cheapest_; }

private:
    int cheapest_ = -1;
    index least_ = 0;
};

class launcher : public call {
public:
    using call::call;

    /// The map through which `box` elements of t (one number for each dimension) are read at a time. If the copy engine can't
    /// read t as it is, the map is that of a packed copy in the workspace, made once for all maps of t while it holds the same.
    tensor_map load_map(const tk_tensor* t, swizzle s, std::initializer_list<int> box) {
        if (failed()) return {};
        if (is_empty(*t) || copy_engine_serves(*t)) return box_map(*t, s, box.begin());
        return box_map(copy_of(t, packing_bytes(*t), "read by the copy engine"), s, box.begin());
    }

    /// Bytes of the copy that `pieces` makes of t. Asked before anything is launched: of rows that are too long buffer loads do not reach a
    /// block of `box` elements, however they lie.
    size_t pieces_bytes(const char* name, const tk_tensor* t, std::initializer_list<int> box) {
        const size_t bytes = host::pieces_bytes(*t, box);
        if (failed() || bytes == 0 || is_within_reach(packed_like(*t, nullptr), box)) return bytes;
        fail(TK_SHAPE, "%s: `%s` has rows of %lld elements, of which buffer loads do not reach as many as a block has", entry_, name,
             printed(t->extent[t->rank - 1]));
        return 0;
    }
    /// t, or a copy in the workspace whose rows copies into shared memory take in pieces, made once; buffer loads reach blocks of `box`
    /// elements of it, where one is given.
    tk_tensor pieces(const tk_tensor* t, std::initializer_list<int> box = {}) {
        if (failed()) return {};
        const size_t bytes = host::pieces_bytes(*t, box);
        return bytes == 0 ? with_strides_of_pieces(*t) : copy_of(t, bytes, "copied in pieces");
    }

    /// A grid has stored into t: who reads a copy of it from now on gets one that is made anew.
    void changed(const tk_tensor* t) {
        for (int i = 0; i < copies_; ++i)
            if (copied_[i] == t) is_stale_[i] = true;
    }

    /// The map through which t is written; empty where the copy engine can't: the kernel then stores by itself.
    tensor_map store_map(const tk_tensor* t, swizzle s, std::initializer_list<int> box) {
        return failed() || is_empty(*t) || !copy_engine_stores(*t) ? tensor_map{} : box_map(*t, s, box.begin());
    }
    static bool can_store(const tk_tensor* t) { return !is_empty(*t) && copy_engine_stores(*t); }

    /// Sets all elements of t, on the stream.
    template <class T>
    void preset(const tk_tensor* t, T value) {
        if (!failed() && !is_empty(*t)) status_ = host::preset<T>(*t, value, device_number_, stream_, overlaps_);
    }

    /// A scratch tensor at the next free bytes of the workspace. Its rows are padded to 16 bytes, so that the copy engine serves it.
    tk_tensor work(tk_dtype dtype, std::initializer_list<index> extent) {
        const tk_tensor t = scratch(dtype, extent);
        for (int d = 0; d < t.rank; ++d)
            if (!failed() && t.extent[d] > largest_extent)
                fail(TK_SHAPE, "%s: a scratch tensor of %lld elements along one dimension", entry_, printed(t.extent[d]));
        if (failed()) return {};
        const tk_tensor result = packed_like(t, free_);
        free_ += packed_bytes(t);
        return result;
    }
    static size_t work_bytes(tk_dtype dtype, std::initializer_list<index> extent) {
        return packed_bytes(scratch(dtype, extent));
    }

    /// `bytes` of the workspace, not initialised.
    void* take(size_t bytes) {
        void* result = free_;
        if (!failed()) free_ += cdiv<size_t>(bytes, 256) * 256;
        return result;
    }

    /// The tiles of a launch, each taken by a cluster of so many blocks, are counted in 32 bits.
    void tiles(index count, int cluster = 1) {
        const index most = largest_extent / cluster;
        if (!failed() && count > most) fail(TK_SHAPE, "%s: %lld tiles, at most %lld can be launched", entry_, printed(count), printed(most));
    }

    /// Blocks that walk over `count` tiles, a tile a cluster: as many as the multiprocessors hold at once, `resident` each, in whole
    /// clusters.
    int walkers(index count, int cluster = 1, int resident = 1) const {
        return int(min<index>(count, max<index>(index(processors()) * resident / cluster, 1))) * cluster;
    }
    /// The same in clusters of more than two blocks, of which fewer may fit: one that waited for room would begin its list when others
    /// are through with theirs.
    template <auto Kernel, int Cluster>
    int walkers(index count, int threads, size_t shared_bytes, int resident = 1) {
        int held = 0;
        if (!failed()) status_ = host::held_clusters<Kernel, Cluster>(device_number_, threads, shared_bytes, held);
        return min(walkers(count, Cluster, resident), max(held, 1) * Cluster);
    }

    /// How many multiprocessors clusters of `Kernel` find room on. Where the device does not say, as many as it has for whole clusters:
    /// the launch will tell what is wrong.
    template <auto Kernel, int Cluster>
    int room(int threads, size_t shared_bytes) const {
        int held = 0;
        const int most = max(processors() / Cluster, 1);
        if (failed() || host::held_clusters<Kernel, Cluster>(device_number_, threads, shared_bytes, held).code != TK_OK) return most * Cluster;
        return min(max(held, 1), most) * Cluster;
    }

private:
    // More tensors than the parameters of a kernel have room for.
    static constexpr int most_copies = 128;

    /// The copy of t in `bytes` of the workspace, which holds what t does.
    tk_tensor copy_of(const tk_tensor* t, size_t bytes, const char* what) {
        int i = 0;
        while (i < copies_ && copied_[i] != t) ++i;
        if (i == most_copies) fail(TK_ARGUMENT, "%s: more than %d tensors can't be %s", entry_, most_copies, what);
        if (failed()) return {};
        if (i == copies_) {
            ++copies_;
            copied_[i] = t;
            copy_[i] = packed(t, bytes);
        } else if (is_stale_[i]) {
            status_ = repack(*t, copy_[i], device_number_, stream_, overlaps_);
        }
        is_stale_[i] = false;
        return copy_[i];
    }

    static tk_tensor scratch(tk_dtype dtype, std::initializer_list<index> extent) {
        tk_tensor result{nullptr, dtype, int(extent.size()), {}, {}};
        int d = 0;
        for (index e : extent) result.extent[d++] = max<index>(e, 0);
        return result;
    }

    int copies_ = 0;  // that many of these are set
    const tk_tensor* copied_[most_copies];
    tk_tensor copy_[most_copies];
    bool is_stale_[most_copies];
};

}  // namespace tk::host
