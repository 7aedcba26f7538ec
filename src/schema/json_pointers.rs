//! Where schemas were written.
//!
//! A schema is reached from another by a keyword and a step, or by a reference. Nearly no place is ever asked for, so
//! it is written out as a JSON Pointer only then.

use crate::schema::model::SchemaId;
use crate::schema::name_table::{Name, Names};
use crate::schema::uri::push_step;

/// How a keyword goes on to one of its schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerStep {
    /// It has one.
    None,
    /// By a key.
    Key(Name),
    /// By its place in a list.
    Item(u32),
}

#[derive(Clone, Copy, Debug)]
enum SchemaOrigin {
    Below {
        parent: SchemaId,
        keyword: &'static str,
        step: PointerStep,
    },
    /// By a reference: an index of the texts.
    Reached(u32),
}

/// The origin of each of some schemas, written as a JSON Pointer when somebody asks.
#[derive(Clone, Debug, Default)]
pub struct Pointers {
    /// By id, with the length of the pointer, but for escapes.
    places: Vec<(SchemaOrigin, u32)>,
    texts: Vec<String>,
    bytes: usize,
}

impl Pointers {
    /// The pointer of a schema; empty if it has none.
    pub fn get(&self, id: SchemaId, names: &Names) -> String {
        let mut steps = Vec::new();
        let mut out = String::new();
        let mut at = id;
        // Parents come before their children.
        while let Some((place, _)) = self.places.get(at.0 as usize) {
            match *place {
                SchemaOrigin::Below { parent, keyword, step } => {
                    steps.push((keyword, step));
                    at = parent;
                }
                SchemaOrigin::Reached(text) => {
                    out.push_str(self.texts.get(text as usize).map_or("", String::as_str));
                    break;
                }
            }
        }
        for (keyword, step) in steps.into_iter().rev() {
            push_step(&mut out, keyword);
            match step {
                PointerStep::None => {}
                PointerStep::Key(name) => push_step(&mut out, names.get(name).map_or("", |n| n)),
                PointerStep::Item(i) => push_step(&mut out, &i.to_string()),
            }
        }
        out
    }

    /// Length of all of them, but for escapes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds the place of the next schema, below an earlier one.
    pub fn push(&mut self, parent: SchemaId, keyword: &'static str, step: PointerStep, names: &Names) {
        let below = match step {
            PointerStep::None => 0,
            PointerStep::Key(name) => names.get(name).map_or(0, |n| n.len()) + 1,
            // No list is that long.
            PointerStep::Item(_) => 8,
        };
        let above = self.places.get(parent.0 as usize).map_or(0, |p| p.1 as usize);
        self.add(SchemaOrigin::Below { parent, keyword, step }, above + 1 + keyword.len() + below);
    }

    /// Adds the place of the next schema, which a reference leads to.
    pub fn push_text(&mut self, text: String) {
        let (index, bytes) = (self.texts.len() as u32, text.len());
        self.texts.push(text);
        self.add(SchemaOrigin::Reached(index), bytes);
    }

    fn add(&mut self, place: SchemaOrigin, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.places.push((place, u32::try_from(bytes).unwrap_or(u32::MAX)));
    }
}
