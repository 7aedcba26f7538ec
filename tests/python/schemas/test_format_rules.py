"""The rule of its format that a text breaks: each in the format's words, and none for a text that the engine takes."""

import json
import random
import re
from pathlib import Path

import pytest
from engine_lists import assert_core_knows, known_formats

import interlock
from interlock.explain import byte_vocabulary, explain
from interlock.string_formats import FORMATS, broken_rule
from interlock.string_formats.patterns import left_out

BROKEN = [
    ("date", "2026-04-31", "April has 30 days, not 31"),
    ("date", "2026-13-01", "there is no month 13"),
    ("date", "2026-00-01", "there is no month 00"),
    ("date", "2026-01-00", "there is no day 00"),
    ("date", "2026-02-29", "2026 is no leap year, so that February has 28 days"),
    ("date", "1900-02-29", "1900 is no leap year"),
    ("date", "2024-02-30", "February has 29 days, not 30"),
    ("date", "2026-02-30", "February has 28 days, not 30"),
    ("date", "14.3.2026", "four digits, two and two"),
    ("time", "25:00:00Z", "the hours are 25; they go up to 23"),
    ("time", "23:60:00Z", "the minutes are 60; they go up to 59"),
    ("time", "12:00:61Z", "the seconds are 61; they go up to 59"),
    ("time", "12:00:60Z", "leap second"),
    ("time", "12:00:00", "the offset from UTC is missing"),
    ("time", "12:00", "the seconds are missing"),
    ("time", "12:00:00+24:00", "the hours of the offset are 24"),
    ("time", "12:00:00+01:60", "the minutes of the offset are 60"),
    ("time", "noon", "two digits each"),
    ("date-time", "2026-04-31T12:00:00Z", "April has 30 days, not 31"),
    ("date-time", "2026-04-30T24:00:00Z", "the hours are 24"),
    ("date-time", "2026-04-30", "the time is missing"),
    ("date-time", "2026-04-30 12:00:00Z", 'T stands between the date and the time, not " "'),
    ("date-time", "now", "a date, a T and a time"),
    ("duration", "3D", "begins with P"),
    ("duration", "P", "nothing follows the P"),
    ("duration", "P1DT", "nothing follows the T"),
    ("duration", "PT1.5H", "without a fraction"),
    ("duration", "P1", '"1" has no unit behind it'),
    ("duration", "PD", '"D" has no number before it'),
    ("duration", "P1X", '"X" is no unit'),
    ("duration", "p1x", '"x" is no unit'),
    ("duration", "pt1h2s", "minutes are missing between hours and seconds; 0M"),
    ("duration", "p1dt", "nothing follows the t"),
    ("duration", "p", "nothing follows the p"),
    ("duration", "pd", '"d" has no number before it'),
    ("duration", "p1w2d", "weeks stand alone"),
    ("duration", "PT1\u00df", '"\u00df" is no unit'),
    ("duration", "PT1\u017f", '"\u017f" is no unit'),
    ("duration", "P1H", "hours stand behind a T"),
    ("duration", "PT1D", "days stand before the T"),
    ("duration", "P1W2D", "weeks stand alone"),
    ("duration", "P1D2M", "months stand behind days; the order is years, months, days"),
    ("duration", "P1Y2D", "months are missing between years and days; 0M"),
    ("duration", "PT1H2S", "minutes are missing between hours and seconds; 0M"),
    ("email", "ada", "it has no @"),
    ("email", "@example.org", "nothing stands before the @"),
    ("email", "ada@", "nothing stands behind the @"),
    ("email", "a" * 65 + "@example.org", "65 characters; at most 64"),
    ("email", ".a@example.org", "begins with a dot"),
    ("email", "a.@example.org", "ends with a dot"),
    ("email", "a..b@example.org", "two dots side by side"),
    ("email", "a@b@example.org", "more than one @"),
    ("email", "a b@example.org", '" " may not stand before the @'),
    ("email", "\u00fc@example.org", "idn-email has characters beyond ASCII"),
    ("email", '"a@example.org', "is not closed"),
    ("email", '"a"b@example.org', '"b" stands between the closing quotation mark and the @'),
    ("email", '"a\tb"@example.org', "it is a control character"),
    ("idn-email", '"\\\u00fc"@example.org', '"\u00fc" may not stand behind a backslash'),
    ("email", "a@-b.org", 'the label "-b" begins with a hyphen'),
    ("email", "a@b..org", "the part behind the @ has two dots side by side"),
    ("email", "a@[1.2.3]", "in the brackets, it has 3 numbers"),
    ("email", "a@[1.2.3.4", "the bracket behind the @ is not closed"),
    ("email", "a@[::1]", "has IPv6: in front"),
    ("idn-email", "\u00fc" * 33 + "@example.org", "66 bytes of UTF-8; at most 64"),
    ("idn-email", "a@b_c.org", '"_" may not stand in the label'),
    ("hostname", "", "it is empty"),
    ("hostname", "-x.org", "begins with a hyphen"),
    ("hostname", "x-.org", "ends with a hyphen"),
    ("hostname", "x_y.org", "letters, digits and hyphens may"),
    ("hostname", "\u00fc.org", "idn-hostname has letters beyond ASCII"),
    ("hostname", "a" * 64 + ".org", "64 characters; at most 63"),
    ("hostname", ".".join(["abcdefg"] * 32), "255 characters; at most 253"),
    ("hostname", ".org", "begins with a dot"),
    ("hostname", "org.", "ends with a dot"),
    ("hostname", "a..b", "two dots side by side"),
    ("idn-hostname", "-\u00fc.org", "begins with a hyphen"),
    ("idn-hostname", "a\u3002\u3002b", "two dots side by side"),
    ("idn-hostname", "\u00fc\ue000", '"\ue000" may not stand in the label'),
    ("ipv4", "1.2.3", "it has 3 numbers; an address has 4"),
    ("ipv4", "1.2.3.256", "above 255"),
    ("ipv4", "1.2.3.04", "has a 0 in front"),
    ("ipv4", "1.2.3.x", '"x" is no number'),
    ("ipv4", "1.2..3", "a number is missing"),
    ("ipv6", ":::1", "more than two colons"),
    ("ipv6", "1::2::3", ":: stands in it twice"),
    ("ipv6", "1:2:3", "it has 3 groups; 8 are needed"),
    ("ipv6", "1::2:3:4:5:6:7:8", "8 groups beside ::"),
    ("ipv6", "12345::", "5 digits; at most 4"),
    ("ipv6", "fe80::1%eth0", '"%" may not stand'),
    ("ipv6", ":1::", "a single colon"),
    ("ipv6", "::1.2.3", "its end has 3 numbers"),
    ("ipv6", "::1.2.3.4:5", "at its end alone"),
    ("uri", "/a", "does not begin with a scheme"),
    ("uri", "http://a b", '" " may not stand in a uri; write %20'),
    ("uri", "http://a/%zz", "hexadecimal digits do not follow a %"),
    ("uri", "http://a/\u00fc", "write %C3%BC; iri has letters beyond ASCII"),
    ("uri", "http://a:b/", 'the port "b" is no number'),
    ("uri", "http://a/#b#c", "# stands in it twice"),
    ("uri", "http://a/[b]", "write %5B"),
    ("uri", "http://[::1/", "is not closed"),
    ("uri", "http://[1:2]/", "in the brackets, it has 2 groups"),
    ("uri", "http://a@b@c/", "%40"),
    ("uri", "http://a]/", '"]" may not stand here'),
    ("uri", "http://a[@b/", "write %5B"),
    ("uri", "http://[::1]@b/", "write %5B"),
    ("uri", "http://[v1]/", 'a hexadecimal version, a dot and an address follow the v, not "1"'),
    ("uri", "http://[v1.a[]/", 'follow the v, not "1.a["'),
    ("uri-reference", "//a[", '"[" may not stand here'),
    ("uri-reference", "1a:b", '"1a:" is no scheme'),
    ("uri-reference", "a\\b", "write %5C"),
    ("iri", "a", "does not begin with a scheme"),
    ("iri", "http://a b", '" " may not stand in an iri; write %20'),
    ("iri", "http://a/\ue000", '"\ue000" may not stand outside of the query'),
    ("iri", "http://a/#\ue000", "write %EE%80%80"),
    ("iri", "http://a/\ufffe!", '"\ufffe" may not stand in an iri'),
    ("iri-reference", "\u00fc|", "write %7C"),
    ("uri-template", "/{a", "a { is not closed"),
    ("uri-template", "/a}", "a } closes nothing"),
    ("uri-template", "/{}", "has no name in it"),
    ("uri-template", "/{a b}", '"a b" is no name of a variable'),
    ("uri-template", "/a b", "write %20"),
    ("uri-template", "/\ufffe", '"\ufffe" may not stand outside of braces'),
    ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d1638", "31 hexadecimal digits"),
    ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d1638g", '"g" is no hexadecimal digit'),
    ("uuid", "2eb8aa08aa9811eab4aa73b441d16380", "hyphens stand behind the digits"),
    ("json-pointer", "a/b", "begins with /"),
    ("json-pointer", "#/a", "# is for a reference"),
    ("json-pointer", "/a~2", "neither 0 nor 1 follows a ~"),
    ("relative-json-pointer", "/a", "begins with a number"),
    ("relative-json-pointer", "01", "has a 0 in front"),
    ("relative-json-pointer", "1a", '"a" may not stand behind the number'),
    ("relative-json-pointer", "1/~", "neither 0 nor 1 follows a ~"),
    ("regex", "(a", "unterminated group"),
    ("regex", "a{3,1}", "out of order"),
]
EXAMPLES = {
    "date": ["2024-02-29", "0000-02-29", "2000-02-29"],
    "time": ["23:59:60Z", "00:59:60+01:00", "12:00:00.5z"],
    "date-time": ["2016-12-31T23:59:60Z", "2026-01-01t00:00:00-00:00"],
    "duration": ["P3W", "P1Y2M3DT4H5M6S", "PT5M", "P1M2D", "PT1M2S"],
    "email": ['"a@ \\"b"@c', "a@[1.2.3.4]", "a@[IPv6:::1]", "!#$%&'*+-/=?^_`{|}~@a-b.c1", "a" * 64 + "@b"],
    "idn-email": ["\u00fc" * 32 + "@b\u00fccher.example", "\u00fc.\u4e00@x"],
    "hostname": ["a", "1a.2-b", "a" * 62],
    "idn-hostname": ["l\u00b7l", "a\u3002b\uff0ec", "\u05d0\u05d1"],
    "ipv4": ["0.0.0.0", "255.255.255.255"],
    "ipv6": ["::", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "::1.2.3.4", "1::8"],
    "uri": ["a:", "http://u:p@[::1]:80/a;b=c?d#e", "http://[v1.a:b]/", "x://a:/", "mailto:a@b"],
    "uri-reference": ["", "//a", "?a", "#", "a/b:c", "./a:b"],
    "iri": ["http://\u00fc:p@\u4e00/?\ue000#\u00e9"],
    "iri-reference": ["\u00fc/\u00e9:a"],
    "uri-template": ["{+a,b*}{/c:10}{?d.e}{=f}", "it's%20\u00fc", "{%41_}"],
    "json-pointer": ["", "/", "/a~0b~1c//\u00fc{}"],
    "relative-json-pointer": ["0", "10#", "0/a~0"],
    "regex": ["(?:a|b)*[^a-z]{2,3}?$", "[]", "\\d+(?=a)"],
    "uuid": ["2EB8aa08-aa98-11ea-b4aa-73b441d16380"],
}


NEAR = '09aZ.-:/@%~#[]{}" +\\TPWtpw\u00fc\u4e00\u00df\u017f\u0301\u0663\uff11\u200d\ue000\ufffe\x85\0\n'
"""Characters that are put into examples, besides their own."""


def engine(schema):
    """Whether a schema's index takes a text."""
    guide = interlock.Index.from_json_schema(schema, byte_vocabulary()).guide()

    def accepts(text):
        guide.reset()
        data = json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return guide.advance_many(list(data)) == len(data) and guide.is_accepting

    return accepts


@pytest.mark.parametrize(("name", "text", "said"), BROKEN)
def test_a_broken_rule_is_said_in_the_words_of_the_format(name, text, said):
    assert name in FORMATS, f"FORMATS of python/interlock/string_formats has no row for {name}"
    assert said in broken_rule(name, text)
    assert_core_knows(name)
    index = interlock.Index.from_json_schema({"type": "string", "format": name}, byte_vocabulary())
    (problem,) = explain(index, json.dumps(text)).problems
    assert problem.message.endswith(f" is no {name} (format): {broken_rule(name, text)}")


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_refused_texts_break_a_rule_or_are_left_out_and_taken_ones_break_none(name):
    assert_core_knows(name)
    accepts, certainly_not = (
        engine({"type": "string", "format": name}),
        engine({"type": "string", "not": {"format": name}}),
    )
    assert name in EXAMPLES, f"EXAMPLES has texts that are of the format {name}"
    examples = [FORMATS[name].example, *EXAMPLES[name]]
    for text in examples:
        assert accepts(text) and not broken_rule(name, text), text
    chance = random.Random(name)
    letters = sorted({*"".join(examples), *NEAR})
    found = {"taken": 0, "breaks a rule": 0, "left out": 0}
    refused = []
    for _ in range(3_000):
        text = list(chance.choice(examples))
        for _ in range(chance.randint(1, 3)):
            at = chance.randint(0, len(text))
            text[at : at + chance.randint(0, 2)] = chance.choices(letters, k=chance.randint(0, 2))
        made = "".join(text)
        rule = broken_rule(name, made)
        if accepts(made):
            assert not rule, (made, rule)
            found["taken"] += 1
        else:
            # What the format's `not` refuses as well may be of the standard: such a text breaks no rule.
            assert rule or not certainly_not(made), made
            found["breaks a rule" if rule else "left out"] += 1
            refused.append(made)
    assert found["taken"] > 20 < found["breaks a rule"], found
    index = interlock.Index.from_json_schema({"type": "string", "format": name}, byte_vocabulary())
    is_narrower = any(row.enforcement == "narrower" and row.keyword == "format" for row in index.report)
    assert is_narrower or not found["left out"], found
    for made in refused[:20]:
        (problem,) = explain(index, json.dumps(made, ensure_ascii=False)).problems
        _, _, why = problem.message.partition(f" is no {name} (format)")
        assert why == f": {broken_rule(name, made)}" or why.startswith(", or one that interlock leaves out: "), why


def test_a_core_that_is_older_than_a_format_is_named():
    with pytest.raises(AssertionError, match="does not know the format mac: run make dev"):
        assert_core_knows("mac")


def test_the_formats_in_python_are_those_of_the_engine():
    differ = sorted(set(FORMATS) ^ known_formats())
    where = "FORMATS of a file of python/interlock/string_formats, and KNOWN of src/schema/format/mod.rs"
    assert not differ, f"{where}, differ in {differ}"
    untold = sorted(set(FORMATS) - {name for name, _, _ in BROKEN})
    assert not untold, f"BROKEN has texts that break a rule of the formats {untold}"


def test_a_text_that_breaks_no_rule_has_the_place_where_the_engine_stops(monkeypatch):
    monkeypatch.delitem(FORMATS, "iri")
    index = interlock.Index.from_json_schema({"type": "string", "format": "iri"}, byte_vocabulary())
    (problem,) = explain(index, json.dumps("http://a/\ufffe!")).problems
    assert problem.message.endswith('is no iri (format): "\ufffe" does not fit as character 10')


def test_a_lone_surrogate_is_no_failure():
    for name in FORMATS:
        assert isinstance(broken_rule(name, "a\ud800@b\udfff"), str)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[A-z]", 'the range "A-z"; ranges in classes'),
        ("[a-z!-/]", 'the range "!-/"'),
        ("((((a))))", "a group inside three others"),
        ("(?<n>a)(?<m>b)", "a second named group"),
        ("((?<n>a))", "a named group inside another group"),
        ("a{100}", 'the count "{100}"; counts have at most two digits'),
        ("a{10,20}", 'the count "{10,20}"; the lower of two bounds has one digit'),
        (r"(a)\1", "the back reference"),
        (r"\p{L}", "the escape"),
        ("[&]", "groups nest three deep, at most one is named"),
    ],
)
def test_the_part_of_a_pattern_that_is_left_out_is_named(text, named):
    index = interlock.Index.from_json_schema({"type": "string", "format": "regex"}, byte_vocabulary())
    told = str(explain(index, json.dumps(text)))
    assert f"leaves out: {named}" in told
    assert ("at most one is named, outside" in told) == (text == "[&]")


@pytest.mark.parametrize("text", ["(?<n_1>a)", "(?<n>(((a))))", r"[\d-]", "a{9,99}", "(?:(?=(a)))", r"\(\(\(\("])
def test_nothing_is_named_in_a_pattern_that_is_taken(text):
    assert left_out(text) == ""


@pytest.mark.parametrize("spelling", ["any", "plain"])
def test_spelling_leaves_all_texts_of_a_time(spelling):
    """As docs/json-schema.md says, with the pattern that it names for those who want fewer."""
    long = f"2020-01-01T00:00:00.{'5' * 400}Z"
    lower = ["2020-01-01t00:00:00z", "2016-12-31t23:59:60z", "2020-01-01T00:00:00-00:00", long]
    six = ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00.123456Z"]
    page = (Path(__file__).parents[3] / "docs" / "json-schema.md").read_text(encoding="utf-8")
    narrow = json.loads(re.findall(r'^`(\{"format": "date-time", .*?\})` leaves UTC', page, re.M)[0])
    for schema, taken, refused in (
        ({"format": "date-time"}, lower + six, ["2020-01-01 00:00:00Z", "2020-01-01T00:00:00.Z"]),
        (narrow, six, [*lower, "2020-01-01T00:00:00.1234567Z"]),
    ):
        index = interlock.Index.from_json_schema({"type": "string", **schema}, byte_vocabulary(), spelling=spelling)
        for text in taken + refused:
            written = json.dumps(text).encode()
            guide = index.guide()
            assert (guide.advance_many(written) == len(written) and guide.is_accepting) == (text in taken), text
