//! A slow twin of grammars: which texts a model accepts, and which texts are beginnings of those, decided from the
//! definition of the three lexers. It shares nothing with the engine but the derivatives of expressions.
//!
//! The output is a row of *symbols*: bytes, and special tokens as numbers from [`SPECIAL`] on. [`lattice`] decides
//! where each terminal is taken for itself, [`contextual`] where all that may come compete. [`definition`] accepts
//! whole texts by the definition alone and checks both.

pub mod bnf;
pub mod contextual;
pub mod definition;
pub mod lattice;
pub mod terminal;

use interlock::grammar::model::{Grammar, Lexer};

use bnf::Bnf;

/// The symbol of the special token 0.
pub const SPECIAL: u32 = 256;

/// The twin of a guide.
pub enum Twin {
    /// For [`Lexer::Any`] and [`Lexer::Dynamic`].
    Lattice(lattice::Lattice),
    /// For [`Lexer::Contextual`].
    Contextual(contextual::Contextual),
}

impl Twin {
    /// The twin at the beginning; `None` if it would be too large. `documents` are left out.
    pub fn new(grammar: &mut Grammar) -> Option<Twin> {
        let lexer = grammar.lexer;
        let bnf = Bnf::from_grammar(grammar)?;
        Some(match lexer {
            Lexer::Contextual => Twin::Contextual(contextual::Contextual::new(bnf)),
            _ => Twin::Lattice(lattice::Lattice::new(bnf, lexer == Lexer::Dynamic)),
        })
    }

    /// Reads a symbol. False if nothing can be read so; then the twin must be popped all the same.
    pub fn push(&mut self, symbol: u32) -> bool {
        match self {
            Twin::Lattice(l) => l.push(symbol),
            Twin::Contextual(c) => c.push(symbol),
        }
    }

    /// Takes back the last symbol.
    pub fn pop(&mut self) {
        match self {
            Twin::Lattice(l) => l.pop(),
            Twin::Contextual(c) => c.pop(),
        }
    }

    /// Whether what was read is accepted.
    pub fn accepts(&mut self) -> bool {
        match self {
            Twin::Lattice(l) => l.accepts(),
            Twin::Contextual(c) => c.accepts(),
        }
    }

    /// Whether something accepted begins with what was read. `None` if that takes too long to tell.
    pub fn viable(&mut self) -> Option<bool> {
        match self {
            Twin::Lattice(l) => l.viable(),
            Twin::Contextual(c) => c.viable(),
        }
    }
}
