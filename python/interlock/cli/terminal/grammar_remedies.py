"""What to do about a grammar that cannot be read, by what its error says."""

from __future__ import annotations

import re

import interlock

__all__ = ["way_to_mend_grammar"]

QUOTED = r"""['"]((?:[^'"\\]|\\.)+)['"]"""
"""A name or a character in a message."""
_SAYS_IT = re.compile(r"did you mean|; (write|put|name|take|give|join|let|say) |: write |names of rules have no angles")
"""What a message has that says itself what to do."""
_IN_PATTERN = re.compile(r" \(at character \d+ of the pattern\)$")
_WAYS = (
    # Names.
    (r"the terminal \S+ contains itself", "name it in small letters, as a rule"),
    (r"is used, but not defined", "{define}"),
    (r"the rule \S+ is defined twice", "join the two by |, or give one another name"),
    (r"mixes upper and lower case", "write it in capitals for a terminal, in small letters for a rule"),
    (r"is a rule, and (a terminal must|terminals are not)", "write it in capitals, here and where it is defined"),
    (r"terminals are made of", "name it in small letters, as a rule"),
    (r"only terminals are declared", "write it in capitals, here and where it is used"),
    (r"there is no (rule|terminal) \S+ to (override|extend)", "define it without the directive; or import it first"),
    (r"the modifiers \? and ! stand", "leave out the modifier"),
    (r"takes \S+.* are given here", "give as many arguments as the template has parameters"),
    (r"is a template; its", "write the arguments behind its name: {0}{{...}}"),
    (r"the parameter \S+ stands here twice", "give one of the two another name"),
    # Marks that open and close.
    (r"this text is not closed", r'write " where the text ends; \" is the character itself'),
    (r"this pattern is not closed", r"write / where the pattern ends; \/ is the character itself"),
    (r"this class is not closed", r"write ] where the class ends; \] is the character itself"),
    (r"this special token is not closed", "write > where the name of the token ends, on the same line"),
    (r"(group is|arguments are) not closed; '(.)'", 'write {2} where it ends; "..." is text with such characters'),
    (r"no group is open that this|stands before this '}'", "leave it out; in double quotes it is the character itself"),
    (r"must close the group here", "close the groups in the reverse order in which they are open"),
    (r"'}' must end the nested grammar", "write } where the nested grammar ends"),
    # Characters and counts.
    (
        r"nothing stands before .+ that it could repeat",
        "write what is to be repeated before it; in double quotes it is the character itself",
    ),
    (r"no rule stands before this", "leave it out; alternatives of a rule may go on in the next line behind |"),
    (r"the character .+ means nothing here; texts stand", 'write it as "..."'),
    (r"the character '/' means nothing here", "write classes and repetitions: [a-z]+"),
    (r"the character .+ means nothing here$", "leave it out; in double quotes it is the character itself"),
    (r"nothing stands behind this backslash", r"leave it out; \\ is the character itself"),
    (r"the escape .+ means nothing here", "leave out the backslash for the character itself"),
    (r"this escape names no character", r"write all of its digits; \\ is a backslash itself"),
    (r"this range( of ids)? is empty", "write the lower end first"),
    (r"this class is empty", "leave it out, or write the characters that may come"),
    (r"this count is empty", "write the smaller number first"),
    (r"copies can be asked for|this number is too large", "a smaller number; or * for any number"),
    (r"a number of copies", "write how many: {{2}}, {{2,5}}, or {{2,}} for at least two"),
    (r"stands behind a(nother)? (repetition|one)", "put the first repetition into parentheses"),
    (r"each side of a range", 'write one character on each side; of longer texts, write alternatives: "ab" | "ac"'),
    (r"a range goes from", "write both sides as texts of one character"),
    # Imports, directives, attributes.
    (r"is imported under two names", "leave out one of the two imports"),
    (r"is imported, and defined already", "give the import another name: %import file.NAME -> OTHER"),
    (r"imports itself|the grammar \S+ contains itself", "leave out the reference that closes the circle"),
    (r"the file \S+ defines no", "name a rule or a terminal of that file"),
    (r"nest no deeper than", "put the texts of some of them into one"),
    (r"there is no directive", "write %import, %ignore, %declare, %override, %extend, or a rule"),
    (r"there is no attribute", "leave it out, or write one of those that there are: {attributes}"),
    (r"stands here twice$", "leave out one of the two"),
    (r"no JSON value", "write whole JSON behind the directive: a key and a text have double quotes"),
    (r"%regex takes", 'write /.../ for a pattern; {{"substring_words": "..."}} for a part of a text'),
    (r"max_tokens\" is|a temperature is", "write a number: {0}=10"),
    (r"an alias must stand here", "leave out ->, which names an alternative for parsers"),
    (r"an alias ends its alternative", "leave out the alias, or put what follows behind |"),
    (r"a priority must stand", "write a number behind the point, or leave out both"),
    (r"&' and '~' stand", "give this part a name in capitals, on a line of its own"),
    (r"is no id of a token", "write <[10-20,30]>; a name of a token stands in < and > alone"),
    (r"name of a special token has", "write the name as the tokenizer has it: <|end|> or <think>"),
    (r"a special token must|an id of a token is", "write a name, !<name>, or an id, <[1000]>"),
    (r"a name must stand behind @", "write the name of a grammar that --grammar NAME=FILE gives"),
    (r"_INDENT and _DEDENT belong", "declare and use both: _INDENT opens a block, and _DEDENT closes it"),
    (r"_DEDENT may come where", "open the block with _INDENT in the same rule"),
    (r"a block that is opened is never", "close it with _DEDENT in the same rule"),
    (r"indentation needs", "--lexer contextual"),
    (r"look-ahead .+ stands at the end", "put it at the end of its rule, or leave it out"),
    (r"looks like the name of a file", "grammar:@FILE takes what a file holds"),
    (r"this looks at the text before", "write what may come before into the terminal itself"),
    (r"Regex takes a pattern", 'write Regex("[a-z]+")'),
)
ATTRIBUTES = ("lazy, capture, max_tokens, temperature", "lazy, suffix, stop, capture, max_tokens, temperature, event")
"""The attributes of rules in EBNF and in Lark's notation."""
_EXAMPLES = {
    "lark": 'Lark\'s notation is like this: start: "a" item+ | /[0-9]+/',
    "gbnf": 'GBNF is like this: root ::= "a" item+ | [0-9]+',
    "ebnf": 'EBNF is like this: root ::= "a" item+ | [0-9]+',
}


def way_to_mend_grammar(error: interlock.InterlockError, syntax: str) -> str:
    """What to do about a grammar that cannot be read; empty where the error says it, or is about something else.

    >>> error = interlock.GrammarError('line 1, column 8: "item" is used, but not defined')
    >>> way_to_mend_grammar(error, "lark"), way_to_mend_grammar(error, "gbnf")
    ('define it on a line of its own: item: "..."', 'define it on a line of its own: item ::= "..."')
    """
    if not isinstance(error, interlock.GrammarError | interlock.UnsupportedError):
        return ""
    message = re.sub(r"^line \d+, column \d+: ", "", str(error).partition("\n")[0])
    if _SAYS_IT.search(message):
        return ""
    names = re.findall(QUOTED, message) or [""]
    for pattern, way in _WAYS:
        if found := re.search(pattern, message):
            groups = [names[0], *(group or "" for group in found.groups())]
            return way.format(*groups, define=_definition(names[0], syntax), attributes=ATTRIBUTES[syntax == "lark"])
    if _IN_PATTERN.search(message):
        return error.hint or ""
    if isinstance(error, interlock.UnsupportedError):
        return ""
    return _EXAMPLES.get(syntax, "")


def _definition(name: str, syntax: str) -> str:
    if syntax != "lark":
        return f'define it on a line of its own: {name} ::= "..."'
    return f"define it on a line of its own: {name}: " + ("/.../" if name.isupper() else '"..."')
