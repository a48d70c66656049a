# SPDX-License-Identifier: MIT
"""check_parts.py parts TKC CXX FILE.tk T,T..   each part of a file for several targets is what the file for that target alone holds,
                                          and parses as C++, without CUDA
check_parts.py nvcc TKC NVCC FILE.tk T,T..    nvcc takes the file with the options that its head names, without a warning, and puts into
                                          the code for each GPU the kernels of its own part only
check_parts.py hip TKC CLANG FILE.tk T,T..    the same for HIP by clang"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ["-I", ROOT / "runtime/include"]


def run(*command, folder):
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{' '.join(str(part) for part in command)}:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout + done.stderr


def compile_tk(tkc, file, targets, name, folder):
    said = run(tkc, file, "--target", targets, "-o", name, folder=folder)
    return said, (pathlib.Path(folder) / name).read_text(encoding="utf-8")


def body_of(single):
    """Kernels, launchers and entries of a file for one target."""
    return single.split("\nnamespace {\n", 1)[1].replace("}  // namespace\n", "").replace('extern "C" ', "")


def part_of(several, target):
    number = re.sub(r"\D", "", target)
    part = several.split(f"\nnamespace {target} {{\n", 1)[1].split(f"}}  // namespace {target}\n", 1)[0]
    return part.replace(f"#if TK_TARGET == {number}\n", "").replace("#endif\n", "")


def words(text):
    """Where lines are broken does not matter: `extern "C"` makes them longer."""
    return text.split()


def check_parts(tkc, cxx, file, targets, folder):
    _, several = compile_tk(tkc, file, ",".join(targets), "several.cu", folder)
    for target in targets:
        single = compile_tk(tkc, file, target, "single.cu", folder)[1]
        if words(part_of(several, target)) != words(body_of(single)):
            sys.exit(f"{file}: the part for {target} is not what the file for it alone holds")
        flags = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-DTK_SIM", "-x", "c++"]
        run(cxx, *flags, f"-DTK_TARGET={re.sub(r'[^0-9]', '', target)}", *INCLUDE, "several.cu", folder=folder)


def options_of(head, flag):
    """The options that the comment at the head of the file lists."""
    return [word for line in head.splitlines() if line.startswith(f"//   {flag}") for word in line[2:].split()]


def check_nvcc(tkc, nvcc, file, targets, folder):
    _, several = compile_tk(tkc, file, ",".join(targets), "several.cu", folder)
    options = options_of(several, "-gencode")
    said = run(nvcc, *options, "-t2", "-std=c++20", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra", "-Xptxas", "-v", *INCLUDE, "-c",
               "several.cu", "-o", "several.o", folder=folder)
    found = re.findall(r"Compiling entry function '(\S+)' for '(\w+)'.*?Used (\d+) registers", said, re.S)
    seen = set()
    for kernel, architecture, registers in found:
        namespace = next((t for t in targets if f"{len(t)}{t}" in kernel), None)
        if namespace is None:
            continue  # one of the runtime's own
        seen.add((namespace, architecture))
        if (int(registers) > 16) != (namespace == architecture):
            sys.exit(f"{kernel} of the part {namespace} has {registers} registers in the code for {architecture}")
    if seen != {(part, architecture) for part in targets for architecture in targets}:
        sys.exit(f"kernels found: {sorted(seen)}\n{said[-2000:]}")


def check_hip(tkc, clang, file, targets, folder):
    _, several = compile_tk(tkc, file, ",".join(targets), "several.hip", folder)
    options = options_of(several, "--offload-arch")
    flags = ["-x", "hip", "-std=c++20", "-nogpuinc", "-nogpulib", "-isystem", ROOT / "test/hip/shim", *INCLUDE, "-O1", "-Wall", "-Wextra", "-Werror"]
    run(clang, *flags, *options, "-c", "several.hip", "-o", "several.o", folder=folder)
    for architecture in targets:
        run(clang, *flags, f"--offload-arch={architecture}", "--cuda-device-only", "-S", "several.hip", "-o", "device.s", folder=folder)
        assembly = (pathlib.Path(folder) / "device.s").read_text()
        for part in targets:
            kernels = re.findall(rf"^(_Z\w*{len(part)}{part}\w*):.*?s_endpgm", assembly, re.M | re.S)
            lengths = [len(re.search(rf"^{kernel}:(.*?)s_endpgm", assembly, re.M | re.S).group(1).splitlines()) for kernel in kernels]
            if not kernels or any((length > 50) != (part == architecture) for length in lengths):
                sys.exit(f"kernels of the part {part} in the code for {architecture}: {dict(zip(kernels, lengths))} lines")


def main():
    mode, tkc, compiler, file, targets = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="parts.") as folder:
        {"parts": check_parts, "nvcc": check_nvcc, "hip": check_hip}[mode](tkc, compiler, file, targets.split(","), folder)


main()
