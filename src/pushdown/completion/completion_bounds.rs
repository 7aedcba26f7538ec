//! Completion bounds: by how many tokens a configuration is completed at most, and by how many one token can raise
//! that.
//!
//! Both are sums over the frames of a configuration. An open array needs its missing elements and a bracket, an open
//! object its missing names with their values and a brace; each is spelled by itself, so the sum is a number of tokens
//! that do complete the output. The tokens of whole values are a least fixpoint over the rules, found once. Where a
//! frame has several items the most costly one counts: whichever of them a token leaves, the bound holds.
//!
//! What one token can raise is bounded likewise. It may close frames, which makes nothing longer, begin an element or a
//! member in one of them, and open as many brackets below it as a token has.
//!
//! Elements that must differ have bounds of their own (`unique_bounds`, `distinct_elements`). Where members are needed
//! that have no name, and where the end of a scalar is not bounded, nothing is said: [`UNBOUNDED`].

use std::cmp::Ordering;

use crate::lexeme::shortest_end::short_end;
use crate::pushdown::completion::distinct_elements::DistinctElement;
use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::completion::name_sums::{NameSums, sum_missing};
use crate::pushdown::completion::unique_bounds::{UniqueEnd, UniqueEnds};
use crate::pushdown::json::program::{ArrayProgram, ObjectProgram, Program};
use crate::util::seeded_hash::SeededMap;
use smallvec::SmallVec;

/// No bound is known.
pub const UNBOUNDED: u32 = u32::MAX;
/// Brackets of one token that are followed; tokens of more have no bound.
pub const MAX_OPENS: usize = 16;
/// Rounds of the fixpoint: rules that nest deeper have no bound.
const MAX_ROUNDS: usize = 64;
/// Quotes, a colon and a comma around a key, as bytes.
pub(super) const AROUND_KEY: u32 = 4;
/// Bytes of a decoded byte at most, and those that end an escape which was begun, with the quote.
pub(super) const BYTES_OF_BYTE: u32 = 6;
pub(super) const BYTES_OF_ESCAPE: u32 = 12;
/// The same of an escape that stands for an ASCII character, without the quote.
const BYTES_OF_ASCII_ESCAPE: u32 = 5;
/// Names, and bytes of one, that are counted in tokens from each of their bytes on: some nanoseconds each. Of others
/// each byte counts as a token.
const MAX_NAMES: usize = 512;
const MAX_NAME: usize = 256;
/// Digits of the number of an array's elements.
pub(super) const DIGITS: u32 = 10;

/// At most so many tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompletionBound {
    /// Complete the output.
    pub cost: u32,
    /// Are added by one more token.
    pub growth: u32,
}

impl CompletionBound {
    /// Nothing is known.
    pub const NONE: CompletionBound = CompletionBound { cost: UNBOUNDED, growth: UNBOUNDED };

    /// Whether `left` tokens complete the output after any one of them.
    pub fn leaves_room(self, left: u64) -> bool {
        u64::from(self.cost.saturating_add(self.growth)) < left.min(UNBOUNDED.into())
    }

    /// What is open above `below`, and `below`. A token begins something in one frame.
    #[must_use]
    pub fn with(self, below: CompletionBound) -> CompletionBound {
        CompletionBound { cost: self.cost.saturating_add(below.cost), growth: self.growth.max(below.growth) }
    }
}

/// What the names of an object shape cost.
pub(super) struct ObjectBounds {
    /// Tokens of each key with its comma and colon.
    keys: Box<[u32]>,
    /// Tokens from anywhere inside each name to its end.
    pub(super) rests: Box<[u32]>,
    /// By name: what a member costs that an object of this shape needs until it has it; 0 of other members.
    pub(super) needed: Box<[u32]>,
    /// A member from anywhere inside its key on.
    pub(super) member: u32,
    /// A member that a token begins.
    pub(super) growth: u32,
    /// Tokens of the names with their values, once those are known.
    names: Option<NameSums>,
}

/// Completion bounds of one program over one vocabulary.
pub struct CompletionBounds {
    /// Tokens of a short member of each rule.
    pub(super) values: Vec<u32>,
    /// Bytes of a short member of each rule, by which completions choose.
    bytes: Vec<u64>,
    /// Bytes that complete a scalar of each lexeme from any of its states.
    pub(super) scalars: Vec<u32>,
    /// What a token that begins a value of each rule leaves to write.
    pub(super) opened: Vec<u32>,
    /// Elements that a token begins, by array shape.
    pub(super) elements: Vec<u32>,
    /// Where elements must differ: what ends one that is open, by array shape.
    pub(super) unique: Vec<UniqueEnd>,
    /// There: what elements cost that are missing, by array shape.
    pub(super) missing: Vec<MissingElements>,
    pub(super) objects: Vec<ObjectBounds>,
    /// Bytes of whitespace that must stand somewhere.
    pub gap: u32,
}

impl CompletionBounds {
    /// The bounds of a program: `longest` says how many bytes the longest token has that a text begins with, and a
    /// token opens at most `opens` brackets.
    pub fn compute<'p>(
        program: &'p Program,
        costs: &MinCosts,
        opens: usize,
        longest: impl Fn(&[u8]) -> Option<usize>,
    ) -> CompletionBounds {
        let gap = gap(program);
        let count = |text: &[u8]| longest_tokens(text, &longest).unwrap_or(text.len() as u32);
        let mut text = Vec::new();
        // Many objects have the same names.
        let mut known: SeededMap<&str, (u32, u32)> = SeededMap::default();
        let mut names = |o: &'p ObjectProgram| -> (Vec<u32>, Vec<u32>) {
            let tokens = |name: &'p std::sync::Arc<str>| {
                if let Some(&tokens) = known.get(&**name) {
                    return tokens;
                }
                spell_key(name, &mut text);
                let key = count(&text).saturating_add(gap.saturating_mul(2));
                let is_counted = known.len() < MAX_NAMES;
                let rest = if is_counted { rest_of_name(name, &longest) } else { bytes_of_name(name) };
                known.insert(name, (key, rest));
                (key, rest)
            };
            o.spelled.iter().map(tokens).unzip()
        };
        let shapes = 0..program.arrays.len();
        let objects = program.objects.iter().map(|o| {
            let (keys, rests) = names(o);
            let (keys, rests, needed) = (keys.into(), rests.into(), Box::default());
            ObjectBounds { keys, rests, needed, member: 0, growth: 0, names: None }
        });
        let mut bounds = CompletionBounds {
            values: vec![UNBOUNDED; program.rules.len()],
            bytes: costs.rules.clone(),
            scalars: program.lexemes.iter().map(|l| l.distance_bound()).collect(),
            opened: Vec::new(),
            elements: vec![0; program.arrays.len()],
            unique: vec![UniqueEnd::Unknown; program.arrays.len()],
            missing: shapes.map(|shape| MissingElements::of_shape(program, costs, shape, count)).collect(),
            objects: objects.collect(),
            gap,
        };
        let member = |l: &crate::lexeme::Lexeme| short_end(l, l.start(), 0).map_or(UNBOUNDED, |b| count(&b));
        let lexemes: Vec<u32> = program.lexemes.iter().map(|l| member(l)).collect();
        bounds.find_values(program, costs, &lexemes);
        bounds.find_members(program);
        let mut ends = UniqueEnds::new(program, &bounds.values, gap);
        bounds.unique = program.arrays.iter().map(|a| ends.of_shape(a)).collect();
        bounds.find_opened(program, opens);
        bounds
    }

    fn find_values(&mut self, program: &Program, costs: &MinCosts, lexemes: &[u32]) {
        // The way that completions take, which is that of the fewest bytes.
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for (r, rule) in program.rules.iter().enumerate().rev() {
                let scalars = rule.lexemes.iter().map(|&l| (costs.lexemes[l as usize], lexemes[l as usize]));
                let arrays = rule.arrays.iter().map(|&a| (costs.array(program, a), self.array(program, a)));
                let objects = rule.objects.iter().map(|&o| (costs.object(program, o), self.object(program, o)));
                let now = cheapest(scalars.chain(arrays).chain(objects));
                changed |= now != self.values[r];
                self.values[r] = now;
            }
            if !changed {
                return;
            }
        }
        self.values.fill(UNBOUNDED);
    }

    fn find_members(&mut self, program: &Program) {
        for (i, o) in program.objects.iter().enumerate() {
            let is_needed = |name: usize| o.union.is_none() && o.required[name / 64] >> (name % 64) & 1 == 1;
            let needed = |name| if is_needed(name) { self.name(i, o, name) } else { 0 };
            self.objects[i].needed = (0..o.spelled.len()).map(needed).collect();
            self.objects[i].member = self.dependent_members(i, o).saturating_add(self.most_member(i, o));
            let usual = o.union.as_ref().map_or(&o.required[..], |union| union.needed());
            let costs = (0..o.spelled.len()).map(|name| match self.name(i, o, name) {
                UNBOUNDED => u64::MAX,
                cost => cost.into(),
            });
            self.objects[i].names = Some(NameSums::new(costs, usual));
        }
    }

    /// A member with a name.
    fn name(&self, shape: usize, o: &ObjectProgram, name: usize) -> u32 {
        let value = o.rules_of(name).map(|rule| self.values[rule.0 as usize]).max().unwrap_or(UNBOUNDED);
        value.saturating_add(self.objects[shape].keys[name])
    }

    /// What one more key may need beside itself, at most.
    fn dependent_members(&self, shape: usize, o: &ObjectProgram) -> u32 {
        if o.dependent_required.is_none() {
            return 0;
        }
        let keys = self.objects[shape].keys.iter().enumerate();
        let member = |(i, &key): (usize, &u32)| {
            Some(o.rules_of(i).map(|rule| self.values[rule.0 as usize]).max()?.saturating_add(key))
        };
        keys.filter_map(member).fold(0, u32::saturating_add)
    }

    fn find_opened(&mut self, program: &Program, opens: usize) {
        // Without a bracket: a scalar that is anywhere, or a value that is awaited.
        let scalar = |r: usize| program.rules[r].lexemes.iter().map(|&l| self.scalars[l as usize]);
        let begun: Vec<u32> = (0..program.rules.len()).map(|r| scalar(r).fold(self.values[r], u32::max)).collect();
        self.opened = begun.clone();
        let mut changed = true;
        for round in 0..=opens.min(MAX_OPENS) {
            self.find_growth(program);
            if round == opens || !changed {
                break;
            }
            let next: Vec<u32> = (0..program.rules.len())
                .map(|r| {
                    let rule = &program.rules[r];
                    let arrays = rule.arrays.iter().map(|&a| {
                        let rest = self.array_rest(&program.arrays[a as usize], a, 0, &[]);
                        rest.saturating_add(self.elements[a as usize])
                    });
                    let objects = rule.objects.iter().map(|&o| {
                        let shape = &program.objects[o as usize];
                        let rest = self.object_rest(shape, o, (&[], &shape.required), 0, 0);
                        rest.saturating_add(self.objects[o as usize].growth)
                    });
                    arrays.chain(objects).fold(begun[r], u32::max)
                })
                .collect();
            changed = next != self.opened;
            self.opened = next;
        }
    }

    fn find_growth(&mut self, program: &Program) {
        for (i, a) in program.arrays.iter().enumerate() {
            let rules = a.prefix.iter().flatten().chain(&a.rest).map(|e| self.opened[e.rule.0 as usize]);
            let most = rules.max().unwrap_or(0).saturating_add(self.gap);
            self.elements[i] = match () {
                () if a.contains.iter().any(|c| c.max.is_some()) => UNBOUNDED,
                () if !a.unique => most,
                () => match self.unique[i] {
                    UniqueEnd::Whole(end) => end.saturating_add(1 + self.gap),
                    UniqueEnd::Added(added) => most.saturating_add(added),
                    UniqueEnd::Unknown => UNBOUNDED,
                },
            };
        }
        for (i, o) in program.objects.iter().enumerate() {
            // A token ends inside the key of a member or inside its value.
            let inside = |(_, rule, needed): (u32, u32, u32)| self.opened[rule as usize].saturating_sub(needed);
            let inside = self.members(i, o).map(inside).max().unwrap_or(0);
            let inside = inside.saturating_add(self.gap).saturating_add(self.dependent_members(i, o));
            let growth = self.objects[i].member.max(inside);
            self.objects[i].growth = if o.witnesses == 0 { growth } else { UNBOUNDED };
        }
    }

    /// The members of a shape: what is left of a key from anywhere inside it on, the rule of the value, and what the
    /// shape needs for this member where it does not have it.
    fn members<'b>(&'b self, shape: usize, o: &'b ObjectProgram) -> impl Iterator<Item = (u32, u32, u32)> + 'b {
        // The comma is written, and the first quote where an escape is open.
        let (around, bounds) = (AROUND_KEY - 2 + 2 * self.gap, &self.objects[shape]);
        let named = (0..o.spelled.len()).flat_map(move |name| {
            let escape = if o.spelled[name].is_ascii() { BYTES_OF_ASCII_ESCAPE } else { BYTES_OF_ESCAPE };
            let key = bounds.rests[name].saturating_add(escape + around);
            o.rules_of(name).map(move |rule| (key, rule.0, bounds.needed[name]))
        });
        let others = o.others.iter().enumerate().flat_map(move |(i, class)| {
            let key = class.keys.as_ref().map_or(0, |keys| keys.distance_bound().saturating_mul(BYTES_OF_BYTE));
            let united = o.union.iter().flat_map(move |union| &union.classes[i]).map(|(rule, _)| rule.0);
            united.chain([class.rule.0]).map(move |rule| (key.saturating_add(BYTES_OF_ESCAPE + around), rule, 0))
        });
        named.chain(others)
    }

    /// The most costly member of a shape from anywhere inside its key on, beside what the object needs.
    fn most_member(&self, shape: usize, o: &ObjectProgram) -> u32 {
        let beside = |(key, rule, needed): (u32, u32, u32)| {
            self.values[rule as usize].saturating_add(key).saturating_sub(needed)
        };
        self.members(shape, o).map(beside).max().unwrap_or(AROUND_KEY + 2 * self.gap)
    }

    /// A whole array.
    fn array(&self, program: &Program, shape: u32) -> u32 {
        self.array_rest(&program.arrays[shape as usize], shape, 0, &[]).saturating_add(1 + self.gap)
    }

    /// What an array needs behind `len` elements with these counts, its bracket included.
    pub(super) fn array_rest(&self, a: &ArrayProgram, shape: u32, len: u64, counts: &[u32]) -> u32 {
        let cheapest = |ways: &[crate::json::rules::Element], bits: u32| {
            let fit = ways.iter().filter(|way| way.matches & bits == bits).map(|way| way.rule.0 as usize);
            cheapest(fit.map(|rule| (self.bytes[rule], self.values[rule]))).saturating_add(1 + self.gap)
        };
        let prefix = a.prefix.len() as u64;
        let mut total = 1 + self.gap;
        let mut lacking = 0;
        for (i, c) in a.contains.iter().enumerate() {
            let missing = c.min.saturating_sub(counts.get(i).copied().unwrap_or(0).into());
            if c.max.is_some() {
                return UNBOUNDED;
            }
            if missing > 0 {
                lacking += 1;
                let missing = u32::try_from(missing).unwrap_or(UNBOUNDED);
                total = total.saturating_add(cheapest(&a.rest, 1 << i).saturating_mul(missing));
            }
        }
        // Elements that count come behind those with ways of their own, and there must be room for them.
        let least = if lacking > 0 { a.min.max(prefix) } else { a.min };
        if lacking > 0 && (a.max < u64::MAX || a.counting.is_some() || a.unique) {
            return UNBOUNDED;
        }
        if a.unique {
            let missing = least.saturating_sub(len);
            let of_shape = &self.missing[shape as usize];
            let beginning = if missing > 0 { of_shape.beginning } else { 0 };
            return total.saturating_add(beginning).saturating_add(of_shape.begun(missing));
        }
        for i in len..least.min(prefix) {
            total = total.saturating_add(cheapest(a.ways(i), 0));
        }
        let more = least.saturating_sub(prefix.max(len));
        if more > 0 {
            let more = u32::try_from(more).unwrap_or(UNBOUNDED);
            total = total.saturating_add(cheapest(&a.rest, 0).saturating_mul(more));
        }
        total
    }

    /// A whole object.
    fn object(&self, program: &Program, shape: u32) -> u32 {
        let o = &program.objects[shape as usize];
        self.object_rest(o, shape, (&[], &o.required), 0, 0).saturating_add(1 + self.gap)
    }

    /// What an object needs behind `count` members, its brace included.
    pub(super) fn object_rest(
        &self,
        o: &ObjectProgram,
        shape: u32,
        (seen, need): (&[u64], &[u64]),
        count: u64,
        witnessed: u32,
    ) -> u32 {
        if o.witnesses & !witnessed != 0 {
            return UNBOUNDED;
        }
        // Whichever alternatives of a united shape a token leaves, one of them is completed.
        let need = match &o.union {
            Some(_) if count < o.min => return UNBOUNDED,
            Some(union) => union.needed(),
            None => need,
        };
        let (names, missing) = match &self.objects[shape as usize].names {
            Some(sums) => sums.missing(seen, need),
            // Values are still being found.
            None => sum_missing(seen, need, |name| self.name(shape as usize, o, name).into()),
        };
        let names = u32::try_from(names).unwrap_or(UNBOUNDED);
        if o.union.is_none() && count + missing < o.min { UNBOUNDED } else { names.saturating_add(1 + self.gap) }
    }
}

/// The tokens of what takes the fewest bytes, the most where several do.
fn cheapest(ways: impl Iterator<Item = (u64, u32)>) -> u32 {
    let least = ways.fold((u64::MAX, UNBOUNDED), |best, way| match way.0.cmp(&best.0) {
        Ordering::Less => way,
        Ordering::Equal => (best.0, best.1.max(way.1)),
        Ordering::Greater => best,
    });
    least.1
}

/// What elements cost that are missing in an array shape whose elements must differ.
#[derive(Default)]
pub(super) struct MissingElements {
    /// A comma, and what all elements begin with.
    beginning: u32,
    /// By the number of elements but one: what they cost together, from behind the beginning of the first one on.
    sums: Box<[u32]>,
}

impl MissingElements {
    /// The most that elements cost which completions write. They write the first ones that an array does not have, so
    /// each is counted with no less than those before it: what a completion takes is then never more than what was
    /// counted for it, whichever elements an array has.
    fn of_shape(program: &Program, costs: &MinCosts, shape: usize, count: impl Fn(&[u8]) -> u32) -> MissingElements {
        let Some(distinct) = costs.distinct_elements(program, shape) else { return MissingElements::default() };
        let beginning = [&distinct.separator, distinct.beginning()].concat();
        let rest = |element: &DistinctElement| count(&element.text[distinct.shared..]);
        let last = distinct.elements.iter().map(rest).max().unwrap_or(UNBOUNDED);
        let mut most = 0;
        let piece = |element: &DistinctElement| {
            most = count(&[&element.text[distinct.shared..], &beginning].concat()).max(most);
            most
        };
        let pieces: Vec<u32> = distinct.elements.iter().map(piece).collect();
        let mut sum = last;
        let sums = pieces.into_iter().rev().map(|piece| {
            let so_far = sum;
            sum = sum.saturating_add(piece);
            so_far
        });
        let sums = sums.collect();
        // The first element of an array has no comma.
        MissingElements { beginning: count(&beginning).max(count(distinct.beginning())), sums }
    }

    /// So many elements, from behind the beginning of the first one on.
    pub(super) fn begun(&self, elements: u64) -> u32 {
        match usize::try_from(elements) {
            Ok(0) => 0,
            Ok(n) => self.sums.get(n - 1).copied().unwrap_or(UNBOUNDED),
            Err(_) => UNBOUNDED,
        }
    }
}

/// Bytes of whitespace that may have to follow anywhere.
fn gap(program: &Program) -> u32 {
    let all = program.gaps.iter().flat_map(|gap| &gap.accepting).all(|&accepting| accepting);
    if all { 0 } else { program.gaps.iter().map(|gap| gap.accepting.len() as u32).max().unwrap_or(0) }
}

/// How many bytes a byte of a text takes at most, if it is written short.
pub(super) fn most_bytes(text: &str) -> u32 {
    bytes_of(text.as_bytes())
}

pub(super) fn bytes_of(text: &[u8]) -> u32 {
    if text.iter().all(|&b| b >= 0x20 && b != b'"' && b != b'\\') { 1 } else { BYTES_OF_BYTE }
}

/// How many tokens spell a text if each is the longest one; `None` if that leads nowhere, though others may. `longest`
/// says how many bytes the longest token has that a text begins with.
pub(crate) fn longest_tokens(text: &[u8], longest: impl Fn(&[u8]) -> Option<usize>) -> Option<u32> {
    let (mut at, mut count) = (0, 0);
    while at < text.len() {
        at += longest(&text[at..])?;
        count += 1;
    }
    Some(count)
}

/// Bytes from anywhere inside a name to its end at most.
fn bytes_of_name(name: &str) -> u32 {
    (name.len() as u32).saturating_mul(most_bytes(name))
}

/// Tokens from anywhere inside a name to its end at most.
fn rest_of_name(name: &str, longest: impl Fn(&[u8]) -> Option<usize>) -> u32 {
    let bytes = bytes_of_name(name);
    if most_bytes(name) != 1 || name.len() > MAX_NAME {
        return bytes;
    }
    // From each place on, the last one first.
    let mut rests: SmallVec<[u32; 32]> = SmallVec::from_elem(0, name.len() + 1);
    for at in (0..name.len()).rev() {
        let Some(len) = longest(&name.as_bytes()[at..]) else { return bytes };
        rests[at] = 1 + rests[at + len];
    }
    rests.into_iter().max().unwrap_or(0)
}

/// A key with its comma and colon.
fn spell_key(name: &str, out: &mut Vec<u8>) {
    out.clear();
    out.push(b',');
    if most_bytes(name) == 1 {
        out.push(b'"');
        out.extend_from_slice(name.as_bytes());
        out.push(b'"');
    } else {
        out.extend(super::writer::spelled(name));
    }
    out.push(b':');
}
