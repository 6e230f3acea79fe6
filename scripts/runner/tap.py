# SPDX-License-Identifier: BSD-2-Clause
"""Reads what one test printed: TAP, and its exit status."""
import fnmatch
import re

SKIP = re.compile(r"#\s*skip\S*\s*(.*)", re.I)
LINE = re.compile(r"(not )?ok\b *\d* *(?:- *)?(.*)")


class Result:
    """passed: how many tests; failed and skipped: lines, each with the name of
    the file; notes: comments of the test before each failure; cut: ended,
    because the whole run had to."""

    def __init__(self, name, text, rc, seconds, why=""):
        self.name, self.seconds, self.cut = name, seconds, False
        self.passed, self.failed, self.skipped, self.notes = 0, [], [], {}
        plan, seen, comments, whole = None, 0, [], False
        for line in text.splitlines():
            if line.startswith("1.."):
                plan = int(re.match(r"\d*", line[3:])[0] or 0)
                skip = SKIP.search(line)
                if skip and not plan:
                    whole = True
                    self.skipped.append(f"{name}: {skip[1]}")
            elif line.startswith("Bail out!"):
                self.fail(line, comments)
            elif line.startswith("#"):
                comments.append(line)
            elif LINE.match(line):
                seen += 1
                self.one(*LINE.match(line).groups(), comments)
                comments = []
        if why:
            self.fail(why, comments)
        elif not whole:
            self.end(plan, seen, rc, comments)

    def one(self, bad, text, comments):
        skip = SKIP.search(text)
        if bad:
            self.fail(text, comments)
        elif skip:
            self.skipped.append(
                f"{self.name}: {text[:skip.start()].strip()}: {skip[1]}")
        else:
            self.passed += 1

    def end(self, plan, seen, rc, comments):
        """A program may fail without having said so."""
        if plan is None:
            self.fail("printed no plan", comments)
        elif plan != seen:
            self.fail(f"planned {plan} tests but ran {seen}", comments)
        elif rc and not self.failed:
            self.fail(f"ended with exit status {rc}", comments)

    def fail(self, text, comments):
        line = f"{self.name}: {text}"
        self.failed.append(line)
        self.notes[line] = comments[-60:]


def allowed_skips(path):
    """The patterns of a file, without comments."""
    with open(path, encoding="utf-8") as f:
        return [line.strip() for line in f
                if line.strip() and not line.startswith("#")]


def is_allowed(skip, patterns):
    return any(fnmatch.fnmatchcase(skip, p) for p in patterns)
