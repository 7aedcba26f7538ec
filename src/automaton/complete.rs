//! Short ways to the end.
//!
//! From every live configuration some bytes complete the document. This module finds short ones: not always the
//! shortest, which in a conjunction of guards would take a search, but bytes that certainly complete it, because each
//! of them is stepped. Inside a scalar a breadth-first search finds the shortest end; between scalars the cheapest
//! kind of value, required keys first, and a closing bracket wherever one is accepted, unless the alternative that it
//! ends leaves more to write than another (`prospects`). What a rule costs at least is a least
//! fixpoint over the rules (Knuth 1977, a generalisation of Dijkstra's algorithm), estimated in bytes.

use std::sync::{Arc, OnceLock};

use super::arena::{Kind, NONE, Node, NodeId, Phase};
use super::config::Frames;
pub use super::ends::shortest_end;
use super::ends::{FEW_MEMBERS, MAX_MEMBERS, shortest_members};
use super::farthest::farthest;
use super::lexeme::{CLOSED, Lexeme, StateId};
use super::program::{ObjectProgram, Program};
use super::prospects::Prospects;
use super::text::Sub;

/// Bytes of a completion; a document that needs more has no known completion.
const MAX_BYTES: usize = 1 << 18;
/// Bytes of a completion after which it ends wherever it may, whatever the estimates say.
const MAX_CHOSEN: usize = 1 << 13;
/// Rounds of the fixpoint: rules that nest deeper are left without an estimate and come last.
const MAX_ROUNDS: usize = 64;

/// The bytes that a search tries, likely text first, so that the result is spelled by few tokens.
pub(super) fn preferred() -> impl Iterator<Item = u8> {
    let rest = (0..=255u8).filter(|b| !b.is_ascii_alphanumeric() && *b != b'"' && *b != b' ');
    std::iter::once(b'"')
        .chain(b'0'..=b'9')
        .chain(b'a'..=b'z')
        .chain(b'A'..=b'Z')
        .chain(std::iter::once(b' '))
        .chain(rest)
}

/// Estimates for one program.
pub struct Costs {
    /// Bytes of a short member of each rule; `u64::MAX` where none is known.
    pub(super) rules: Vec<u64>,
    /// Bytes of a short member of each lexeme.
    lexemes: Vec<u64>,
    step: OnceLock<Option<u64>>,
}

impl Costs {
    /// The estimates of a program. Costs a search for each lexeme and some rounds over the rules.
    pub fn of(program: &Program) -> Costs {
        let member = |l: &Lexeme| shortest_end(l, l.start(), 0).map_or(u64::MAX, |b| b.len() as u64);
        let lexemes: Vec<u64> = program.lexemes.iter().map(|l| member(l)).collect();
        let rules = vec![u64::MAX; program.rules.len()];
        let mut costs = Costs { rules, lexemes, step: OnceLock::new() };
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for r in (0..program.rules.len()).rev() {
                let now = costs.estimate(program, r);
                changed |= now < costs.rules[r];
                costs.rules[r] = costs.rules[r].min(now);
            }
            if !changed {
                break;
            }
        }
        costs
    }

    /// The estimates of a pattern: there are none.
    pub fn of_pattern() -> Costs {
        Costs { rules: Vec::new(), lexemes: Vec::new(), step: OnceLock::new() }
    }

    /// By how many bytes one bracket, comma, colon or byte inside a scalar can lengthen the way to the end, at most;
    /// `None` where that is not known. Found once.
    pub fn step(&self, find: impl FnOnce(&Costs) -> Option<u64>) -> Option<u64> {
        *self.step.get_or_init(|| find(self))
    }

    /// [`step`](Self::step) of a program. What opens costs what its shape needs; a key or a bracket may leave, of the
    /// shapes of a frame, only the most costly one. Not known where shapes need more than their required keys and
    /// fewest elements: there a value may be needed more than once, or another one than before.
    pub fn largest_step(&self, program: &Program) -> Option<u64> {
        let plain_object = |o: &ObjectProgram| o.implied.is_none() && o.witnesses == 0;
        let plain = !program.has_unique
            && program.arrays.iter().all(|a| a.contains.is_empty())
            && program.objects.iter().all(plain_object);
        if !plain {
            return None;
        }
        let mut most = self.rules.iter().copied().max().unwrap_or(0);
        for shape in 0..program.arrays.len() as u32 {
            most = most.max(self.array(program, shape));
        }
        for (shape, o) in (0..).zip(&program.objects) {
            most = most.max(self.object(program, shape));
            let name = o.spelled.iter().map(|n| serde_json::Value::from(&**n).to_string().len() as u64).max();
            most = most.max(name.unwrap_or(0));
            for keys in o.others.iter().filter_map(|c| c.keys.as_ref()) {
                most = most.max(farthest(keys)?.saturating_mul(6));
            }
        }
        for l in &program.lexemes {
            most = most.max(farthest(l)?);
        }
        // Where several shapes are open at once, keys of more than one may be written; and there is punctuation.
        (most < u64::MAX).then(|| most.saturating_mul(2).saturating_add(16))
    }

    fn estimate(&self, program: &Program, rule: usize) -> u64 {
        let r = &program.rules[rule];
        let scalars = r.lexemes.iter().map(|&l| self.lexemes[l as usize]);
        let arrays = r.arrays.iter().map(|&a| self.array(program, a));
        let objects = r.objects.iter().map(|&o| self.object(program, o));
        scalars.chain(arrays).chain(objects).min().unwrap_or(u64::MAX)
    }

    fn array(&self, program: &Program, shape: u32) -> u64 {
        self.array_after(program, shape, 0, &[]).saturating_add(1)
    }

    fn object(&self, program: &Program, shape: u32) -> u64 {
        let o = &program.objects[shape as usize];
        self.object_after(program, shape, (&[], &o.required), 0, 0).saturating_add(1)
    }
}

/// The keys that a completion tries in one object. Whatever text stands in the place of the key that the object has
/// open, or was given last, the completion is the same unless that text is one of them.
pub struct Watch {
    /// The node below the object; [`NONE`] watches nothing.
    pub below: NodeId,
    /// The keys that were tried, decoded.
    pub tried: Vec<Arc<str>>,
    /// Some key was looked for byte by byte.
    pub vague: bool,
}

impl Watch {
    /// Nothing was tried yet.
    pub fn of(below: NodeId) -> Self {
        Watch { below, tried: Vec::new(), vague: false }
    }
}

/// One completion in the making.
pub struct Completer<'a, 'f> {
    /// What is stepped.
    pub frames: &'a mut Frames<'f>,
    /// The estimates of its program.
    pub costs: &'a Costs,
    out: Vec<u8>,
    top: NodeId,
    prospects: Prospects,
    watch: &'a mut Watch,
}

impl<'a, 'f> Completer<'a, 'f> {
    /// Bytes that complete the document from `top`, or lead to where `known` says so, which is told the top of the
    /// configuration and how many bytes led there; `None` where none were found. The arena is as it was.
    pub fn complete_until(
        frames: &'a mut Frames<'f>,
        costs: &'a Costs,
        top: NodeId,
        watch: &'a mut Watch,
        mut known: impl FnMut(&Frames<'f>, NodeId, usize) -> bool,
    ) -> Option<Vec<u8>> {
        let mark = frames.arena.mark();
        let trace = frames.arena.trace;
        let mut c = Completer { frames, costs, out: Vec::new(), top, prospects: Prospects::default(), watch };
        let mut done = false;
        while c.out.len() < MAX_BYTES {
            let node = c.frames.arena.nodes[c.top as usize];
            if node.kind == Kind::Done || known(c.frames, c.top, c.out.len()) {
                done = true;
                break;
            }
            if c.go_on(node).is_none() {
                break;
            }
        }
        let out = std::mem::take(&mut c.out);
        c.frames.arena.truncate(&mark);
        c.frames.arena.trace = trace;
        done.then_some(out)
    }

    /// Steps one byte, if it is accepted.
    fn take(&mut self, byte: u8) -> Option<()> {
        let next = self.frames.step(self.top, byte);
        if next == NONE {
            return None;
        }
        self.top = next;
        self.out.push(byte);
        Some(())
    }

    /// Steps all of `bytes` or nothing.
    fn take_all(&mut self, bytes: &[u8]) -> Option<()> {
        let (top, len) = (self.top, self.out.len());
        for &b in bytes {
            if self.take(b).is_none() {
                self.top = top;
                self.out.truncate(len);
                return None;
            }
        }
        Some(())
    }

    /// The first of `candidates` that is accepted.
    fn first_of(&mut self, candidates: &[&[u8]]) -> Option<()> {
        candidates.iter().find_map(|c| self.take_all(c))
    }

    fn go_on(&mut self, node: Node) -> Option<()> {
        if !matches!(node.kind, Kind::Scalar | Kind::Root)
            && node.phase != Phase::Key
            && !self.frames.gap_may_end(&node)
        {
            return self.first_of(&[b" ", b"\n", b"\t", b"\r"]);
        }
        match (node.kind, node.phase) {
            (Kind::Scalar, _) => self.scalar(node),
            (Kind::Value, _) => self.value(node),
            (Kind::Array, phase) => {
                let ends = self.should_end(&node);
                if ends && self.take(b']').is_some() {
                    return Some(());
                }
                let on = match phase {
                    Phase::After => self.take(b','),
                    _ => self.open_first(node),
                };
                on.or_else(|| if ends { None } else { self.take(b']') })
            }
            (Kind::Object, Phase::Key) => self.key(node),
            (Kind::Object, Phase::BeforeColon) => self.take(b':'),
            (Kind::Object, Phase::BeforeKey) => self.take(b'"'),
            (Kind::Object, phase) => {
                let on: &[u8] = if phase == Phase::First { b"\"" } else { b"," };
                if self.should_end(&node) { self.first_of(&[b"}", on]) } else { self.first_of(&[on, b"}"]) }
            }
            (Kind::Root | Kind::Done, _) => None,
        }
    }

    /// Whether an array or object had better end here than go on, if it may.
    fn should_end(&mut self, node: &Node) -> bool {
        self.out.len() > MAX_CHOSEN || self.prospects.should_end(self.frames, self.costs, node)
    }

    fn open_first(&mut self, node: Node) -> Option<()> {
        self.top = Some(self.frames.first_element(node)).filter(|&n| n != NONE)?;
        Some(())
    }

    fn scalar(&mut self, node: Node) -> Option<()> {
        let rest = self.prospects.of(self.frames, self.costs, node.parent);
        let mut ends: Vec<(u64, Arc<[u8]>)> = Vec::new();
        for i in node.start..node.start + node.len {
            let item = self.frames.arena.scalars[i as usize];
            let lexeme = &self.frames.program.lexemes[item.lexeme as usize];
            let end = shortest_end(lexeme, item.state, node.count);
            ends.extend(end.map(|end| (rest.after(item.tag).saturating_add(end.len() as u64), end)));
        }
        let set = self.frames.program.constants.get(node.seen).filter(|_| node.sub == Sub::Plain);
        for (text, tags) in set.map(|set| set.ends(node.text)).unwrap_or_default() {
            // Inside of a character its other bytes come first.
            let whole = text.iter().position(|byte| byte & 0xC0 != 0x80).unwrap_or(text.len());
            let Ok(plain) = std::str::from_utf8(&text[whole..]) else { continue };
            let spelled = serde_json::Value::from(plain).to_string();
            let end: Arc<[u8]> = [&text[..whole], spelled.as_bytes().get(1..).unwrap_or_default()].concat().into();
            let least = tags.iter().map(|&tag| rest.after(tag)).min().unwrap_or(u64::MAX);
            ends.push((least.saturating_add(end.len() as u64), end));
        }
        ends.sort_by_key(|&(cost, _)| cost);
        for (_, end) in ends {
            if end.is_empty() {
                let after = self.frames.end_scalar(self.top);
                if after != NONE {
                    self.top = after;
                    return Some(());
                }
            } else if self.take_all(&end).is_some() {
                return Some(());
            }
        }
        // The shortest end is a value that a unique array already has, for instance: any other byte leads on.
        preferred().find_map(|b| self.take(b))
    }

    fn value(&mut self, node: Node) -> Option<()> {
        let program = self.frames.program;
        let rest = self.prospects.of(self.frames, self.costs, node.parent);
        let mut kinds: Vec<(u64, Vec<u8>)> = Vec::new();
        for tag in 0..node.len {
            let rule = self.frames.arena.rules[(node.start + tag) as usize];
            let rest = rest.after(tag);
            let r = &program.rules[rule.0 as usize];
            for &l in &r.lexemes {
                let lexeme = &program.lexemes[l as usize];
                let cost = self.costs.lexemes[l as usize];
                let first = shortest_end(lexeme, lexeme.start(), 0).and_then(|b| b.first().copied());
                kinds.extend(first.map(|b| (rest.saturating_add(cost), vec![b])));
            }
            let arrays = r.arrays.iter().map(|&a| (self.costs.array(program, a), vec![b'[']));
            let objects = r.objects.iter().map(|&o| (self.costs.object(program, o), vec![b'{']));
            kinds.extend(arrays.chain(objects).map(|(cost, first)| (rest.saturating_add(cost), first)));
        }
        kinds.sort();
        if kinds.iter().any(|(_, first)| self.take_all(first).is_some()) {
            return Some(());
        }
        preferred().find_map(|b| self.take(b))
    }

    /// Completes a key: one that is needed, then one that is cheap, then any other.
    fn key(&mut self, node: Node) -> Option<()> {
        if node.sub != Sub::Plain {
            let digits = b"0123456789abcdefABCDEF\"\\/bfnrtu";
            return digits.iter().find_map(|&b| self.take(b));
        }
        // Most often the shortest key of a class will do; a list of its members takes a search.
        self.key_of(node, |keys, state| {
            let end = shortest_end(keys, state, 0);
            end.and_then(|b| Some(Arc::from(std::str::from_utf8(&b).ok()?))).into_iter().collect()
        })
        .or_else(|| self.key_of(node, |keys, state| shortest_members(keys, state, FEW_MEMBERS)))
        .or_else(|| self.key_of(node, |keys, state| shortest_members(keys, state, MAX_MEMBERS)))
        .or_else(|| {
            self.watch.vague |= node.parent == self.watch.below && node.key == u32::MAX;
            preferred().find_map(|b| self.take(b))
        })
    }

    /// Completes a key by a name, or by one of the ends that `ends` knows of a class.
    fn key_of(&mut self, node: Node, ends: impl Fn(&Lexeme, StateId) -> Arc<[Arc<str>]>) -> Option<()> {
        let program = self.frames.program;
        let prefix = self.frames.key_bytes(node.key);
        let mut keys: Vec<(u64, u8, u64, Arc<str>)> = Vec::new();
        for i in node.start..node.start + node.len {
            let item = self.frames.arena.objects[i as usize];
            let p = &program.objects[item.shape as usize];
            let member = self.prospects.member(self.frames, self.costs, &node, &item);
            let bits = |at: u32, i: u32| self.frames.arena.bits[at as usize + i as usize / 64] >> (i % 64) & 1 == 1;
            if item.name != u32::MAX {
                for &n in p.names.subtree_tokens(item.name) {
                    let Some(rule) = p.rules[n as usize].filter(|_| bits(item.allowed, n)) else { continue };
                    let rest = p.name(n).get(prefix.len()..).unwrap_or_default().into();
                    let (cost, needed) = (self.costs.rules[rule.0 as usize], bits(item.need, n));
                    keys.push((member.named(needed, cost), u8::from(!needed), cost, rest));
                }
            }
            for (c, j) in p.others.iter().zip(0..).filter(|_| item.others) {
                let state = self.frames.arena.states[(item.classes + j) as usize];
                let rank = if c.matches & p.witnesses & !item.witnessed != 0 { 1 } else { 2 };
                let cost = self.costs.rules[c.rule.0 as usize];
                let whole = member.of_class(c, cost);
                match &c.keys {
                    _ if state <= CLOSED => {}
                    None => keys.extend(["", "0", "1", "2", "3"].map(|k| (whole, rank, cost, k.into()))),
                    Some(l) => keys.extend(ends(l, state).iter().map(|k| (whole, rank, cost, k.clone()))),
                }
            }
        }
        keys.sort();
        // Not what goes on with the text that others stand in the place of.
        let watched = node.parent == self.watch.below && prefix.is_empty();
        keys.iter().find_map(|(.., key)| {
            if watched {
                self.watch.tried.push(key.clone());
            }
            let spelled = serde_json::Value::from(&**key).to_string();
            self.take_all(spelled.as_bytes().get(1..)?)
        })
    }
}
