"""Addresses of pydantic's EmailStr: what a mask allows is what pydantic takes."""

from typing import Annotated

import pytest

import interlock

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
pytest.importorskip("email_validator", reason="email-validator is not installed, and EmailStr needs it")


class Mail(pydantic.BaseModel):
    to: Annotated[pydantic.EmailStr, pydantic.Field(max_length=24)]
    copies: list[pydantic.EmailStr] = pydantic.Field(max_length=2)


def accepts(index, text):
    guide = index.guide()
    return guide.advance_many(list(text)) == len(text) and guide.is_accepting


def test_random_addresses_are_read(byte_vocabulary):
    index = interlock.Index.from_type(Mail, byte_vocabulary)
    for seed in range(60):
        text = byte_vocabulary.decode(index.sample(seed, max_tokens=400), skip_special_tokens=True)
        Mail.model_validate_json(text)


def test_addresses_that_are_written_are_allowed_and_others_are_not(byte_vocabulary):
    index = interlock.Index.from_type(pydantic.EmailStr, byte_vocabulary)
    for text in ("ada@example.org", "a.b+c@mail.some-host.co.uk", "x_1@firm.museum"):
        assert pydantic.TypeAdapter(pydantic.EmailStr).validate_python(text) == text
        assert accepts(index, f'"{text}"'.encode()), text
    for text in ("a@b", "a@b.test", "a@localhost", "a@my.local", "a..b@example.org", "a@b.1", '"a b"@example.org'):
        with pytest.raises(pydantic.ValidationError):
            pydantic.TypeAdapter(pydantic.EmailStr).validate_python(text)
        assert not accepts(index, f'"{text}"'.encode()), text


def test_a_pattern_beside_an_address_holds_too(byte_vocabulary):
    firm = Annotated[pydantic.EmailStr, pydantic.Field(json_schema_extra={"pattern": "@firm[.]org$"})]
    index = interlock.Index.from_type(firm, byte_vocabulary)
    assert accepts(index, b'"ada@firm.org"') and not accepts(index, b'"ada@other.org"')
    more = {"pattern": "@firm[.]org$", "allOf": [{"maxLength": 12}]}
    index = interlock.Index.from_type(
        Annotated[pydantic.EmailStr, pydantic.Field(json_schema_extra=more)], byte_vocabulary
    )
    assert accepts(index, b'"ada@firm.org"') and not accepts(index, b'"grace@firm.org"')


def test_a_name_may_stand_in_front_of_an_address(byte_vocabulary):
    adapter = pydantic.TypeAdapter(pydantic.NameEmail)
    index = interlock.Index.from_type(pydantic.NameEmail, byte_vocabulary)
    for text in ("ada@example.org", "Ada Lovelace <ada@example.org>"):
        assert adapter.validate_python(text).email == "ada@example.org"
        assert accepts(index, f'"{text}"'.encode()), text
    for text in ("a@b", "Ada <a@b>", "Ada <ada@example.org", "<>"):
        with pytest.raises(pydantic.ValidationError):
            adapter.validate_python(text)
        assert not accepts(index, f'"{text}"'.encode()), text


@pytest.mark.parametrize("hint", [pydantic.EmailStr, pydantic.NameEmail])
def test_three_hundred_random_addresses_are_read(hint, byte_vocabulary):
    index = interlock.Index.from_type(hint, byte_vocabulary)
    adapter = pydantic.TypeAdapter(hint)
    for seed in range(300):
        adapter.validate_json(byte_vocabulary.decode(index.sample(seed, max_tokens=300), skip_special_tokens=True))


def test_a_prompt_says_the_format_and_not_the_long_pattern():
    assert interlock.describe(pydantic.EmailStr).endswith('{"format": "email", "type": "string"}')
    assert interlock.describe(pydantic.NameEmail).endswith('{"format": "name-email", "type": "string"}')
