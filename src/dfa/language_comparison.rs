//! Comparisons of two languages: whether they are equal, overlap, or one contains the other, with a witness.
//!
//! Each is a breadth-first search over pairs of configurations that are numbered on the way, so it needs no flat
//! automaton: a witness may be found long before a language without end is exhausted, and it is a shortest one, the
//! least among those in byte order. What exceeds the limit is a typed refusal, never a guess.

use crate::dfa::explore::{ByteClasses, ConfigSource, Explorer};
use crate::dfa::language_members::spelled;
use crate::error::{Error, Result};
use crate::util::cancel::checkpoint;
use crate::util::seeded_hash::SeededMap;

/// Which members of a first language a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryGoal {
    /// Members that the second language has too.
    InBoth,
    /// Members that the second language does not have.
    OnlyInFirst,
}

/// A shortest member of `first` that is wanted, or `None` if there is none.
///
/// # Errors
/// `Limit` if more than `max_states` pairs of configurations would have to be looked at.
pub fn witness(
    first: ConfigSource<'_>,
    second: ConfigSource<'_>,
    wanted: QueryGoal,
    max_states: usize,
) -> Result<Option<Vec<u8>>> {
    let classes = ByteClasses::refine([&first.byte_classes().of, &second.byte_classes().of]);
    let mut a = Explorer::new(first, max_states);
    let mut b = Explorer::new(second, max_states);
    let mut pairs: Vec<(u32, Option<u32>)> = vec![(0, Some(0))];
    let mut number: SeededMap<(u32, Option<u32>), u32> = SeededMap::default();
    number.insert((0, Some(0)), 0);
    let mut before = vec![(0, 0)];
    let mut i = 0;
    while i < pairs.len() {
        let (p, q) = pairs[i];
        let in_second = match q {
            Some(q) => b.is_accepting(q),
            None => false,
        };
        if a.is_accepting(p) && in_second == (wanted == QueryGoal::InBoth) {
            return Ok(Some(spelled(&before, i as u32)));
        }
        for &byte in &classes.first {
            let Some(p) = a.step(p, byte)? else { continue };
            let q = match q {
                Some(q) => b.step(q, byte)?,
                None => None,
            };
            if q.is_none() && wanted == QueryGoal::InBoth {
                continue;
            }
            let n = pairs.len() as u32;
            if *number.entry((p, q)).or_insert(n) == n {
                pairs.push((p, q));
                before.push((i as u32, byte));
            }
        }
        if pairs.len() > max_states {
            return Err(
                Error::limit("pairs of flat states", max_states as u64, pairs.len() as u64).set_by("max_flat_states")
            );
        }
        checkpoint()?;
        i += 1;
    }
    Ok(None)
}
