//! Any text is a grammar, an error or over a limit, in all three notations and under every lexer; and no terminal
//! accepts what is not text.

#![no_main]

use interlock::Limits;
use interlock::grammar::model::Lexer;
use interlock::grammar::{GrammarOptions, Syntax, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    let (text, other) = input;
    let limits = Limits {
        max_expr_nodes: 50_000,
        max_explored_states: 2_000,
        max_rules: 2_000,
        max_source_bytes: 1 << 16,
        ..Limits::default()
    };
    for (syntax, lexer) in [
        (Syntax::Lark, Lexer::Dynamic),
        (Syntax::Lark, Lexer::Any),
        (Syntax::Gbnf, Lexer::Any),
        (Syntax::Ebnf, Lexer::Any),
    ] {
        let files = [("other".to_owned(), other.to_owned())];
        let options = GrammarOptions {
            syntax,
            start: None,
            lexer: Some(lexer),
            imports: files.clone().into(),
            grammars: files.into(),
        };
        if let Ok(mut grammar) = parse(text, &options, &limits) {
            assert!((grammar.start as usize) < grammar.rules.len());
            for terminal in &grammar.terminals {
                assert!(terminal.place <= text.len());
                assert!(!grammar.exprs.accepts(terminal.pattern, b"a\xff"));
                assert!(!grammar.exprs.accepts(terminal.pattern, b"a\xc3"));
            }
        }
    }
});
