//! Explanations: why a token is refused, and what is allowed instead.

use crate::error::counted;
use crate::guide::Guide;
use crate::guide::position::Position;
use crate::index::IndexEngine;
use crate::lexeme::CLOSED;
use crate::pushdown::json::frame::NONE;
use crate::pushdown::json::machine::JsonMachine;

impl Guide {
    /// Says why `id` is refused here: which byte, after what, and what was allowed instead. For an allowed token, says
    /// that it is allowed.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// # let index = Index::from_regex("(ab)+", &vocabulary, &RegexOptions::default(), &Limits::default())?;
    /// # let mut guide = index.guide(&GuideOptions::default())?;
    /// assert!(guide.explain(98).starts_with("token 98 (\"b\") is refused at its byte 0"));
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn explain(&mut self, id: u32) -> String {
        let index = self.index.clone();
        let vocabulary = index.vocabulary();
        if id as usize >= vocabulary.size() {
            return format!("token {id} is out of range: the vocabulary's size is {}", vocabulary.size());
        }
        if self.is_terminated() {
            return format!("token {id} is refused: the output has ended");
        }
        if let Some(due) = self.due_token().filter(|&due| due != id) {
            let shown = String::from_utf8_lossy(&self.due_bytes()).into_owned();
            return format!("token {id} is refused: text was forced here, and token {due} comes next ({shown:?})");
        }
        if !self.leave_tables() {
            return self.failure().map_or_else(String::new, |error| error.to_string());
        }
        if self.stops.contains(&id) {
            return self.explain_stop(id);
        }
        let Some(bytes) = vocabulary.spelling(id) else {
            return match vocabulary.token_bytes(id) {
                Some(name) if vocabulary.is_special(id) && !name.is_empty() => format!(
                    "token {id} ({:?}) is refused: it is a special token, which spells no text, and nothing in the \
                     source names it here",
                    String::from_utf8_lossy(name)
                ),
                _ => format!("token {id} is refused: it spells no text"),
            };
        };
        let good = self.matched(bytes);
        let shown = String::from_utf8_lossy(bytes);
        if good == bytes.len() {
            return self.explain_fitting(id, bytes);
        }
        format!(
            "token {id} ({shown:?}) is refused at its byte {good} (0x{:02x}{}); {}",
            bytes[good],
            if bytes[good].is_ascii_graphic() { format!(", {:?}", bytes[good] as char) } else { String::new() },
            self.expected(good, bytes)
        )
    }

    /// Whether the output may end by a stop token, and why not.
    fn explain_stop(&mut self, id: u32) -> String {
        match self.is_accepting() {
            true if self.is_early() && self.is_withheld(id) => format!(
                "stop token {id} is refused: the output could end here, but has {} of the {} that min_tokens asks for",
                counted(self.history.len() as u64, "token"),
                self.min_tokens
            ),
            true => format!("stop token {id} is allowed"),
            false if self.clone().try_advance(id) => {
                format!("stop token {id} is allowed: it is the last of the output")
            }
            false => format!("stop token {id} is refused: the output is not complete; {}", self.expected(0, &[])),
        }
    }

    /// Whether a token is allowed all of whose bytes can be stepped, and why not.
    fn explain_fitting(&mut self, id: u32, bytes: &[u8]) -> String {
        let shown = String::from_utf8_lossy(bytes);
        let refused = |why: &str| format!("token {id} ({shown:?}) is refused: its bytes fit, but {why}");
        if self.is_refused_everywhere(id) || !self.clone().step_bytes(bytes) {
            return refused("from there the vocabulary's tokens lead to no end");
        }
        if let Some(canonical) = self.canonical_token().filter(|&canonical| canonical != id) {
            return refused(&format!(
                "the text is forced here, and canonical_forced leaves only the tokenizer's own token, {canonical}"
            ));
        }
        if !self.clone().try_advance(id) {
            return refused("max_tokens leaves no room to finish");
        }
        format!("token {id} ({shown:?}) is allowed")
    }

    /// How many of `bytes` can be stepped.
    fn matched(&mut self, bytes: &[u8]) -> usize {
        (1..=bytes.len()).take_while(|&n| !self.live_after(&bytes[..n]).is_empty()).count()
    }

    /// The bytes that may follow `bytes`, or 256 marks if the end may; empty if `bytes` are refused.
    fn live_after(&mut self, bytes: &[u8]) -> Vec<u16> {
        let mut out = Vec::new();
        match (&self.index.0.engine, &mut self.position) {
            (IndexEngine::Pattern(l), Position::Pattern(state)) => {
                let s = bytes.iter().fold(*state, |s, &b| if s <= CLOSED { s } else { l.lexeme.next(s, b) });
                if s > CLOSED {
                    out.extend((0..=255u8).filter(|&b| l.lexeme.next(s, b) > CLOSED).map(u16::from));
                    out.extend(l.lexeme.state(s).accepting.then_some(256));
                }
            }
            (IndexEngine::Document { program, .. }, Position::Document { arena, top }) => {
                let mark = arena.mark();
                let mut frames = JsonMachine { program, arena };
                let at = bytes.iter().fold(*top, |at, &b| if at == NONE { at } else { frames.step(at, b) });
                if at != NONE {
                    out.extend((0..=255u8).filter(|&b| frames.step(at, b) != NONE).map(u16::from));
                    out.extend(frames.is_accepting(at).then_some(256));
                }
                arena.truncate(&mark);
            }
            (IndexEngine::Grammar(grammar), Position::Grammar { stack, at }) => {
                let mut machine = grammar.program.machine(stack);
                if let Some(there) = machine.step_bytes(*at, bytes) {
                    let classes = machine.next_bytes(there);
                    out.extend(grammar.program.bytes_like(&classes).map(u16::from));
                    out.extend(machine.is_accepting(there).then_some(256));
                }
                stack.go_back_to(*at);
            }
            _ => {}
        }
        out
    }

    fn expected(&mut self, good: usize, bytes: &[u8]) -> String {
        let live = self.live_after(&bytes[..good]);
        let mut parts: Vec<String> = Vec::new();
        let mut i = 0;
        while i < live.len() {
            let lo = live[i];
            while i + 1 < live.len() && live[i + 1] == live[i] + 1 && live[i + 1] < 256 && lo < 256 {
                i += 1;
            }
            let name = |b: u16| match u8::try_from(b) {
                Ok(b) if b.is_ascii_graphic() => format!("{:?}", b as char),
                Ok(b) => format!("0x{b:02x}"),
                Err(_) => "the end".to_string(),
            };
            parts.push(if lo == live[i] { name(lo) } else { format!("{} to {}", name(lo), name(live[i])) });
            i += 1;
        }
        format!("allowed there: {}", parts.join(", "))
    }
}
