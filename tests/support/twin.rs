//! The slow twin of the masks: what is allowed, by stepping every token of the vocabulary byte by byte.
//!
//! For a pattern the twin derives the expression itself and decides by exploration whether anything can follow; it
//! shares neither automaton nor masks with a guide. For a JSON document it asks a fork of the guide to take each token
//! and to take it back, which shares the frames with the masks but none of the code that puts a mask together.

use interlock::expr::{ExprId, Exprs};
use interlock::regex::{RegexOptions, lower_full};
use interlock::{Guide, Limits, Vocabulary};

/// States that the twin explores to decide whether an expression accepts anything.
const EXPLORED: usize = 1_000_000;

/// The tokens that spell text, sorted by their bytes.
pub struct Spellings(Vec<(Vec<u8>, u32)>);

impl Spellings {
    /// The tokens of a vocabulary.
    pub fn from_vocabulary(v: &Vocabulary) -> Self {
        let ids = 0..v.size() as u32;
        let mut all: Vec<(Vec<u8>, u32)> = ids.filter_map(|id| Some((v.spelling(id)?.to_vec(), id))).collect();
        all.sort();
        Spellings(all)
    }
}

/// A set of tokens as a mask row.
pub fn row_of(v: &Vocabulary, ids: &[u32]) -> Vec<u32> {
    let mut row = vec![0; v.words()];
    for &id in ids {
        row[id as usize / 32] |= 1 << (id % 32);
    }
    row
}

/// The twin of a guide over a pattern.
pub struct PatternTwin {
    exprs: Exprs,
    at: ExprId,
}

impl PatternTwin {
    /// The twin at the start, or `None` if the pattern is refused or accepts nothing.
    pub fn new(pattern: &str, options: &RegexOptions) -> Option<Self> {
        let mut exprs = Exprs::new(4_000_000);
        let at = lower_full(&mut exprs, pattern, options, &Limits::default()).ok()?;
        exprs.decide_live(at, EXPLORED).ok()?.then_some(PatternTwin { exprs, at })
    }

    /// The twin at the start of a choice.
    pub fn choices(choices: &[String]) -> Self {
        let mut exprs = Exprs::new(4_000_000);
        let at = exprs.choice(choices);
        PatternTwin { exprs, at }
    }

    /// Takes `bytes`, which must be allowed.
    pub fn advance(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.at = self.exprs.derive(self.at, b);
        }
        assert!(self.exprs.decide_live(self.at, EXPLORED).unwrap(), "the twin refuses what the guide took");
    }

    /// The mask here, or `None` where the twin's own limits are exceeded. Tokens that share their first bytes with
    /// the token before them (they are sorted) share the derivatives by these.
    pub fn row(&mut self, v: &Vocabulary, tokens: &Spellings, stops: &[u32]) -> Option<Vec<u32>> {
        let mut allowed = Vec::new();
        let mut path = vec![self.at];
        let mut before: &[u8] = &[];
        for (bytes, id) in &tokens.0 {
            let shared = bytes.iter().zip(before).take_while(|(a, b)| a == b).count();
            path.truncate(shared + 1);
            before = bytes;
            while path.len() <= bytes.len() {
                let last = path[path.len() - 1];
                if last == Exprs::NEVER {
                    break;
                }
                path.push(self.exprs.derive(last, bytes[path.len() - 1]));
            }
            if path.len() <= bytes.len() {
                continue;
            }
            let end = path[bytes.len()];
            if self.exprs.decide_live(end, EXPLORED).ok()? {
                allowed.push(*id);
            }
        }
        allowed.retain(|id| !stops.contains(id));
        if self.exprs.nullable(self.at) {
            allowed.extend(stops);
        }
        self.exprs.check().ok()?;
        Some(row_of(v, &allowed))
    }
}

/// The mask of any guide by trying every id.
pub fn tried_row(guide: &Guide) -> Vec<u32> {
    let mut fork = guide.clone();
    let v = guide.index().vocabulary().clone();
    let mut allowed = Vec::new();
    for id in 0..v.size() as u32 {
        if fork.try_advance(id) {
            allowed.push(id);
            fork.rollback(1).unwrap();
        }
    }
    row_of(&v, &allowed)
}

/// Where two rows differ, in words; `None` if they are equal.
pub fn difference(v: &Vocabulary, mask: &[u32], twin: &[u32]) -> Option<String> {
    if mask == twin {
        return None;
    }
    let mut out = String::new();
    let (mut extra, mut missing) = (0, 0);
    for id in 0..v.size() as u32 {
        let bit = |row: &[u32]| row[id as usize / 32] >> (id % 32) & 1 == 1;
        let kind = match (bit(mask), bit(twin)) {
            (true, false) => {
                extra += 1;
                "wrongly allowed"
            }
            (false, true) => {
                missing += 1;
                "wrongly masked"
            }
            _ => continue,
        };
        if extra + missing <= 6 {
            let bytes = String::from_utf8_lossy(v.token_bytes(id).unwrap_or_default()).into_owned();
            out += &format!("{kind} {id} {bytes:?}; ");
        }
    }
    Some(format!("{extra} wrongly allowed, {missing} wrongly masked: {out}"))
}
