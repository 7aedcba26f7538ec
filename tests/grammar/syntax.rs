//! Texts in the three notations: what they mean, by a brute-force reading of the model, and what is refused where.

use std::collections::BTreeMap;

use interlock::grammar::model::{Lexer, Node, TokenName, UNBOUNDED};
use interlock::grammar::{GrammarOptions, Syntax, parse};
use interlock::{Error, ErrorKind, Limits, SourcePlace};

use crate::recognizer::accepts;

fn options(syntax: Syntax) -> GrammarOptions {
    GrammarOptions { syntax, ..GrammarOptions::default() }
}

fn lark() -> GrammarOptions {
    options(Syntax::Lark)
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

#[track_caller]
fn check(text: &str, options: &GrammarOptions, good: &[&str], bad: &[&str]) {
    let mut grammar = match parse(text, options, &Limits::default()) {
        Ok(grammar) => grammar,
        Err(e) => panic!("{text}\n{e}"),
    };
    for (texts, fits) in [(good, true), (bad, false)] {
        for t in texts {
            assert_eq!(accepts(&mut grammar, t.as_bytes()), fits, "{t:?} in\n{text}");
        }
    }
}

#[track_caller]
fn refused(text: &str, options: &GrammarOptions) -> Error {
    match parse(text, options, &Limits::default()) {
        Ok(_) => panic!("this was accepted:\n{text}"),
        Err(e) => e,
    }
}

#[test]
fn lark_rules_and_terminals() {
    check(
        "?start: sum\n?sum: product | sum \"+\" product -> add\n  | sum \"-\" product -> sub // a comment\n\
         ?product: atom | product \"*\" atom\n!atom.2: INT | \"(\" sum \")\"\n\
         INT.-1: /[0-9]/+  # digits\n%ignore \" \"",
        &lark(),
        &["1", " 12 + 3*(4- 5) ", "((1))"],
        &["", "1+", "1 2", "(1"],
    );
    check(
        "start: \"a\"~2 \"b\"~1..2 [\"c\"] \"d\"{2,} \"e\"{,1}",
        &lark(),
        &["aabdd", "aabbcddde"],
        &["abdd", "aabd", "aabddee"],
    );
    check("start: A+\nA: \"b\"..\"d\" | \"x\"i | /y/i", &lark(), &["bcdxXyY"], &["a", "e", "xa"]);
    check("start:\n | \"a\"\nb:", &lark(), &["", "a"], &["b"]);
    check("start: a\na: \"x\" a -> long\n  |\n", &lark(), &["", "xx"], &["y"]);
}

#[test]
fn lark_escapes() {
    check(r#"start: "\n\t\\\"\x41\u00e9\U0001F600\d" /\/\x42\"/"#, &lark(), &["\n\t\\\"Aé😀\\d/B\""], &["n"]);
    check("start: /a  b # a comment\n c/x \"d\"", &lark(), &["abcd"], &["a  bcd"]);
}

#[test]
fn lark_imports() {
    let text = "%import common.INT -> N\n%import common (WORD, WS)\n%import .lib.pair\n%import lib.X -> Y\n\
                start: N WORD pair Y\n%ignore WS\n%extend Y: \"z\"";
    let lib = "pair: \"<\" X \">\" own\nown: \"o\"\nX: \"x\"\n%ignore \"-\"\nunused: nothing_here_is_looked_up";
    let options = GrammarOptions { imports: map(&[("lib", lib)]), ..lark() };
    check(text, &options, &["12 ab < x > o z", "1 a<z>ox"], &["12 ab <x> o", "1 a <x> o-x"]);
    let missing = refused("%import lib.Z\nstart: Z", &options);
    assert!(missing.message().contains("defines no \"Z\""), "{missing}");
    let missing = refused("%import libs.X\nstart: X", &options);
    assert!(missing.message().contains("did you mean \"lib\"?"), "{missing}");
    let relative = refused("%import .tok.INT\nstart: INT", &lark());
    assert!(relative.hint().is_some_and(|hint| hint.contains("%import common.INT")), "{relative}");
    let circle = GrammarOptions { imports: map(&[("a", "%import b.X\n"), ("b", "%import a.X\nX: \"x\"")]), ..lark() };
    assert!(refused("%import a.X\nstart: X", &circle).message().contains("imports itself"));
}

#[test]
fn lark_libraries() {
    let import = |names: &str, body: &str| format!("%import {names}\nstart: {body}");
    check(
        &import("common.ESCAPED_STRING", "ESCAPED_STRING (\",\" ESCAPED_STRING)*"),
        &lark(),
        &["\"a\\\"b\",\"\"", "\"\\\\\""],
        &["\"a", "\"\\\"", "\"\n\""],
    );
    check(&import("common.SIGNED_NUMBER", "SIGNED_NUMBER"), &lark(), &["-1", "+1.5e3", ".5", "1."], &["e", "1e", "."]);
    check(&import("common.C_COMMENT", "C_COMMENT+"), &lark(), &["/* * / **/", "/**//***/"], &["/* */ */", "/*/"]);
    check(&import("unicode.WS", "WS"), &lark(), &["\u{a0} \n"], &[""]);
    let python = "%import python (NAME, STRING, LONG_STRING, DEC_NUMBER, FLOAT_NUMBER, HEX_NUMBER)\n\
                  start: NAME | STRING+ | LONG_STRING | DEC_NUMBER | FLOAT_NUMBER | HEX_NUMBER";
    check(
        python,
        &lark(),
        &["é_1", "''", "r'a\\'b'\"\"", "'''a'b''c'''", "1_000", "00", "1e5", "0x_F", "\"\"\"\"a\"\"\""],
        &["1a", "'a\nb'", "01", "''''", "1__0"],
    );
}

#[test]
fn lark_templates() {
    let text = "start: list{ITEM, \",\"} | pair{list{\"x\", \";\"}, sum}\nlist{item, sep}: item (sep item)*\n\
                pair{a, b}: a \"=\" b{\"1\"}\nsum{n}: n | sum{n} \"+\" n\nITEM: \"i\"";
    check(text, &lark(), &["i,i", "x;x=1+1", "x=1"], &["i;i", "x,x=1", "x=1+"]);
    assert!(refused("start: a{\"x\"}\na{p, q}: p q", &lark()).message().contains("takes 2 arguments, and 1 is given"));
    assert!(refused("start: a\na{p}: p", &lark()).message().contains("is a template; its 1 argument must"));
    // Templates that grow for ever are stopped by the number of rules.
    let limits = Limits { max_rules: 1_000, ..Limits::default() };
    let e =
        parse("start: a{\"x\"}\na{p}: p | a{b{p}}\nb{p}: \"b\" p", &lark(), &limits).err().expect("it grows for ever");
    assert_eq!((e.kind(), e.limit_field()), (ErrorKind::Limit, Some("max_rules")));
}

#[test]
fn one_terminal_for_what_is_written_twice() {
    let grammar =
        parse("start: \"if\" A \"if\" /x/ B /x/\nA: \"if\"\nB: /x/", &lark(), &Limits::default()).expect("it is one");
    let names: Vec<&str> = grammar.terminals.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["A", "B"]);
    assert!(grammar.terminals[0].literal && !grammar.terminals[1].literal);
    // Case is a part of what a terminal is.
    let grammar = parse("start: \"if\" \"if\"i", &lark(), &Limits::default()).expect("it is a grammar");
    assert_eq!(grammar.terminals.len(), 2);
}

#[test]
fn lazy_repetitions_end_where_a_search_ends() {
    check("start: /<.*?>/+ \"<\"?", &lark(), &["<a>", "<a><b>", "<><"], &["<a", "<a>b>"]);
    // What stands behind may be greedy, and the order of alternatives counts.
    check("start: /a*?b+/ \"b\"?", &lark(), &["aabbb"], &["aa"]);
    check("start: /\\/(\\\\\\/|[^\\/])+?\\/[a-z]*/ \"!\"", &lark(), &["/a\\/b/ig!"], &["/a/b/!"]);
    check("start: /x(a|ab)??c|x/ /a*/", &lark(), &["xabc", "xc", "xaa"], &["xab"]);
    // Without a lexer a repetition is what it accepts.
    let any = GrammarOptions { lexer: Some(Lexer::Any), ..lark() };
    check("start: /<.*?>/", &any, &["<a>b>"], &["<a"]);
}

#[test]
fn look_around_in_terminals() {
    // Look-ahead beyond the end is an obligation on what follows.
    check("start: A /[a-z]*/\nA: /x(?!y)/", &lark(), &["x", "xz"], &["xy"]);
    check("start: A /.*/\nA: /[a-z]+(?=;)/", &lark(), &["ab;", "a;b"], &["ab", "a.b;"]);
    check("start: A \"b\"?\nA: /a\\b/", &lark(), &["a"], &["ab"]);
    check("start: A \"b\"?\nA: /a$/", &lark(), &["a"], &["ab"]);
    // What a terminal has read itself may be looked back at.
    check("start: Q\nQ: \"'\" /.*?/ /(?<!\\\\)(\\\\\\\\)*?/ \"'\"", &lark(), &["'a\\'b'", "'\\\\'"], &["'\\'"]);
    for behind in ["/(?<=a)b/", "/\\bword/", "/^a/"] {
        let e = refused(&format!("start: A\nA: {behind}"), &lark());
        assert_eq!(e.kind(), ErrorKind::Unsupported, "{e}");
        assert!(e.message().contains("before the terminal"), "{e}");
    }
}

#[test]
fn llguidance_extensions() {
    check("start: A\nA: /[a-d]+/ & ~/.*[ab].*/ | \"!\"", &lark(), &["cd", "!"], &["ca", "e", ""]);
    check(
        "start: %regex {\"substring_words\": \"foo bar\"} \".\"",
        &lark(),
        &["foo .", "foo bar.", "."],
        &["oo.", "barfoo."],
    );
    let text = "start: T\nT: %json_text {\"format\": \"ipv4\", \"pattern\": \"^1\", \"maxLength\": 9} & ~\"1.2.3.4\"";
    check(text, &lark(), &["10.20.3.4"], &["1.2.3.4", "2.2.3.4", "10.20.30.4", "\"1.2.3.5\""]);
    assert_eq!(refused("start: %json_text {\"format\": \"ip\"}", &lark()).kind(), ErrorKind::Unsupported);
    assert!(refused("start: %json_text {\"minimum\": 1}", &lark()).message().contains("\"minimum\" is not one"));
    check("start: r \"!\"\nr[lazy]: /[a-z]+/ | \"ab\"", &lark(), &["a!"], &["ab!", "!"]);
    check("start: r \"z\"\nr[suffix=\"x\"]: /[a-z]*/", &lark(), &["abxz", "xz"], &["xxz", "z"]);
    check("start: r \"z\"\nr[stop=END, capture=\"what\"]: /[a-z]*/\nEND: /!+/", &lark(), &["ab!z"], &["ab!!z"]);
    check("start: r\nr[stop=\"\", temperature=0.5]: /a*/", &lark(), &["", "aa"], &["b"]);
    check("start: %lark { start: \"a\" b\n b: \"b\" } b\nb: \"c\"", &lark(), &["abc"], &["abb"]);
    let named = GrammarOptions { grammars: map(&[("word", "start: /[a-z]+/")]), ..lark() };
    check("start: @word \"-\" @word", &named, &["a-bc"], &["a-", "-"]);
    let circle = GrammarOptions { grammars: map(&[("a", "start: \"x\" @b"), ("b", "start: @a")]), ..lark() };
    assert!(refused("start: @a", &circle).message().contains("contains itself"));
    let text = "start: <|end|> <[12,20-30]> <[^1]> <[*]> %json {\"type\": \"null\"}\n";
    let grammar = parse(text, &lark(), &Limits::default()).expect("it is a grammar");
    let tokens: Vec<_> = grammar.token_sets.iter().map(|t| (t.tokens.clone(), t.complement)).collect();
    let expected = [
        (vec![TokenName::Text("<|end|>".to_owned())], false),
        (vec![TokenName::Id(12), TokenName::Range(20, 30)], false),
        (vec![TokenName::Id(1)], true),
        (Vec::new(), true),
    ];
    assert_eq!(tokens, expected);
    assert_eq!(grammar.documents[0].schema, "{\"type\": \"null\"}");
}

#[test]
fn nested_grammars_ignore_what_is_theirs() {
    let text = "start: \"a\" %lark {\n start: \"b\" \"c\"\n %ignore \"-\"\n} \"d\"\n%ignore \" \"";
    check(text, &lark(), &["abcd", " a b-c- d ", "a-b-cd"], &["ab cd", "a b c d", "abcd-"]);
    let text = "%llguidance {\"ignore_once\": true}\nstart: \"a\" \"b\"\n%ignore \" \"";
    check(text, &lark(), &["ab", " a b "], &["a  b"]);
}

#[test]
fn declared_terminals_make_an_indenter() {
    let text = "start: \"if\" \":\" _NEWLINE _INDENT \"(\" \")\" _NEWLINE _DEDENT\n\
                _NEWLINE: /\\n[ ]*/\n%declare _INDENT _DEDENT";
    let options = GrammarOptions { lexer: Some(Lexer::Contextual), ..lark() };
    let grammar = parse(text, &options, &Limits::default()).expect("it is a grammar");
    let name = |t: u32| grammar.terminals[t as usize].name.clone();
    let i = grammar.indentation.as_ref().expect("an indenter is declared");
    assert_eq!(
        (name(i.newline), name(i.indent), name(i.dedent)),
        ("_NEWLINE".into(), "_INDENT".into(), "_DEDENT".into())
    );
    assert_eq!((name(i.open[0]), name(i.close[0])), ("\"(\"".into(), "\")\"".into()));
}

#[test]
fn gbnf() {
    let gbnf = options(Syntax::Gbnf);
    check(
        "root ::= expr # the start\nexpr ::= term (\n  \"+\" term)* |\n  \"\"\n\
         term ::= [0-9]{1,2} | [^a-z\\x30-\\x39\\]] .\n",
        &gbnf,
        &["12+3", "", "Aa", "-é"],
        &["123", "aa", "]a", "1+"],
    );
    check("root ::= \"\\u00e9\\U0001F600\" [\\t -]\n", &gbnf, &["é😀-", "é😀\t"], &["é😀"]);
    let grammar = parse("root ::= <think> !</think>* <[7]>", &gbnf, &Limits::default()).expect("it is a grammar");
    assert_eq!(grammar.token_sets[1].tokens, [TokenName::Text("</think>".to_owned())]);
    assert!(grammar.token_sets[1].complement && grammar.lexer == Lexer::Any);
    // Neighbouring characters are one terminal.
    let grammar = parse("root ::= \"a\" [b] \"c\" root?", &gbnf, &Limits::default()).expect("it is a grammar");
    assert_eq!(grammar.terminals.len(), 1);
    let Node::Sequence(parts) = &grammar.rules[0].body else { panic!("{:?}", grammar.rules[0].body) };
    assert_eq!(parts.len(), 2);
}

#[test]
fn ebnf() {
    let ebnf = options(Syntax::Ebnf);
    check("root ::= a.b \"x\"\n  | [^]\na.b[lazy] ::= [ab]+\n", &ebnf, &["ax", "q"], &["abx", ""]);
    check("root ::= Regex(\"(?i)a.b\", flags=\"s\") Substring(\"x\", \"y\")", &ebnf, &["A\nBxy", "a_b"], &["acbyx"]);
    check(
        "root ::= a b\na ::= \"x\"+ (= \"y\" c)\nc ::= [0-9]\nb ::= [a-z0-9]+",
        &ebnf,
        &["xxy1", "xy1z"],
        &["xz1", "xy"],
    );
    let text = "root ::= TagDispatch((\"<a>\", one), (\"<b>\", two), excludes=(\"!\"))\none ::= \"1\"\ntwo ::= \"2\"";
    check(text, &ebnf, &["", "text <a>1 more <b>2", "<a", "<a>1<a>1"], &["<a>2", "x!", "<b>", "a<b>2!"]);
    let text = "root ::= TagDispatch((\"<a>\", one), loop_after_dispatch=false)\none ::= \"1\"";
    check(text, &ebnf, &["", "x<a>1"], &["<a>1x", "<a>1<a>1"]);
    let text = "root ::= TokenTagDispatch((5, one), excludes=(6)) Token(7, \"<x>\") ExcludeToken(8)\none ::= \"1\"";
    assert!(refused(text, &ebnf).message().contains("whole body"), "macros of free text are rules of their own");
    let text = "root ::= free Token(7, \"<x>\") ExcludeToken(8)\n\
                free ::= TokenTagDispatch((5, one), excludes=(6))\none ::= \"1\"";
    let grammar = parse(text, &ebnf, &Limits::default()).expect("it is a grammar");
    assert!(grammar.token_sets.iter().any(|t| t.complement && t.tokens == [TokenName::Id(5), TokenName::Id(6)]));
}

#[test]
fn counts_stay_counts() {
    let grammar =
        parse("root ::= [a]{2,50000} \"b\"*", &options(Syntax::Gbnf), &Limits::default()).expect("it is a grammar");
    let Node::Sequence(parts) = &grammar.rules[0].body else { panic!("{:?}", grammar.rules[0].body) };
    assert!(matches!(parts[0], Node::Repeat { min: 2, max: 50_000, .. }));
    assert!(matches!(parts[1], Node::Repeat { min: 0, max: UNBOUNDED, .. }));
}

#[test]
fn errors_name_the_place_and_the_remedy() {
    let e = refused("start: number\nnubmer: /[0-9]+/\n", &lark());
    assert_eq!((e.kind(), e.place()), (ErrorKind::Grammar, &SourcePlace::Byte(7)));
    let expected = "line 1, column 8: \"number\" is used, but not defined; did you mean \"nubmer\"?\n\
                    1 | start: number\n  |        ^";
    assert_eq!(e.message(), expected);
    for (syntax, text, words) in [
        (Syntax::Lark, "begin: \"a\"", "no rule \"start\""),
        (Syntax::Lark, "start: A\nA: \"x\" B\nB: A", "contains itself"),
        (Syntax::Lark, "start: A\nA: b\nb: \"x\"", "terminals are not made of rules"),
        (Syntax::Lark, "start: \"a\"\nstart: \"b\"", "defined twice"),
        (Syntax::Lark, "start: \"z\"..\"a\"", "empty"),
        (Syntax::Lark, "start: \"ab\"..\"c\"", "one character"),
        (Syntax::Lark, "start: \"a\"i..\"c\"", "no flags"),
        (Syntax::Lark, "start: \"a\"~3..2", "count is empty"),
        (Syntax::Lark, "start: (\"a\"", "not closed"),
        (Syntax::Lark, "start: \"a", "not closed"),
        (Syntax::Lark, "start: /a", "not closed"),
        (Syntax::Lark, "start: /[a/", "unterminated"),
        (Syntax::Lark, "start: 'a'", "double quotes"),
        (Syntax::Lark, "start: \"a\" ->", "an alias"),
        (Syntax::Lark, "start: ~\"a\"", "stand in terminals only"),
        (Syntax::Lark, "%ignored \"a\"\nstart: \"a\"", "did you mean \"ignore\"?"),
        (Syntax::Lark, "start: r\nr[lasy]: \"a\"", "did you mean \"lazy\"?"),
        (Syntax::Lark, "start: r\nr[lazy]: \"a\" r | \"b\"", "terminals only"),
        (Syntax::Lark, "start: <[3-1]>", "range of ids is empty"),
        (Syntax::Lark, "start: %json {\"a\"", "no JSON value"),
        (Syntax::Lark, "start: a::1\na: \"x\"", "has no number"),
        (Syntax::Lark, "start: a\na::_: \"x\"", "for each number another rule"),
        (Syntax::Lark, "start: a::0\na::_: \"x\" %if eq([3:3], 0)", "these bits are none"),
        (Syntax::Lark, "start: a::0\na::_: \"x\" %if eq([64:65], 0)", "from 0 to 63"),
        (Syntax::Lark, "start: a::0\na::_: \"x\" %if eq(0, 0)", "'[' must stand here"),
        (Syntax::Lark, "start: a::0\na::_: \"x\" %if odd(_)", "no condition \"odd\""),
        (Syntax::Lark, "start: a::twice(_)\na::_: \"x\"", "no function \"twice\""),
        (Syntax::Lark, "start: a::0\na::_[lazy]: \"x\"", "no attributes"),
        (Syntax::Lark, "start: b\nb: a::_\na::_: \"x\"", "has no number"),
        (Syntax::Lark, "start: A\nA: \"x\" %if true", "put this part into a rule"),
        (Syntax::Lark, "start: a\na: \"x\" %if bit_set(0)", "which has none"),
        (Syntax::Gbnf, "root ::= \"a\" | x", "not defined"),
        (Syntax::Gbnf, "root = \"a\"", "\"::=\" must stand here"),
        (Syntax::Gbnf, "root ::= [z-a]", "range is empty"),
        (Syntax::Gbnf, "root ::= \"a\"{,2}", "{0,n}"),
        (Syntax::Gbnf, "root ::= \"a\"\n\"b\"", "must begin here"),
        (Syntax::Gbnf, "root ::= (\"a\"", "not closed"),
        (Syntax::Ebnf, "root ::= \"a\"++", "parentheses"),
        (Syntax::Ebnf, "root ::= \"a\" (= \"b\")", "nothing follows"),
        (Syntax::Ebnf, "root ::= [\\d]", "write the characters out"),
        (Syntax::Ebnf, "root ::= TagDispatch((\"\", root))", "takes pairs"),
    ] {
        let e = refused(text, &options(syntax));
        assert!(e.message().contains(words), "{text}\n{e}");
        assert!(e.message().starts_with("line ") && e.message().contains("^"), "{e}");
        assert!(matches!(e.place(), SourcePlace::Byte(at) if *at <= text.len()), "{e}");
    }
}

#[test]
fn strange_sizes_are_an_answer_or_a_limit() {
    let deep = |open: &str, close: &str| format!("start: {}\"a\"{}", open.repeat(100_000), close.repeat(100_000));
    for text in [deep("(", ")"), deep("[", "]"), deep("(\"x\" ", ")"), "start: ".to_owned() + &"(".repeat(100_000)] {
        let e = refused(&text, &lark());
        assert_eq!((e.kind(), e.limit_field()), (ErrorKind::Limit, Some("max_depth")), "{e}");
    }
    let text = format!("root ::= {}\"a\"{}", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(refused(&text, &options(Syntax::Gbnf)).kind(), ErrorKind::Limit);
    // As deep as the limit allows, on a small stack.
    let text = format!("start: {}\"b\"{}", "(\"a\" ".repeat(900), ")".repeat(900));
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let handle = small.spawn(move || parse(&text, &lark(), &Limits::default()).map(|g| g.rules.len()));
    assert!(handle.expect("a thread starts").join().expect("it does not overflow").is_ok());
    // Many alternatives, long chains, a megabyte of rules.
    let alternatives: Vec<String> = (0..10_000).map(|i| format!("\"word{i}\"")).collect();
    let grammar =
        parse(&format!("start: {}", alternatives.join(" | ")), &lark(), &Limits::default()).expect("it is long");
    assert_eq!(grammar.terminals.len(), 10_000);
    let mut chain = "start: r0 T0\n".to_owned();
    for i in 0..20_000 {
        chain += &format!("r{i}: \"a\" r{} | \"b\"\nT{i}: T{}\n", i + 1, i + 1);
    }
    chain += "r20000: \"c\"\nT20000: \"d\"\n";
    let grammar = parse(&chain, &lark(), &Limits::default()).expect("it is long");
    assert_eq!(grammar.rules.len(), 20_002);
    let limits = Limits { max_source_bytes: 1_000, ..Limits::default() };
    let e = parse(&chain, &lark(), &limits).err().expect("it is too long");
    assert_eq!((e.kind(), e.limit_field()), (ErrorKind::Limit, Some("max_source_bytes")));
}
