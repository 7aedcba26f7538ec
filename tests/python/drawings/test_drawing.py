"""Drawings: automata, structures of schemas, their pages in a browser."""

import re
import subprocess
from html import unescape
from xml.etree import ElementTree

import browser
import pytest

import interlock
from interlock.drawing import draw
from interlock.drawing.simplified_automaton import bytewise, characters, counted, jumps, label
from interlock.drawing.automaton_svg import automaton_svg
from interlock.drawing.layers import layered
from interlock.explain import byte_vocabulary


def automaton(pattern):
    index = interlock.Index.from_regex(pattern, byte_vocabulary())
    return characters(*bytewise(index.automaton(1000)))


def accepts(graph, text):
    """Whether a graph of single characters or of runs accepts a text."""
    # A state, what was read, and how often its counted loop was taken.
    at = [(0, 0, 0)]
    for state, read, taken in at:
        if read == len(text) and state in graph.accepting:
            return True
        for e in graph.edges:
            if e.src != state or e.most and taken == e.most:
                continue
            taken_there = taken + 1 if e.most else 0
            if e.run and text.startswith(e.run, read):
                at.append((e.dst, read + len(e.run), taken_there))
            elif not e.run and read < len(text) and any(low <= ord(text[read]) <= high for low, high in e.ranges):
                at.append((e.dst, read + 1, taken_there))
    return False


@pytest.mark.parametrize(
    "pattern",
    [
        "(GET|POST) /[a-z]+( HTTP/1[.][01])?",
        "é[à-ü]?|日本.*",
        "(ab)*c",
        "aa?a?b",
        "x",
        "/?[a-z]{0,5}",
        "([a-c]{0,4};)*x?",
        "[a-c]{2,6}(b;)?",
    ],
)
def test_drawn_automata_accept_what_the_pattern_does(pattern):
    full = automaton(pattern)
    short = jumps(counted(full))
    assert len(short.states) <= len(full.states)
    texts = [
        "GET /x",
        "POST /ab HTTP/1.0",
        "GET ",
        "é",
        "éà",
        "日本",
        "日本\U0001f600 x",
        "日",
        "c",
        "abc",
        "ababc",
        "aab",
        "b",
        "x",
        "",
        "abcab",
        "abcabc",
        "abca;bcab;x",
        "abcab;",
        "/abcde",
        "/abcdef",
        "cb;",
    ]
    for text in texts:
        expected = re.fullmatch(pattern, text) is not None
        assert (accepts(full, text), accepts(short, text)) == (expected, expected), text


def test_forced_runs():
    short = jumps(automaton("(GET|POST) /[a-z]+( HTTP/1[.][01])?"))
    assert sorted((e.run, e.forced) for e in short.edges if e.run) == [(" HTTP/1.", 7), ("GET /", 4), ("POST /", 5)]
    assert [label(e) for e in automaton('[^"]|é').edges] == ['any but "']
    assert [label(e) for e in automaton("[a-z0-9_]").edges] == ["0-9 _ a-z"]


def test_what_a_page_calls_forced_is_forced():
    """The output of a page is read with the options of the index, as `inspect` and a guide read it."""
    schema = {"properties": {"item": {"type": "string"}}, "required": ["item"], "additionalProperties": False}
    for whitespace, forced, more in (("flexible", "{", True), ("compact", '{"item":"', False)):
        index = interlock.Index.from_json_schema({"type": "object", **schema}, byte_vocabulary(), whitespace=whitespace)
        drawing = index.draw()
        assert index.guide().forced_text() == forced == drawing.runs[0].text and drawing.runs[0].forced
        page = drawing.html()
        count = sum(len(run.text) for run in drawing.runs if run.forced)
        assert f"{count} of {sum(len(run.text) for run in drawing.runs)} characters are forced" in page
        assert ("with whitespace spaced and spelling plain" in page) == more


def test_counted_characters_are_one_state():
    short = counted(automaton("/[a-z]{0,40}(;|$)"))
    assert {(e.src, e.dst, label(e)) for e in short.edges} == {
        (0, 1, "/"),
        (1, 1, "a-z, at most 40 times"),
        (1, 2, ";"),
    }
    after_one = counted(automaton("0{1,30}x?"))
    assert {label(e) for e in after_one.edges} == {"0", "0, at most 29 times", "x"}
    # How many there must be is no choice, what may follow depends on how many there were, or they are too few.
    for pattern in ["[ab]{30}", "[a-z]{0,40}x", "a{0,2}"]:
        graph = automaton(pattern)
        assert len(counted(graph).states) == len(graph.states), pattern


@pytest.mark.parametrize(
    "pattern", ["(GET|POST) /[a-z]+( HTTP/1[.][01])?", "([ab]c|d[ef]g|h)*x|y{3}", "(a|b)*a(a|b){5}"]
)
def test_labels_do_not_overlap(pattern):
    drawing = ElementTree.fromstring(automaton_svg(automaton(pattern), pattern))
    space = "{http://www.w3.org/2000/svg}"
    boxes = [
        tuple(float(r.get(k)) for k in ("x", "y", "width", "height"))
        for r in drawing.iter(space + "rect")
        if r.get("class") == "b"
    ]
    assert len(boxes) >= len(automaton(pattern).edges) - 1
    for i, (x, y, w, h) in enumerate(boxes):
        for a, b, c, d in boxes[i + 1 :]:
            assert x + w <= a or a + c <= x or y + h <= b or b + d <= y
        for circle in drawing.iter(space + "circle"):
            cx, cy, r = (float(circle.get(k)) for k in ("cx", "cy", "r"))
            assert not (x - r < cx < x + w + r and y - r < cy < y + h + r), "a label covers a state"


def test_edges_that_close_no_circle_point_to_the_right():
    edges = [(0, 1), (0, 2), (1, 3), (3, 2), (2, 4), (4, 3), (4, 4), (4, 5), (0, 5)]
    placed = layered(6, edges, [20.0] * len(edges), 12.0, 10.0, 8.0)
    x = [placed.states[s].x for s in range(6)]
    assert [edge for edge in edges if x[edge[0]] >= x[edge[1]]] == [(4, 3), (4, 4)]


ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "status": {"enum": ["open", "paid"]},
        "version": {"const": 2},
        "customer": {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 80}, "home": {"$ref": "#/$defs/Address"}},
            "required": ["name"],
            "additionalProperties": False,
        },
        "work": {"anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}]},
        "items": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Item"}},
        "payment": {
            "oneOf": [
                {"properties": {"kind": {"const": "card"}, "last4": {"type": "string"}}, "required": ["kind"]},
                {"properties": {"kind": {"const": "cash"}}, "required": ["kind"], "additionalProperties": False},
            ]
        },
        "tree": {"$ref": "#/$defs/Node"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["id", "customer"],
    "additionalProperties": False,
    "$defs": {
        "Address": {"type": "object", "properties": {"zip": {"type": "string", "pattern": "^<[0-9]{5}>$"}}},
        "Item": {"type": "object", "properties": {"sku": {}, "count": {"type": "integer", "minimum": 1}}},
        "Node": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}},
    },
}


def cards(schema):
    """Each card's rows as (name, type, required, forced, title of the card that it leads to)."""
    structure = draw(schema).structure
    return {
        card.title: [
            (r.name, r.type, r.required, r.forced, None if r.target is None else structure.cards[r.target].title)
            for r in card.rows
        ]
        for card in structure.cards
    }


def test_the_structure_of_a_schema():
    drawn = cards(ORDER)
    assert drawn["document"] == [
        ("id", "uuid", True, False, None),
        ("status", '"open" | "paid"', False, False, None),
        ("version", "2", False, True, None),
        ("customer", "customer", True, False, "customer"),
        ("work", "Address or null", False, False, "Address"),
        ("items", "array of Item, at least one element", False, False, "Item"),
        ("payment", "payment", False, False, "payment"),
        ("tree", "Node", False, False, "Node"),
        ("labels", "object of string", False, False, None),
    ]
    assert [row[1:] for row in drawn["payment"]] == [
        ("card", False, False, "card"),
        ("cash", False, False, "cash"),
    ]
    assert drawn["Node"] == [("children", "array of Node", False, False, "Node")]
    assert drawn["Item"][1][1] == "integer \u2265 1"


@pytest.mark.parametrize(
    ("schema", "rows"),
    [
        (True, ["anything"]),
        ({"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 2}, ["integer 1 to 9, multiple of 2"]),
        ({"type": "array", "items": {"$ref": "#"}}, ["array of the same again"]),
        ({"type": ["string", "null"], "minLength": 1, "maxLength": 3}, ["string, 1 to 3 characters or null"]),
        ({"enum": [f"word{i}" for i in range(90)]}, ['"word0" | "word1" | "word2" | 87 more']),
        (
            {"allOf": [{"$ref": "#/$defs/a"}, {"properties": {"y": {}}}], "$defs": {"a": {"properties": {"x": {}}}}},
            None,
        ),
        ({"type": "array", "prefixItems": [{"type": "null"}, {"type": "string"}], "items": False}, ["null", "string"]),
        ({"patternProperties": {"^x": {"type": "null"}}}, ["null"]),
        ({"properties": {"a": {"anyOf": [{"$ref": "#"}, {"type": "string"}]}}}, ["document or string"]),
    ],
)
def test_structures_of_single_keywords(schema, rows):
    drawn = draw(schema).structure
    if rows is None:
        assert {row.name for row in drawn.cards[0].rows} == {"x", "y"}
    else:
        assert [row.type for row in drawn.cards[0].rows] == rows


LONG_TEXT = {"type": "string", "pattern": "[a-z]+" * 20, "minLength": 3, "maxLength": 10}


@pytest.mark.parametrize(
    ("schema", "end"),
    [
        (LONG_TEXT, "..., 3 to 10 characters"),
        (LONG_TEXT | {"type": ["string", "null"]}, "..., 3 to 10 characters or null"),
        ({"type": "array", "minItems": 1, "maxItems": 5, "items": {"enum": ["x" * 14, "y"]}}, "..., 1 to 5 elements"),
        (
            {"type": "array", "maxItems": 5, "uniqueItems": True, "items": {"type": "string", "pattern": "a" * 40}},
            "..., at most 5 elements, all different",
        ),
        ({"type": "array", "maxItems": 5, "items": LONG_TEXT}, "..., 3 to 10 characters, at most 5 elements"),
        (
            {
                "anyOf": [
                    {"type": "array", "maxItems": 5, "items": {"type": "string", "format": "f" * 50}},
                    {"const": 1},
                ]
            },
            "..., at most 5 elements or 1",
        ),
    ],
)
def test_a_row_that_is_full_keeps_its_bounds(schema, end):
    (row,) = draw({"properties": {"tags": schema}}).structure.cards[0].rows
    assert row.type.endswith(end), row.type


def test_structures_are_bounded():
    nested = {"type": "string"}
    for depth in range(400):
        nested = {"type": "object", "properties": {f"p{depth}": nested, "x": {"properties": {"y": {}}}}}
    wide = {"properties": {f"key{i}": {"type": "string", "description": "d" * 400} for i in range(3000)}}
    for schema in (nested, wide):
        drawing = draw(schema)
        assert len(drawing.html()) < 300_000
        ElementTree.fromstring(drawing.svg())


def test_cards_do_not_overlap_and_hold_their_text():
    space = "{http://www.w3.org/2000/svg}"
    drawing = ElementTree.fromstring(draw(ORDER).svg())
    boxes = [
        tuple(float(r.get(k)) for k in ("x", "y", "width", "height"))
        for r in drawing.iter(space + "rect")
        if r.get("class") == "c"
    ]
    assert len(boxes) == len(draw(ORDER).structure.cards)
    for i, (x, y, w, h) in enumerate(boxes):
        for a, b, c, d in boxes[i + 1 :]:
            assert x + w <= a or a + c <= x or y + h <= b or b + d <= y
    for group in drawing.iter(space + "g"):
        if (group.get("id") or "").startswith("ilk-"):
            box = next(r for r in group.iter(space + "rect"))
            right = float(box.get("x")) + float(box.get("width"))
            for text in group.iter(space + "text"):
                if text.get("text-anchor") != "end":
                    assert float(text.get("x")) + 6 * len("".join(text.itertext())) <= right


def test_what_can_be_drawn(tmp_path):
    vocabulary = byte_vocabulary()
    for source, form in (
        ({"type": "integer"}, "structure"),
        ('{"type": "integer"}', "structure"),
        (interlock.Index.from_json_schema({"const": 1}, vocabulary), "structure"),
        ("[a-z]+", "jumps"),
        (re.compile("A|b", re.IGNORECASE), "jumps"),
        (["yes", "no"], "jumps"),
    ):
        drawing = draw(source)
        assert drawing.form == form
        assert drawing._repr_svg_().startswith("<svg") and "<svg" in drawing._repr_html_()
    drawing = draw(ORDER, title="a <title>")
    assert repr(drawing) == "<interlock.drawing.Drawing of 'a <title>': structure>"
    for suffix in (".svg", ".html", ".mmd", ".dot"):
        drawing.save(tmp_path / f"a{suffix}")
        assert "customer" in (tmp_path / f"a{suffix}").read_text(encoding="utf-8")
    for wrong in (lambda: draw("a", "structure"), lambda: draw("a", "round"), lambda: drawing.save(tmp_path / "a.png")):
        with pytest.raises(interlock.ArgumentError):
            wrong()
    with pytest.raises(interlock.LimitError):
        draw(ORDER, "jumps", max_states=10).svg()
    # Rules of one drawing reach nothing else on a notebook's page.
    style = re.search("<style>(.*?)</style>", drawing.svg())[1]
    names = re.findall(r"(?:^|[}{])([^{}@]+)\{", style)
    assert names and all(part.strip().startswith(".ilk ") for name in names for part in name.split(","))


def test_one_output_shows_what_is_forced():
    runs = draw(["alpha", "alps", "beta"]).runs
    assert "".join(run.text for run in runs) in ("alpha", "alps", "beta")
    schema = {
        "properties": {"item": {"const": "tea"}},
        "required": ["item"],
        "additionalProperties": False,
        "type": "object",
    }
    index = interlock.Index.from_json_schema(schema, byte_vocabulary(), whitespace="spaced", spelling="plain")
    assert [(run.text, run.forced) for run in draw(index).runs] == [('{"item": "tea"}', True)]


def test_mermaid_escapes_everything():
    text = draw({"properties": {'a"]; click x': {"const": "<b>|{}"}}}).mermaid()
    assert '"];' not in text and "<b>|" not in text and "#34;" in text
    labels = re.findall(r'\["(.*)"\]', text)
    assert any('a"]; click x: "<b>|{}"' in unescape(re.sub("#(\\d+);", r"&#\1;", label)) for label in labels)


@pytest.mark.parametrize("source", [ORDER, "(GET|POST) /[a-z]+[^a]?", ['"', "\\", "<b>"]])
def test_graphviz_takes_dot(source, tmp_path):
    try:
        done = subprocess.run(["dot", "-Tsvg"], input=draw(source).dot().encode(), capture_output=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("Graphviz is not installed")
    assert done.returncode == 0 and done.stderr == b""
    ElementTree.fromstring(done.stdout)


def test_what_is_not_drawn_is_counted_and_can_be_drawn():
    """Rows, values of an enum, elements and notes, and not only boxes."""
    schema = {
        "type": "object",
        "properties": {"c": {"enum": [f"value {i}" for i in range(90)]}, **{f"p{i}": {} for i in range(50)}},
        "patternProperties": {f"^x{i}": {} for i in range(45)},
        "dependentRequired": {f"p{i}": ["c"] for i in range(9)},
    }
    first = draw(schema).structure.cards[0]
    shown = first.rows[0].type.count("value")
    assert draw(schema).counts()["left_out"] == (90 - shown) + (51 - 40) + 5 + 5
    drawn = draw(schema, everything=True)
    assert drawn.counts()["left_out"] == 0
    text = drawn.mermaid()
    assert all(f"value {i}#34;" in text for i in range(90)) and "p49" in text and "x44" in text and "more" not in text
    grammar = interlock.Grammar("start: " + " | ".join(f'"w{i}"' for i in range(60)))
    assert draw(grammar).counts()["left_out"] == 20 and draw(grammar, everything=True).counts()["left_out"] == 0


@pytest.fixture(scope="module")
def page():
    if browser.found() is None:
        pytest.skip("there is no Chromium")
    with browser.Browser() as opened:
        yield opened


BOX = "(b => [b.x, b.y, b.width, b.height])(document.querySelector('.view svg').viewBox.baseVal)"


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_in_a_browser(page, dark, tmp_path):
    draw(ORDER, title="order.json").save(tmp_path / "order.html")
    page.scheme(dark)
    page.open(tmp_path / "order.html")
    assert page.js("document.querySelectorAll('svg title').length") == 0  # They became tooltips.
    back, text = page.js(
        "[getComputedStyle(document.querySelector('.bg')).fill, getComputedStyle(document.querySelector('text')).fill]"
    )
    light = [sum(map(int, re.findall(r"\d+", colour))) / 3 > 128 for colour in (back, text)]
    assert light == [not dark, dark]
    # Everything is at least nine pixels high, and what is drawn is not outside of its window.
    assert (
        page.js("Math.min(...[...document.querySelectorAll('.view text')].map(t => t.getBoundingClientRect().height))")
        > 7
    )
    left, top, right, bottom = page.js(
        "(r => [r.left, r.top, r.right, r.bottom])(document.querySelector('.view').getBoundingClientRect())"
    )
    # The wheel zooms at the pointer: the point under it stays where it is.
    x, y = left + 300, top + 120
    inverse = "document.querySelector('.view svg').getScreenCTM().inverse()"
    point = f"(p => [p.x, p.y])(new DOMPoint({x}, {y}).matrixTransform({inverse}))"
    before, box = page.js(point), page.js(BOX)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
    page.js("new Promise(done => setTimeout(done, 100))")
    after = page.js(point)
    assert page.js(BOX)[2] < box[2] * 0.8
    assert abs(after[0] - before[0]) < 1 and abs(after[1] - before[1]) < 1
    # Dragging moves.
    box = page.js(BOX)
    page.mouse("mousePressed", x, y, button="left", clickCount=1)
    page.mouse("mouseMoved", x + 60, y + 30, button="left", buttons=1)
    page.mouse("mouseReleased", x + 60, y + 30, button="left", clickCount=1)
    moved = page.js(BOX)
    assert moved[0] < box[0] - 10 and moved[1] < box[1] - 5 and moved[2] == box[2]
    # The buttons zoom and show everything again.
    page.js("document.querySelector('.out').click()")
    assert page.js(BOX)[2] > moved[2] * 1.2
    page.js("document.querySelector('.fit').click()")
    # Pointing at a row says more.
    row = "[...document.querySelectorAll('[data-tip]')].find(e => e.dataset.tip.includes('maxLength'))"
    x, y = page.js(f"(r => [r.left + 20, r.top + 8])({row}.getBoundingClientRect())")
    page.mouse("mouseMoved", x, y)
    tip = "(t => [t.style.display, t.textContent])(document.getElementById('tip'))"
    shown, said = page.js(tip)
    assert shown == "block" and "80" in said
    # A click on what is drawn elsewhere goes there.
    box = page.js(BOX)
    x, y = page.js(
        "(r => [r.left + 20, r.top + 8])([...document.querySelectorAll('[data-go]')]"
        ".find(e => e.textContent.includes('home')).getBoundingClientRect())"
    )
    page.click(x, y)
    assert page.js(BOX) != box and page.js("document.querySelectorAll('.flash').length") == 1
    page.check()
    page.screenshot(tmp_path / "order.png")
    assert (tmp_path / "order.png").stat().st_size > 10_000


def test_the_page_of_a_pattern_in_a_browser(page, tmp_path):
    draw("(GET|POST|DELETE) /[a-z]+(/[0-9]+)?").save(tmp_path / "request.html")
    page.open(tmp_path / "request.html")
    assert page.js("document.querySelectorAll('.view').length") == 2
    heights = page.js("[...document.querySelectorAll('.view text.r')].map(t => t.getBoundingClientRect().height)")
    assert heights and min(heights) > 9
    assert page.js("document.querySelector('pre').textContent").split()[0] in ("GET", "POST", "DELETE")


def test_ends_of_lines_and_control_characters_are_written_as_escapes():
    """A tooltip or a title with a line in it is read as the source spells it, and no sign stands for what is lost."""
    index = interlock.Index.from_choices(["ab\nc\td\x01", "ab\nx"], byte_vocabulary())
    schema = {"title": "A\nB", "properties": {"k\n": {"const": "x\r\n"}}, "additionalProperties": False}
    drawings = [draw(index, title="t\n"), draw(interlock.Index.from_json_schema(schema, byte_vocabulary()))]
    for drawing in drawings:
        for form in ("svg", "html", "dot", "mermaid"):
            assert "\ufffd" not in getattr(drawing, form)(), form
    svg, html = drawings[0].svg(), drawings[0].html()
    assert r"<title>forced: ab\n</title>" in svg and r"<title>forced: c\td\x01</title>" in svg
    assert r"<title>t\n</title>" in svg and r"<title>t\n</title>" in html
    # The output of a page stands there line by line.
    assert "<pre><span class='run'>ab\n</span>" in html
    assert r">A\nB</text>" in drawings[1].svg() and r">k\n</text>" in drawings[1].svg()
    assert "A#92;nB" in drawings[1].mermaid() and r"<B>A\nB</B>" in drawings[1].dot()
