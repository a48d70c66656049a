# SPDX-License-Identifier: MIT
"""Applies the edits of by_hand.py to a kernel's text."""
import re


def edited(text, edits, name):
    for edit in edits:
        what, by = edit[0], edit[1]
        times = edit[2] if len(edit) > 2 else 1
        begin, end = 0, len(text)
        role = re.match(r"in (\w+): ", what)
        if role:
            what = what[role.end() :]
            begin = re.search(rf"(?m)^  worker {role[1]}\b", text).start()
            following = re.search(r"(?m)^  worker ", text[begin + 1 :])
            end = begin + 1 + following.start() if following else len(text)
        part, count = re.subn(what, by, text[begin:end])
        if count != times and not (times == 0 and count):
            raise SystemExit(f"{name}: `{what}` stands {count} times, not {times}")
        text = text[:begin] + part + text[end:]
    return text
