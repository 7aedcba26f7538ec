//! Distinct elements: short values for the arrays whose elements must differ.
//!
//! An array that needs `min` elements is completed by `min` different short values, whatever it has already: each of
//! its elements is at most one of them, so as many are left as are missing. They are made once for an array shape,
//! shortest first. All of them are the shortest value of the element's rule but for one place: a string, a number, or
//! the key of one more member. So they differ by construction, and need not be stepped to know it.
//!
//! A completion writes the first of them that the array does not have, and a bound adds up the most costly ones. Tokens
//! run across the end of an element and the beginning of the next one, such as `"},{"`, and all elements begin alike.
//! So what is added up are pieces from behind that beginning in one element to behind it in the next.

use crate::expr::INF;
use crate::json::canonical::canonical;
use crate::json::whitespace::Gap;
use crate::lexeme::shortest_end::{members_of_least_length, short_end, shortest_members};
use crate::lexeme::{Lexeme, LexemeKind};
use crate::pushdown::completion::min_cost::MinCosts;
use crate::pushdown::completion::writer::spelled;
use crate::pushdown::json::program::{ArrayProgram, ObjectProgram, Program};
use crate::util::bits::ones;
use crate::util::seeded_hash::SeededSet;

/// Arrays that need more elements have none made.
const MOST_ELEMENTS: u64 = 1 << 12;
/// Bytes of all elements of an array shape.
const MOST_BYTES: usize = 1 << 19;
/// Brackets of the shortest value inside each other.
const MAX_DEPTH: usize = 64;
/// How many members of a lexeme are listed for each element: several spell one number, and their beginnings count.
const LISTED_AN_ELEMENT: usize = 8;
const LEAST_LISTED: usize = 1 << 10;
/// Characters at the end of a text that tell it from others.
const DIGITS: u32 = 4;
const ALPHABET: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Values of an element's rule, no two of which are equal.
#[derive(Clone, Debug)]
pub(crate) struct DistinctElements {
    /// As JSON, shortest first, each with its canonical text.
    pub elements: Box<[DistinctElement]>,
    /// With so many bytes all of them begin.
    pub shared: usize,
    /// A comma, with the whitespace that has to follow it.
    pub separator: Box<[u8]>,
}

/// One of the [`DistinctElements`].
#[derive(Clone, Debug)]
pub(crate) struct DistinctElement {
    pub text: Box<[u8]>,
    pub canonical: Box<[u8]>,
}

/// The shortest value of a rule, with a place for what makes values differ.
struct ValuePattern<'a> {
    before: Vec<u8>,
    varied: VariedPart<'a>,
    after: Vec<u8>,
}

/// What makes values differ.
enum VariedPart<'a> {
    /// Any text of so many characters.
    Text { min: u32, max: u32 },
    /// Members of a lexeme.
    Lexeme(u32),
    /// A key that is no name of the object, with this value.
    Key(Vec<u8>, &'a ObjectProgram),
}

impl VariedPart<'_> {
    /// Whether there are enough for any array.
    fn is_endless(&self, program: &Program) -> bool {
        match self {
            VariedPart::Text { max, .. } => *max == INF,
            VariedPart::Lexeme(l) => {
                let lexeme = &program.lexemes[*l as usize];
                lexeme.longest(inside(lexeme)) == INF
            }
            VariedPart::Key(..) => true,
        }
    }
}

impl DistinctElements {
    /// As many elements as an array of the shape needs at least; `None` where none are made.
    pub(crate) fn of_shape(program: &Program, costs: &MinCosts, shape: &ArrayProgram) -> Option<DistinctElements> {
        let [way] = &shape.rest[..] else { return None };
        let is_plain = shape.prefix.is_empty() && shape.contains.is_empty() && shape.counting.is_none();
        let blank = program.gaps[Gap::After as usize].shortest()?;
        let touches = program.gaps[Gap::Before as usize].accepting[0];
        if !shape.unique || !is_plain || !touches || !(1..=MOST_ELEMENTS).contains(&shape.min) {
            return None;
        }
        let most = shape.min as usize;
        let values = ShortestValues { program, costs, blank };
        let elements = values.constants(way.rule.0, most).or_else(|| {
            let pattern = values.pattern(way.rule.0, 0)?;
            values.written(&pattern, most)
        })?;
        let first = &elements.first()?.text;
        let shared_with = |e: &DistinctElement| e.text.iter().zip(first).take_while(|(a, b)| a == b).count();
        let shared = elements.iter().map(shared_with).min()?.min(first.len() - 1);
        let separator = values.behind(b',').into();
        Some(DistinctElements { elements: elements.into(), shared, separator })
    }

    /// What all of them begin with.
    pub(crate) fn beginning(&self) -> &[u8] {
        self.elements.first().map_or(&[], |first| &first.text[..self.shared])
    }

    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        let of = |e: &DistinctElement| size_of_val(e) + e.text.len() + e.canonical.len();
        self.elements.iter().map(of).sum()
    }
}

/// Writes the shortest values of rules, by the costs of completions.
struct ShortestValues<'a> {
    program: &'a Program,
    costs: &'a MinCosts,
    /// Whitespace behind a comma or colon.
    blank: Vec<u8>,
}

impl<'a> ShortestValues<'a> {
    /// A comma or colon with what has to follow it.
    fn behind(&self, byte: u8) -> Vec<u8> {
        [&[byte], &self.blank[..]].concat()
    }

    /// The shortest value of a rule.
    fn value(&self, rule: u32, depth: usize) -> Option<Vec<u8>> {
        let (program, costs) = (self.program, self.costs);
        let r = &program.rules[rule as usize];
        if depth > MAX_DEPTH {
            return None;
        }
        let scalar = r.lexemes.iter().map(|&l| (costs.lexemes[l as usize], l)).min();
        let array = r.arrays.iter().map(|&a| (costs.array(program, a), a)).min();
        let object = r.objects.iter().map(|&o| (costs.object(program, o), o)).min();
        let least = [scalar, array, object].into_iter().flatten().map(|(cost, _)| cost).min()?;
        if let Some((_, l)) = scalar.filter(|&(cost, _)| cost == least) {
            let lexeme = &program.lexemes[l as usize];
            return Some(short_end(lexeme, lexeme.start(), 0)?.to_vec());
        }
        if let Some((_, a)) = array.filter(|&(cost, _)| cost == least) {
            return self.array(&program.arrays[a as usize], depth, None);
        }
        self.object(&program.objects[object?.1 as usize], depth, None)
    }

    /// The shortest array of a shape, its last element left out and replaced where that is given.
    fn array(&self, a: &ArrayProgram, depth: usize, last: Option<&[u8]>) -> Option<Vec<u8>> {
        let needed = a.min.max(u64::from(last.is_some()));
        if !a.contains.is_empty() || a.unique || needed > a.max {
            return None;
        }
        let mut out = vec![b'['];
        for i in 0..needed {
            let [way] = a.ways(i) else { return None };
            if i > 0 {
                out.extend(self.behind(b','));
            }
            match last.filter(|_| i + 1 == needed) {
                Some(last) => out.extend_from_slice(last),
                None => out.extend(self.value(way.rule.0, depth + 1)?),
            }
            if out.len() > MOST_BYTES {
                return None;
            }
        }
        out.push(b']');
        Some(out)
    }

    /// The shortest object of a shape, with the value of one name replaced, or that of one more member added.
    fn object(&self, o: &ObjectProgram, depth: usize, varied: Option<(usize, &[u8])>) -> Option<Vec<u8>> {
        if !Self::is_plain(o) {
            return None;
        }
        let mut out = vec![b'{'];
        for name in ones(&o.required) {
            if out.len() > 1 {
                out.extend(self.behind(b','));
            }
            out.extend(spelled(&o.spelled[name]));
            out.extend(self.behind(b':'));
            match varied.filter(|&(at, _)| at == name) {
                Some((_, value)) => out.extend_from_slice(value),
                None => out.extend(self.value(o.rules[name]?.0, depth + 1)?),
            }
            if out.len() > MOST_BYTES {
                return None;
            }
        }
        out.push(b'}');
        Some(out)
    }

    /// Whether an object of a shape is what its needed names make it, and nothing else is asked of it.
    fn is_plain(o: &ObjectProgram) -> bool {
        let needed = o.num_required();
        o.witnesses == 0 && o.union.is_none() && o.dependent_required.is_none() && (o.min..=o.max).contains(&needed)
    }

    /// A value of a rule with a place that is varied: where there are several, one of which there are enough, and the
    /// shortest of those.
    fn pattern(&self, rule: u32, depth: usize) -> Option<ValuePattern<'a>> {
        let program = self.program;
        if depth > MAX_DEPTH {
            return None;
        }
        let r = &program.rules[rule as usize];
        let scalars = r.lexemes.iter().map(|&l| Some(self.scalar(l)));
        let arrays = r.arrays.iter().map(|&a| self.array_pattern(&program.arrays[a as usize], depth));
        let objects = r.objects.iter().map(|&o| self.object_pattern(&program.objects[o as usize], depth));
        scalars.chain(arrays).chain(objects).flatten().min_by_key(|p| self.rank(p))
    }

    /// Patterns with enough values come first, then the shortest.
    fn rank(&self, pattern: &ValuePattern) -> (bool, usize) {
        (!pattern.varied.is_endless(self.program), pattern.before.len() + pattern.after.len())
    }

    fn scalar(&self, l: u32) -> ValuePattern<'a> {
        let lexeme = &self.program.lexemes[l as usize];
        let varied = match lexeme.kind() {
            LexemeKind::Text { min, max, .. } if lexeme.is_any_text() => VariedPart::Text { min, max },
            _ => VariedPart::Lexeme(l),
        };
        ValuePattern { before: Vec::new(), varied, after: Vec::new() }
    }

    /// A shape's shortest array with its last element varied.
    fn array_pattern(&self, a: &'a ArrayProgram, depth: usize) -> Option<ValuePattern<'a>> {
        let [way] = a.ways(a.min.saturating_sub(1)) else { return None };
        let inner = self.pattern(way.rule.0, depth + 1)?;
        around(inner, |mark| self.array(a, depth, Some(mark)))
    }

    /// A shape's shortest object with one value varied, or with one more member.
    fn object_pattern(&self, o: &'a ObjectProgram, depth: usize) -> Option<ValuePattern<'a>> {
        let inner = ones(&o.required).filter_map(|name| Some((name, self.pattern(o.rules[name]?.0, depth + 1)?)));
        let member = inner.min_by_key(|(_, p)| self.rank(p));
        let any_key = o.others.iter().find(|class| class.keys.is_none()).filter(|_| o.num_required() < o.max);
        match (member, any_key) {
            (Some((name, inner)), any_key) if inner.varied.is_endless(self.program) || any_key.is_none() => {
                around(inner, |mark| self.object(o, depth, Some((name, mark))))
            }
            (_, Some(class)) => {
                let mut before = self.object(o, depth, None)?;
                before.pop();
                if before.len() > 1 {
                    before.extend(self.behind(b','));
                }
                let value = self.value(class.rule.0, depth + 1)?;
                Some(ValuePattern { before, varied: VariedPart::Key(value, o), after: vec![b'}'] })
            }
            _ => None,
        }
    }

    /// Values of a rule that has nothing but scalars, of all of its lexemes; `None` where that is not enough.
    fn constants(&self, rule: u32, most: usize) -> Option<Vec<DistinctElement>> {
        let r = &self.program.rules[rule as usize];
        let is_any = |l: &u32| self.program.lexemes[*l as usize].is_any_text();
        if !r.arrays.is_empty() || !r.objects.is_empty() || r.lexemes.iter().any(is_any) {
            return None;
        }
        let texts = r.lexemes.iter().flat_map(|&l| self.members(l, most));
        let mut texts: Vec<Vec<u8>> = texts.collect();
        texts.sort_by_key(Vec::len);
        distinct(texts.into_iter(), most)
    }

    fn members(&self, l: u32, most: usize) -> Vec<Vec<u8>> {
        let lexeme = &self.program.lexemes[l as usize];
        let listed = most.saturating_mul(LISTED_AN_ELEMENT).next_power_of_two().max(LEAST_LISTED);
        let members = shortest_members(lexeme, lexeme.start(), 0, listed);
        if members.len() < most {
            // Of long texts, such as UUIDs, the list holds few or none.
            let long = members_of_least_length(lexeme, most);
            if long.len() > members.len() {
                return long;
            }
        }
        members.iter().map(|text| text.to_vec()).collect()
    }

    /// The first `most` values that a pattern makes.
    fn written(&self, pattern: &ValuePattern, most: usize) -> Option<Vec<DistinctElement>> {
        let whole = |varied: Vec<u8>| [&pattern.before[..], &varied, &pattern.after].concat();
        match &pattern.varied {
            &VariedPart::Text { min, max } => distinct(texts(min, max).map(quoted).map(whole), most),
            VariedPart::Lexeme(l) => distinct(self.members(*l, most).into_iter().map(whole), most),
            VariedPart::Key(value, object) => {
                let names: SeededSet<&[u8]> = object.spelled.iter().map(|name| name.as_bytes()).collect();
                let member = |key: Vec<u8>| [&quoted(key)[..], &self.behind(b':'), value].concat();
                let is_new = |key: &Vec<u8>| !names.contains(&key[..]);
                distinct(texts(1, INF).filter(is_new).map(member).map(whole), most)
            }
        }
    }
}

/// Puts what `write` writes around its place in front of a pattern and behind it.
fn around<'a>(inner: ValuePattern<'a>, write: impl FnOnce(&[u8]) -> Option<Vec<u8>>) -> Option<ValuePattern<'a>> {
    // No JSON text has this byte.
    const MARK: u8 = 0xFF;
    let whole = write(&[MARK])?;
    let at = whole.iter().position(|&byte| byte == MARK)?;
    let before = [&whole[..at], &inner.before].concat();
    let after = [&inner.after, &whole[at + 1..]].concat();
    Some(ValuePattern { before, after, varied: inner.varied })
}

/// The first `most` of some texts that are different values, if there are so many and not too long.
fn distinct(texts: impl Iterator<Item = Vec<u8>>, most: usize) -> Option<Vec<DistinctElement>> {
    let mut known: SeededSet<Box<[u8]>> = SeededSet::default();
    let mut out = Vec::new();
    let mut bytes = 0;
    for text in texts {
        let canonical = canonical(&text)?;
        if known.insert(canonical.clone()) {
            bytes += text.len() + canonical.len();
            out.push(DistinctElement { text: text.into(), canonical });
        }
        if bytes > MOST_BYTES {
            return None;
        }
        if out.len() == most {
            return Some(out);
        }
    }
    None
}

fn quoted(text: Vec<u8>) -> Vec<u8> {
    [b"\"", &text[..], b"\""].concat()
}

/// Texts of `min` to `max` characters, shortest first.
fn texts(min: u32, max: u32) -> impl Iterator<Item = Vec<u8>> {
    (min..=max).flat_map(|len| {
        let varied = len.min(DIGITS);
        let all = (ALPHABET.len() as u64).pow(varied);
        (0..all).map(move |number| {
            let digit = |place: u32| ALPHABET[(number / 62u64.pow(place) % 62) as usize];
            (0..len).rev().map(|place| if place < varied { digit(place) } else { b'0' }).collect()
        })
    })
}

/// The state of a lexeme behind what opens it.
pub(super) fn inside(lexeme: &Lexeme) -> crate::lexeme::StateId {
    match lexeme.kind() {
        LexemeKind::Raw => lexeme.start(),
        LexemeKind::Text { .. } => lexeme.next(lexeme.start(), b'"'),
    }
}
