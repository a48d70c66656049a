# SPDX-License-Identifier: MIT
"""folded.py TKC: programs whose threads all copy, wait, meet and compute: each is proved as it stands, and refuted for each edit."""
import pathlib
import re
import subprocess
import sys
import tempfile

INPUTS = pathlib.Path(__file__).resolve().parent / "inputs"
PREVIOUS = r"(ab_[01])\[ab.previous\]"
# (program, what is broken, [(pattern, replacement) ..], kind, part of the headline)
CASES = [
    # ---- read after write: the reader's own wait, then a barrier behind everybody's
    ("gemm", "no wait in the loop", [(r"      wait_copies 1\n", "")], "hazard", "reads a tile of `ab_0` that an earlier operation of `compute[0]` may still be writing"),
    ("gemm", "one group too many unfinished", [(r"wait_copies 1\n", "wait_copies 2\n")], "hazard", "may still be writing"),
    ("gemm", "no barrier in the loop", [(r"      sync_block\n", "")], "hazard", "may still be"),
    ("gemm", "barrier before the wait", [(r"(      wait_copies 1\n)(      sync_block\n)", r"\2\1")], "hazard", "may still be writing"),
    ("gemm", "a barrier of the warpgroup only", [(r"      sync_block\n", "      sync_role warpgroup\n")], "hazard", "may still be"),
    ("gemm", "a group closed before its second copy", [(r"(      copy_async %next_b.*\n)(      commit_copies\n)", r"\2\1")], "hazard", "may still be writing"),
    ("gemm", "no group closed", [(r"(      copy_async %next_b.*\n)      commit_copies\n", r"\1")], "hazard", "may still be writing"),
    ("attention", "values not waited for", [(r"(      advance ks\n)      wait_copies 1\n", r"\1")], "hazard", "of `vs_0`"),
    ("attention", "keys not waited for", [(r"step 64 {\n      wait_copies 1\n", "step 64 {\n")], "hazard", "may still be writing"),
    ("attention", "no barrier before the values", [(r"(      advance ks\n      wait_copies 1\n)      sync_block\n", r"\1")], "hazard", "of `vs_0`"),
    ("one_slot", "read before the wait", [(r"      wait_copies 0\n(      sync_block\n)", r"\1")], "hazard", "may still be writing"),
    ("exchange", "parts read before all have met", [(r"(      store_shared .*\n)      sync_block\n", r"\1")], "hazard", "of `h_0`"),
    # ---- write after read, write after write
    ("gemm", "refilled before the barrier", [(r"(      wait_copies 1\n      sync_block\n)((?:.*\n){2})((?:.*\n){5})", r"\3\1\2")], "hazard", "writes a tile"),
    ("gemm", "the slot being read is refilled", [(r"%next_a = view ab_0\[ab.previous\]", "%next_a = view ab_0[ab]")], "hazard", ""),
    ("one_slot", "refilled while others read", [(r"step 64 {\n      sync_block\n", "step 64 {\n")], "hazard", "writes a tile of `a_0`"),
    ("exchange", "stored while others read the lap before", [(r"pipe h \(bf16\[128, 64\]\) slots 2", "pipe h (bf16[128, 64]) slots 1"), (r"h_0 : bf16\[128, 64\] x2", "h_0 : bf16[128, 64]"),
                                                             (r"ring h slots 2", "ring h slots 1"), (r"step 64 {\n      wait_copies 0\n      sync_block\n", "step 64 {\n      wait_copies 0\n")], "hazard", ""),
    ("persistent", "the next tile's prologue meets copies beyond the end", [(r"      wait_copies 0\n", "")], "hazard", "writes a tile"),
    ("persistent", "the next tile's prologue is dealt to threads in another way", [(r"(      wait_copies 0\n)      sync_block\n", r"\1")], "hazard", "writes a tile"),
    # ---- which turn a slot holds
    ("gemm", "prologue in one slot", [(r"\[ab\+stage\]", "[ab+1]", 2)], "coverage", "with another block of `A`"),
    ("gemm", "prologue shorter", [(r"unroll stage times 2", "unroll stage times 1")], "coverage", "nothing fills turn 1 before the loop"),
    ("gemm", "prologue longer", [(r"unroll stage times 2", "unroll stage times 3")], "hazard", "fills a slot of `ab_0` twice in one turn"),
    ("gemm", "reads the slot before", [(r"%a = view ab_0\[ab\]", "%a = view ab_0[ab.previous]")], "hazard", ""),
    ("attention", "the ring of the keys is not turned", [(r"      advance ks\n", "")], "coverage", "does not turn `ks`"),
    ("gemm", "the ring is not turned", [(r"      advance ab\n", "")], "coverage", ""),
    ("one_slot", "copied in the first iteration alone", [(r"(      copy_async %slot.*\n)", r"      if k < 64 {\n\1      }\n")], "hazard", "holds what was meant for 1 turn before"),
    ("gemm", "one field is not refilled", [(r"      copy_async %next_b.*\n", "")], "hazard", "of `ab_1`"),
    ("gemm", "the prologue is another block's", [(r"A\[m : 64, stage \* 64 : 64\]", "A[m : 64, stage * 64 + 64 : 64]")], "coverage", "with another block of `A`"),
    ("gemm", "copied two blocks ahead, not one", [(r"k \+ 128 : 64\]\n(      copy_async)", r"k + 192 : 64]\n\1")], "coverage", "with another block of `A`"),
    ("gemm", "copied from the other tensor", [(r"copy_async %ab_1 = B\[stage \* 64 : 64, n : 64\]", "copy_async %ab_1 = A[stage * 64 : 64, n : 64]")], "coverage", ""),
    ("gemm", "shown beyond its range", [(r"for k = 0 to K step", "for k = 0 to K / 64 * 64 - 1 step")], "coverage", "is not clipped where its range ends"),
    ("persistent", "a prologue for the first tile alone", [(r"(      unroll stage times 2 {\n(?:.*\n)*?      }\n)", r"      if tile < @block::count.i32() {\n\1      }\n")], "unknown", "under a condition"),
    ("persistent", "one prologue before all tiles", [(r"((?:    for_tiles.*\n)(?:.*\n){6})(      unroll stage times 2 {\n(?:.*\n)*?      }\n)", r"    let m = 0\n    let n = 0\n\2\1")], "coverage", "before the loop"),
    # ---- all drained at the end
    ("gemm", "no drain", [(r"    wait_copies 0\n", "")], "hazard", "ends while copies that it has issued may still be under way"),
    ("gemm", "drained but for one", [(r"    wait_copies 0\n", "    wait_copies 1\n")], "hazard", "ends while copies that it has issued may still be under way"),
    # ---- executed by all alike
    ("gemm", "one instance does not copy", [(r"(      copy_async %next_b.*\n)", r"      if w < 1 {\n\1      }\n")], "barrier", "all must execute it, in one order"),
    ("gemm", "one instance does not meet", [(r"(      sync_block\n)", r"      if w < 1 {\n\1      }\n")], "barrier", "all must execute it, in one order"),
    ("gemm", "two orders", [(r"(      copy_async %next_a.*\n)(      copy_async %next_b.*\n)", r"      if w < 1 {\n\1\2      } else {\n\2\1      }\n")], "barrier", "all must execute it, in one order"),
    ("gemm", "one thread copies", [(r"(      copy_async %next_b.*\n)", r"      if_elected warpgroup {\n\1      }\n")], "threads", "its whole warpgroup must"),
    ("gemm", "one thread waits", [(r"(      wait_copies 1\n)", r"      if_elected warpgroup {\n\1      }\n")], "threads", "its whole warpgroup must"),
    # ---- workers, and the barriers of the slots between them
    ("workers", "reads a slot that may not be full", [(r"      wait_full h_full\[h\]\n", "")], "hazard", "of `h_slot`"),
    ("workers", "stores into a slot that may not be empty", [(r"      wait_empty h_empty\[h\]\n", "")], "hazard", "of `h_slot`"),
    ("workers", "arrives before it has stored", [(r"(      store_shared .*\n)(      arrive h_full.*\n)", r"\2\1")], "hazard", "of `h_slot`"),
    ("workers", "gives back a slot before it has read", [(r"(      %part_values = .*\n)(      arrive h_empty.*\n)", r"\2\1")], "hazard", "of `h_slot`"),
    ("workers", "never gives a slot back", [(r"      arrive h_empty.*\n", "")], "deadlock", "wait for each other"),
    ("workers", "one warp too many is awaited", [(r"(barrier h_full x2 arrivals )4", r"\g<1>5")], "deadlock", "wait for each other"),
    ("workers", "one instance gives back for both", [(r"(barrier h_empty x2 arrivals )8", r"\g<1>4")], "hazard", ""),
    ("workers", "the sender's ring is not turned", [(r"(      arrive h_full.*\n)      advance h\n", r"\1")], "phase", ""),
    ("workers", "the warps of the first do not meet", [(r"      sync_role warpgroup\n", "")], "hazard", "of `x_slot`"),
    ("workers", "the instances of the second do not meet", [(r"    named_sync 9 threads 256\n", "")], "hazard", "of `g_slot`"),
    ("workers", "each instance of the second meets alone", [(r"    named_sync 9 threads 256\n", "    sync_role warpgroup\n")], "hazard", "of `g_slot`"),
    ("workers", "half of the second is awaited", [(r"named_sync 9 threads 256", "named_sync 9 threads 128")], "barrier", "while others still use it"),
    ("workers", "more threads are awaited than come", [(r"named_sync 9 threads 256", "named_sync 9 threads 384")], "deadlock", "wait for each other"),
    ("workers", "meets at a warpgroup's own barrier", [(r"named_sync 9 threads", "named_sync 1 threads")], "barrier", "for its own warps"),
    ("waves", "a meeting without a barrier", [(r" warps_meet square_warps", "")], "barrier", "the target has none"),
    ("waves", "a barrier that counts too few", [(r"(barrier finish_all arrivals )8", r"\g<1>4")], "barrier", "which counts 4"),
    ("waves", "a barrier for both", [(r"all_meet finish_all", "all_meet square_warps")], "barrier", ""),
    ("waves", "the barrier of a slot", [(r"all_meet finish_all", "all_meet h_empty")], "barrier", "used for a pipe"),
    ("waves", "the waves of the first do not meet", [(r"      sync_role warpgroup\n", "")], "hazard", "of `x_slot`"),
    ("waves", "copies are not waited for", [(r"(copy_async %g_slot.*\n)    wait_copies 0\n", r"\1")], "hazard", "of `g_slot`"),
    # ---- registers
    ("attention", "added to what nothing has set", [(r"multiply %p, %l, %r set", "multiply %p, %l, %r add")], "accumulator", "nothing has set"),
    # ---- no larger than needed
    ("gemm", "waits for everything", [(r"wait_copies 1\n", "wait_copies 0\n")], "wait", "nothing would go wrong with one more"),
    ("gemm", "waits twice", [(r"(      wait_copies 1\n)", r"\1\1")], "wait", "nothing would go wrong with one more"),
    ("gemm", "an empty group", [(r"(      commit_copies\n)", r"\1\1", 0)], "wait", ""),
    ("attention", "keys and values in one wait", [(r"step 64 {\n      wait_copies 1\n", "step 64 {\n      wait_copies 0\n")], "wait", "nothing would go wrong with one more"),
    ("persistent", "a second drain", [(r"(      wait_copies 0\n)", r"\1\1")], "wait", ""),
]


def prove(tkc, text, folder):
    file = folder / "program.ir"
    file.write_text(text)
    done = subprocess.run([tkc, "--from=schedule", f"--target={re.search(r'target (.*)', text)[1]}", file, "--emit=certificate"], capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        return "", ""
    found = re.search(r"^error: (.*) \[certificate-([\w-]+)\]$", done.stderr, re.M)
    return (found[2], found[1]) if found else ("another", done.stderr[:300])


def main():
    faults, programs = [], {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for file in sorted(INPUTS.glob("folded_*.ir")):
            programs[file.stem.removeprefix("folded_")] = file.read_text()
        for name, text in programs.items():
            kind, headline = prove(sys.argv[1], text, folder)
            if kind:
                faults.append(f"{name} itself: {headline} [{kind}]")
        for name, what, edits, kind, headline in CASES:
            text = programs[name]
            for pattern, replacement, *times in edits:
                wanted = times[0] if times else 1
                text, count = re.subn(pattern, replacement, text)
                if count != wanted and not (wanted == 0 and count):
                    faults.append(f"{name}, {what}: `{pattern}` stands {count} times")
            found = prove(sys.argv[1], text, folder)
            if found[0] != kind or headline not in found[1]:
                faults.append(f"{name}, {what}: {found[1]} [{found[0]}]")
    print("\n".join(faults) or f"{len(programs)} programs proved, {len(CASES)} edits refuted")
    sys.exit(1 if faults else 0)


main()
