//! What is known about nodes as a whole: which are equal, what types they may accept, and that none applies to itself.

use hashbrown::HashTable;
use std::hash::Hasher;

use crate::error::Result;
use crate::json::decimal::Decimal;
use crate::schema::lower::node::{Nodes, Scalar, SchemaNode, SchemaNodeId};
use crate::schema::model::Types;
use crate::util::seeded_hash::seeded;

/// Nodes by what they say.
#[derive(Default)]
pub(super) struct Contents {
    table: HashTable<NodeFacts>,
    /// Their keys, one after the other.
    keys: Vec<u64>,
}

impl Contents {
    /// Makes room for `more` nodes.
    pub fn reserve(&mut self, more: usize) {
        self.table.reserve(more, |k| k.hash);
        self.keys.reserve(more * 8);
    }
}

struct NodeFacts {
    hash: u64,
    /// Where the key lies.
    start: usize,
    end: usize,
    id: SchemaNodeId,
}

impl<'m> Nodes<'m> {
    /// The node that says the same as `node`. Where there is none, `id` is remembered as the one that does.
    pub(super) fn equal_to(&mut self, id: SchemaNodeId, node: &SchemaNode<'m>) -> Option<SchemaNodeId> {
        let Contents { mut table, mut keys } = std::mem::take(&mut self.contents);
        let start = keys.len();
        self.key(node, &mut keys);
        let mut h = seeded();
        keys[start..].iter().for_each(|&word| h.write_u64(word));
        let hash = h.finish();
        let same = |k: &NodeFacts| k.hash == hash && keys[k.start..k.end] == keys[start..];
        let known = table.find(hash, same).map(|k| k.id);
        match known {
            Some(_) => keys.truncate(start),
            None => _ = table.insert_unique(hash, NodeFacts { hash, start, end: keys.len(), id }, |k| k.hash),
        }
        self.contents = Contents { table, keys };
        known
    }

    /// The types that a node may accept, as far as its finished children say.
    pub(super) fn mask_of(&self, n: &SchemaNode<'m>) -> Types {
        // A node that is still open may accept anything, as far as is known here.
        let mask = |id: SchemaNodeId| self.list[self.canon(id) as usize].as_deref().map_or(Types::ALL.0, |n| n.mask.0);
        let mut m = n.types.0;
        for v in &n.values {
            let mut t = 0;
            for s in &v.scalars {
                t |= match s {
                    Scalar::Null => Types::NULL.0,
                    Scalar::Bool(_) => Types::BOOLEAN.0,
                    Scalar::Number(d) if d.is_integer() => Types::INTEGER.0,
                    Scalar::Number(_) => Types::NUMBER.0 & !Types::INTEGER.0,
                    Scalar::Word(_) => Types::STRING.0,
                };
            }
            m &= v.composites.iter().fold(t, |t, &c| t | mask(c));
        }
        m = n.all.iter().fold(m, |m, &c| m & mask(c));
        for v in [&n.any, &n.one].into_iter().flatten() {
            m &= v.iter().fold(0, |t, &c| t | mask(c));
        }
        if let Some(c) = n.not
            && self.list[self.canon(c) as usize].as_deref().is_some_and(SchemaNode::is_pure_type)
        {
            m &= !mask(c);
        }
        if let Some((_, t, e)) = n.cond {
            m &= mask(t) | mask(e);
        }
        Types(m)
    }

    /// Appends the key of a node. Two nodes are equal exactly if their keys are.
    fn key(&self, n: &SchemaNode<'m>, k: &mut Vec<u64>) {
        k.push(n.types.0 as u64 | (n.bare_integers as u64) << 8);
        let list = |k: &mut Vec<u64>, tag: u64, v: &[SchemaNodeId]| {
            k.push(tag << 32 | v.len() as u64);
            k.extend(v.iter().map(|&c| self.canon(c) as u64));
        };
        let decimal = |k: &mut Vec<u64>, tag: u64, d: &Decimal| {
            k.extend([tag << 32 | d.digits.len() as u64, d.negative as u64, d.exponent as u64]);
            k.extend(d.digits.iter().map(|&b| b as u64));
        };
        let bound = |m: Option<u64>| m.map_or([0, 0], |m| [1, m]);
        for v in &n.values {
            k.push(1 << 32 | v.scalars.len() as u64);
            for s in &v.scalars {
                match s {
                    Scalar::Null => k.push(0),
                    Scalar::Bool(b) => k.push(1 + *b as u64),
                    Scalar::Word(w) => k.extend([3, *w as u64]),
                    Scalar::Number(d) => decimal(k, 4, d),
                }
            }
            list(k, 2, &v.composites);
        }
        if let Some(s) = n.scalar {
            let numbers = [&s.minimum, &s.maximum, &s.exclusive_minimum, &s.exclusive_maximum, &s.multiple_of]
                .into_iter()
                .enumerate();
            for (i, d) in numbers {
                d.iter().for_each(|d| decimal(k, 10 + i as u64, d));
            }
            k.extend(bound(s.min_length));
            k.extend(bound(s.max_length));
            for s in [&s.pattern, &s.format] {
                // Strings are compared by content: they were not interned as names.
                k.push(s.as_ref().map_or(0, |s| 1 + s.len() as u64));
                k.extend(s.iter().flat_map(|s| s.as_bytes().chunks(8)).map(pack));
            }
        }
        if let Some(o) = &n.object {
            k.extend([20 << 32, o.props.len() as u64, o.patterns.len() as u64]);
            k.extend(o.props.iter().chain(&o.patterns).map(|p| (p.0 as u64) << 32 | self.canon(p.1) as u64));
            for c in [o.additional, o.names, o.unevaluated] {
                k.push(c.map_or(u64::MAX, |c| self.canon(c) as u64));
            }
            list(k, 21, &[]);
            k.push(o.required.len() as u64);
            k.extend(o.required.iter().map(|&r| r as u64));
            k.push(o.min);
            k.extend(bound(o.max));
            for (name, needs) in &o.dependent_required {
                k.extend([22 << 32 | *name as u64, needs.len() as u64]);
                k.extend(needs.iter().map(|&r| r as u64));
            }
            for (name, s) in &o.dep_schemas {
                k.extend([23 << 32 | *name as u64, self.canon(*s) as u64]);
            }
        }
        if let Some(a) = &n.array {
            k.push(30 << 32);
            list(k, 31, &a.prefix);
            for c in [a.items, a.unevaluated, a.contains.map(|c| c.0)] {
                k.push(c.map_or(u64::MAX, |c| self.canon(c) as u64));
            }
            if let Some((_, min, max)) = a.contains {
                k.push(min);
                k.extend(bound(max));
            }
            k.push(a.contains_evaluates as u64 | (a.unique as u64) << 1);
            k.push(a.min);
            k.extend(bound(a.max));
        }
        list(k, 40, &n.all);
        n.any.iter().for_each(|v| list(k, 41, v));
        n.one.iter().for_each(|v| list(k, 42, v));
        n.not.iter().for_each(|&v| list(k, 43, &[v]));
        n.cond.iter().for_each(|&(i, t, e)| list(k, 44, &[i, t, e]));
    }

    /// A circle of applicators that hold in place has no meaning: it never reads any part of the value.
    pub(super) fn refuse_cycles(&self) -> Result<()> {
        // 0 unseen, 1 open, 2 done.
        let mut colour = vec![0u8; self.list.len()];
        let mut stack: Vec<(SchemaNodeId, bool)> = Vec::new();
        for start in 0..self.list.len() as SchemaNodeId {
            if self.list[start as usize].is_none() {
                continue;
            }
            stack.push((start, false));
            while let Some((id, leave)) = stack.pop() {
                if leave {
                    colour[id as usize] = 2;
                    continue;
                }
                if colour[id as usize] != 0 {
                    continue;
                }
                colour[id as usize] = 1;
                stack.push((id, true));
                let mut cycle = None;
                self.get(id).in_place(|c| {
                    let c = self.canon(c);
                    match colour[c as usize] {
                        0 => stack.push((c, false)),
                        1 => cycle = Some(c),
                        _ => {}
                    }
                });
                if let Some(c) = cycle {
                    return Err(self.cycle(self.get(c).origin.0 + 2));
                }
            }
        }
        Ok(())
    }
}

fn pack(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, &b| n << 8 | b as u64)
}
