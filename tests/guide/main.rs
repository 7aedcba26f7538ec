//! Guides: rollback, forks, budgets, forced tokens, threads, and indexes that were built ahead of time.

#[path = "../support/mod.rs"]
mod support;

mod budget;
mod complete_tables;
mod forced_tokens;
mod rollback_and_fork;
mod state_overflow;
mod threads;
mod warm_up;
