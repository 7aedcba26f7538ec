//! Members of a language: a shortest one, and random ones.
//!
//! Both are breadth-first searches over configurations that are numbered on the way, so they need no flat automaton.
//! What exceeds the limit is a typed refusal, never a guess.

use rustc_hash::FxHashMap;

use crate::dfa::explore::{ConfigSource, Explorer};
use crate::error::{Error, ErrorKind, Result, counted};
use crate::util::rng::Rng;

/// The bytes on the way from what was found first to `at`.
pub(super) fn spelled(before: &[(u32, u8)], mut at: u32) -> Vec<u8> {
    let mut out = Vec::new();
    while at != 0 {
        let (from, byte) = before[at as usize];
        out.push(byte);
        at = from;
    }
    out.reverse();
    out
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
            let message =
                format!("the shortest member has {}, more than {max_bytes}", counted(rest.len() as u64, "byte"));
            return Err(Error::new(ErrorKind::Unsatisfiable, message));
        }
        steps /= 2;
    }
}
