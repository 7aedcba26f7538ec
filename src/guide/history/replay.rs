//! What a guide went through, and going through it again: so a guide comes from one process into another.

use crate::guide::Guide;
use crate::guide::host_text_log::OutsidePart;

/// What a guide went through, as far as it still counts.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// The tokens that were taken.
    pub tokens: Vec<u32>,
    /// The texts from outside: how many tokens had been taken before each, and its tokens.
    pub outside: Vec<(usize, Vec<u32>)>,
    /// The questions for events: how many tokens had been taken before each, and how many events were made of the
    /// answer.
    pub asked: Vec<(usize, u32)>,
    /// How many events are void without anybody having been told so.
    pub taken_back: u32,
}

impl Guide {
    /// What the guide went through.
    pub fn past(&self) -> Past {
        let log = self.events.as_ref();
        Past {
            tokens: self.tokens(),
            outside: self.outside.iter().map(|one| (one.since, one.tokens.to_vec())).collect(),
            asked: log.map_or_else(Vec::new, |log| log.answers.iter().map(|one| (one.tokens, one.events)).collect()),
            taken_back: log.map_or(0, |log| log.taken_back),
        }
    }

    /// Goes through what another guide of the same index went through; for a guide at the start. How many tokens were
    /// taken: fewer than there are if one is refused here.
    pub fn replay(&mut self, past: &Past) -> usize {
        let mut taken = 0;
        let (mut outside, mut asked) = (past.outside.iter().peekable(), past.asked.iter().peekable());
        loop {
            let next = [outside.peek().map(|one| one.0), asked.peek().map(|one| one.0)].into_iter().flatten().min();
            let until = next.unwrap_or(past.tokens.len());
            taken += self.advance_many(past.tokens.get(taken..until).unwrap_or_default());
            if next.is_none() || taken != until {
                break;
            }
            if let Some((_, tokens)) = outside.next_if(|one| one.0 == until) {
                let parts: Vec<OutsidePart> = tokens.iter().copied().map(OutsidePart::Token).collect();
                // It was forced there before.
                if self.force(&parts).is_err() {
                    break;
                }
            }
            while let Some(&(_, events)) = asked.next_if(|one| one.0 == until) {
                // What cannot be said here could not be said before, and is an error again when it is asked for.
                if self.new_events().is_ok() {
                    self.note_events(events);
                }
            }
        }
        self.void_events(past.taken_back);
        taken
    }
}
