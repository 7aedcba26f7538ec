//! Alternatives with equal names, walked as one.
//!
//! The calls of five hundred tools are five hundred shapes, and until the tool is named all of them have the same keys.
//! Inside a key the tries of names and vocabulary would be walked once for each shape. What such a walk allows depends
//! on the names, the place among them and the names that may still be taken, and on nothing else of a shape. So shapes
//! that agree in these are walked as one. Names are compared with those of the shapes just before, which costs less
//! than a walk where they agree, and next to nothing where they do not.

use crate::mask::json::key::{NamePlace, NamePlaces};
use crate::mask::json::mask_builder::JsonMaskBuilder;
use crate::pushdown::json::frame::ObjectItem;

/// Places that a new one is compared with: those which were added last.
const COMPARED: usize = 4;

impl JsonMaskBuilder<'_> {
    /// Adds the place of an item among the names of its shape, unless one of the last ones is the same among the same
    /// names.
    pub(crate) fn add_named(&self, names: &mut NamePlaces, item: &ObjectItem) {
        let named = NamePlace { byte: 0, shape: item.shape, name_node: item.name_node, allowed: item.allowed };
        let shape = |n: &NamePlace| &self.frames.program.objects[n.shape as usize];
        let allowed = |n: &NamePlace| &self.frames.arena.bits[n.allowed as usize..][..shape(n).words];
        let new = shape(&named);
        let same = |known: &NamePlace| {
            let other = shape(known);
            known.name_node == named.name_node
                && (known.shape == named.shape || (other.words == new.words && other.names == new.names))
                && allowed(known) == allowed(&named)
        };
        if !names.iter().rev().take(COMPARED).any(same) {
            names.push(named);
        }
    }
}
