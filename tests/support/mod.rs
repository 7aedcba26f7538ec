//! What tests share: random numbers, a small vocabulary, walks under a mask, and slow twins.

#![allow(dead_code)] // Each test binary uses a part of this.

pub use interlock::random as rng;

pub mod check;
pub mod patterns;
pub mod rules_accept;
pub mod schemas;
pub mod twin;
pub mod vocabulary;
pub mod walk;
