"""The answers of ``check`` as JUnit XML, which CI systems read: a test case for each document."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from interlock.cli.checking.verdict import Verdict
from interlock.cli.terminal import atomic_files

_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""


class JunitReport:
    """The test cases of a run; ``path`` is the file that is written at its end."""

    def __init__(self, path: str, source: str) -> None:
        atomic_files.refuse_folder(path)
        self.path, self.source = path, source
        self.cases: list[str] = []
        self.refused = 0

    def add(self, name: str, verdict: Verdict) -> None:
        """Add a document."""
        head = f"  <testcase classname={_attribute(self.source)} name={_attribute(name)}"
        if verdict.accepted:
            self.cases.append(f"{head}/>\n")
            return
        self.refused += 1
        lines = [str(line) for line in verdict.people] or [verdict.brief]
        told = escape(_shown("\n".join(lines)))
        failure = f"    <failure message={_attribute(verdict.brief)}>{told}</failure>\n"
        self.cases.append(f"{head}>\n{failure}  </testcase>\n")

    def write(self) -> None:
        """Write the file."""
        head = f'tests="{len(self.cases)}" failures="{self.refused}" errors="0" skipped="0"'
        suite = f"<testsuite name={_attribute('interlock check ' + self.source)} {head}>\n"
        text = '<?xml version="1.0" encoding="UTF-8"?>\n' + suite + "".join(self.cases) + "</testsuite>\n"
        atomic_files.write_text(self.path, text)


def _shown(text: str) -> str:
    return _NO_XML.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)


def _attribute(text: str) -> str:
    return quoteattr(_shown(text), {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"})
