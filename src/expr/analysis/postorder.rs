//! Walks over the nodes of an expression, parts before what is made of them.
//!
//! An explicit stack takes the place of recursion: literals of a million bytes are as deep.

use rustc_hash::FxHashMap;

use crate::expr::ExprId;

/// Parts that are still to be looked at, and whether their own parts are known.
pub(crate) struct Todo(Vec<(ExprId, bool)>);

impl Todo {
    /// Asks for some parts.
    pub fn ask(&mut self, parts: impl IntoIterator<Item = ExprId>) {
        self.0.extend(parts.into_iter().map(|e| (e, false)));
    }
}

/// Finds the value of `e` and of all parts that it takes. `parts` asks for the parts that an expression's value takes,
/// and `value` says it once theirs are in the table.
pub(crate) fn fill<V>(
    table: &mut FxHashMap<ExprId, V>,
    e: ExprId,
    parts: impl Fn(ExprId, &mut Todo),
    value: impl Fn(ExprId, &FxHashMap<ExprId, V>) -> V,
) {
    let mut todo = Todo(vec![(e, false)]);
    while let Some((cur, ready)) = todo.0.pop() {
        if table.contains_key(&cur) {
            continue;
        }
        if ready {
            let found = value(cur, table);
            table.insert(cur, found);
        } else {
            todo.0.push((cur, true));
            parts(cur, &mut todo);
        }
    }
}
