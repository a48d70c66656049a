# SPDX-License-Identifier: MIT
"""errors.py [--update] TKC FILE ARG..: the errors of FILE are exactly the text of FILE.expected.

Runs tkc in FILE's folder, so that messages name it without a path; wants status 1 and nothing on standard output. If FILE holds
`// APPLY`, applies the first edit of each message and wants the result to compile. UPDATE=1 in the environment or --update
rewrites FILE.expected."""
import difflib
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def run(tkc, file, args):
    return subprocess.run([tkc, file.name, *args], cwd=file.parent, capture_output=True, timeout=60)


def apply_edits(data, messages):
    """The text with the first help that has edits of each message applied; ranges are LSP's, for ASCII lines."""
    lines = data.split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(position):
        line = lines[position["line"]].decode("utf-8")
        units = position["character"]
        return starts[position["line"]] + len(line.encode("utf-16-le")[: 2 * units].decode("utf-16-le").encode("utf-8"))

    edits = []
    for message in messages:
        for help_ in message["help"]:
            if help_["edits"]:
                edits += [(offset(e["range"]["start"]), offset(e["range"]["end"]), e["newText"].encode()) for e in help_["edits"]]
                break
    if not edits:
        sys.exit("APPLY: no message carries an edit")
    for begin, end, text in sorted(edits, reverse=True):
        data = data[:begin] + text + data[end:]
    return data


def main():
    argv = sys.argv[1:]
    update = os.environ.get("UPDATE") == "1"
    if argv[0] == "--update":
        update = True
        argv = argv[1:]
    tkc, file, args = argv[0], pathlib.Path(argv[1]).resolve(), argv[2:]
    result = run(tkc, file, args)
    found = result.stderr.decode("utf-8")
    expected_file = file.with_name(file.name + ".expected")
    if result.returncode != 1 or result.stdout:
        sys.exit(f"expected status 1 and no output, found status {result.returncode}\n{result.stdout.decode(errors='replace')}{found}")
    if update:
        expected_file.write_text(found, encoding="utf-8")
    expected = expected_file.read_text(encoding="utf-8") if expected_file.exists() else ""
    if not expected:
        sys.exit(f"{expected_file} is missing or empty; UPDATE=1 writes it:\n{found}")
    if found != expected:
        diff = difflib.unified_diff(expected.splitlines(True), found.splitlines(True), "expected", "found")
        sys.exit("".join(diff))
    data = file.read_bytes()
    if b"// APPLY" not in data:
        return
    messages = [json.loads(line) for line in run(tkc, file, [*args, "--diagnostics=json"]).stderr.splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        mended = pathlib.Path(folder) / file.name
        mended.write_bytes(apply_edits(data, messages))
        again = run(tkc, mended, args)
        if again.returncode != 0:
            sys.exit(f"with the edits applied:\n{mended.read_text()}\n{again.stderr.decode()}")


main()
