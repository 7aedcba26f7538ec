//! A walk that compares every mask on its way with the twin's.

use super::twin::{PatternTwin, Spellings, difference, tried_row};
use super::walk::{Walker, dead_end};
use interlock::regex::{Dialect, RegexOptions};
use interlock::schema::SchemaOptions;
use interlock::{Guide, GuideOptions, Index, Limits, Vocabulary};
use std::sync::Arc;

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

/// Sources, each with how often it is walked.
pub struct Sources<'a> {
    /// Patterns of Python's dialect.
    pub patterns: (&'a [&'a str], u64),
    /// JSON Schemas.
    pub schemas: (&'a [&'a str], u64),
}

/// Walks guides of all sources, which must find nothing wrong and compare more than `least` masks.
pub fn walk_all(v: &Arc<Vocabulary>, plan: Plan, sources: Sources<'_>, least: usize) {
    let tokens = Spellings::from_vocabulary(v);
    let limits = Limits::default();
    let mut wrong = Vec::new();
    let mut states = 0;
    let mut walks = |text: &str, seeds: std::ops::Range<u64>, index: Index, twin: &dyn Fn() -> Option<PatternTwin>| {
        for seed in seeds {
            let guide = index.guide(&GuideOptions::default()).unwrap();
            let found = walk(guide, twin(), &tokens, Walker::new(seed, b""), plan);
            states += found.states;
            wrong.extend(found.wrong.into_iter().map(|w| format!("{text}: {w}")));
        }
    };
    let (patterns, often) = sources.patterns;
    for (pattern, seed) in patterns.iter().zip((0..).step_by(10)) {
        let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
        let index = Index::from_regex(pattern, v, &options, &limits).expect(pattern);
        let twin = || Some(PatternTwin::new(pattern, &options).expect("what the index takes, the twin takes"));
        walks(pattern, seed..seed + often, index, &twin);
    }
    let (schemas, often) = sources.schemas;
    for (schema, seed) in schemas.iter().zip((0..).step_by(10)) {
        let index = Index::from_json_schema(schema, v, &SchemaOptions::default(), &limits).expect(schema);
        walks(schema, seed..seed + often, index, &|| None);
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(states > least, "only {states} states compared");
}
