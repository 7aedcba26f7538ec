//! What was given of an output's events: the reader, and the answers so far, so that going back takes them back.

use crate::pushdown::grammar::events::{EventReader, GivenMarker, NO_MARKER};

/// A part of what became certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventPart {
    /// A capture begins.
    Begin {
        /// The number of its marker.
        marker: u32,
    },
    /// Text, inside the capture that began with a marker.
    Text {
        /// The marker; none outside of captures.
        inside: Option<u32>,
        /// The text.
        bytes: Vec<u8>,
    },
    /// A capture ends.
    End {
        /// The number of the marker where it began.
        began: u32,
    },
    /// Text that was forced from outside.
    Forced {
        /// The text.
        bytes: Vec<u8>,
    },
    /// The output ended.
    OutputEnd,
}

/// What became certain since the last question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewEvents {
    /// How many of the events that were given before are void, from the last one on.
    pub taken_back: u32,
    /// The parts, in the order of the output.
    pub parts: Vec<EventPart>,
}

/// A capture that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureState {
    /// Its name.
    pub name: String,
    /// How many captures of this name began before it.
    pub ordinal: u32,
    /// The marker of the capture around it.
    pub inside: Option<u32>,
    /// Its text, as far as it is certain.
    pub bytes: Vec<u8>,
    /// The captures inside, as markers: where, counted from its begin, whether one begins, and its name.
    pub markers: Vec<(u32, bool, String)>,
}

/// What one question was answered with.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    pub(super) tokens: usize,
    pub(super) markers: u32,
    pub(super) bytes: u32,
    pub(super) forced: u32,
    pub(super) events: u32,
    pub(super) ended: bool,
}

#[derive(Clone)]
pub(super) enum Reader {
    Captures(Box<EventReader>),
    /// The output as a whole is text: it and its length after each token.
    Text {
        text: Vec<u8>,
        ends: Vec<u32>,
        ended: bool,
    },
}

/// The reader of a guide, and what was given.
#[derive(Clone)]
pub(crate) struct EventLog {
    pub(super) reader: Reader,
    pub(super) answers: Vec<Answer>,
    pub(super) taken_back: u32,
}

/// The length of the whole characters that a text begins with.
pub(super) fn whole_characters(text: &[u8], from: usize) -> usize {
    match std::str::from_utf8(&text[from..]) {
        Ok(_) => text.len(),
        // What is no text at all is given as it is.
        Err(error) if error.error_len().is_some() => text.len(),
        Err(error) => from + error.valid_up_to(),
    }
}

impl EventLog {
    pub(super) fn go_back_to(&mut self, tokens: usize) {
        match &mut self.reader {
            Reader::Captures(reader) => reader.go_back_to(tokens),
            Reader::Text { text, ends, ended } => {
                if tokens < ends.len() {
                    ends.truncate(tokens);
                    text.truncate(ends.last().map_or(0, |&end| end as usize));
                    *ended = false;
                }
            }
        }
        while let Some(answer) = self.answers.pop_if(|answer| answer.tokens > tokens) {
            self.taken_back += answer.events;
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        match &self.reader {
            Reader::Captures(reader) => reader.text(),
            Reader::Text { text, .. } => text,
        }
    }

    pub(super) fn given(&self) -> &[GivenMarker] {
        match &self.reader {
            Reader::Captures(reader) => reader.given(),
            Reader::Text { .. } => &[],
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let reader = match &self.reader {
            Reader::Captures(reader) => reader.memory_bytes(),
            Reader::Text { text, ends, .. } => text.capacity() + 4 * ends.capacity(),
        };
        reader + self.answers.capacity() * size_of::<Answer>()
    }

    /// The length of the text behind some tokens.
    pub(super) fn text_behind(&self, tokens: usize) -> u32 {
        match &self.reader {
            Reader::Captures(reader) => reader.text_behind(tokens),
            Reader::Text { ends, .. } => tokens.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or(0),
        }
    }

    /// The parts between what was given last and what is certain now. `forced` are texts from outside, with the place
    /// of each in the text, in order; those behind `to` are left out.
    pub(super) fn parts(&self, from: &Answer, to: u32, forced: &[(u32, Vec<u8>)]) -> Vec<EventPart> {
        let (given, text) = (self.given(), self.text());
        let mut parts = Vec::new();
        let mut at = from.bytes;
        // The innermost capture that was open then.
        let mut open = match from.markers.checked_sub(1).map(|last| (last, given[last as usize])) {
            None => NO_MARKER,
            Some((last, marker)) if marker.begins => last,
            Some((_, marker)) => given[marker.other as usize].other,
        };
        let add_text = |parts: &mut Vec<EventPart>, open: u32, from: u32, to: u32| {
            if to > from {
                let bytes = text[from as usize..to as usize].to_vec();
                parts.push(EventPart::Text { inside: (open != NO_MARKER).then_some(open), bytes });
            }
        };
        let mut forced = forced.iter().filter(|(place, _)| *place <= to).peekable();
        let mut add_forced = |parts: &mut Vec<EventPart>, open: u32, at: &mut u32, until: &dyn Fn(u32) -> bool| {
            while let Some((place, bytes)) = forced.next_if(|(place, _)| until(*place)) {
                add_text(parts, open, *at, *place);
                *at = (*at).max(*place);
                parts.push(EventPart::Forced { bytes: bytes.clone() });
            }
        };
        for (number, marker) in (from.markers..).zip(&given[from.markers as usize..]) {
            // What ends at the place of a text from outside ended before it, what begins there comes behind.
            let is_before = |place: u32| place < marker.at || marker.begins && place == marker.at;
            add_forced(&mut parts, open, &mut at, &is_before);
            add_text(&mut parts, open, at, marker.at);
            at = at.max(marker.at);
            if marker.begins {
                parts.push(EventPart::Begin { marker: number });
                open = number;
            } else {
                parts.push(EventPart::End { began: marker.other });
                open = given[marker.other as usize].other;
            }
        }
        add_forced(&mut parts, open, &mut at, &|_| true);
        add_text(&mut parts, open, at, to);
        parts
    }
}
