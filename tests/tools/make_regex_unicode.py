"""Writes tests/data/regex/python_unicode.json: CPython's classes and case equivalences, code point by code point.

`classes` maps an escape (with `a` for the ASCII flag) to ranges; `fold` lists, for each letter with a case, all code
points that it matches under the `i` flag; `names` holds what names of groups begin and go on with; `assigned` holds the
ranges that CPython's Unicode assigns. Takes a minute.
"""

import json
import re
import unicodedata

POINTS = [i for i in range(0x110000) if not 0xD800 <= i < 0xE000]
ALL = "".join(map(chr, POINTS))


def ranges(points):
    out = []
    for p in points:
        if out and out[-1][1] == p - 1:
            out[-1][1] = p
        else:
            out.append([p, p])
    return out


def main():
    classes = {}
    for name in "dws":
        for suffix, flags in (("", 0), ("a", re.A)):
            classes[name + suffix] = ranges(map(ord, re.findall("\\" + name, ALL, flags)))
    cased = [i for i in POINTS if chr(i).lower() != chr(i) or chr(i).upper() != chr(i)]
    groups = {tuple(map(ord, re.findall(re.escape(chr(i)), ALL, re.I))) for i in cased}
    assigned = ranges(i for i in POINTS if unicodedata.category(chr(i)) != "Cn")
    names = {
        "start": ranges(i for i in POINTS if chr(i).isidentifier()),
        "continue": ranges(i for i in POINTS if ("a" + chr(i)).isidentifier()),
    }
    data = {"unicode": unicodedata.unidata_version, "classes": classes, "fold": sorted(groups), "names": names}
    data["assigned"] = assigned
    with open("tests/data/regex/python_unicode.json", "w") as f:
        json.dump(data, f, separators=(",", ":"))
        f.write("\n")


main()
