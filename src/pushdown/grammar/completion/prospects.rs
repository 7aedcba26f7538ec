//! What one grammar remembers of how its outputs are completed.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, OnceLock};

use crate::expr::ByteSet;
use crate::pushdown::grammar::completion::leaf_costs::LeafCosts;
use crate::pushdown::grammar::completion::longest_ends::LargestCosts;
use crate::pushdown::grammar::completion::obligation_relations::ObligationRelations;
use crate::pushdown::grammar::completion::terminal_ways::Reach;
use crate::pushdown::grammar::scanner::Scanner;
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::COMPLETABLE_BRANCHES;

/// Most terminals are read in one of few ways.
pub const FEW: Reach = Reach { ways: 3, states: 1_000 };
/// All ways that matter.
pub const ALL: Reach = Reach { ways: 500, states: 8_000 };

/// What is known of how outputs are completed.
pub struct Prospects {
    /// Few ways through each terminal.
    pub few: Mutex<ObligationRelations>,
    /// All ways.
    pub all: Mutex<ObligationRelations>,
    /// Branches of which it took long to find that they can be completed.
    pub found: BoundedCache<Box<[u32]>, (), COMPLETABLE_BRANCHES>,
    /// A search came to its bound, and took for dead what may not be.
    pub gave_up: AtomicBool,
    /// The bytes that can begin each document.
    pub documents: Vec<ByteSet>,
    /// What terminals and documents cost, made when a budget first asks.
    pub costs: OnceLock<LeafCosts>,
    /// What completes an output at most, where that is known of all outputs.
    pub largest: OnceLock<Option<LargestCosts>>,
}

impl Prospects {
    /// Nothing is known yet. `documents` are the bytes that can begin each document.
    pub fn new(scanner: &Scanner, documents: Vec<ByteSet>) -> Self {
        let relations = |reach| Mutex::new(ObligationRelations::new(scanner, reach));
        Prospects {
            few: relations(FEW),
            all: relations(ALL),
            found: BoundedCache::default(),
            gave_up: AtomicBool::new(false),
            documents,
            costs: OnceLock::new(),
            largest: OnceLock::new(),
        }
    }
}

/// Relations, for one question.
pub fn lock(relations: &Mutex<ObligationRelations>) -> MutexGuard<'_, ObligationRelations> {
    relations.lock().unwrap_or_else(|p| p.into_inner())
}
