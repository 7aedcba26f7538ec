//! Test support: slow twins.

pub mod rules_accept;
