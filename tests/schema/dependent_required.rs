//! Objects whose names require one another, with bounds on the number of members and a few keys without a name: what
//! masks allow, followed to its ends, is exactly what is valid. There is no dead end, and no order of keys is missing.

use std::collections::BTreeSet;

use crate::support::every_byte;
use interlock::schema::{PropertyOrder, SchemaOptions, Whitespace};
use interlock::util::rng::Rng;
use interlock::{ErrorKind, GuideOptions, Index, Limits};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
/// Keys of a class of two, without a name.
const OTHERS: [&str; 2] = ["x", "y"];

/// A closed object of some of the names.
struct Case {
    /// Bits of the names that are declared.
    declared: usize,
    required: usize,
    /// What each name requires, in bits.
    requires: [usize; 4],
    /// Whether there are keys without a name.
    others: bool,
    min: usize,
    max: usize,
}

impl Case {
    fn random(r: &mut Rng) -> Case {
        let declared = 1 + r.below(15);
        let mut requires = [0; 4];
        for (i, bits) in requires.iter_mut().enumerate() {
            if r.chance(45) {
                *bits = r.below(16) & r.below(16) & declared & !(1 << i);
            }
        }
        let min = r.below(5);
        let required = if r.chance(30) { r.below(16) & r.below(16) & declared } else { 0 };
        Case { declared, required, requires, others: r.chance(40), min, max: min + r.below(4) }
    }

    fn schema(&self) -> String {
        let names = |bits: usize| -> Vec<&str> { (0..4).filter(|i| bits >> i & 1 == 1).map(|i| NAMES[i]).collect() };
        let properties = names(self.declared).iter().map(|n| format!("\"{n}\":{{\"const\":1}}")).collect::<Vec<_>>();
        let requires =
            (0..4).filter(|&i| self.requires[i] != 0).map(|i| format!("{:?}:{:?}", NAMES[i], names(self.requires[i])));
        format!(
            "{{\"type\":\"object\",\"properties\":{{{}}},\"required\":{:?},\"dependentRequired\":{{{}}},{}\
             \"additionalProperties\":false,\"minProperties\":{},\"maxProperties\":{}}}",
            properties.join(","),
            names(self.required),
            requires.collect::<Vec<_>>().join(","),
            if self.others { "\"patternProperties\":{\"^[xy]$\":{\"const\":1}}," } else { "" },
            self.min,
            self.max
        )
    }

    /// Every valid document.
    fn documents(&self, any_order: bool) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        self.extend(&mut Vec::new(), any_order, &mut all);
        all
    }

    fn extend(&self, keys: &mut Vec<usize>, any_order: bool, all: &mut BTreeSet<String>) {
        let names = keys.iter().filter(|k| **k < 4).fold(0, |bits, k| bits | 1 << k);
        let whole = (0..4).all(|i| names >> i & 1 == 0 || self.requires[i] & !names == 0);
        if whole && self.required & !names == 0 && (self.min..=self.max).contains(&keys.len()) {
            let spelled = |k: &usize| if *k < 4 { NAMES[*k] } else { OTHERS[*k - 4] };
            let members: Vec<String> = keys.iter().map(|k| format!("\"{}\":1", spelled(k))).collect();
            all.insert(format!("{{{}}}", members.join(",")));
        }
        for key in 0..6 {
            let exists = if key < 4 { self.declared >> key & 1 == 1 } else { self.others };
            // Names come in their order and before all other keys, which come in any.
            let in_order = any_order || keys.last().is_none_or(|last| *last < key || (*last >= 4 && key >= 4));
            if exists && in_order && !keys.contains(&key) {
                keys.push(key);
                self.extend(keys, any_order, all);
                keys.pop();
            }
        }
    }

    fn cyclic(&self) -> bool {
        let mut closed = self.requires;
        for _ in 0..4 {
            let before = closed;
            for bits in &mut closed {
                *bits |= (0..4).filter(|i| *bits >> i & 1 == 1).fold(0, |all, i| all | before[i]);
            }
        }
        (0..4).any(|i| closed[i] >> i & 1 == 1)
    }
}

/// Every document that the masks allow, by trying all of them; the texts after which nothing is allowed.
fn followed(index: &Index) -> (BTreeSet<String>, Vec<String>) {
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    let (mut all, mut dead) = (BTreeSet::new(), Vec::new());
    let mut open: Vec<Vec<u32>> = vec![Vec::new()];
    while let Some(text) = open.pop() {
        guide.reset();
        assert_eq!(guide.advance_many(&text), text.len());
        let spelled = || String::from_utf8(text.iter().map(|b| *b as u8).collect()).unwrap();
        if guide.is_accepting() {
            // Keys without a name may have escapes.
            all.insert(spelled().replace("\\u0078", "x").replace("\\u0079", "y"));
        }
        let allowed = guide.allowed_token_ids();
        if allowed.is_empty() {
            dead.push(spelled());
        }
        open.extend(allowed.into_iter().filter(|id| *id < 256).map(|id| [text.as_slice(), &[id]].concat()));
    }
    (all, dead)
}

#[test]
fn names_that_require_one_another() {
    let vocabulary = every_byte::bytes();
    let mut r = Rng(29);
    let (mut compared, mut refused) = (0, 0);
    for _ in 0..250 {
        let case = Case::random(&mut r);
        for order in [PropertyOrder::Schema, PropertyOrder::Any] {
            let options =
                SchemaOptions { whitespace: Whitespace::Compact, property_order: order, ..SchemaOptions::default() };
            let schema = case.schema();
            let expected = case.documents(order == PropertyOrder::Any);
            match Index::from_json_schema(&schema, &vocabulary, &options, &Limits::default()) {
                Ok(index) => {
                    let (all, dead) = followed(&index);
                    assert!(dead.is_empty(), "{schema} {order:?}: {dead:?}");
                    assert_eq!(all, expected, "{schema} {order:?}");
                    compared += 1;
                }
                Err(e) => {
                    let none = e.kind() == ErrorKind::Unsatisfiable && expected.is_empty();
                    assert!(none || e.kind() == ErrorKind::Unsupported && case.cyclic(), "{schema} {order:?}: {e}");
                    refused += usize::from(!none);
                }
            }
        }
    }
    assert!(compared > 280 && refused > 3, "{compared} {refused}");
}
