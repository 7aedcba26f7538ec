"""Judges the slow matcher, the slow parser, and the masks with their events by collected cases:
``python tests/tools/judge_tool_calls.py DIR [--show N]``

DIR/tools.jsonl: structural tags with outputs that follow them and outputs that do not (``spec``, ``accepts``,
``rejects``, ``invalid``, ``strict_default``, ``group``). DIR/texts.jsonl: outputs of models and the calls in them
(``parser``, ``text``, ``tools``, ``calls`` or ``facts``, ``n_calls``).
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python" / "support"))

from interlock import Index, InterlockError, Vocabulary
from interlock.events import CallEnded
from structural_tag_matcher import Matcher
from tool_call_parser import calls

#: The formats that each parser of vLLM and SGLang reads.
FORMATS = {
    "DeepSeekV32Detector": ["deepseek_v3_2"],
    "GigaChat3Detector": ["gigachat_3", "gigachat_3_1"],
    "Glm47MoeDetector": ["glm_4_7"],
    "Glm4MoeDetector": ["glm_4_5"],
    "JsonArrayParser": ["json_array"],
    "KimiK2Detector": ["kimi_k2"],
    "Lfm2Detector": ["lfm2", "lfm2_json"],
    "Llama32Detector": ["llama3_json"],
    "MistralDetector": ["mistral", "mistral_v3"],
    "PythonicDetector": ["pythonic"],
    "Qwen3CoderDetector": ["qwen3_coder"],
    "hunyuan_a13b_tool_parser": ["hunyuan_a13b"],
    "internlm2_tool_parser": ["internlm2"],
    "jamba_tool_parser": ["jamba"],
    "kimi_k2_tool_parser": ["kimi_k2"],
    "llama4_pythonic_tool_parser": ["pythonic"],
    "minimax_tool_parser": ["minimax_m1"],
    "pythonic_tool_parser": ["pythonic"],
    "qwen3coder_tool_parser": ["qwen3_coder"],
    "xlam_tool_parser": ["xlam"],
}


def lines(path):
    with open(path, encoding="utf-8") as file:
        yield from map(json.loads, file)


def judge_tags(path, show):
    counts, wrong = collections.Counter(), []
    for case in lines(path):
        try:
            matcher = Matcher(case["spec"], closed=case["group"] == "structural-tag" and case["strict_default"])
        except InterlockError as error:
            right = bool(case.get("invalid"))
            counts[case["group"], right] += 1
            wrong += [] if right else [(case["name"], "refused", str(error))]
            continue
        bad = [(text, True) for text in case["accepts"] if not matcher.accepts(text)]
        bad += [(text, False) for text in case["rejects"] if matcher.accepts(text)]
        bad += [("", "invalid")] if case.get("invalid") else []
        counts[case["group"], not bad] += 1
        wrong += [(case["name"], expected, text) for text, expected in bad]
    report("structural tags", counts, wrong, show)


def judge_texts(path, show):
    counts, wrong = collections.Counter(), []
    for case in lines(path):
        if case["parser"] not in FORMATS:
            counts[case["parser"], "no format"] += 1
            continue
        tools = {tool["function"]["name"]: tool["function"].get("parameters", True) for tool in case["tools"] or []}
        found = []
        for format in FORMATS[case["parser"]]:
            found = found or calls(format, case["text"], tools or None, exact=False)
        right = fits(case, found)
        counts[case["parser"], "says nothing" if right is None else right] += 1
        wrong += [(case["name"], case["calls"] or case["facts"], case["text"])] if right is False else []
    report("texts", counts, wrong, show)


def tools_of(case):
    """The tools of a case; where it has none, those that its text and its calls name."""
    if case["tools"]:
        return [tool.get("function", tool) for tool in case["tools"]]
    names = [call.get("function", call)["name"] for call in case["calls"] or []]
    names += [value for key, value in case["facts"] or [] if re.fullmatch(r"\.calls\[\d+\]\.name", key)]
    names += re.findall(r'"name": ?"(\w+)"', case["text"])
    return [{"name": name} for name in dict.fromkeys(names)] or [{"name": "nothing"}]


def judge_masks(path, show):
    """Whether a guide takes a text, and whether its events are the calls beside it. Texts that are not whole, calls
    that break off and values that are none are refused, which is right."""
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256)] + [b""], eos_token_ids=[256])
    counts, wrong = collections.Counter(), []
    for case in lines(path):
        data = list(case["text"].removesuffix("</s>").encode())
        best, outcome = 0, "refused"
        for strict in (None, False):
            for format in FORMATS.get(case["parser"], []):
                options = {"format": format, "reasoning": "optional", "strict": strict}
                index = Index.from_tools(tools_of(case), vocabulary, **options)
                guide = index.guide()
                best = max(best, guide.advance_many(data))
                if guide.num_tokens < len(data):
                    continue
                if not guide.is_accepting:
                    outcome = "unfinished" if outcome == "refused" else outcome
                    continue
                found = [event.call for event in index.parse(data) if isinstance(event, CallEnded)]
                right = fits(case, found)
                outcome = "other calls" if right is False and outcome in ("refused", "unfinished") else outcome
                outcome = "accepted" if right is not False else outcome
        counts[case["parser"], outcome] += 1
        shown = bytes(data[:best]).decode(errors="replace")
        wrong += [(case["name"], f"{outcome} behind {shown[-60:]!r}", case["text"])] if outcome != "accepted" else []
    report("texts under the masks", counts, wrong, show)


def fits(case, found):
    """Whether the calls that were found are those that stand beside the text; ``None`` where nothing is said."""
    if case["calls"] is not None:
        inner = [call.get("function", call) for call in case["calls"]]
        return [(call.name, call.arguments) for call in found] == [
            (call["name"], json.loads(call["arguments"])) for call in inner
        ]
    facts = [
        (re.fullmatch(r"\.calls\[(\d+)\]\.(name|parameters\|json\['(\w+)'\])", key), value)
        for key, value in case["facts"]
    ]
    facts = [(match, value) for match, value in facts if match]
    if case["n_calls"] is None and not facts:
        return None
    if case["n_calls"] is not None and len(found) != case["n_calls"]:
        return False
    for match, value in facts:
        if int(match[1]) >= len(found):
            return False
        call = found[int(match[1])]
        if (call.name if match[2] == "name" else call.arguments.get(match[3])) != value:
            return False
    return True


def report(title, counts, wrong, show):
    print(title)
    for (group, right), count in sorted(counts.items(), key=str):
        print(f"  {group:28} {right!s:12} {count}")
    for name, expected, text in wrong[:show]:
        print(f"  {name}\n    expected {str(expected)[:200]}\n    {text[:300]!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    judge_tags(options.folder / "tools.jsonl", options.show)
    judge_texts(options.folder / "texts.jsonl", options.show)
    judge_masks(options.folder / "texts.jsonl", options.show)


if __name__ == "__main__":
    main()
