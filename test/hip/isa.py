# SPDX-License-Identifier: MIT
"""Reads what clang makes of a HIP file for gfx942 and gfx950: registers, spills, the main loop's instructions, and llvm-mca's opinion."""
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHIM = Path(__file__).resolve().parent / "shim"
CLANG = next((tool for tool in ("clang++-22", "/usr/lib/llvm-22/bin/clang++") if shutil.which(tool)), None)
MCA = next((tool for tool in ("llvm-mca-22", "/usr/lib/llvm-22/bin/llvm-mca") if shutil.which(tool)), None)
LLD = next((tool for tool in ("ld.lld-22", "/usr/lib/llvm-22/bin/ld.lld") if shutil.which(tool)), None)
# llvm-mca counts in units of four clocks, in which a 16x16 MFMA of 16 clocks has a throughput of one in 4.
MFMA_UNITS = 4


def run(main):
    """The status of main(), or 0 and a word where a tool is missing."""
    missing = [name for name, tool in (("clang-22", CLANG), ("lld-22", LLD), ("llvm-22 (llvm-mca)", MCA)) if not tool]
    if missing:
        print(f"skipped: needs {', '.join(missing)}")
        return 0
    return main()


def compile_to_assembly(source, arch, defines=(), include=()):
    """The assembly of a HIP file's kernels; warnings are errors."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "kernel.s"
        command = [CLANG, "-x", "hip", f"--offload-arch={arch}", "-std=c++20", "-nogpuinc", "-nogpulib", "-isystem", SHIM, "-I", ROOT / "runtime" / "include",
                   *[part for folder in include for part in ("-I", folder)], *[f"-D{define}" for define in defines],
                   "--cuda-device-only", "-O3", "-Wall", "-Wextra", "-Werror", "-S", "-o", out, source]
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "LC_ALL": "C"})
        if done.returncode != 0:
            raise RuntimeError(f"{source}: {done.stdout[-3000:]}")
        return out.read_text()


class Block:
    def __init__(self, label):
        self.label, self.instructions = label, []


class Kernel:
    """One kernel: its metadata by name, and its basic blocks in order."""

    def __init__(self, name, text, metadata):
        self.name, self.metadata, self.blocks = name, metadata, [Block(None)]
        for line in text.split("\n"):
            label = re.match(r"^(\.LBB\d+_\d+):|^; %bb\.\d+:", line)
            if label:
                self.blocks.append(Block(label.group(1)))
            elif re.match(r"^\t[a-z]", line):
                self.blocks[-1].instructions.append(re.split(r"\s*;", line.strip())[0])

    def number(self, key):
        return int(self.metadata.get(key, 0))

    @property
    def registers(self):
        """Vector registers of a lane, ordinary and accumulation ones."""
        return max(self.number("vgpr_count"), self.number("agpr_count"))

    @property
    def spills(self):
        return self.number("vgpr_spill_count") + self.number("sgpr_spill_count") + self.number("private_segment_fixed_size")

    def loops(self):
        """Instructions of every loop: from the target of a backward branch to the branch. Rotated loops are laid out so, too."""
        place = {block.label: n for n, block in enumerate(self.blocks) if block.label}
        found = []
        for n, block in enumerate(self.blocks):
            for instruction in block.instructions:
                target = re.match(r"s_c?branch\S*\s+(\.LBB\d+_\d+)", instruction)
                if target and place.get(target.group(1), n + 1) <= n:
                    found.append([i for b in self.blocks[place[target.group(1)] : n + 1] for i in b.instructions])
        return found

    def main_loop(self):
        """The loop with the most matrix instructions, of those the shortest; None without any."""
        loops = [loop for loop in self.loops() if count(loop, "mfma")]
        most = max((count(loop, "mfma") for loop in loops), default=0)
        return min((loop for loop in loops if count(loop, "mfma") == most), key=len, default=None)


def count(instructions, pattern):
    return sum(re.search(pattern, i) is not None for i in instructions)


def scalars(operand):
    """The scalar registers that an operand names: s7, or s[24:27]."""
    one, several = re.match(r"s(\d+)$", operand), re.match(r"s\[(\d+):(\d+)\]$", operand)
    return {int(one[1])} if one else set(range(int(several[1]), int(several[2]) + 1)) if several else set()


def early_copies(instructions):
    """Copies into shared memory that read a scalar register less than five wait states behind a vector instruction that writes it. The
    compiler keeps that distance for its own instructions only, and a copy is assembly."""
    written, found = {}, []  # register -> wait states since
    for instruction in instructions:
        name, _, rest = instruction.partition(" ") if " " in instruction else instruction.partition("\t")
        operands = [part for operand in rest.split(",") for part in operand.split()[:1]]
        if name.startswith("buffer_load") and instruction.endswith(" lds"):
            found += [instruction for register in set().union(*map(scalars, operands[1:])) if written.get(register, 5) < 5][:1]
        states = int(operands[0], 0) + 1 if name == "s_nop" else 1
        written = {register: since + states for register, since in written.items() if since + states < 5}
        if name.startswith("v_") and operands:
            written.update(dict.fromkeys(scalars(operands[0]), 0))
    return found


def kernels(assembly):
    """All kernels of a file."""
    metadata = {}
    for part in re.split(r"^  - \.", assembly[assembly.find("amdhsa.kernels:") :], flags=re.M)[1:]:
        fields = dict(re.findall(r"^(?:    )?\.?(\w+):\s+'?([^'\n]+)'?$", part, flags=re.M))
        metadata[fields.get("name")] = fields
    result = []
    for found in re.finditer(r"^(\w+):\s+; @\1\n(.*?)^\s+\.section\s+\.rodata", assembly, flags=re.M | re.S):
        if found.group(1) in metadata:
            result.append(Kernel(found.group(1), found.group(2), metadata[found.group(1)]))
    return result


def waits(loop, counter):
    """What the loop waits for at that counter, in order."""
    return [int(n) for i in loop if i.startswith("s_waitcnt") for n in re.findall(rf"{counter}\((\d+)\)", i)]


def mca_cycles(instructions, arch, rounds):
    """Cycles (units of four clocks) of that many rounds by llvm-mca; None where it takes too long."""
    text = [re.sub(r"^v_(sub|add)_co_u32_e64 (v\d+), \S+ ", r"v_\1_u32_e64 \2, ", i)  # the others make llvm-mca 22 hang
            for i in instructions if not re.match(r"s_c?branch|s_endpgm", i)]
    try:
        done = subprocess.run([MCA, "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={arch}", f"-iterations={rounds}"], input="\n".join(text) + "\n",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return None
    cycles = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    if not cycles:
        raise RuntimeError(f"llvm-mca: {done.stdout[-500:]}")
    return int(cycles.group(1))


def mca_share(loop, arch):
    """The part of the steady state's cycles in which one wave keeps the matrix unit busy, by llvm-mca; 0 where that takes too long."""
    rounds = 20
    cycles = mca_cycles(loop, arch, rounds)
    return MFMA_UNITS * count(loop, "mfma") * rounds / cycles if cycles else 0.0


def alternation(loop):
    """The parts of a loop whose waves alternate, from barrier to barrier: (what multiplies, what loads). None for any other loop."""
    barriers = [n for n, i in enumerate(loop) if re.match(r"s_barrier\b", i)]
    if len(barriers) != 2 or count(loop, r"^s_setprio [1-3]") != 1:
        return None
    parts = loop[barriers[0] + 1 : barriers[1]], loop[barriers[1] + 1 :] + loop[: barriers[0]]
    return parts if count(parts[0], "s_setprio [1-3]") else parts[::-1]


def alternating_share(parts, arch):
    """The part of the cycles in which two waves that alternate keep their matrix unit busy: each part lasts as long as the longer one."""
    return MFMA_UNITS * count(parts[0], "mfma") / max(mca_cycles(part, arch, 1) or float("inf") for part in parts)


def describe(kernel, arch, share=None):
    """A line of figures; `share`: what llvm-mca said."""
    loop = kernel.main_loop()
    text = f"{kernel.registers} registers, {kernel.spills} spilt"
    if loop:
        kinds = Counter(re.split(r"\s", i)[0] for i in loop)
        moves = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()) if re.match(r"ds_|buffer_|global_", kind))
        text += f"; main loop: {len(loop)} instructions, {count(loop, 'mfma')} MFMA, {moves}; waits vmcnt {waits(loop, 'vmcnt')}"
        text += f"; MFMA {100 * (mca_share(loop, arch) if share is None else share):.0f}% of a wave's cycles"
        if alternation(loop):
            text += f", {100 * alternating_share(alternation(loop), arch):.0f}% of those of two that alternate"
    return text
