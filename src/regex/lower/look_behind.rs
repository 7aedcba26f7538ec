//! What look-behind must remember.
//!
//! Every question about what was read so far is a *tracker*: the expression of all texts before the place for which
//! the answer is yes. `^` asks for the empty text, `\b` for texts that end in a word character, `(?<=e)` for texts
//! that end in `e`. Reading a code point derives the tracker; the answer at a place is whether its derivative accepts
//! the empty string. A *context* is the tuple of derivatives of all trackers. Code points that no tracker tells apart
//! form one *kind*, so a context has one successor per kind.
//!
//! Assertions also ask about the code point that follows. Whatever may follow falls into eight classes, a bit each.

use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::expr::{ExprId, Exprs};
use crate::limits::Limits;
use crate::regex::ast::{Assert, Ast, AstId, AstNode, Words};
use crate::regex::char_set::{CharSet, Union};
use crate::regex::parse::reader::unsupported;
use crate::regex::unicode;
use crate::util::cancel::{checkpoint_after, uninterruptible};
use crate::util::seeded_hash::SeededMap;

/// Nodes, borders or words of bits that are looked at in the time of one step.
const SETS_PER_STEP: usize = 16;

/// A set of classes of what may follow.
pub(crate) type NextClasses = u8;

/// Nothing follows.
pub(crate) const END: NextClasses = 1;
/// A newline follows and ends the text.
pub(crate) const FINAL_NEWLINE: NextClasses = 2;
/// A newline follows, and something after it.
pub(crate) const NEWLINE: NextClasses = 4;
/// Another line terminator of ECMA-262 follows.
const LINE: NextClasses = 8;
/// An ASCII word character follows.
const WORD_ASCII: NextClasses = 16;
/// One of the two others follows that fold to an ASCII word character.
const WORD_FOLDED: NextClasses = 32;
/// Another word character in Python's sense follows.
const WORD_PYTHON: NextClasses = 64;
/// Anything else follows.
const OTHER: NextClasses = 128;
/// No matter what follows.
pub(crate) const ANYTHING: NextClasses = 255;

fn word_classes(words: Words) -> NextClasses {
    match words {
        Words::Ascii => WORD_ASCII,
        Words::EcmaFolded => WORD_ASCII | WORD_FOLDED,
        Words::Python => WORD_ASCII | WORD_FOLDED | WORD_PYTHON,
    }
}

fn word_set(words: Words) -> Arc<CharSet> {
    match words {
        Words::Ascii => unicode::ascii_word(),
        Words::EcmaFolded => unicode::ecma_word_folded(),
        Words::Python => unicode::python_word(),
    }
}

/// The first code points of the classes in `next` other than the newline classes.
pub(crate) fn first_chars(next: NextClasses) -> CharSet {
    static CELLS: [OnceLock<CharSet>; 5] = [const { OnceLock::new() }; 5];
    let mut ranges = Vec::new();
    for (bit, cell) in [LINE, WORD_ASCII, WORD_FOLDED, WORD_PYTHON, OTHER].into_iter().zip(&CELLS) {
        if next & bit != 0 {
            ranges.extend_from_slice(cell.get_or_init(|| uninterruptible(|| class_chars(bit))).ranges());
        }
    }
    CharSet::new(ranges)
}

fn class_chars(class: NextClasses) -> CharSet {
    let line = unicode::ecma_line();
    match class {
        LINE => line.intersect(&CharSet::single(10).complement()),
        WORD_ASCII => (*word_set(Words::Ascii)).clone(),
        WORD_FOLDED => word_set(Words::EcmaFolded).intersect(&word_set(Words::Ascii).complement()),
        WORD_PYTHON => word_set(Words::Python).intersect(&word_set(Words::EcmaFolded).complement()),
        OTHER => word_set(Words::Python).union(&line).complement(),
        _ => CharSet::default(),
    }
}

/// What a tracker asks about the text before a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Question {
    Empty,
    AfterLine {
        ecma: bool,
    },
    AfterWord(Words),
    /// It ends in what this look-behind holds, provided that what follows is of the class.
    Behind(AstId, NextClasses),
}

struct Tracker {
    question: Question,
    /// The expression before anything is read; `None` until it is known.
    start: Option<ExprId>,
    /// The answer depends on the last code point only, or on there being none.
    short: bool,
}

/// The trackers of a pattern: for each look-behind the expression of all texts before a place for which its answer is
/// yes.
pub(crate) struct LookBehind {
    trackers: Vec<Tracker>,
    by_question: SeededMap<Question, usize>,
    /// For each node, the trackers that its assertions ask; a bit each.
    pub masks: Vec<u64>,
    kinds: Vec<(CharSet, char)>,
}

impl LookBehind {
    /// Collects the trackers of all assertions of a tree.
    pub fn new(ast: &Ast, limits: &Limits) -> Result<Self> {
        let mut b = LookBehind {
            trackers: Vec::new(),
            by_question: SeededMap::default(),
            masks: Vec::new(),
            kinds: Vec::new(),
        };
        for n in 0..ast.len() as AstId {
            let of = |b: &Self, n: &AstId| b.masks.get(*n as usize).copied().unwrap_or(0);
            let mask = match ast.get(n) {
                AstNode::Empty | AstNode::Text(_) | AstNode::Class(_) => 0,
                AstNode::Cat(v) | AstNode::Alt(v) => v.iter().fold(0, |m, n| m | of(&b, n)),
                AstNode::Rep { body, .. } | AstNode::Atomic(body) | AstNode::Look { body, behind: false, .. } => {
                    of(&b, body)
                }
                AstNode::Look { body, behind: true, .. } => {
                    let f = ast.facts(*body);
                    if f.ahead {
                        return Err(unsupported("look-ahead inside look-behind", ast.facts(n).offset as usize));
                    }
                    let short = matches!(ast.get(*body), AstNode::Class(_)) || (f.pure && f.width == (1, 1));
                    let mut m = 0;
                    for bit in 0..8 {
                        let class = if f.peeks { 1 << bit } else { ANYTHING };
                        m |= b.ask(Question::Behind(n, class), short, ast, n)?;
                        if !f.peeks {
                            break;
                        }
                    }
                    m
                }
                AstNode::Assert(a) => match *a {
                    Assert::Start => b.ask(Question::Empty, true, ast, n)?,
                    Assert::LineStart { ecma } => b.ask(Question::AfterLine { ecma }, true, ast, n)?,
                    Assert::End | Assert::EndOrFinalNewline | Assert::LineEnd { .. } => 0,
                    Assert::Boundary(w) => b.ask(Question::AfterWord(w), true, ast, n)?,
                    Assert::NotBoundary { words, never_empty } => {
                        let start = if never_empty { b.ask(Question::Empty, true, ast, n)? } else { 0 };
                        start | b.ask(Question::AfterWord(words), true, ast, n)?
                    }
                },
            };
            b.masks.push(mask);
        }
        b.kinds = b.kinds_of(ast, limits)?;
        Ok(b)
    }

    fn ask(&mut self, question: Question, short: bool, ast: &Ast, n: AstId) -> Result<u64> {
        let next = self.trackers.len();
        let i = *self.by_question.entry(question).or_insert(next);
        if i == next {
            if next == 64 {
                let offset = ast.facts(n).offset as usize;
                return Err(Error::limit("look-behind assertions", 64, 65).at_offset(offset));
            }
            self.trackers.push(Tracker { question, start: None, short });
        }
        Ok(1 << i)
    }

    /// Number of trackers.
    pub fn len(&self) -> usize {
        self.trackers.len()
    }

    /// The look-behind and the class of what follows that tracker `i` is for, if its expression is not known yet.
    pub fn open_question(&mut self, x: &mut Exprs, i: usize) -> Option<(AstId, NextClasses)> {
        let t = self.trackers.get_mut(i)?;
        let ending_in = |x: &mut Exprs, set: &CharSet| {
            let c = x.class(&set.scalars());
            x.cat(Exprs::ALL, c)
        };
        let e = match t.question {
            Question::Empty => Exprs::EPS,
            Question::AfterLine { ecma } => {
                let set = if ecma { unicode::ecma_line() } else { Arc::new(CharSet::single(10)) };
                let e = ending_in(x, &set);
                x.alt(&[Exprs::EPS, e])
            }
            Question::AfterWord(w) => ending_in(x, &word_set(w)),
            Question::Behind(n, class) => return if t.start.is_none() { Some((n, class)) } else { None },
        };
        t.start = Some(e);
        None
    }

    /// Sets the expression of a look-behind's tracker.
    pub fn answer(&mut self, i: usize, e: ExprId) {
        if let Some(t) = self.trackers.get_mut(i) {
            t.start = Some(e);
        }
    }

    /// The state of each tracker before anything is read.
    pub fn start(&self) -> Vec<ExprId> {
        self.trackers.iter().map(|t| t.start.unwrap_or(Exprs::NEVER)).collect()
    }

    /// Whether all trackers of `mask` depend on one code point only.
    pub fn short(&self, mask: u64) -> bool {
        self.trackers.iter().enumerate().all(|(i, t)| mask & (1 << i) == 0 || t.short)
    }

    /// The kinds of code points that trackers tell apart, with one code point of each.
    pub fn kinds(&self) -> &[(CharSet, char)] {
        &self.kinds
    }

    fn holds(&self, x: &Exprs, context: &[ExprId], q: Question) -> bool {
        let i = self.by_question.get(&q).copied().unwrap_or(usize::MAX);
        context.get(i).is_some_and(|&e| x.nullable(e))
    }

    /// After what was read in `context`, which classes may follow where node `n`, an assertion or look-behind, holds.
    pub fn allowed(&self, x: &Exprs, ast: &Ast, n: AstId, context: &[ExprId]) -> NextClasses {
        let yes = |b: bool| if b { ANYTHING } else { 0 };
        match *ast.get(n) {
            AstNode::Look { body, behind: true, negative } => {
                let mut next = 0;
                if ast.facts(body).peeks {
                    for bit in 0..8 {
                        if self.holds(x, context, Question::Behind(n, 1 << bit)) {
                            next |= 1 << bit;
                        }
                    }
                } else {
                    next = yes(self.holds(x, context, Question::Behind(n, ANYTHING)));
                }
                if negative { !next } else { next }
            }
            AstNode::Assert(a) => match a {
                Assert::Start => yes(self.holds(x, context, Question::Empty)),
                Assert::End => END,
                Assert::EndOrFinalNewline => END | FINAL_NEWLINE,
                Assert::LineStart { ecma } => yes(self.holds(x, context, Question::AfterLine { ecma })),
                Assert::LineEnd { ecma } => END | FINAL_NEWLINE | NEWLINE | if ecma { LINE } else { 0 },
                Assert::Boundary(w) => {
                    let words = word_classes(w);
                    if self.holds(x, context, Question::AfterWord(w)) { !words } else { words }
                }
                Assert::NotBoundary { words: w, never_empty } => {
                    let words = word_classes(w);
                    let next = if self.holds(x, context, Question::AfterWord(w)) { words } else { !words };
                    if never_empty && self.holds(x, context, Question::Empty) { next & !END } else { next }
                }
            },
            _ => ANYTHING,
        }
    }

    /// Splits all code points by which of the sets that trackers mention they belong to.
    fn kinds_of(&self, ast: &Ast, limits: &Limits) -> Result<Vec<(CharSet, char)>> {
        /// Stands for the code points that are named one by one.
        const ALONE: u32 = u32::MAX;
        let (sets, alone) = self.mentioned(ast)?;
        let most = limits.max_explored_states;
        let within = |kinds: usize| match kinds > most {
            true => Err(Error::limit("kinds of code points in look-behind", most as u64, kinds as u64)
                .set_by("max_explored_states")),
            false => Ok(()),
        };
        within(alone.count())?;
        // Sweep over the borders; the sets that are open between two borders say which kind it is.
        let mut borders: Vec<(u32, u32)> = Vec::new();
        for (i, s) in sets.iter().enumerate() {
            borders.extend(s.ranges().iter().flat_map(|r| [(r.0, i as u32), (r.1 + 1, i as u32)]));
        }
        let each = alone.ranges().iter().flat_map(|&(lo, hi)| lo..=hi);
        borders.extend(each.flat_map(|c| [(c, ALONE), (c + 1, ALONE)]));
        checkpoint_after(borders.len() / SETS_PER_STEP)?;
        borders.sort_unstable();
        let mut open = vec![0u64; sets.len().div_ceil(64)];
        let mut by_open: SeededMap<Vec<u64>, usize> = SeededMap::default();
        let mut kinds: Vec<Vec<(u32, u32)>> = Vec::new();
        let (mut lo, mut i) = (0u32, 0);
        while lo <= 0x10_FFFF {
            while let Some(&(_, s)) = borders.get(i).filter(|b| b.0 <= lo) {
                if s != ALONE {
                    open[s as usize / 64] ^= 1 << (s % 64);
                }
                i += 1;
            }
            let next = borders.get(i).map_or(0x11_0000, |b| b.0);
            checkpoint_after(open.len() / SETS_PER_STEP)?;
            if alone.contains(lo) {
                kinds.push(vec![(lo, lo)]);
            } else if let Some(&k) = by_open.get(&open) {
                kinds[k].push((lo, next - 1));
            } else {
                by_open.insert(open.clone(), kinds.len());
                kinds.push(vec![(lo, next - 1)]);
                let (words, most) = (by_open.len() * open.len(), limits.max_expr_nodes);
                if words > most {
                    let e = Error::limit("sets of code points in look-behind", most as u64, words as u64);
                    return Err(e.set_by("max_expr_nodes"));
                }
            }
            within(kinds.len())?;
            lo = next;
        }
        Ok(kinds.into_iter().map(CharSet::new).filter_map(|s| s.first_scalar().map(|c| (s, c))).collect())
    }

    /// The sets that trackers mention, and the code points that they name one by one: each of these is a kind, whatever
    /// the sets are.
    fn mentioned(&self, ast: &Ast) -> Result<(Vec<Arc<CharSet>>, CharSet)> {
        let mut sets: Vec<Arc<CharSet>> = Vec::new();
        let mut alone = Union::default();
        // Look-behind lies within look-behind, and one may be asked for several classes of what follows.
        let mut seen = vec![false; ast.len()];
        let mut stack = Vec::new();
        for t in &self.trackers {
            match t.question {
                Question::Empty => {}
                Question::AfterLine { ecma: true } => sets.push(unicode::ecma_line()),
                Question::AfterLine { ecma: false } => alone.push(10, 10),
                Question::AfterWord(w) => sets.push(word_set(w)),
                Question::Behind(n, class) => {
                    if class != ANYTHING {
                        alone.push(10, 10);
                        sets.push(Arc::new(first_chars(class)));
                    }
                    stack.push(n);
                }
            }
            let mut visited = 0;
            while let Some(n) = stack.pop() {
                if std::mem::replace(&mut seen[n as usize], true) {
                    continue;
                }
                visited += 1;
                match ast.get(n) {
                    AstNode::Text(s) => s.chars().for_each(|c| alone.push(c as u32, c as u32)),
                    AstNode::Class(set) => sets.push(set.clone()),
                    AstNode::Cat(v) | AstNode::Alt(v) => stack.extend_from_slice(v),
                    AstNode::Rep { body, .. } | AstNode::Atomic(body) | AstNode::Look { body, .. } => stack.push(*body),
                    AstNode::Empty | AstNode::Assert(_) => {}
                }
            }
            checkpoint_after(visited / SETS_PER_STEP)?;
        }
        // Most are one set, that is one place in memory.
        sets.sort_unstable_by_key(Arc::as_ptr);
        sets.dedup_by(|a, b| Arc::ptr_eq(a, b));
        sets.sort_unstable_by(|a, b| a.ranges().cmp(b.ranges()));
        sets.dedup();
        Ok((sets, alone.finish()))
    }
}
