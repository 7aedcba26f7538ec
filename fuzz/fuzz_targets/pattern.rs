//! Any text is a pattern, an error or over a limit, in both dialects; and what a search finds in a text of the
//! pattern's own letters is always well-formed UTF-8.

#![no_main]

use interlock::Limits;
use interlock::expr::Exprs;
use interlock::regex::{Dialect, RegexOptions, lower_full, lower_search};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, u8)| {
    let (pattern, bits) = input;
    let limits = Limits { max_expr_nodes: 50_000, max_explored_states: 2_000, ..Limits::default() };
    for (dialect, letters) in [(Dialect::Python, "imsxa"), (Dialect::Ecma, "ims")] {
        let flags = letters.chars().enumerate().filter(|(i, _)| bits & (1 << i) != 0).map(|(_, c)| c).collect();
        let mut x = Exprs::new(limits.max_expr_nodes);
        if let Ok(e) = lower_full(&mut x, pattern, &RegexOptions { dialect, flags }, &limits) {
            x.accepts(e, pattern.as_bytes());
            // No pattern accepts what is not text.
            assert!(!x.accepts(e, b"\xff") && !x.accepts(e, b"a\xc3"));
        }
    }
    let mut x = Exprs::new(limits.max_expr_nodes);
    if let Ok(e) = lower_search(&mut x, pattern, &limits) {
        assert!(!x.accepts(e, b"\xff"));
    }
});
