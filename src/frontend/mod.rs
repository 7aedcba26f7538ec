//! Text readers: each lowers its source to the intermediate representation.

pub mod regex;
pub mod schema;
