//! What was found at places that may be given back: going back forgets what was found since.

/// Findings, ascending by the place at which each was found.
#[derive(Clone)]
pub struct RollbackLog<T> {
    entries: Vec<(u32, T)>,
}

impl<T> Default for RollbackLog<T> {
    fn default() -> Self {
        RollbackLog { entries: Vec::new() }
    }
}

impl<T> RollbackLog<T> {
    /// Takes the last finding back if its place is not among the first `len`.
    #[inline]
    pub(crate) fn pop(&mut self, len: u32) -> Option<T> {
        self.entries.pop_if(|entry| entry.0 >= len).map(|entry| entry.1)
    }

    /// Forgets what was found at places that are not among the first `len`.
    #[inline]
    pub(crate) fn truncate(&mut self, len: u32) {
        while self.pop(len).is_some() {}
    }

    /// The last place at which something was found.
    pub(crate) fn last(&self) -> Option<u32> {
        self.entries.last().map(|entry| entry.0)
    }

    /// Notes a finding at a place behind all others, or the last of them. Of more than `most` the first one goes.
    pub(crate) fn push(&mut self, at: u32, found: T, most: usize) {
        debug_assert!(self.last().is_none_or(|last| last <= at));
        if self.entries.len() == most {
            self.entries.remove(0);
        }
        self.entries.push((at, found));
    }

    /// The findings with their places, the last one first.
    pub(crate) fn latest(&self) -> impl Iterator<Item = &(u32, T)> {
        self.entries.iter().rev()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Bytes held, without what the findings hold.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<(u32, T)>()
    }
}

#[cfg(test)]
mod tests;
