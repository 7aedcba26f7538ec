//! State overflow: younger copies of an index bound what it finds on use.
//!
//! States of lexemes are found on use, and a pattern like `.*a.{20}` has a million of them. They cannot be forgotten
//! while a guide stands on one. So a lexeme that holds more states than the limit takes no new ones: a guide that comes
//! to it goes on in a *younger* index, which is equal but for fresh copies of the full lexemes. An index has one
//! younger index at a time, shared by all of its guides; when that is full in turn, the next one takes its place, and
//! it is freed with the last guide that stands in it. What an index holds is so bounded by two sets of lexemes, its own
//! and the younger one's, whatever text comes and however many guides there are, and each guide adds at most the one
//! that it left last (see `guide::overflow`).
//!
//! Masks need no such care: nobody holds on to one, so full caches of masks are emptied.
//!
//! `docs/internals/state-overflow.md` has an example.

use std::sync::Arc;

use crate::error::Error;
use crate::index::{Index, IndexCore, IndexEngine, IndexHandle};
use crate::lexeme::Lexeme;
use crate::mask::lexeme::masked_lexeme::MaskedLexeme;
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{FrameId, FrameKind, ObjectItem, Phase, ScalarItem};
use crate::pushdown::json::program::{ClassProgram, Program};
use crate::util::memory_growth::room_of_states;
use crate::util::work_meter::too_large_states;

/// Copies of full lexemes: lexemes that share their states share those of the copy.
struct YoungerCopies {
    /// Copied are lexemes with more bytes of states; all that can be copied without a number.
    beyond: Option<usize>,
    made: Vec<(Arc<Lexeme>, Arc<Lexeme>)>,
}

impl YoungerCopies {
    fn copy(&mut self, l: &Arc<Lexeme>) -> Option<Arc<Lexeme>> {
        if !self.beyond.map_or_else(|| l.can_be_copied(), |bytes| l.is_full(bytes)) {
            return None;
        }
        let known = self.made.iter().find(|(old, _)| old.shares_states(l)).map(|(_, copy)| l.over_states_of(copy));
        let copy = Arc::new(known.unwrap_or_else(|| l.copied()));
        self.made.push((l.clone(), copy.clone()));
        Some(copy)
    }

    fn masked(&mut self, l: &Arc<MaskedLexeme>) -> Arc<MaskedLexeme> {
        self.copy(&l.lexeme).map_or_else(|| l.clone(), |copy| Arc::new(l.over(copy)))
    }
}

impl Index {
    /// The index in which guides of this one go on for whom `full`, this index or a younger one, is full.
    pub(crate) fn younger_than(&self, full: &Index) -> Index {
        let mut slot = self.0.younger.lock().unwrap_or_else(|p| p.into_inner());
        if let Some(younger) = slot.as_ref().filter(|y| !y.is_same(full) && y.given_up().is_none()) {
            return younger.clone();
        }
        let made = full.copied(Some(room_of_states(self.0.limits.max_state_bytes)));
        *slot = Some(made.clone());
        made
    }

    /// Why no more states of some lexeme here are found, if so.
    #[cold]
    pub(crate) fn given_up(&self) -> Option<Error> {
        let why = |l: &Arc<Lexeme>| l.has_given_up().then(|| too_large_states(l.most_row_bytes()));
        match &self.0.engine {
            IndexEngine::Grammar(grammar) => grammar.program.scanner.given_up(),
            IndexEngine::Pattern(l) => why(&l.lexeme),
            IndexEngine::Document { program, lexemes } => {
                let keys = program.objects.iter().flat_map(|o| &o.others).filter_map(|c| c.keys.as_ref());
                lexemes.iter().map(|l| &l.lexeme).chain(keys).find_map(why)
            }
        }
    }

    /// A copy to explore, so that what is found there need not be kept.
    pub(super) fn apart(&self) -> Index {
        self.copied(None)
    }

    fn copied(&self, beyond: Option<usize>) -> Index {
        let inner = &*self.0;
        let mut copies = YoungerCopies { beyond, made: Vec::new() };
        let engine = match &inner.engine {
            IndexEngine::Pattern(l) => IndexEngine::Pattern(copies.masked(l)),
            IndexEngine::Document { program, lexemes } => {
                let lexemes: Vec<Arc<MaskedLexeme>> = lexemes.iter().map(|l| copies.masked(l)).collect();
                let mut program = Program {
                    rules: program.rules.clone(),
                    lexemes: lexemes.iter().map(|l| l.lexeme.clone()).collect(),
                    arrays: program.arrays.clone(),
                    objects: program.objects.clone(),
                    any_text: program.any_text.clone(),
                    gaps: program.gaps.clone(),
                    any_order: program.any_order,
                    name_escapes: program.name_escapes,
                    has_unique: program.has_unique,
                    has_watched: program.has_watched,
                    unique: Default::default(),
                    constants: program.constants.clone(),
                    root: program.root,
                };
                for keys in program.objects.iter_mut().flat_map(|o| &mut o.others).filter_map(|c| c.keys.as_mut()) {
                    if let Some(copy) = copies.copy(keys) {
                        *keys = copy;
                    }
                }
                IndexEngine::Document { program: Box::new(program), lexemes }
            }
            // Guides over grammars stay where they are, and nothing asks for their configurations.
            IndexEngine::Grammar(_) => return self.clone(),
        };
        let (vocabulary, tables, source) = (inner.vocabulary.clone(), inner.tables.clone(), inner.source.clone());
        // The states of a pattern with dead ones were all found when it was compiled, so its guides never come here.
        let young = IndexCore::new(vocabulary, tables, engine, source, inner.limits);
        Index(IndexHandle::Compiled(Arc::new(IndexCore { fingerprint: inner.fingerprint.clone(), ..young })))
    }

    /// Bytes held by the younger index beyond what it shares with this one.
    pub(super) fn younger_bytes(&self) -> usize {
        let slot = self.0.younger.lock().unwrap_or_else(|p| p.into_inner());
        let Some(younger) = slot.as_ref() else { return 0 };
        let pairs = lexemes(&younger.0.engine).iter().zip(lexemes(&self.0.engine));
        let own = pairs.filter(|(y, o)| !y.lexeme.shares_states(&o.lexeme)).map(|(y, _)| y.memory_bytes());
        own.sum::<usize>() + younger.0.memo.memory_bytes()
    }

    /// Whether the lexemes that the next byte of `top` would step are full. Other places of a document begin scalars
    /// and keys, whose first states every guide shares.
    pub(crate) fn is_full_at(&self, arena: &Arena, top: FrameId) -> bool {
        let IndexEngine::Document { program, .. } = &self.0.engine else { return false };
        let Some(n) = arena.nodes.get(top as usize) else { return false };
        let range = n.start as usize..(n.start + n.len) as usize;
        let room = room_of_states(self.0.limits.max_state_bytes);
        let full = |l: &Lexeme| l.is_full(room);
        match n.kind {
            FrameKind::Scalar => arena.scalars[range].iter().any(|s| full(&program.lexemes[s.lexeme as usize])),
            FrameKind::Object if n.phase == Phase::Key => arena.objects[range].iter().filter(|i| i.others).any(|i| {
                let full_class = |c: &ClassProgram| {
                    c.keys.as_ref().is_some_and(|k| full(k) || full(&program.lexemes[c.text as usize]))
                };
                program.objects[i.shape as usize].others.iter().any(full_class)
            }),
            _ => false,
        }
    }

    /// The configuration of this index that `top` is in `from`, an older or younger one: the same nodes, and one more
    /// where states have other numbers here.
    pub(crate) fn adopt(&self, from: &Index, arena: &mut Arena, top: FrameId) -> FrameId {
        let (IndexEngine::Document { program: new, .. }, IndexEngine::Document { program: old, .. }) =
            (&self.0.engine, &from.0.engine)
        else {
            return top;
        };
        let Some(&n) = arena.nodes.get(top as usize) else { return top };
        let range = n.start as usize..(n.start + n.len) as usize;
        let start = match n.kind {
            FrameKind::Scalar => {
                let start = arena.scalars.len();
                for i in range {
                    let item = arena.scalars[i];
                    let (to, from) = (&new.lexemes[item.lexeme as usize], &old.lexemes[item.lexeme as usize]);
                    arena.scalars.push(ScalarItem { state: to.adopt(from, item.state), ..item });
                }
                start
            }
            FrameKind::Object if n.phase == Phase::Key => {
                let start = arena.objects.len();
                for i in range {
                    let item = arena.objects[i];
                    let mut classes = item.classes;
                    if item.others {
                        classes = arena.states.len() as u32;
                        let of = |p: &Program| p.objects[item.shape as usize].others.clone();
                        for ((to, from), at) in of(new).iter().zip(of(old)).zip(item.classes..) {
                            let state = arena.states[at as usize];
                            arena.states.push(match (&to.keys, &from.keys) {
                                (Some(to), Some(from)) => to.adopt(from, state),
                                _ => state,
                            });
                        }
                    }
                    arena.objects.push(ObjectItem { classes, ..item });
                }
                start
            }
            _ => return top,
        };
        arena.push(crate::pushdown::json::frame::Frame { start: start as u32, ..n })
    }
}

fn lexemes(engine: &IndexEngine) -> &[Arc<MaskedLexeme>] {
    match engine {
        IndexEngine::Grammar(_) => &[],
        IndexEngine::Pattern(l) => std::slice::from_ref(l),
        IndexEngine::Document { lexemes, .. } => lexemes,
    }
}
