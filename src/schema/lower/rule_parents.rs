//! Which rules have a rule as a child.

use crate::json::rules::{Rule, RuleId};
use crate::schema::lower::prune_unproductive::DraftRules;

/// The rules that have each rule as a child: all in one list, and where each begins.
pub(super) struct Parents {
    starts: Vec<u32>,
    list: Vec<u32>,
}

impl Parents {
    /// The parents of all rules. Linear in what they name.
    pub fn from_drafts(drafts: &[DraftRules]) -> Self {
        // A parent that names a child again has just been counted.
        const NONE: u32 = u32::MAX;
        let mut last = vec![NONE; drafts.len()];
        let mut starts = vec![0u32; drafts.len() + 1];
        for (i, d) in (0..).zip(drafts) {
            children(&d.rule, |c| {
                let again = std::mem::replace(&mut last[c.0 as usize], i) == i;
                starts[c.0 as usize + 1] += u32::from(!again);
            });
        }
        let mut all = 0;
        for s in &mut starts {
            all += *s;
            *s = all;
        }
        let mut next = starts.clone();
        let mut list = vec![0; all as usize];
        last.fill(NONE);
        for (i, d) in (0..).zip(drafts) {
            children(&d.rule, |c| {
                if std::mem::replace(&mut last[c.0 as usize], i) != i {
                    let at = &mut next[c.0 as usize];
                    list[*at as usize] = i;
                    *at += 1;
                }
            });
        }
        Parents { starts, list }
    }

    /// The parents of one rule, ascending.
    pub fn get(&self, child: usize) -> &[u32] {
        &self.list[self.starts[child] as usize..self.starts[child + 1] as usize]
    }
}

/// The children of a rule.
fn children(r: &Rule, mut visit: impl FnMut(RuleId)) {
    for a in &r.arrays {
        a.prefix.iter().flatten().chain(&a.rest).for_each(|e| visit(e.rule));
    }
    for o in &r.objects {
        o.properties.iter().filter_map(|p| p.rule).for_each(&mut visit);
        o.others.iter().for_each(|c| visit(c.rule));
    }
}
