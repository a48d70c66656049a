// SPDX-License-Identifier: MIT
// Runs a job: makes the tensors, calls the entry as C code would, writes what it left.
#include <dlfcn.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "runtime/sim/job.h"
#include "runtime/sim/memory.h"
#include "runtime/sim/result.h"
#include "tk/host/tensor.h"

namespace tk::sim {

namespace {

int fail(const std::string& text) {
    std::fprintf(stderr, "tkc-sim: %s\n", text.c_str());
    return 2;
}

/// Arguments by class: the ABIs of x86-64 and AArch64 pass integers and floats in registers of their own, so that an
/// entry with any mixture of up to 8 floats is called as if its integers came first. What it does not take, it does not
/// read.
struct argument_list {
    std::array<uint64_t, 128> integer{};
    std::array<double, 8> real{};
    size_t integers = 0, reals = 0;

    void add(uint64_t value) { integer.at(integers++) = value; }
    void add(const void* pointer) { add(reinterpret_cast<uint64_t>(pointer)); }
    void add_real(uint32_t bits) { real.at(reals++) = std::bit_cast<double>(uint64_t(bits)); }

    template <class Result>
    Result call(void* function) const {
        return call<Result>(function, std::make_index_sequence<128>());
    }
    template <class Result, size_t... I>
    Result call(void* function, std::index_sequence<I...>) const {
        using type = Result (*)(std::remove_cvref_t<decltype(integer[I])>..., double, double, double, double, double,
                                double, double, double);
        return reinterpret_cast<type>(function)(integer[I]..., real[0], real[1], real[2], real[3], real[4], real[5],
                                                real[6], real[7]);
    }
};

bool read_into(unsigned char* to, int64_t bytes, const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return file.read(reinterpret_cast<char*>(to), std::streamsize(bytes)) &&
           file.peek() == std::ifstream::traits_type::eof();
}

/// Marks the bytes of the elements; what lies between them does not exist.
void mark_elements(region& r, const job_tensor& t) {
    int64_t count = 1;
    for (int64_t e : t.extent) count *= e;
    if (count * r.element == t.bytes) return;
    r.exists.assign(size_t(t.bytes), false);
    std::vector<int64_t> index(t.extent.size());
    for (int64_t n = 0; n < count; ++n) {
        int64_t at = t.offset;
        for (size_t d = 0; d < index.size(); ++d) at += index[d] * t.stride[d] * r.element;
        for (int b = 0; b < r.element; ++b)
            if (at + b >= 0 && at + b < t.bytes) r.exists[size_t(at + b)] = true;
        for (size_t d = index.size(); d-- > 0;) {
            if (++index[d] < t.extent[d]) break;
            index[d] = 0;
        }
    }
}

/// Memory for a tensor of the job, with what it holds at first, and the descriptor that the entry takes. Returns what is wrong.
std::string place_tensor(const job_tensor& t, tk_tensor& tensor, region*& memory) {
    if (t.extent.size() != t.stride.size() || t.extent.size() > TK_MAX_RANK) return "tensor `" + t.name + "`: rank";
    region& r = add_region(t.name, size_t(t.bytes), size_t(t.align), host::dtype_bytes(t.dtype), t.initial.has_value());
    memory = &r;
    if (t.initial && !read_into(r.data, t.bytes, *t.initial))
        return *t.initial + " has not the " + std::to_string(t.bytes) + " bytes of `" + t.name + "`";
    mark_elements(r, t);
    r.read_only = !t.written;
    tensor = {r.data + t.offset, t.dtype, int32_t(t.extent.size()), {}, {}};
    std::copy(t.extent.begin(), t.extent.end(), tensor.extent);
    std::copy(t.stride.begin(), t.stride.end(), tensor.stride);
    return {};
}

/// Tensors and scalars in the order that the job names; without one the tensors come first.
argument_list arguments_of(const job& j, const std::vector<tk_tensor>& tensors) {
    argument_list arguments;
    const auto add_scalar = [&](const job_scalar& s) {
        if (s.dtype == TK_F32)
            arguments.add_real(uint32_t(s.bits));
        else
            arguments.add(s.bits);
    };
    if (j.arguments.empty()) {
        for (const tk_tensor& t : tensors) arguments.add(&t);
        for (const job_scalar& s : j.scalars) add_scalar(s);
    }
    for (const std::string& name : j.arguments) {
        for (size_t i = 0; i < tensors.size(); ++i)
            if (j.tensors[i].name == name) arguments.add(&tensors[i]);
        for (const job_scalar& s : j.scalars)
            if (s.name == name) add_scalar(s);
    }
    return arguments;
}

}  // namespace

int run_job(const job& j) {
    machine& sim = new_machine(j.seed, j.sms);
    sim.shared_bytes = j.shared_bytes;
    sim.found.limit(std::max<size_t>(j.most_findings * 16, 64));
    sim.trace.on = j.trace.has_value();
    void* library = dlopen(j.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return fail(dlerror());
    void* entry = dlsym(library, j.entry.c_str());
    void* workspace_size = dlsym(library, (j.entry + "_workspace").c_str());
    if (!entry || !workspace_size) return fail(j.library + " has no entry `" + j.entry + "`");

    std::vector<tk_tensor> tensors(j.tensors.size());
    std::vector<region*> memory(j.tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
        const std::string fault = place_tensor(j.tensors[i], tensors[i], memory[i]);
        if (!fault.empty()) return fail(fault);
    }
    argument_list arguments = arguments_of(j, tensors);

    const auto start = std::chrono::steady_clock::now();
    const size_t bytes = j.workspace ? arguments.call<size_t>(workspace_size) : 0;
    region* workspace = bytes > 0 ? &add_region("the workspace", bytes, 256, 1, false) : nullptr;
    arguments.add(workspace ? workspace->data : nullptr);
    arguments.add(uint64_t(bytes));
    arguments.add(uint64_t(0));
    const tk_status status = arguments.call<tk_status>(entry);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    for (size_t i = 0; i < tensors.size(); ++i)
        if (j.tensors[i].final &&
            !write_file(*j.tensors[i].final,
                        std::string(reinterpret_cast<const char*>(memory[i]->data), memory[i]->bytes)))
            return fail("can't write " + *j.tensors[i].final);
    if (j.trace && !write_file(*j.trace, trace_json(j.library))) return fail("can't write " + *j.trace);
    const std::string text =
        result_json(j.library, status.code, status.message ? status.message : "", seconds, j.most_findings);
    return write_file(j.result, text) ? 0 : fail("can't write " + j.result);
}

}  // namespace tk::sim
