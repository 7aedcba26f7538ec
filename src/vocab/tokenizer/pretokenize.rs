//! How a byte-level tokenizer cuts text into pieces, and which of the pieces no continuation can change.
//!
//! Byte-level BPE never merges across *pieces*, which a regular expression finds from left to right. Only patterns of
//! a known list are used, compared letter for letter, for what follows was argued for each of them.
//!
//! **Which pieces are certain.** None of the patterns looks back, so whether a piece is certain depends on the text
//! from its start on. Let a piece end at `b`, before a known character. Then the text that is still unknown cannot
//! change the piece, if its last character is no whitespace, or if a known character at or after `b` is none:
//!
//! * A greedy class of letters, digits or other characters stopped at the known character at `b`, or at the
//!   count of `\p{N}{1,3}`, which runs from the start of the piece. What comes before it (` ?`, `[^\r\n\p{L}\p{N}]?`)
//!   and after it (`[\r\n]*`) is one more class that stopped at a known character.
//! * The alternatives for whitespace (`\s+(?!\S)`, `\s*[\r\n]+`, `\s++$`, `\s+`) look at the whole run of whitespace
//!   and at one character after it, and make pieces that end in whitespace. That character is known, for one that is no
//!   whitespace follows.
//! * A contraction (`'s`, `'ll`) is tried first and looks two characters beyond its quote: `'l` may become `'ll`. So a
//!   piece that begins with a quote is certain only if two more characters after the quote are known.
//! * o200k's words may give back letters of the class that is in both of its halves (`[\p{Lm}\p{Lo}\p{M}]`), and where
//!   they do so depends on the end of the whole run of letters and marks. An ASCII character that is no letter, known
//!   at or after `b`, ends that run. Its words may also take a contraction: with a quote at `b`, two more
//!   characters have to be known.
//!
//! Some tokenizers cut in several steps. The first ones take runs of digits, or of some scripts, out of the text; the
//! last one cuts what lies between them, each part as a text of its own, which is complete where a run follows.
//!
//! **The open piece.** What follows the last certain piece begins a piece, whatever comes. With what comes, that piece
//! mostly ends no earlier than the known text: its classes have taken everything to the end. [`Splitter::may_shrink`]
//! says where it may end earlier: in a run of whitespace, behind a quote that may begin a contraction, and where
//! words have two halves, in text beyond ASCII.
//!
//! Where the text is complete, all pieces are certain. Characters that were assigned after Unicode 12 may be of one
//! class to one library and of another class to another; nothing from the first of them on counts as known.

use fancy_regex::Regex;

/// How far a pattern looks.
#[derive(Clone, Copy, PartialEq)]
enum Family {
    /// Classes, whitespace, and contractions of their own.
    Plain,
    /// Words of two halves that may end in a contraction.
    TwoHalves,
}

/// GPT-2's pattern, which tokenizers' `ByteLevel` step uses.
pub(crate) const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// DeepSeek's three steps: digits, then the scripts of China and Japan, then all else.
const DEEPSEEK: &str = concat!(
    r"\p{N}{1,3}",
    "\0[\u{4e00}-\u{9fa5}\u{3040}-\u{309f}\u{30a0}-\u{30ff}]+\0",
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^"##,
    "\r\n",
    r"\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[",
    "\r\n",
    r"]*|\s*[",
    "\r\n",
    r"]+|\s+(?!\S)|\s+"
);

/// Digits one by one, then GPT-2's pattern: StarCoder, SmolLM, Command R, Granite. As tokenizers has it, a digit is a
/// character of the class of numbers.
const SINGLE_DIGITS: &str =
    concat!(r"\p{N}", "\0", r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+");

/// Runs of digits, then GPT-2's pattern.
const DIGIT_RUNS: &str =
    concat!(r"\p{N}+", "\0", r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+");

const PATTERNS: [(&str, Family); 13] = [
    (DEEPSEEK, Family::Plain),
    (SINGLE_DIGITS, Family::Plain),
    (DIGIT_RUNS, Family::Plain),
    (GPT2, Family::Plain),
    (r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", Family::Plain),
    (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s", Family::Plain),
    // cl100k as Llama 3 and others write it.
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Family::Plain,
    ),
    (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
        Family::Plain,
    ),
    (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        Family::Plain,
    ),
    // Qwen: digits stand alone.
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Family::Plain,
    ),
    // Qwen 3.5: marks belong to words.
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Family::Plain,
    ),
    // o200k.
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Family::TwoHalves,
    ),
    // Tekken, which is o200k without contractions and with single digits.
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Family::TwoHalves,
    ),
];

/// A pattern of the list, ready to cut text.
#[derive(Debug)]
pub(crate) struct Splitter {
    /// Steps before the last: runs that are pieces of their own.
    runs: Vec<Regex>,
    pieces: Regex,
    recent: Regex,
    two_halves: bool,
}

impl Splitter {
    /// The splitter of `pattern`, if it is one of the list.
    pub(crate) fn new(pattern: &str) -> Option<Splitter> {
        let (_, family) = PATTERNS.iter().find(|(known, _)| *known == pattern)?;
        let mut runs = pattern.split('\0').map(|p| Regex::new(p).ok()).collect::<Option<Vec<_>>>()?;
        Some(Splitter {
            pieces: runs.pop()?,
            runs,
            recent: Regex::new(r"[^\p{age:12.0}]").ok()?,
            two_halves: *family == Family::TwoHalves,
        })
    }

    /// How much of `text` has characters that all libraries class alike.
    pub(crate) fn settled(&self, text: &str) -> usize {
        if text.is_ascii() {
            return text.len();
        }
        match self.recent.find(text) {
            Ok(None) => text.len(),
            Ok(Some(found)) => found.start(),
            Err(_) => 0,
        }
    }

    /// Where the certain pieces of `text` end, in order; `complete` says that nothing follows the text.
    pub(crate) fn certain(&self, text: &str, complete: bool) -> Vec<usize> {
        let mut ends = Vec::new();
        self.cut(&self.runs, text, 0, complete, &mut ends);
        ends
    }

    /// Adds the ends of the certain pieces of `text`, which begins at `from`, by `steps` and the last step. Whether
    /// they are all of it.
    fn cut(&self, steps: &[Regex], text: &str, from: usize, complete: bool, ends: &mut Vec<usize>) -> bool {
        let Some((run, others)) = steps.split_first() else {
            let found = self.certain_of_last(text, complete);
            ends.extend(found.iter().map(|end| from + end));
            return text.is_empty() || found.last() == Some(&text.len());
        };
        let mut at = 0;
        while at < text.len() {
            let Ok(found) = run.find_from_pos(text, at) else { return false };
            let (start, end) = found.map_or((text.len(), text.len()), |m| (m.start(), m.end()));
            let between = text.get(at..start).unwrap_or_default();
            // The run behind it ends what lies between.
            if !self.cut(others, between, from + at, complete || start < text.len(), ends) {
                return false;
            }
            if start < text.len() {
                if end == text.len() && !complete {
                    return false;
                }
                ends.push(from + end);
            }
            at = end;
        }
        true
    }

    fn certain_of_last(&self, text: &str, complete: bool) -> Vec<usize> {
        let mut ends = Vec::new();
        let last = |is: fn(char) -> bool| text.char_indices().rev().find(|&(_, c)| is(c)).map(|(at, _)| at);
        let visible = last(|c| !c.is_whitespace());
        let stop = last(|c| c.is_ascii() && !c.is_ascii_alphabetic());
        let may_contract = |at: usize| {
            let mut rest = text.get(at..).unwrap_or_default().chars();
            rest.next() == Some('\'') && rest.nth(1).is_none()
        };
        let mut at = 0;
        while at < text.len() {
            let Some(end) = end_from(&self.pieces, text, at) else { break };
            let blank = text.get(..end).is_some_and(|piece| piece.ends_with(char::is_whitespace));
            let reaches = end < text.len() && (!blank || visible.is_some_and(|v| end <= v));
            let reaches = reaches && (!self.two_halves || stop.is_some_and(|s| end <= s));
            let open = may_contract(at) || self.two_halves && may_contract(end);
            if !complete && (!reaches || open) {
                break;
            }
            ends.push(end);
            at = end;
        }
        ends
    }

    /// Whether the piece that begins with the text `open`, of which nothing is certain, may end inside of it, depending
    /// on what follows.
    pub(crate) fn may_shrink(&self, open: &str) -> bool {
        let several = open.chars().nth(1).is_some();
        several && (open.starts_with('\'') || open.chars().all(char::is_whitespace))
            || self.two_halves && (open.contains('\'') || !open.is_ascii())
            || self.runs.iter().chain([&self.pieces]).find_map(|step| end_from(step, open, 0)) != Some(open.len())
    }
}

/// The end of the piece that begins at `at`. Patterns match nearly everywhere; a match that failed for its length has
/// no end.
fn end_from(step: &Regex, text: &str, at: usize) -> Option<usize> {
    let piece = step.find_from_pos(text, at).ok()??;
    (piece.start() == at && piece.end() > at).then_some(piece.end())
}
