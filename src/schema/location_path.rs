//! Locations in a document, each known by the one above it, of which few are ever written as JSON Pointers.

use crate::schema::json_tape::{Tape, TapeId};
use crate::schema::uri::push_step;

/// What leads from a keyword to a schema below it.
#[derive(Clone, Copy)]
pub(super) enum PathStep {
    /// Nothing: the keyword's value is the schema.
    None,
    /// A member, by the place of its key.
    Key(TapeId),
    /// An item.
    Item(u32),
}

struct PathNode {
    above: u32,
    keyword: TapeId,
    step: PathStep,
    /// Bytes of the pointer.
    bytes: usize,
}

/// The paths by which schemas were reached, as a tree of steps.
#[derive(Default)]
pub(super) struct Trail {
    places: Vec<PathNode>,
}

impl Trail {
    /// The document itself.
    pub const ROOT: u32 = u32::MAX;

    /// The place of a schema below the keyword at `keyword`, and how many bytes its pointer has.
    pub fn add(&mut self, tape: &Tape<'_>, above: u32, keyword: TapeId, step: PathStep) -> (u32, usize) {
        let escaped = |key: TapeId| {
            let key = tape.string(key).unwrap_or_default();
            1 + key.len() + key.bytes().filter(|b| matches!(b, b'~' | b'/')).count()
        };
        let last = match step {
            PathStep::None => 0,
            PathStep::Key(key) => escaped(key),
            PathStep::Item(i) => 2 + i.checked_ilog10().unwrap_or(0) as usize,
        };
        let bytes = self.places.get(above as usize).map_or(0, |p| p.bytes) + escaped(keyword) + last;
        self.places.push(PathNode { above, keyword, step, bytes });
        (self.places.len() as u32 - 1, bytes)
    }

    /// The JSON Pointer of a place.
    pub fn pointer(&self, tape: &Tape<'_>, place: u32) -> String {
        let up = |at: &u32| self.places.get(*at as usize).map(|p| p.above);
        let way: Vec<u32> = std::iter::successors(Some(place), up).collect();
        let mut out = String::new();
        for place in way.iter().rev().filter_map(|&at| self.places.get(at as usize)) {
            push_step(&mut out, tape.string(place.keyword).unwrap_or_default());
            match place.step {
                PathStep::None => {}
                PathStep::Key(key) => push_step(&mut out, tape.string(key).unwrap_or_default()),
                PathStep::Item(i) => push_step(&mut out, &i.to_string()),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
