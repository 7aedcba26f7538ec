//! Writes the texts of a sequence of terminals, each in a way that lets the next one follow.
//!
//! Texts in the making share their beginnings: each is a chain of pieces (`Trace`), which is read off in the end.

use std::sync::Arc;

use crate::pushdown::grammar::bnf_rules::Symbol;
use crate::pushdown::grammar::completion::line_texts::next_width;
use crate::pushdown::grammar::completion::obligation_relations::ObligationRelations;
use crate::pushdown::grammar::completion::plan::Begun;
use crate::pushdown::grammar::completion::terminal_ways::Way;
use crate::pushdown::grammar::parse_stack::NO_COLUMN;
use crate::pushdown::grammar::program::GrammarMachine;
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId};

/// A part of a completion.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Bytes.
    Text(Vec<u8>),
    /// A special token of a set.
    Special(usize),
}

/// Ways of reading the same terminals that are followed side by side.
const WIDTH: usize = 4;

/// A text in the making: the part before, and the last piece.
pub(super) type Trace = Vec<(u32, PieceOfTrace)>;

#[derive(Clone)]
pub(super) enum PieceOfTrace {
    Nothing,
    Text(Arc<[u8]>),
    Special(usize),
}

/// The pieces of a text up to its last one.
pub(super) fn pieces_of(trace: &Trace, end: u32) -> Vec<Piece> {
    let mut parts = Vec::new();
    let mut at = end;
    while at != 0 {
        parts.push(&trace[at as usize].1);
        at = trace[at as usize].0;
    }
    joined(parts.into_iter().rev())
}

/// Parts one behind the other, texts that meet as one.
fn joined<'p>(parts: impl Iterator<Item = &'p PieceOfTrace>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for part in parts {
        match (part, out.last_mut()) {
            (PieceOfTrace::Nothing, _) => {}
            (PieceOfTrace::Text(text), Some(Piece::Text(before))) => before.extend_from_slice(text),
            (PieceOfTrace::Text(text), _) => out.push(Piece::Text(text.to_vec())),
            (PieceOfTrace::Special(set), _) => out.push(Piece::Special(*set)),
        }
    }
    out.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    out
}

/// Writes a text behind a piece: the last piece then.
pub(super) fn add(trace: &mut Trace, before: u32, text: &Arc<[u8]>) -> u32 {
    if text.is_empty() {
        return before;
    }
    trace.push((before, PieceOfTrace::Text(text.clone())));
    trace.len() as u32 - 1
}

/// Writes texts and a special token behind a piece: the last piece then, and how many bytes the texts have.
pub(super) fn extend(trace: &mut Trace, before: u32, texts: &[&Arc<[u8]>], special: Option<usize>) -> (u32, usize) {
    let mut end = texts.iter().fold(before, |end, text| add(trace, end, text));
    if let Some(set) = special {
        trace.push((end, PieceOfTrace::Special(set)));
        end = trace.len() as u32 - 1;
    }
    (end, texts.iter().map(|text| text.len()).sum())
}

impl PieceOfTrace {
    /// How many bytes it has; a special token counts as one.
    pub(super) fn cost(&self) -> u64 {
        match self {
            PieceOfTrace::Nothing => 0,
            PieceOfTrace::Text(text) => text.len() as u64,
            PieceOfTrace::Special(_) => 1,
        }
    }
}

impl GrammarMachine<'_> {
    /// A part with terminals, special tokens and documents behind it, where each has one text wherever it stands.
    pub(super) fn written<'t>(
        &self,
        first: PieceOfTrace,
        leaves: &[Symbol],
        text_of: impl Fn(Symbol) -> Option<&'t Arc<[u8]>>,
    ) -> Option<Vec<Piece>> {
        let part = |&leaf: &Symbol| match self.program.productions.token_set(leaf) {
            Some(set) => Some(PieceOfTrace::Special(set)),
            None => Some(PieceOfTrace::Text(text_of(leaf)?.clone())),
        };
        let parts: Vec<PieceOfTrace> = leaves.iter().map(part).collect::<Option<_>>()?;
        Some(joined(std::iter::once(&first).chain(&parts)))
    }

    /// What must not follow behind a text of a document; `None` if the text must not come.
    pub(super) fn keeps(&self, from: ObligationsId, text: &[u8]) -> Option<ObligationsId> {
        text.iter().try_fold(from, |held, &byte| self.program.scanner.next_obligations(held, byte))
    }

    /// Where one may be behind a terminal, a special token or a document, ignored terminals before it included.
    pub(super) fn ways_through(
        &self,
        relations: &mut ObligationRelations,
        symbol: Symbol,
        from: ObligationsId,
        mut found: impl FnMut(ObligationsId, &[&Arc<[u8]>], Option<usize>),
    ) {
        let program = self.program;
        let parts = program.relation_parts();
        if let Some(set) = program.productions.token_set(symbol) {
            if !program.token_sets[set].is_empty() {
                found(NO_OBLIGATIONS, &[], Some(set));
            }
            return;
        }
        for before in relations.between(parts, from).iter() {
            if let Some(document) = program.productions.document(symbol) {
                if let Some(text) = program.leaf_costs().document(document)
                    && let Some(to) = self.keeps(before.to, text)
                {
                    found(to, &[&before.text, text], None);
                }
                continue;
            }
            for way in relations.ways.from_start(&program.scanner, &program.follow, symbol, before.to).all {
                found(way.to, &[&before.text, &way.text], None);
            }
        }
    }

    /// Where one may be behind a newline terminal that ends with a line of a width.
    fn lines_through(
        &self,
        relations: &mut ObligationRelations,
        newline: Symbol,
        from: ObligationsId,
        width: u32,
        mut found: impl FnMut(Way),
    ) {
        let scanner = &self.program.scanner;
        for before in relations.between(self.program.relation_parts(), from).iter() {
            let start = scanner.oblige_start(scanner.start_of_all(), before.to);
            for way in relations.ways.from_start(scanner, &self.program.follow, newline, before.to).all {
                if let Some(way) = self.program.line_text(start, NO_COLUMN, &way.text, width) {
                    found(Way { to: way.to, text: [&*before.text, &*way.text].concat().into() });
                }
            }
        }
    }

    /// Reads terminals one after the other, each in a way that lets the next one follow.
    pub(super) fn read_leaves(
        &self,
        relations: &mut ObligationRelations,
        begun: &Begun,
        leaves: &[Symbol],
    ) -> Option<Vec<Piece>> {
        let program = self.program;
        if program.costs_are_exact() {
            let first = PieceOfTrace::Text(begun.ways.first()?.text.clone());
            let costs = program.leaf_costs();
            return self.written(first, leaves, |leaf| match program.productions.document(leaf) {
                Some(document) => costs.document(document),
                None => costs.terminal(leaf),
            });
        }
        let mut trace: Trace = vec![(0, PieceOfTrace::Nothing)];
        // What holds, the length so far, and the text.
        let mut now: Vec<(ObligationsId, usize, u32)> = Vec::new();
        let mut blocks = begun.blocks.clone();
        let line = program.indenter.as_ref().zip(begun.line);
        let line = line.map(|(indenter, line)| (line, next_width(indenter, &mut blocks, leaves)));
        for way in &begun.ways {
            let way = match line {
                None => way.clone(),
                Some(((scan, column), width)) => match program.line_text(scan, column, &way.text, width?) {
                    Some(way) => way,
                    None => continue,
                },
            };
            now.push((way.to, way.text.len(), add(&mut trace, 0, &way.text)));
        }
        for (number, &leaf) in leaves.iter().enumerate() {
            let mut width = None;
            if let Some(indenter) = &program.indenter {
                if indenter.silent().contains(&leaf) {
                    continue;
                }
                if indenter.newline == leaf {
                    width = Some(next_width(indenter, &mut blocks, &leaves[number + 1..])?);
                }
                indenter.bracket(leaf).into_iter().for_each(|opens| match opens {
                    true => blocks.push(None),
                    false => drop(blocks.pop()),
                });
            }
            let mut next: Vec<(ObligationsId, usize, u32)> = Vec::new();
            for (held, length, at) in now {
                if let Some(width) = width {
                    self.lines_through(relations, leaf, held, width, |way| {
                        let (end, more) = extend(&mut trace, at, &[&way.text], None);
                        next.push((way.to, length + more, end));
                    });
                    continue;
                }
                self.ways_through(relations, leaf, held, |to, texts, special| {
                    let (end, more) = extend(&mut trace, at, texts, special);
                    next.push((to, length + more, end));
                });
            }
            next.sort_by_key(|&(to, length, _)| (length, program.scanner.obligations(to).len()));
            now = Vec::new();
            for one in next {
                if now.len() < WIDTH && !now.iter().any(|known| program.scanner.is_weaker(known.0, one.0)) {
                    now.push(one);
                }
            }
            if now.is_empty() {
                return None;
            }
        }
        let ends = now.iter().filter_map(|&(held, _, at)| Some((self.end_of_text(relations, held)?, at)));
        let (text, at) = ends.min_by_key(|(text, _)| text.len())?;
        let end = add(&mut trace, at, &text);
        Some(pieces_of(&trace, end))
    }

    /// Ignored texts behind which the output may end under obligations.
    pub(super) fn end_of_text(&self, relations: &mut ObligationRelations, held: ObligationsId) -> Option<Arc<[u8]>> {
        let between = relations.between(self.program.relation_parts(), held);
        between.iter().find(|way| self.program.scanner.may_end(way.to)).map(|way| way.text.clone())
    }
}
