//! Events: which captured parts of the output have begun and ended, as far as it is certain.
//!
//! ```text
//! lr_automaton --left_corners--> what each state has opened
//! bytes, tokens --reader--> derivations (trails: markers) --certain--> the beginning that all of them share
//! ```
//!
//! A *capture* is a nonterminal whose text is reported under a name. The reader steps a parser over the productions,
//! LR automaton and scanner that the masks are made of. Its stack is its own: links of nodes know where their text
//! begins and ends, and which captures lie in it. A *trail* is the row of markers of one derivation: here a capture
//! begins, there one ends. What all live derivations have in common is certain, and is given.
//!
//! A part that was derived in several ways, after which nothing differs, has one derivation: the one of the earliest
//! alternative, and among those of one alternative the one whose earlier parts are longer. Parts without text are not
//! reported.

mod certain;
mod derivations;
mod left_corners;
mod reader;
mod scan_step;
mod trail;

pub use left_corners::{EventGrammar, EventTables};
pub use reader::{EventReader, GivenMarker, NO_MARKER};
