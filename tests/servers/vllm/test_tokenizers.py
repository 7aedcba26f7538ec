"""The vocabularies of vLLM's own tokenizer classes: its wrapper of Mistral's tokenizers, with files that a package
ships."""

from pathlib import Path

import mistral_common
import pytest

import interlock
from interlock.integrations.server_counts import Counts
from interlock.integrations.vllm.options import Options
from interlock.integrations.vllm.vocabulary import speller_of, vocabulary_of

DATA = Path(mistral_common.__file__).parent / "data"
#: A file of each kind, and the name that vLLM looks for in a model's folder.
FILES = {
    "tekken": ("tekken_240911.json", "tekken.json"),
    "sentencepiece": ("mistral_instruct_tokenizer_240323.model.v3", "tokenizer.model.v3"),
}


@pytest.fixture(scope="module", params=FILES)
def tokenizer(request, tmp_path_factory):
    from vllm.tokenizers.mistral import MistralTokenizer

    shipped, name = FILES[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    (folder / name).write_bytes((DATA / shipped).read_bytes())
    return MistralTokenizer.from_pretrained(folder)


PROMPT = "Answer:\n"


def behind_the_prompt(tokenizer, text):
    """The prompt's tokens, and those of ``text`` behind it. At a beginning sentencepiece would add a blank."""
    prompt, whole = (tokenizer.encode(part, add_special_tokens=False) for part in (PROMPT, PROMPT + text))
    assert whole[: len(prompt)] == prompt
    return prompt, whole[len(prompt) :]


def schema_of(properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def test_mistrals_wrapper(tokenizer, tmp_path):
    size = (tokenizer.vocab_size + 127) // 128 * 128
    counts = Counts()
    vocabulary = vocabulary_of(tokenizer, size, Options(cache_dir=str(tmp_path)), counts)
    assert vocabulary.size == size and vocabulary.eos_token_ids == [tokenizer.eos_token_id]
    special = set(tokenizer.all_special_ids) - {tokenizer.eos_token_id}
    assert special and special <= set(vocabulary.special_token_ids)

    schema = schema_of({"city": {"type": "string"}, "wind": {"type": "integer"}, "note": {"type": "string"}})
    guide = interlock.Index.from_json_schema(schema, vocabulary, whitespace="spaced").guide()
    _, ids = behind_the_prompt(tokenizer, '{"city": "Zürich", "wind": 3, "note": "日本語 — 🐘"}')
    assert guide.advance_many(ids) == len(ids), guide.explain(ids[guide.num_tokens])
    assert not guide.validate([min(special)])
    guide.advance(tokenizer.eos_token_id)
    assert guide.is_terminated

    # A later start finds it kept.
    assert vocabulary_of(tokenizer, size, Options(cache_dir=str(tmp_path)), counts) == vocabulary
    assert counts.vocabulary_seconds.value("pack") > 0


def test_forced_tokens_are_what_mistrals_wrapper_encodes(tokenizer, tmp_path):
    vocabulary = vocabulary_of(tokenizer, tokenizer.vocab_size, Options(cache_dir=str(tmp_path)), Counts())
    # The tokenizer is modelled, so vLLM's is not asked.
    assert speller_of(tokenizer, vocabulary) is None
    schema = schema_of({name: {"const": name.upper()} for name in ("first_name", "straße", "日本語")})
    text = '{"first_name":"FIRST_NAME","straße":"STRASSE","日本語":"日本語"}'
    index = interlock.Index.from_json_schema(schema, vocabulary, whitespace="compact", spelling="plain")
    prompt, ids = behind_the_prompt(tokenizer, text)
    guide = index.guide(context_ids=prompt)
    assert guide.forced_text() == text
    assert guide.forced_tokens() == ids
