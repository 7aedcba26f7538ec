//! Guides: rollback, forks, budgets, forced tokens, threads, and indexes that were built ahead of time.

#[path = "../support/mod.rs"]
mod support;

mod budget;
mod forced_tokens;
mod precomputed_tables;
mod rollback_and_fork;
mod state_overflow;
mod threads;
mod warm_up;
mod wide_states;
