//! Patterns: their language against CPython's, mangled ones, hard ones, and questions about languages.

#[path = "../support/mod.rs"]
mod support;

mod hard_patterns;
mod language_questions;
mod mangled;
mod python_oracle;
