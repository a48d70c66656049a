# SPDX-License-Identifier: MIT
"""check_trace.py T.json T.svg: both are well-formed and tell of the workers, copies, products and stores of gemm."""
import json
import sys
import xml.etree.ElementTree

events = json.load(open(sys.argv[1]))["traceEvents"]
threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
spans = [e for e in events if e["ph"] == "X"]
names = " ".join(threads.values())
for wanted in ("load, warp 0", "compute[0], warp 4", "compute[1], warp 8", "copies in", "copies out", "tensor core, compute[1]"):
    assert wanted in names, (wanted, names)
kinds = {e["cat"] for e in spans}
assert kinds == {"instruction", "wait", "copy in", "matrix", "copy out"}, kinds
assert {e["name"] for e in spans if e["cat"] == "matrix"} == {"acc += a.rows(w / WN) @ b.cols(w % WN)"}
assert all(e["dur"] > 0 and e["ts"] >= 0 for e in spans)
# A thread shows one thing at a time.
for thread in threads:
    end = 0.0
    for e in sorted((e for e in spans if (e["pid"], e["tid"]) == thread), key=lambda e: e["ts"]):
        assert e["ts"] >= end - 1e-6, (threads[thread], e)
        end = e["ts"] + e["dur"]
# 256 x 256 x 256: four tiles, each fetches all of its rows and columns once.
fetched = sum(e["args"].get("bytes", 0) for e in spans if e["cat"] == "copy in")
assert fetched == 4 * (128 * 256 + 256 * 128) * 2, fetched
stored = sum(e["args"].get("bytes", 0) for e in spans if e["cat"] == "copy out")
assert stored == 256 * 256 * 2, stored

svg = xml.etree.ElementTree.parse(sys.argv[2]).getroot()
space = "{http://www.w3.org/2000/svg}"
texts = [t.text for t in svg.iter(space + "text")]
for wanted in ("load, warp 0", "compute[0], warp 4", "copies in", "tensor core, compute[0]", "waiting", "matrix products"):
    assert wanted in texts, (wanted, texts)
titles = [t.text for t in svg.iter(space + "title")]
assert any("acc += a.rows(w / WN) @ b.cols(w % WN)  (gemm.tk:" in t for t in titles), titles[:5]
left, right = 168, 1180 - 12
for rect in svg.iter(space + "rect"):
    x, width = float(rect.get("x", 0)), float(rect.get("width"))
    assert 0 <= x and x + width <= 1180.5, (x, width)
