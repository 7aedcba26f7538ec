//! What tests share: a small vocabulary, walks under a mask, and slow twins.

#![allow(dead_code)] // Each test binary uses a part of this.

pub mod check;
pub mod every_byte;
pub mod patterns;
pub mod rules_accept;
pub mod schemas;
pub mod twin;
pub mod vocabulary;
pub mod walk;
