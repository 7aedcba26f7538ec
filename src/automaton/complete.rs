//! Short ways to the end.
//!
//! From every live configuration some bytes complete the document. This module finds short ones: not always the
//! shortest, which in a conjunction of guards would take a search, but bytes that certainly complete it, because each
//! of them is stepped. Inside a scalar a breadth-first search finds the shortest end; between scalars the cheapest
//! kind of value, required keys first, and a closing bracket wherever one is accepted. What a rule costs at least is
//! a least fixpoint over the rules (Knuth 1977, a generalisation of Dijkstra's algorithm), estimated in bytes.

use std::collections::VecDeque;
use std::sync::OnceLock;

use super::arena::{Kind, NONE, Node, NodeId, Phase};
use super::config::Frames;
pub use super::ends::shortest_end;
use super::farthest::farthest;
use super::lexeme::{CLOSED, Lexeme, StateId};
use super::program::{ObjectProgram, Program};
use super::text::Sub;

/// Bytes of a completion; a document that needs more has no known completion.
const MAX_BYTES: usize = 1 << 18;
/// Rounds of the fixpoint: rules that nest deeper are left without an estimate and come last.
const MAX_ROUNDS: usize = 64;
/// Keys without a name that are tried for a class.
const MAX_KEYS: usize = 512;

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
    rules: Vec<u64>,
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
        let a = &program.arrays[shape as usize];
        let cheapest = |ways: &[crate::ir::Element], bits: u32| {
            let fit = ways.iter().filter(|w| w.matches & bits == bits);
            fit.map(|w| self.rules[w.rule.0 as usize]).min().unwrap_or(u64::MAX)
        };
        let mut total = 2u64;
        for i in 0..a.min.min(a.prefix.len() as u64) {
            total = total.saturating_add(cheapest(a.ways(i), 0)).saturating_add(1);
        }
        let more = a.min.saturating_sub(a.prefix.len() as u64);
        if more > 0 {
            total = total.saturating_add(cheapest(&a.rest, 0).saturating_add(1).saturating_mul(more));
        }
        for (i, c) in a.contains.iter().enumerate().filter(|(_, c)| c.min > 0) {
            let bit = 1 << i;
            let all = a.prefix.iter().map(|w| cheapest(w, bit)).chain([cheapest(&a.rest, bit)]);
            let one = all.min().unwrap_or(u64::MAX);
            total = total.saturating_add(one.saturating_add(1).saturating_mul(c.min));
        }
        total
    }

    fn object(&self, program: &Program, shape: u32) -> u64 {
        let o = &program.objects[shape as usize];
        let mut total = 2u64;
        let mut members = 0;
        for (i, rule) in o.rules.iter().enumerate() {
            if o.required[i / 64] >> (i % 64) & 1 == 1 {
                let value = rule.map_or(u64::MAX, |r| self.rules[r.0 as usize]);
                total = total.saturating_add(value).saturating_add(o.name(i as u32).len() as u64 + 4);
                members += 1;
            }
        }
        let more = o.min.saturating_sub(members).max(o.missing_members(0));
        if more > 0 {
            let named = o.rules.iter().flatten().chain(o.others.iter().map(|c| &c.rule));
            let one = named.map(|r| self.rules[r.0 as usize]).min().unwrap_or(u64::MAX);
            total = total.saturating_add(one.saturating_add(8).saturating_mul(more));
        }
        total
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
}

impl<'a, 'f> Completer<'a, 'f> {
    /// Bytes that complete the document from `top`; `None` where none were found. The arena is as it was.
    pub fn complete(frames: &'a mut Frames<'f>, costs: &'a Costs, top: NodeId) -> Option<Vec<u8>> {
        let mark = frames.arena.mark();
        let trace = frames.arena.trace;
        let mut c = Completer { frames, costs, out: Vec::new(), top };
        let mut done = false;
        while c.out.len() < MAX_BYTES {
            let node = c.frames.arena.nodes[c.top as usize];
            if node.kind == Kind::Done {
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
                if self.take(b']').is_some() {
                    return Some(());
                }
                if phase == Phase::After {
                    return self.take(b',');
                }
                self.top = Some(self.frames.first_element(node)).filter(|&n| n != NONE)?;
                Some(())
            }
            (Kind::Object, Phase::Key) => self.key(node),
            (Kind::Object, Phase::BeforeColon) => self.take(b':'),
            (Kind::Object, Phase::BeforeKey) => self.take(b'"'),
            (Kind::Object, Phase::First) => self.first_of(&[b"}", b"\""]),
            (Kind::Object, _) => self.first_of(&[b"}", b","]),
            (Kind::Root | Kind::Done, _) => None,
        }
    }

    fn scalar(&mut self, node: Node) -> Option<()> {
        let mut ends: Vec<std::sync::Arc<[u8]>> = Vec::new();
        for i in node.start..node.start + node.len {
            let item = self.frames.arena.scalars[i as usize];
            let lexeme = &self.frames.program.lexemes[item.lexeme as usize];
            ends.extend(shortest_end(lexeme, item.state, node.count));
        }
        ends.sort_by_key(|end| end.len());
        for end in ends {
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
        let mut kinds: Vec<(bool, u64, Vec<u8>)> = Vec::new();
        for tag in 0..node.len {
            let rule = self.frames.arena.rules[(node.start + tag) as usize];
            let needed = self.is_needed(node.parent, tag);
            let r = &program.rules[rule.0 as usize];
            for &l in &r.lexemes {
                let lexeme = &program.lexemes[l as usize];
                let cost = self.costs.lexemes[l as usize];
                let first = shortest_end(lexeme, lexeme.start(), 0).and_then(|b| b.first().copied());
                kinds.extend(first.map(|b| (!needed, cost, vec![b])));
            }
            kinds.extend(r.arrays.iter().map(|&a| (!needed, self.costs.array(program, a), vec![b'['])));
            kinds.extend(r.objects.iter().map(|&o| (!needed, self.costs.object(program, o), vec![b'{'])));
        }
        kinds.sort();
        if kinds.iter().any(|(_, _, first)| self.take_all(first).is_some()) {
            return Some(());
        }
        preferred().find_map(|b| self.take(b))
    }

    /// Whether the parent still needs a value that the rule at `tag` accepts: for `contains`, or as a witness.
    fn is_needed(&self, parent: NodeId, tag: u32) -> bool {
        let program = self.frames.program;
        let arena = &self.frames.arena;
        let node = &arena.nodes[parent as usize];
        let items = node.start as usize..(node.start + node.len) as usize;
        match node.kind {
            Kind::Array => arena.arrays[items].iter().any(|i| {
                let contains = &program.arrays[i.shape as usize].contains;
                let counts = &arena.counts[i.counts as usize..][..contains.len()];
                let missing = contains.iter().zip(counts).zip(0..);
                i.child == tag
                    && missing.into_iter().any(|((c, &n), b)| u64::from(n) < c.min && i.matches >> b & 1 == 1)
            }),
            Kind::Object => arena.objects[items].iter().any(|i| i.child == tag && i.witnessed != 0),
            _ => false,
        }
    }

    /// Completes a key: one that is needed, then one that is cheap, then any other.
    fn key(&mut self, node: Node) -> Option<()> {
        if node.sub != Sub::Plain {
            let digits = b"0123456789abcdefABCDEF\"\\/bfnrtu";
            return digits.iter().find_map(|&b| self.take(b));
        }
        // Most often the shortest key of a class will do; a list of its members takes a search.
        self.key_of(node, |keys, state| {
            let end = shortest_end(keys, state, 0).and_then(|b| String::from_utf8(b.to_vec()).ok());
            end.into_iter().collect()
        })
        .or_else(|| self.key_of(node, members))
        .or_else(|| preferred().find_map(|b| self.take(b)))
    }

    /// Completes a key by a name, or by one of the ends that `ends` knows of a class.
    fn key_of(&mut self, node: Node, ends: impl Fn(&Lexeme, StateId) -> Vec<String>) -> Option<()> {
        let program = self.frames.program;
        let prefix = self.frames.key_bytes(node.key);
        let mut keys: Vec<(u8, u64, String)> = Vec::new();
        for i in node.start..node.start + node.len {
            let item = self.frames.arena.objects[i as usize];
            let p = &program.objects[item.shape as usize];
            let bits = |at: u32, i: u32| self.frames.arena.bits[at as usize + i as usize / 64] >> (i % 64) & 1 == 1;
            if item.name != u32::MAX {
                for &n in p.names.subtree_tokens(item.name) {
                    let Some(rule) = p.rules[n as usize].filter(|_| bits(item.allowed, n)) else { continue };
                    let rest = p.name(n).get(prefix.len()..).unwrap_or_default().to_owned();
                    keys.push((u8::from(!bits(item.need, n)), self.costs.rules[rule.0 as usize], rest));
                }
            }
            for (c, j) in p.others.iter().zip(0..).filter(|_| item.others) {
                let state = self.frames.arena.states[(item.classes + j) as usize];
                let rank = if c.matches & p.witnesses & !item.witnessed != 0 { 1 } else { 2 };
                let cost = self.costs.rules[c.rule.0 as usize];
                match &c.keys {
                    _ if state <= CLOSED => {}
                    None => keys.extend(["", "0", "1", "2", "3"].map(|k| (rank, cost, k.to_owned()))),
                    Some(l) => keys.extend(ends(l, state).into_iter().map(|k| (rank, cost, k))),
                }
            }
        }
        keys.sort();
        keys.iter().find_map(|(_, _, key)| {
            let spelled = serde_json::Value::from(key.as_str()).to_string();
            self.take_all(spelled.as_bytes().get(1..)?)
        })
    }
}

/// Some ends of a class of keys from a state, shortest first.
fn members(keys: &Lexeme, state: StateId) -> Vec<String> {
    let mut out = Vec::new();
    let mut queue: VecDeque<(StateId, Vec<u8>)> = VecDeque::from([(state, Vec::new())]);
    let mut looked = 0;
    while let Some((s, text)) = queue.pop_front() {
        looked += 1;
        if out.len() >= MAX_KEYS || looked > MAX_KEYS {
            break;
        }
        if keys.state(s).accepting {
            out.extend(String::from_utf8(text.clone()));
        }
        // One way to each state keeps the search small; several members of one state come from longer ways.
        let mut tried: Vec<StateId> = Vec::new();
        for b in preferred() {
            let next = keys.next(s, b);
            if next > CLOSED && (tried.len() < 4 || !tried.contains(&next)) {
                tried.push(next);
                queue.push_back((next, [text.as_slice(), &[b]].concat()));
            }
        }
    }
    if out.is_empty() {
        out.extend(shortest_end(keys, state, 0).and_then(|b| String::from_utf8(b.to_vec()).ok()));
    }
    out
}
