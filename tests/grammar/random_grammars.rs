//! Random grammars: every bit of every mask against the twin, on random walks with rollbacks, forks and refusals.
//!
//! `GRAMMARS=5000 cargo test --release --test grammar random_grammars -- --nocapture` walks through as many.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use interlock::grammar::model::{Grammar, Lexer};
use interlock::util::rng::Rng;
use interlock::{ErrorKind, Guide, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};

use crate::random_grammar::{FIRST_SPECIAL, LETTERS, SPECIALS, random_grammar, shown as shown_grammar};
use crate::twin::bnf::Bnf;
use crate::twin::{SPECIAL, Twin, definition};

/// The id of the stop token.
pub const EOS: u32 = 256;

/// All single bytes, the stop token, special tokens and `more` tokens that cross terminals.
fn make_vocabulary(more: usize, seed: u64) -> Arc<Vocabulary> {
    let mut rng = Rng(seed);
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    tokens.push(b"<end>".to_vec());
    tokens.extend((0..SPECIALS).map(|n| format!("<special {n}>").into_bytes()));
    for _ in 0..more {
        let mut token: Vec<u8> = Vec::new();
        for _ in 0..2 + rng.below(4) {
            let letter = match rng.chance(80) {
                true => ["a", "b", "c", " "][rng.below(4)],
                false => LETTERS[rng.below(6)],
            };
            token.extend(letter.as_bytes());
        }
        // Some begin or end inside a character.
        if rng.chance(5) {
            token.insert(0, 0xA9);
        } else if rng.chance(5) {
            token.push(0xC3);
        }
        tokens.push(token);
    }
    let options = VocabularyOptions {
        eos_token_ids: vec![EOS],
        special_token_ids: (FIRST_SPECIAL..FIRST_SPECIAL + SPECIALS).collect(),
        ..Default::default()
    };
    Vocabulary::new(&tokens, options).unwrap()
}

/// A vocabulary with few tokens of several bytes, and one with many.
pub fn vocabularies() -> &'static [(Arc<Vocabulary>, Tokens); 2] {
    static ALL: OnceLock<[(Arc<Vocabulary>, Tokens); 2]> = OnceLock::new();
    ALL.get_or_init(|| {
        [(40, 5), (700, 7)].map(|(more, seed)| {
            let vocabulary = make_vocabulary(more, seed);
            let tokens = Tokens::from_vocabulary(&vocabulary);
            (vocabulary, tokens)
        })
    })
}

/// The tokens as symbols, sorted, so that each shares its beginning with the one before.
pub struct Tokens(Vec<(Vec<u32>, u32)>);

impl Tokens {
    pub fn from_vocabulary(v: &Vocabulary) -> Tokens {
        let spelled = (0..v.size() as u32).filter_map(|id| {
            let bytes = v.spelling(id)?;
            Some((bytes.iter().map(|&b| u32::from(b)).collect(), id))
        });
        let special = (FIRST_SPECIAL..FIRST_SPECIAL + SPECIALS).map(|id| (vec![SPECIAL + id], id));
        let mut all: Vec<(Vec<u32>, u32)> = spelled.chain(special).collect();
        all.sort();
        Tokens(all)
    }

    /// What the twin says of each token; `None` where it does not know.
    fn row(&self, twin: &mut Twin, size: usize) -> Vec<Option<bool>> {
        let mut out = vec![Some(false); size];
        out[EOS as usize] = Some(twin.accepts());
        let mut path: Vec<(u32, bool)> = Vec::new();
        let mut answer: Option<(Vec<u32>, Option<bool>)> = None;
        for (symbols, id) in &self.0 {
            let mut shared = symbols.iter().zip(&path).take_while(|(a, b)| **a == b.0).count();
            // Behind what can't be read nothing needs to be tried.
            if let Some(dead) = path[..shared].iter().position(|p| !p.1) {
                shared = dead + 1;
                while path.len() > shared {
                    twin.pop();
                    path.pop();
                }
                continue;
            }
            while path.len() > shared {
                twin.pop();
                path.pop();
            }
            let mut lives = true;
            for &symbol in &symbols[shared..] {
                lives = twin.push(symbol);
                path.push((symbol, lives));
                if !lives {
                    break;
                }
            }
            out[*id as usize] = match (&answer, lives) {
                (_, false) => Some(false),
                (Some((same, known)), true) if same == symbols => *known,
                _ => twin.viable(),
            };
            answer = Some((symbols.clone(), out[*id as usize]));
        }
        path.iter().for_each(|_| twin.pop());
        out
    }
}

/// What a walk found out.
#[derive(Default, Debug)]
pub struct Counts {
    grammars: usize,
    unsatisfiable: usize,
    /// Grammars of which it takes too long to find out, and of which the twin finds no output either.
    too_long: usize,
    states: usize,
    bits: usize,
    unknown: usize,
    left_out: usize,
    /// Walks that ended before their time, and how long the engine took for all of them.
    slow: usize,
    engine_ms: u128,
}

impl Counts {
    /// Whether the twin knew nearly all bits.
    pub fn is_decided(&self) -> bool {
        self.bits > 0 && self.unknown * 50 < self.bits
    }
}

/// A walk ends when it took so long.
const PATIENCE: Duration = Duration::from_secs(4);

/// The mask of a guide.
pub fn mask(guide: &mut Guide) -> Vec<u32> {
    let mut row = vec![0xAAAA_AAAA; guide.index().vocabulary().words()];
    assert!(guide.fill_mask(&mut row));
    row
}

pub fn has(row: &[u32], id: u32) -> bool {
    row[id as usize / 32] >> (id % 32) & 1 == 1
}

fn shown(text: &[u32]) -> String {
    let one = |&s: &u32| match s {
        byte if byte < SPECIAL => std::ascii::escape_default(byte as u8).to_string(),
        id => format!("<[{}]>", id - SPECIAL),
    };
    text.iter().map(one).collect()
}

/// Compares a guide with the twin on a random walk. The error says where they differ.
pub fn walk(
    make: &dyn Fn() -> Grammar,
    vocabulary: &(Arc<Vocabulary>, Tokens),
    seed: u64,
    steps: usize,
    counts: &mut Counts,
) -> Result<(), String> {
    let (v, tokens) = vocabulary;
    let mut rng = Rng(seed.wrapping_mul(0xD129_0E0B_41F5_5B21) | 1);
    let lexer = make().lexer;
    let Some(mut twin) = Twin::new(&mut make()) else {
        counts.left_out += 1;
        return Ok(());
    };
    let lives = twin.viable();
    let index = match Index::from_model(make(), format!("random {seed}"), v, &Limits::default()) {
        Ok(index) => index,
        Err(error) if error.kind() == ErrorKind::Unsatisfiable => {
            counts.unsatisfiable += 1;
            return match lives {
                Some(true) => Err(format!("refused, but something is accepted: {}", error.message())),
                _ => Ok(()),
            };
        }
        // What takes too long to find out is refused; a grammar of which the twin finds an output is not.
        Err(error) if error.kind() == ErrorKind::Limit && lives != Some(true) => {
            counts.too_long += 1;
            return Ok(());
        }
        Err(error) => return Err(format!("refused: {}", error.message())),
    };
    if lives == Some(false) {
        return Err("taken, but nothing is accepted".to_owned());
    }
    counts.grammars += 1;
    let mut whole = Bnf::from_grammar(&mut make()).unwrap();
    if lexer != Lexer::Contextual {
        whole = whole.with_ignored();
    }
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    // What each token that was taken spells.
    let mut taken: Vec<Vec<u32>> = Vec::new();
    let begun = Instant::now();
    for _ in 0..steps {
        if begun.elapsed() > PATIENCE {
            counts.slow += 1;
            break;
        }
        let text: Vec<u32> = taken.concat();
        let at = |what: String| format!("behind \"{}\": {what}", shown(&text));
        if let Twin::Lattice(lattice) = &twin
            && lattice.size() > 2_000
        {
            counts.left_out += 1;
            break;
        }
        let expected = tokens.row(&mut twin, v.size());
        let asked = Instant::now();
        let row = mask(&mut guide);
        counts.engine_ms += asked.elapsed().as_millis();
        if let Some(failure) = guide.failure() {
            return Err(at(format!("failed: {}", failure.message())));
        }
        if asked.elapsed().as_millis() > 1_000 {
            println!("{}", at(format!("a mask took {:?}", asked.elapsed())));
        }
        counts.states += 1;
        let mut wrong = Vec::new();
        for (id, known) in (0u32..).zip(&expected) {
            match known {
                None => counts.unknown += 1,
                Some(known) => {
                    counts.bits += 1;
                    if *known != has(&row, id) {
                        let spelled = String::from_utf8_lossy(v.token_bytes(id).unwrap_or_default()).into_owned();
                        wrong.push(format!("{} {id} {spelled:?}", if *known { "masked" } else { "allowed" }));
                    }
                }
            }
        }
        if !wrong.is_empty() {
            // What is masked first: to mask what is valid is worse than a dead end.
            wrong.sort_by_key(|what| !what.starts_with("masked"));
            wrong.truncate(8);
            return Err(at(format!("wrongly {}", wrong.join(", "))));
        }
        if guide.is_accepting() != twin.accepts() {
            return Err(at(format!("accepting: {}", guide.is_accepting())));
        }
        // The twin itself, against the definition.
        if text.len() <= 14 && !text.iter().any(|s| *s >= SPECIAL) {
            let by_definition = match &mut twin {
                Twin::Contextual(c) => c.cuts(&text),
                Twin::Lattice(_) => definition::accepts(&whole, lexer, &text),
            };
            if by_definition != twin.accepts() {
                return Err(at(format!("the twin is wrong: by definition {by_definition}")));
            }
        }
        if rng.chance(30) {
            forced(&mut guide, &mut twin, v).map_err(&at)?;
        }
        // What is refused changes nothing, and every bit tells what is taken.
        let key = guide.state_key();
        for _ in 0..4 {
            let id = rng.below(v.size()) as u32;
            if has(&row, id) {
                let mut fork = guide.clone();
                if !fork.try_advance(id) {
                    return Err(at(format!("refused {id}, which is allowed")));
                }
                fork.rollback(1).unwrap();
                if mask(&mut fork) != row || fork.state_key() != key {
                    return Err(at("a fork that went back is elsewhere".to_owned()));
                }
            } else if guide.try_advance(id) {
                return Err(at(format!("took {id}, which is not allowed")));
            }
        }
        if mask(&mut guide) != row || guide.state_key() != key {
            return Err(at("a refused token changed something".to_owned()));
        }
        if rng.chance(10) {
            // A fresh index has nothing cached.
            let cold = Index::from_model(make(), format!("random {seed}"), v, &Limits::default()).unwrap();
            let mut fresh = cold.guide(&GuideOptions::default()).unwrap();
            let ids = guide.tokens();
            if fresh.advance_many(&ids) != ids.len() || mask(&mut fresh) != row {
                return Err(at("a fresh guide is elsewhere".to_owned()));
            }
        }
        let allowed: Vec<u32> = (0..v.size() as u32).filter(|&id| id != EOS && has(&row, id)).collect();
        if allowed.is_empty() || rng.chance(15) {
            let back = rng.below(taken.len() + 1);
            guide.rollback(back).unwrap();
            for _ in 0..back {
                let symbols = taken.pop().unwrap_or_default();
                symbols.iter().for_each(|_| twin.pop());
            }
            if allowed.is_empty() && back == 0 && taken.is_empty() {
                break;
            }
            continue;
        }
        let id = *rng.pick(&allowed);
        guide.advance(id).map_err(|e| at(e.message().to_owned()))?;
        let symbols: Vec<u32> = match v.spelling(id) {
            Some(bytes) => bytes.iter().map(|&b| u32::from(b)).collect(),
            None => vec![SPECIAL + id],
        };
        symbols.iter().for_each(|&s| {
            twin.push(s);
        });
        taken.push(symbols);
    }
    Ok(())
}

/// The forced bytes of a guide against those of the twin.
fn forced(guide: &mut Guide, twin: &mut Twin, v: &Vocabulary) -> Result<(), String> {
    let run = guide.forced_bytes();
    let mut expected = Vec::new();
    let mut is_known = true;
    while expected.len() < 40 && !twin.accepts() {
        let specials = (0..SPECIALS).map(|n| SPECIAL + FIRST_SPECIAL + n);
        let mut next = Vec::new();
        for symbol in (0..256).chain(specials) {
            if twin.push(symbol) {
                match twin.viable() {
                    Some(true) => next.push(symbol),
                    Some(false) => {}
                    None => is_known = false,
                }
            }
            twin.pop();
        }
        match next[..] {
            [byte] if byte < SPECIAL && is_known => {
                twin.push(byte);
                expected.push(byte as u8);
            }
            _ => break,
        }
    }
    expected.iter().for_each(|_| twin.pop());
    let _ = v;
    let most = expected.len().min(run.len());
    if is_known && (expected[..most] != run[..most] || (expected.len() < 40 && run.len() != expected.len())) {
        return Err(format!("forced {run:?}, expected {expected:?}"));
    }
    Ok(())
}

#[test]
fn masks_of_random_grammars_are_those_of_the_twin() {
    let count: u64 = std::env::var("GRAMMARS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let first: u64 = std::env::var("FIRST_GRAMMAR").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut counts = Counts::default();
    let (mut wrong, mut dead_ends) = (Vec::new(), Vec::new());
    for seed in first..first + count {
        let vocabulary = &vocabularies()[usize::from(seed % 4 == 3)];
        let begun = Instant::now();
        if let Err(error) = walk(&|| random_grammar(seed), vocabulary, seed, 12, &mut counts) {
            let mut grammar = random_grammar(seed);
            println!("grammar {seed}: {error}\n{}", shown_grammar(&mut grammar));
            let allowed = error.contains("wrongly allowed") && !error.contains("masked");
            let too_much = allowed || error.contains("nothing is accepted");
            match too_much && grammar.lexer != Lexer::Any {
                true => dead_ends.push(seed),
                false => wrong.push(seed),
            }
        }
        if begun.elapsed().as_secs() >= 5 {
            println!("grammar {seed} took {:?}", begun.elapsed());
        }
    }
    println!("{counts:?}, dead ends {dead_ends:?}");
    assert!(wrong.is_empty(), "{} of {count} grammars differ: {wrong:?}", wrong.len());
    assert!(dead_ends.is_empty(), "{} dead ends: {dead_ends:?}", dead_ends.len());
    assert!(counts.is_decided(), "{counts:?}");
}
