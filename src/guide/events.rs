//! Events of a guide: what its output says so far.
//!
//! Which captured parts have begun and ended is read by [`EventReader`], over the same grammar that the masks come
//! from. A guide makes its reader when it is first asked, and the reader catches up with the guide at each question.

use crate::error::{Error, ErrorKind, Result};
use crate::guide::Guide;
use crate::guide::event_log::{Answer, CaptureState, EventLog, EventPart, NewEvents, Reader, whole_characters};
use crate::index::{Index, IndexEngine};
use crate::mask::grammar::GrammarEngine;
use crate::pushdown::grammar::events::{EventReader, NO_MARKER};

/// The engine of an index whose grammar captures anything.
fn capturing(index: &Index) -> Option<&GrammarEngine> {
    match &index.engine()?.engine {
        IndexEngine::Grammar(grammar) if !grammar.program.productions.capture_names.is_empty() => Some(grammar),
        _ => None,
    }
}

impl Guide {
    /// What became certain of the output since the last question. Where going back took back what was given, that is
    /// said first.
    ///
    /// # Errors
    /// `Limit` if the output can be read in so many ways that they cannot be compared.
    ///
    /// # Cost
    /// Linear in the tokens taken since the last question.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{GrammarOptions, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// let grammar = "start: \"x=\" number \";\"\nnumber[capture]: /[0-9]+/";
    /// let index = Index::from_grammar(grammar, &vocabulary, &GrammarOptions::default(), &Limits::default())?;
    /// let mut guide = index.guide(&GuideOptions::default())?;
    /// guide.advance_many(&b"x=17;".map(u32::from));
    /// guide.new_events()?;
    /// let number = guide.capture(0).expect("it began");
    /// assert_eq!((&*number.name, &*number.bytes), ("number", &b"17"[..]));
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn new_events(&mut self) -> Result<NewEvents> {
        self.index.compiled()?;
        let mut log = match self.events.take() {
            Some(log) => log,
            None => Box::new(self.first_log()),
        };
        let outcome = self.catch_up(&mut log);
        let found = outcome.map(|()| self.answer(&mut log));
        self.events = Some(log);
        found
    }

    /// Says how many events were made of the last answer, so that they can be taken back.
    pub fn note_events(&mut self, count: u32) {
        if let Some(answer) = self.events.as_mut().and_then(|log| log.answers.last_mut()) {
            answer.events += count;
        }
    }

    /// Forgets that anything was given: the next answer holds all that is certain.
    pub fn forget_events(&mut self) {
        if let Some(log) = &mut self.events {
            log.answers.clear();
            log.taken_back = 0;
        }
    }

    /// Says that so many events are void, which the next answer tells.
    pub(super) fn void_events(&mut self, count: u32) {
        if count > 0 {
            let mut log = self.events.take().unwrap_or_else(|| Box::new(self.first_log()));
            log.taken_back = count;
            self.events = Some(log);
        }
    }

    /// A capture that began, by the number of its marker.
    pub fn capture(&self, marker: u32) -> Option<CaptureState> {
        let log = self.events.as_ref()?;
        let grammar = capturing(&self.index)?;
        let name = |capture: u32| grammar.program.productions.capture_names[capture as usize].clone();
        let given = log.given();
        let begin = given.get(marker as usize).filter(|marker| marker.begins)?;
        let behind = &given[marker as usize + 1..];
        let ends = behind.iter().position(|one| !one.begins && one.other == marker);
        let certain_to = match &log.reader {
            Reader::Captures(reader) => reader.certain_to(),
            Reader::Text { .. } => 0,
        };
        let end = ends.map_or(certain_to, |at| behind[at].at);
        let inside = &behind[..ends.unwrap_or(behind.len())];
        Some(CaptureState {
            name: name(begin.capture),
            ordinal: begin.ordinal,
            inside: (begin.other != NO_MARKER).then_some(begin.other),
            bytes: log.text()[begin.at as usize..end as usize].to_vec(),
            markers: inside.iter().map(|one| (one.at - begin.at, one.begins, name(one.capture))).collect(),
        })
    }

    /// Whether anything is captured: otherwise the output as a whole is text.
    pub fn has_captures(&self) -> bool {
        capturing(&self.index).is_some()
    }

    fn first_log(&self) -> EventLog {
        let reader = match capturing(&self.index) {
            Some(grammar) => Reader::Captures(Box::new(EventReader::new(grammar.events()))),
            None => Reader::Text { text: Vec::new(), ends: Vec::new(), ended: false },
        };
        EventLog { reader, answers: Vec::new(), taken_back: 0 }
    }

    fn catch_up(&self, log: &mut EventLog) -> Result<()> {
        let vocabulary = self.root.vocabulary();
        match &mut log.reader {
            Reader::Text { text, ends, ended } => {
                for at in ends.len()..self.history.len() {
                    let token = self.history[at].token;
                    let is_end = self.terminated && at + 1 == self.history.len();
                    if !is_end && !self.is_forced_from_outside(at) {
                        text.extend_from_slice(vocabulary.token_bytes(token).unwrap_or_default());
                    }
                    *ended = is_end;
                    ends.push(text.len() as u32);
                }
            }
            Reader::Captures(reader) => {
                let Some(grammar) = capturing(&self.index) else { return Ok(()) };
                let program = grammar.events();
                for at in reader.tokens()..self.history.len() {
                    let token = self.history[at].token;
                    let is_end = self.terminated && at + 1 == self.history.len();
                    if is_end && !self.ends_in_last {
                        reader.end();
                    } else if self.is_forced_from_outside(at) {
                        reader.pass();
                    } else {
                        let shown = vocabulary.token_bytes(token).unwrap_or_default();
                        if !reader.read(program, token, vocabulary.spelling(token), shown) {
                            let message = format!("token {token} was taken, and cannot be read again for its events");
                            return Err(Error::new(ErrorKind::Internal, message));
                        }
                        if is_end {
                            reader.end_here();
                        }
                    }
                    if reader.is_too_ambiguous() {
                        let message = "the output can be read in too many ways: its events are not known";
                        return Err(Error::new(ErrorKind::Unsupported, message));
                    }
                }
                reader.look(program);
            }
        }
        Ok(())
    }

    fn answer(&self, log: &mut EventLog) -> NewEvents {
        let tokens = self.history.len();
        let none = Answer { tokens: 0, markers: 0, bytes: 0, forced: 0, events: 0, ended: false };
        let from = log.answers.last().copied().unwrap_or(none);
        let (certain_to, ended) = match &log.reader {
            Reader::Captures(reader) => (reader.certain_to(), self.terminated),
            Reader::Text { text, ended, .. } => (text.len() as u32, *ended),
        };
        let text = log.text();
        let mut to = certain_to.max(from.bytes);
        if !ended && to as usize == text.len() {
            to = whole_characters(text, from.bytes as usize) as u32;
        }
        let pieces: Vec<(u32, Vec<u8>)> = self
            .forced_pieces(from.forced as usize)
            .map(|(tokens, bytes)| (log.text_behind(tokens), bytes))
            .take_while(|(place, _)| *place <= to)
            .collect();
        let forced = from.forced + pieces.len() as u32;
        let mut parts = log.parts(&from, to, &pieces);
        if ended && !from.ended {
            parts.push(EventPart::OutputEnd);
        }
        let markers = log.given().len() as u32;
        let bytes = log.given().last().map_or(to, |marker| to.max(marker.at));
        // Nothing new needs no entry, unless what is taken back later has to be told apart.
        log.answers.push(Answer { tokens, markers, bytes, forced, events: 0, ended });
        NewEvents { taken_back: std::mem::take(&mut log.taken_back), parts }
    }
}
