"""A message's content, a text or a list of parts, reaches the model whole through templates of both kinds."""

from __future__ import annotations

import dataclasses
import warnings

import pytest
from tiny_models import TEMPLATE

import interlock
from interlock.generators.prompts import chat_content
from interlock.generators.prompts.chat_content import messages_for, templated
from interlock.generators.prompts.described_prompt import described
from interlock.output_types import output_type_of

jinja2 = pytest.importorskip("jinja2", reason="jinja2 is not installed")

PARTS = (
    "{% for m in messages %}<{{ m.role }}>{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}{% endif %}"
    "{% endfor %}{% endfor %}"
)
BOTH = (
    "{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for p in m.content %}{{ p['text'] }}{% endfor %}{% endif %}{% endfor %}"
)
# Adding a list to a text raises; of the system only a text is read.
ADDED = "{% for m in messages %}{{ '<' + m.role + '>' + m.content | string * 0 + m.content }}{% endfor %}"
JSON = "{% for m in messages %}<{{ m.role }}>{{ m.content | tojson }}{% endfor %}"
SYSTEM_IS_TEXT = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ '<system>' + m.content }}{% else %}<{{ m.role }}>"
    "{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}{% endfor %}"
)
USERS_ALONE = "{% for m in messages if m.role == 'user' %}<user>{{ m.content }}{% endfor %}"


def part(text):
    return {"type": "text", "text": text}


CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [part("How many"), part("moons?")]},
    {"role": "assistant", "content": "Two."},
    {"role": "user", "content": [part("Sure?")]},
]


def rendering(template):
    return lambda messages: jinja2.Environment().from_string(template).render(messages=messages)


def written(template, messages):
    render = rendering(template)
    return render(messages_for(template, messages, render))


@pytest.mark.parametrize(
    "template, joiner", [(TEMPLATE, "\n"), (ADDED, "\n"), (PARTS, ""), (BOTH, ""), (SYSTEM_IS_TEXT, "")]
)
def test_every_template_gets_what_it_reads(template, joiner):
    text = written(template, CHAT)
    assert "'text'" not in text and "{" not in text
    for said in ("Be brief.", f"How many{joiner}moons?", "Two.", "Sure?"):
        assert said in text
    # The second time the answer is known.
    assert written(template, CHAT) == text


def test_a_template_that_prints_what_it_gets_gets_a_text():
    assert written(JSON, CHAT) == '<system>"Be brief."<user>"How many\\nmoons?"<assistant>"Two."<user>"Sure?"'


def test_texts_alone_are_read_without_a_template():
    assert messages_for("", CHAT, None)[1] == {"role": "user", "content": "How many\nmoons?"}
    assert messages_for("", CHAT[:1], None) == CHAT[:1]


def test_parts_of_another_type_stay_where_the_template_reads_parts():
    thinking = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, part("Two.")]}
    assert messages_for(PARTS, [thinking], rendering(PARTS)) == [thinking]
    with pytest.raises(interlock.ArgumentError, match="part 0 of message 1 is of the type 'thinking'.*texts alone"):
        messages_for(TEMPLATE, [CHAT[0], thinking], rendering(TEMPLATE))
    # The template would leave it out, and say nothing.
    other = {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    with pytest.raises(interlock.ArgumentError, match="part 0 of message 0 is of the type 'input_text'|neither"):
        messages_for(PARTS, [other], rendering(PARTS))


@pytest.mark.parametrize(
    "content, said",
    [
        (5, "content of message 1 is a text or a list of parts, not int"),
        (["Hi"], "part 0 of message 1 is str"),
        ([part("a"), {"text": "Hi"}], r"part 1 of message 1 has the keys \['text'\]"),
        ([{"type": "text"}], "part 0 of message 1 has the type 'text' and no text"),
        ([{"type": "image_url", "image_url": {"url": "x"}}], "part 0 of message 1 is of the type 'image_url'"),
        ([{"type": "input_audio"}], "reads texts alone"),
    ],
)
@pytest.mark.parametrize("template", [TEMPLATE, PARTS])
def test_a_content_that_nothing_reads(template, content, said):
    with pytest.raises(interlock.ArgumentError, match=said):
        messages_for(template, [CHAT[0], {"role": "user", "content": content}], rendering(template))


def test_a_role_that_the_template_does_not_name_warns_once():
    chat = [{"role": "user", "content": "Hi"}, {"role": "wizard", "content": "Ho"}]
    named = BOTH.replace("{% endfor %}{% endif %}", "{% endfor %}{% endif %}{# wizard #}")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for template in (BOTH, BOTH, named):
            messages_for(template, chat, rendering(template))
            messages_for(template, CHAT, rendering(template))
    assert [str(one.message).partition(":")[0] for one in seen] == [
        "message 1 has the role 'wizard', which the model's chat template does not name"
    ]


def test_a_message_that_the_template_writes_in_no_form():
    with pytest.raises(interlock.ArgumentError, match=r"message 0 \(role 'system'\) neither"):
        messages_for(USERS_ALONE, [{"role": "system", "content": [part("x")]}, CHAT[3]], rendering(USERS_ALONE))
    # A text that a template leaves out is the template's affair, as ever.
    assert messages_for(USERS_ALONE, CHAT[:1], rendering(USERS_ALONE)) == CHAT[:1]


def test_a_template_that_refuses_the_chat_says_so_itself():
    refusing = "{{ messages[0].nothing.at_all }}"
    assert messages_for(refusing, CHAT, rendering(refusing))[1]["content"] == "How many\nmoons?"


def test_messages_without_content_and_other_keys_stay():
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    bare = {"role": "assistant", "tool_calls": [{"id": "2"}]}
    empty = {"role": "user", "content": ""}
    chat = [CHAT[1], call, bare, empty]
    for template in (TEMPLATE, PARTS, BOTH):
        assert messages_for(template + " ", chat, rendering(template))[1:] == chat[1:]


def test_another_thread_may_clear_what_is_kept(monkeypatch):
    class Cleared(dict):
        def __setitem__(self, key, value):
            """What this thread adds is gone before it looks again."""

    monkeypatch.setattr(chat_content, "_known", Cleared())
    assert messages_for(TEMPLATE, CHAT, rendering(TEMPLATE))[1]["content"] == "How many\nmoons?"


@dataclasses.dataclass
class Tokenizer:
    chat_template: str

    def apply_chat_template(self, messages, tokenize=True, **options):
        assert not tokenize and options == {"add_generation_prompt": True}
        return rendering(self.chat_template)(messages)


def test_the_template_of_a_tokenizer():
    assert templated(Tokenizer(TEMPLATE), CHAT)[1]["content"] == "How many\nmoons?"
    assert templated(Tokenizer(PARTS), CHAT)[0]["content"] == [part("Be brief.")]


def test_a_description_goes_in_front_of_the_parts():
    output = output_type_of(list[int])
    made = described(CHAT, output, True)
    assert made[3]["content"] == [part(interlock.describe(list[int])), part("Sure?")]
    assert CHAT[3]["content"] == [part("Sure?")]
