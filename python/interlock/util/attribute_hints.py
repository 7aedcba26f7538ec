"""What is said of a method that an object does not have, and of a name that the package does not have."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from interlock.util.near_words import meant

__all__ = ["no_attribute", "no_name"]

# Names that other packages have, and names that stand elsewhere here; in small letters and without underscores.
_ELSEWHERE = {
    name: way
    for names, way in (
        ("choice choices either multiplechoice", '["yes", "no"] is an output type by itself'),
        ("regex pattern", "re.compile(...) is an output type by itself"),
        ("json jsonschema schema", "a class (or a JSON Schema, a dict) is an output type by itself"),
        ("cfg lark gbnf ebnf", "interlock.Grammar(text) is an output type by itself"),
        (
            "generator gen models model llm frompretrained",
            "gen = interlock.from_transformers(model, tokenizer) makes a generator, gen(prompt, output_type); so do "
            "from_llama_cpp, from_mlx_lm, from_vllm and from_openai",
        ),
        (
            "select capture role system user assistant",
            "a program writes it: program = interlock.Program(gen, prompt), then program.gen(...) or select(...)",
        ),
        (
            "patch client fromprovider fromanthropic fromollama fromsglang",
            "interlock.from_openai(client, model) asks a server",
        ),
        ("fromhf fromhuggingface fromtorch", "interlock.from_transformers(model, tokenizer) is meant"),
        ("tokenizer tokenizerinfo fromtokenizer", "interlock.Vocabulary.from_tokenizer(tokenizer) reads a tokenizer"),
        (
            "compile compiler grammarcompiler compiledgrammar",
            "interlock.Index.from_type(output_type, vocabulary) compiles, and so do its other methods from_...",
        ),
        (
            "fromtype frompydantic frommodel fromclass fromdataclass frompydanticmodel",
            "interlock.Index.from_type(User, vocabulary) compiles a class, and a generator takes it as it is",
        ),
        (
            "fromjsonschema fromjson fromschema",
            "interlock.Index.from_json_schema(schema, vocabulary) compiles a schema, and a generator takes the dict",
        ),
        (
            "fromregex frompattern",
            "interlock.Index.from_regex(pattern, vocabulary) compiles a pattern, and a generator takes re.compile(...)",
        ),
        ("fromchoices fromchoice fromenum fromliteral", "interlock.Index.from_choices(texts, vocabulary) is meant"),
        (
            "fromgrammar fromlark fromcfg fromebnf fromgbnf",
            "interlock.Index.from_grammar(text, vocabulary) compiles a grammar, and a generator takes Grammar(text)",
        ),
        ("fromtools", "interlock.Index.from_tools(tools, vocabulary) is meant"),
        ("fromstructuraltag", "interlock.Index.from_structural_tag(tag, vocabulary) is meant"),
        ("matcher grammarmatcher llmatcher", "index.guide() follows one output"),
        (
            "logitsprocessor guidelogitsprocessor",
            "interlock.integrations.transformers.GuideLogitsProcessor is one; mlx_lm and llama_cpp there have theirs",
        ),
    )
    for name in names.split()
}


def no_attribute(owner: object, name: str, others: Mapping[str, str] = {}) -> AttributeError:
    """The ``AttributeError`` for ``owner.name``, for ``__getattr__``: with the name that is probably meant, or with
    what ``others`` say of names from elsewhere.

    >>> no_attribute([], "apend")
    AttributeError("list has no attribute 'apend'; did you mean 'append'?")
    """
    # Python asks for many names with underscores itself.
    way = ""
    if not name.startswith("_"):
        public = [known for known in dir(type(owner)) if not known.startswith("_")]
        way = f": {others[name]}" if name in others else meant(name, public)
    return AttributeError(f"{type(owner).__name__} has no attribute {name!r}{way}", name=name, obj=owner)


def no_name(name: str, known: Collection[str]) -> AttributeError:
    """The ``AttributeError`` for ``interlock.name``, with what is meant or with what stands for it here.

    >>> no_name("indx", ["Index", "Guide"])
    AttributeError("module 'interlock' has no attribute 'indx'; did you mean 'Index'?")
    >>> no_name("Regex", [])
    AttributeError("module 'interlock' has no attribute 'Regex': re.compile(...) is an output type by itself")
    """
    way = _ELSEWHERE.get(name.lower().replace("_", ""))
    said = f": {way}" if way else meant(name, known)
    return AttributeError(f"module 'interlock' has no attribute {name!r}{said}", name=name)
