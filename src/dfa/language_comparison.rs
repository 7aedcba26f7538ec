//! Questions about languages: shortest and random members, and comparisons with witnesses.
//!
//! All are breadth-first searches over configurations that are numbered on the way, so they need no flat automaton: a
//! witness may be found long before a language without end is exhausted, and it is a shortest one, the least among
//! those in byte order. What exceeds the limit is a typed refusal, never a guess.

use rustc_hash::FxHashMap;

use crate::dfa::explore::{ByteClasses, ConfigSource, Explorer};
use crate::error::{Error, ErrorKind, Result};
use crate::util::cancel::checkpoint;
use crate::util::rng::Rng;
use crate::util::seeded_hash::SeededMap;

/// Which members of a first language a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryGoal {
    /// Members that the second language has too.
    InBoth,
    /// Members that the second language does not have.
    OnlyInFirst,
}

/// The bytes on the way from the first pair to `at`.
fn spelled(before: &[(u32, u8)], mut at: u32) -> Vec<u8> {
    let mut out = Vec::new();
    while at != 0 {
        let (from, byte) = before[at as usize];
        out.push(byte);
        at = from;
    }
    out.reverse();
    out
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
                Error::limit("pairs of flat states", max_states as u64, pairs.len() as u64).of("max_flat_states")
            );
        }
        checkpoint()?;
        i += 1;
    }
    Ok(None)
}

/// A shortest member of `source`, the least in byte order.
///
/// # Errors
/// `Limit` if it is further away than `max_states` configurations.
pub fn shortest(source: ConfigSource<'_>, max_states: usize) -> Result<Vec<u8>> {
    let mut explorer = Explorer::new(source, max_states);
    shortest_from(&mut explorer, 0)
}

/// The least of the shortest byte strings that complete a configuration.
fn shortest_from(explorer: &mut Explorer<'_>, from: u32) -> Result<Vec<u8>> {
    if explorer.is_accepting(from) {
        return Ok(Vec::new());
    }
    let classes = explorer.classes().clone();
    let mut order = vec![from];
    let mut before = vec![(0, 0)];
    let mut met: FxHashMap<u32, ()> = FxHashMap::default();
    met.insert(from, ());
    let mut i = 0;
    while i < order.len() {
        for &byte in &classes.first {
            if let Some(to) = explorer.step(order[i], byte)?
                && met.insert(to, ()).is_none()
            {
                order.push(to);
                before.push((i as u32, byte));
                // Strings of one length are found in byte order, so the first is the least.
                if explorer.is_accepting(to) {
                    return Ok(spelled(&before, order.len() as u32 - 1));
                }
            }
        }
        i += 1;
    }
    Err(Error::new(ErrorKind::Internal, "a live configuration leads to no end"))
}

/// A random member of at most `max_bytes` bytes: a random walk of random length, and from where it ends a shortest way
/// to an end. The same seed gives the same member.
///
/// # Errors
/// `Unsatisfiable` if the shortest member is longer; `Limit` as for [`shortest`].
pub fn random(source: ConfigSource<'_>, seed: u64, max_bytes: usize, max_states: usize) -> Result<Vec<u8>> {
    let mut rng = Rng(seed);
    let mut explorer = Explorer::new(source, max_states);
    let of = explorer.classes().clone();
    let mut steps = rng.below(max_bytes.saturating_add(1));
    loop {
        let mut at = 0;
        let mut out = Vec::new();
        while out.len() < steps {
            if explorer.is_accepting(at) && rng.below(8) == 0 {
                return Ok(out);
            }
            // Any class that is not refused, and of these nobody steps more than one.
            let mut ways: Vec<u8> = (0..of.len()).map(|class| class as u8).collect();
            let mut next = None;
            while next.is_none() && !ways.is_empty() {
                let class = ways.swap_remove(rng.below(ways.len()));
                let members: Vec<u8> = (0..=255u8).filter(|&b| of.of[b as usize] == class).collect();
                let byte = *rng.pick(&members);
                next = explorer.step(at, byte)?.map(|to| (byte, to));
            }
            let Some((byte, to)) = next else { break };
            out.push(byte);
            at = to;
        }
        let rest = shortest_from(&mut explorer, at)?;
        if out.len() + rest.len() <= max_bytes {
            out.extend(rest);
            return Ok(out);
        }
        if steps == 0 {
            let message = format!("the shortest member has {} bytes, more than {max_bytes}", rest.len());
            return Err(Error::new(ErrorKind::Unsatisfiable, message));
        }
        steps /= 2;
    }
}
