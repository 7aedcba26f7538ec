//! A walk that compares every mask on its way with the twin's.

use super::twin::{PatternTwin, Spellings, difference, tried_row};
use super::walk::{Walker, dead_end};
use interlock::Guide;

/// What one walk found.
#[derive(Default)]
pub struct Found {
    /// Masks compared.
    pub states: usize,
    /// Masks or dead ends that are wrong, in words.
    pub wrong: Vec<String>,
    /// The text of a walk that ended.
    pub ended: Option<Vec<u8>>,
}

/// How far a walk goes.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Most tokens of the walk.
    pub tokens: usize,
    /// Compare one mask out of this many.
    pub every: usize,
    /// Allowed tokens whose next mask is looked at, per mask compared.
    pub probes: usize,
}

/// Walks `guide` (at its start), with the pattern's twin where there is one.
pub fn walk(
    mut guide: Guide,
    mut twin: Option<PatternTwin>,
    tokens: &Spellings,
    mut walker: Walker,
    plan: Plan,
) -> Found {
    let v = guide.index().vocabulary().clone();
    let stops = guide.stop_token_ids().to_vec();
    let mut found = Found::default();
    let mut row = vec![u32::MAX; v.words()];
    let phase = walker.rng().below(plan.every);
    for step in 0..plan.tokens {
        guide.fill_mask(&mut row);
        let allowed: Vec<u32> =
            (0..v.size() as u32).filter(|id| row[*id as usize / 32] >> (id % 32) & 1 == 1).collect();
        if step % plan.every == phase {
            let expected = match &mut twin {
                Some(t) => match t.row(&v, tokens, &stops) {
                    Some(row) => row,
                    None => break,
                },
                None => tried_row(&guide),
            };
            found.states += 1;
            let at = String::from_utf8_lossy(&v.decode(&guide.tokens()).unwrap()).into_owned();
            if let Some(d) = difference(&v, &row, &expected) {
                found.wrong.push(format!("after {at:?}: {d}"));
                break;
            }
            if let Some(id) = dead_end(&guide, &allowed, walker.rng(), plan.probes) {
                let bytes = String::from_utf8_lossy(v.token_bytes(id).unwrap_or_default()).into_owned();
                found.wrong.push(format!("after {at:?}: token {id} {bytes:?} is a dead end"));
                break;
            }
            if guide.must_stop() != (guide.is_accepting() && allowed.iter().all(|id| stops.contains(id))) {
                found.wrong.push(format!("after {at:?}: must_stop is wrong"));
            }
        }
        if guide.is_accepting() && (step + 4 > plan.tokens || walker.rng().chance(20) || allowed.len() <= stops.len()) {
            found.ended = v.decode(&guide.tokens()).ok();
            if walker.rng().chance(50) || allowed.len() <= stops.len() {
                break;
            }
        }
        let Some(id) = walker.next(&guide, &allowed) else { break };
        if let Err(e) = guide.advance(id) {
            found.wrong.push(format!("an allowed token was refused: {e}"));
            break;
        }
        if let (Some(t), Some(bytes)) = (&mut twin, v.spelling(id)) {
            t.advance(bytes);
        }
    }
    found
}
