# SPDX-License-Identifier: MIT
"""The moves through shared memory that are counted on a GPU: what prepare.py makes of each is one kernel of probes.cu, one role of an
IR text for tkc (which predicts), and one line of cases.json."""
from dataclasses import asdict, dataclass

FRAGMENT = (4, 2, 2, 8, 4)
CPP = {"bf16": "tk::bf16", "f16": "tk::f16", "f32": "float"}
BYTES = {"bf16": 2, "f16": 2, "f32": 4}


@dataclass
class Case:
    name: str
    op: str  # load, store, copy_in, copy_out, col_sum
    dtype: str
    rows: int  # of the tile as it lies in shared memory
    cols: int
    swizzle: int
    layout: tuple = FRAGMENT
    transposed: bool = False
    width: int = 0  # copy_in, copy_out: bytes of a piece, from the alignment of the tensor's rows

    def shape(self):
        """rows, columns of the tile in registers"""
        return (self.cols, self.rows) if self.transposed else (self.rows, self.cols)


def both(name, *args, **more):
    return [Case(f"{op}_{name}", op, *args, **more) for op in ("load", "store")]


ROWS_16, ROWS_4 = (16, 8, 1, 2, 4), (32, 4, 1, 1, 4)
CASES = [
    # ldmatrix and stmatrix: free with a swizzle, eight-fold without.
    *both("matrix_128", "bf16", 64, 64, 128),
    *both("matrix_64", "bf16", 128, 32, 64),
    *both("matrix_32", "f16", 64, 16, 32),
    *both("matrix_padded", "bf16", 64, 48, 32),
    *both("matrix_none", "bf16", 64, 64, 0),
    *both("matrix_turned", "bf16", 64, 128, 128, transposed=True),
    *both("matrix_turned_none", "f16", 64, 64, 0, transposed=True),
    # Fragments as vectors: 32-bit elements turn their column blocks about, a width of 8 columns has no pair of matrices.
    *both("fragment_128", "f32", 64, 64, 128),
    *both("fragment_64", "f32", 64, 16, 64),
    *both("fragment_32", "f32", 64, 8, 32),
    *both("fragment_none", "f32", 64, 32, 0),
    *both("fragment_narrow", "bf16", 64, 8, 32),
    *both("fragment_turned", "f32", 32, 64, 128, transposed=True),
    # Rows dealt to lanes.
    *both("rows_bf16", "bf16", 64, 128, 128, layout=ROWS_16),
    *both("rows_f32_wide", "f32", 64, 128, 128, layout=ROWS_16),
    *both("rows_f32", "f32", 64, 128, 128, layout=ROWS_4),
    *both("rows_f32_none", "f32", 32, 128, 0, layout=ROWS_4),
    *both("rows_turned", "f32", 128, 64, 128, layout=(32, 4, 1, 1, 4), transposed=True),
    *both("odd_pitch", "f32", 64, 24, 0, layout=(2, 4, 1, 16, 4)),
    *both("row_vector", "f32", 1, 128, 0, layout=ROWS_16),
    *both("column_vector", "f32", 64, 1, 0),
    # Guarded copies, in pieces of each width.
    *[Case(f"{op}_{width}", op, "bf16", 64, 64, 128, width=width) for op in ("copy_in", "copy_out") for width in (16, 8, 4, 2)],
    *[Case(f"{op}_f32_{width}", op, "f32", 64, 32, 0, width=width) for op in ("copy_in", "copy_out") for width in (16, 8, 4)],
    # The exchange of a column reduction: stores, then loads.
    Case("col_sum_fragment", "col_sum", "f32", 64, 64, 0),
    Case("col_sum_rows", "col_sum", "f32", 64, 128, 0, layout=ROWS_16),
]


def ir_role(number, case):
    """The same move as the schedule level has it."""
    rows, cols = case.shape()
    shared = f"smem {case.dtype}[{case.rows}, {case.cols}]"
    lines = [f"  worker {case.name} role compute first_warp 0"
             + ("" if case.layout == FRAGMENT else f" layout [{', '.join(map(str, case.layout))}]") + " {"]
    if case.op != "col_sum":
        lines.append(f"    %v{number} = view b{number} : {shared}")
    view = f"%v{number}"
    if case.transposed:
        lines.append(f"    %t{number} = transpose {view} : smem transposed {case.dtype}[{rows}, {cols}]")
        view = f"%t{number}"
    if case.op == "load":
        lines.append(f"    %r{number} = load_shared {view} : reg {case.dtype}[{rows}, {cols}]")
    elif case.op in ("store", "col_sum"):
        lines.append(f"    %r{number} = fill 0.0 : reg {case.dtype}[{rows}, {cols}]")
        lines.append(f"    store_shared {view} = %r{number}" if case.op == "store" else
                     f"    %s{number} = reduce add cols %r{number} scratch b{number} : reg {case.dtype}[1, {cols}]")
    elif case.op == "copy_in":
        lines.append(f"    copy_to_shared {view} = X_{case.dtype}[0 : {rows}, 0 : {cols}] by warpgroup")
    else:
        lines.append(f"    copy_to_global Y_{case.dtype}[0 : {rows}, 0 : {cols}] = {view}")
    return lines + ["  }"]


def ir_text():
    """A kernel for each case."""
    lines = []
    for number, case in enumerate(CASES):
        rows = 4 if case.op == "col_sum" else case.rows
        panel = case.swizzle // BYTES[case.dtype] if case.swizzle else 1
        size = rows * -(-case.cols // panel) * panel * BYTES[case.dtype]
        lines += [f"entry probe_{number} = [{number}]"]
        lines += ["", f"kernel probe_{number}_kernel {{", f"  entry probe_{number}", "  target sm_90a", "  dim M", "  dim N"]
        for dtype in ("bf16", "f32"):
            lines += [f"  tensor X_{dtype} : in {dtype}[M, N]", f"  tensor Y_{dtype} : out {dtype}[M, N]"]
        lines += ["  level schedule", "  threads 128", "  tiles 1"]
        lines += [f"  shared b{number} : {case.dtype}[{rows}, {case.cols}]" + (f" swizzle {case.swizzle}" if case.swizzle else "")
                  + " offset 0" + (" scratch" if case.op == "col_sum" else "") + f' "{case.name}"']
        lines += [f"  shared_bytes {size}", *ir_role(number, case), "}", ""]
    entries = [line for line in lines if line.startswith("entry")]
    return "\n".join(entries + [line for line in lines if not line.startswith("entry")])


def cpp_kernel(number, case):
    rows, cols = case.shape()
    type_, swizzle = CPP[case.dtype], f"tk::swizzle::{'b%d' % case.swizzle if case.swizzle else 'none'}"
    layout = "tk::mma_layout" if case.layout == FRAGMENT else f"tk::layout<{', '.join(map(str, case.layout))}>"
    view = "tk::transposed(shared.tile)" if case.transposed else "shared.tile"
    values = f"auto values = tk::fill<{type_}, {rows}, {cols}, {layout}>(float(threadIdx.x));"
    block = "global.block(tk::span(0), tk::span(0))"
    body = {
        "load": ["", f"auto values = tk::warpgroup::load_shared<{layout}>({view}); keep(values, memory);"],
        "store": [values, f"tk::detail::pin(values); tk::warpgroup::store_shared({view}, values);"],
        "copy_in": ["", f"tk::warpgroup::copy_global_to_shared({view}, {block});"],
        "copy_out": ["", f"tk::warpgroup::copy_shared_to_global({block}, {view});"],
        "col_sum": [values, "tk::detail::pin(values); auto sums = tk::col_sum(values, shared.scratch); keep(sums, memory);"],
    }[case.op]
    member = f"tk::reduce_scratch<{type_}, {cols}> scratch;" if case.op == "col_sum" else f"tk::shared_tile<{type_}, {case.rows}, {case.cols}, {swizzle}> tile;"
    pitch = case.cols + (0 if case.width in (0, 16) else case.width // BYTES[case.dtype])
    return f"""
struct shared_{number} {{ {member} }};
TK_KERNEL(256) {case.name}(int repeats, void* memory, long long* cycles) {{
    [[maybe_unused]] auto& shared = tk::block::shared<shared_{number}>();
    [[maybe_unused]] const tk::tensor<{type_}, 2> global{{static_cast<{type_}*>(memory), {{{rows}, {cols}}}, {{{pitch}, 1}}}};
    {body[0]}
    const stopwatch watch(cycles);
    for (int n = 0; n < repeats; ++n) {{
        {body[1]}
        {"__threadfence_block();" if case.op == "load" else 'asm volatile("" ::: "memory");'}  // the next repetition is another one
    }}
}}
const probe probe_{number}{{"{case.name}", reinterpret_cast<const void*>({case.name}), sizeof(shared_{number})}};"""


def as_json():
    return [asdict(case) for case in CASES]
