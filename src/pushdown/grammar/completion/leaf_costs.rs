//! What terminals and documents cost: their shortest texts.

use std::sync::{Arc, OnceLock};

use crate::lexeme::shortest_end::shortest_end;
use crate::pushdown::completion::completion_bounds::{CompletionBounds, UNBOUNDED};
use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::completion::shortest::{Completer, KeyWatch};
use crate::pushdown::grammar::bnf_rules::{Productions, Symbol};
use crate::pushdown::grammar::completion::symbol_costs::{NO_COST, SymbolCosts};
use crate::pushdown::grammar::completion::terminal_ways::{Reach, TerminalWays};
use crate::pushdown::grammar::indenter::Indenter;
use crate::pushdown::grammar::scanner::Scanner;
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{FrameId, NONE};
use crate::pushdown::json::machine::JsonMachine;
use crate::pushdown::json::program::Program;

/// A document's shortest text, and what its parts cost.
struct DocumentCosts {
    costs: MinCosts,
    /// Made for the first budget.
    bounds: OnceLock<CompletionBounds>,
    text: Option<Arc<[u8]>>,
}

/// The shortest texts of terminals and documents, and by them the costs of all symbols in bytes. A special token costs
/// as much as a byte.
pub struct LeafCosts {
    /// The costs of symbols.
    pub symbols: SymbolCosts,
    terminals: Box<[Option<Arc<[u8]>>]>,
    documents: Box<[DocumentCosts]>,
}

/// Bytes from a frame to a place where the document may end.
fn document_text(program: &Program, costs: &MinCosts, arena: &mut Arena, top: FrameId) -> Option<Vec<u8>> {
    let mark = arena.mark();
    let mut frames = JsonMachine { program, arena };
    let bytes = match frames.is_accepting(top) {
        true => Some(Vec::new()),
        false => Completer::complete_until(&mut frames, costs, top, &mut KeyWatch::new(NONE), |_, _, _| false),
    };
    let mut at = top;
    let mut text = bytes.map(|bytes| (bytes.len(), bytes));
    if let Some((end, bytes)) = &mut text {
        for (read, &byte) in bytes.iter().enumerate() {
            at = frames.step(at, byte);
            if at == NONE {
                break;
            }
            // A number needs nothing behind it.
            if frames.is_accepting(at) {
                *end = read + 1;
                break;
            }
        }
        bytes.truncate(*end);
    }
    arena.truncate(&mark);
    text.filter(|_| at != NONE).map(|(_, bytes)| bytes)
}

impl LeafCosts {
    /// The costs of a grammar.
    pub fn compute(
        productions: &Productions,
        scanner: &Scanner,
        token_sets: &[Box<[u32]>],
        documents: &[Box<Program>],
        indenter: Option<&Indenter>,
    ) -> LeafCosts {
        let mut ways = TerminalWays::new(scanner, Reach { ways: 1, states: 20_000 });
        let terminals: Box<[Option<Arc<[u8]>>]> = (0..productions.terminals)
            .map(|terminal| {
                let lexeme = scanner.lexeme(terminal)?;
                match scanner.looks_ahead(terminal) {
                    // Its automaton reads what is ahead as well.
                    true => ways.shortest(scanner, terminal),
                    false => shortest_end(lexeme, lexeme.start(), 0),
                }
            })
            .collect();
        let documents: Box<[DocumentCosts]> = documents
            .iter()
            .map(|program| {
                let costs = MinCosts::compute(program);
                let mut arena = Arena::default();
                let start = JsonMachine { program, arena: &mut arena }.start();
                let text = document_text(program, &costs, &mut arena, start).map(Arc::from);
                DocumentCosts { costs, bounds: OnceLock::new(), text }
            })
            .collect();
        let length = |text: &Option<Arc<[u8]>>| text.as_ref().map_or(NO_COST, |text| text.len() as u64);
        let leaf = |symbol: Symbol| {
            if productions.nullable[symbol as usize] {
                return 0;
            }
            if let Some(indenter) = indenter.filter(|indenter| indenter.silent().contains(&symbol)) {
                // A deeper line has one blank more at least.
                return u64::from(symbol == indenter.indent);
            }
            match (productions.token_set(symbol), productions.document(symbol)) {
                (Some(set), _) if token_sets[set].is_empty() => NO_COST,
                (Some(_), _) => 1,
                (None, Some(document)) => length(&documents[document as usize].text),
                (None, None) => length(&terminals[symbol as usize]),
            }
        };
        LeafCosts { symbols: SymbolCosts::compute(productions, leaf), terminals, documents }
    }

    /// The shortest text of a terminal.
    pub fn terminal(&self, terminal: u32) -> Option<&Arc<[u8]>> {
        self.terminals[terminal as usize].as_ref()
    }

    /// What the parts of a document cost.
    pub fn costs_of_document(&self, document: u32) -> &MinCosts {
        &self.documents[document as usize].costs
    }

    /// A short text of a document.
    pub fn document(&self, document: u32) -> Option<&Arc<[u8]>> {
        self.documents[document as usize].text.as_ref()
    }

    /// So many bytes end a document from a frame at most, after any one more token that stays inside of it and opens at
    /// most `opens` brackets.
    pub fn most_in_document(
        &self,
        program: &Program,
        document: u32,
        arena: &mut Arena,
        (frame, opens): (FrameId, usize),
    ) -> Option<u64> {
        let known = &self.documents[document as usize];
        let bounds = known.bounds.get_or_init(|| CompletionBounds::compute(program, &known.costs, opens, |_| Some(1)));
        let frames = JsonMachine { program, arena };
        let top = frames.arena.nodes[frame as usize];
        let mut bound = bounds.of_top(&frames, &top);
        let mut at = top.parent;
        while at != NONE {
            let node = &frames.arena.nodes[at as usize];
            bound = bound.with(bounds.of_frame(&frames, node));
            at = node.parent;
        }
        let most = bound.cost.saturating_add(bound.growth);
        (most != UNBOUNDED).then_some(most.into())
    }

    /// A short text from a frame of a document to its end.
    pub fn rest_of_document(
        &self,
        program: &Program,
        document: u32,
        arena: &mut Arena,
        frame: FrameId,
    ) -> Option<Vec<u8>> {
        document_text(program, &self.documents[document as usize].costs, arena, frame)
    }
}

/// Whether a promise may ever have to be kept.
pub fn promises_nothing(scanner: &Scanner) -> bool {
    scanner.lexer() == crate::grammar::model::Lexer::Any && !scanner.any_looks_ahead()
}
