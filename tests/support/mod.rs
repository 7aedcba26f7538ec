//! What the tests of masks share: random numbers, a small vocabulary, walks under a mask, and the slow twin.

#![allow(dead_code)] // Each test binary uses a part of this.

pub mod check;
pub mod patterns;
pub mod rng;
pub mod schemas;
pub mod twin;
pub mod vocabulary;
pub mod walk;
