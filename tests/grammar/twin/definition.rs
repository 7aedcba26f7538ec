//! Whether a whole text is accepted, by the definition of its lexer and nothing else.

use std::collections::HashMap;

use interlock::grammar::model::Lexer;

use crate::twin::bnf::{Bnf, Sym};
use crate::twin::terminal::DEAD_STATE;

/// Whether a text of symbols is accepted where terminals are taken each for itself. `bnf` has its ignored terminals
/// written out.
pub fn accepts(bnf: &Bnf, lexer: Lexer, text: &[u32]) -> bool {
    assert!(lexer != Lexer::Contextual);
    let n = text.len();
    // Where a terminal that begins at a place may end.
    let ends = |t: u16, from: usize| -> Vec<usize> {
        let terminal = &bnf.terminals[t as usize];
        let (mut out, mut state) = (Vec::new(), 0);
        for (at, symbol) in text.iter().map(Some).chain([None]).enumerate().skip(from) {
            if terminal.accepts(state) {
                out.push(at);
            }
            let Some(&symbol) = symbol else { break };
            state = terminal.next(state, symbol);
            if state == DEAD_STATE {
                break;
            }
        }
        match lexer {
            Lexer::Dynamic => out.last().copied().into_iter().collect(),
            _ => out,
        }
    };
    // The spans of each nonterminal, grown until nothing changes.
    let mut spans: HashMap<(u16, usize), Vec<usize>> = HashMap::new();
    let mut grown = true;
    while grown {
        grown = false;
        for (of, parts) in &bnf.productions {
            for from in 0..=n {
                let mut places = vec![from];
                for part in parts {
                    let mut next: Vec<usize> = places
                        .iter()
                        .flat_map(|&at| match part {
                            Sym::T(t) => ends(*t, at),
                            Sym::N(name) => spans.get(&(*name, at)).cloned().unwrap_or_default(),
                        })
                        .collect();
                    next.sort_unstable();
                    next.dedup();
                    places = next;
                }
                let known = spans.entry((*of, from)).or_default();
                for to in places {
                    if !known.contains(&to) {
                        known.push(to);
                        grown = true;
                    }
                }
            }
        }
    }
    spans.get(&(bnf.start, 0)).is_some_and(|ends| ends.contains(&n))
}
