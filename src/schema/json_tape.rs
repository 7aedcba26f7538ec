//! Reads JSON text into a flat tape.
//!
//! A tape is one vector of nodes in the order of the text. A container is followed by its content and knows where
//! that content ends, so a subtree is a range: walking needs no recursion, dropping is one deallocation however deep
//! the nesting is, and a place in a document is a number ([`TapeId`]). An object's content alternates between keys
//! and values. Strings without escapes and numbers are borrowed from the text, which keeps digits of any precision.
//!
//! The reader accepts exactly RFC 8259 (and skips a leading byte order mark, as that document allows). It refuses what
//! readers disagree about: duplicate keys and lone surrogates. Depth and size are limits.

use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::schema::json_reader;
use crate::util::cancel::checkpoint;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A place in one [`Tape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TapeId(pub u32);

impl TapeId {
    /// The document itself.
    pub const ROOT: TapeId = TapeId(0);
}

/// What a node is. Containers say how many values they have.
#[derive(Clone, Debug, PartialEq)]
pub enum TapeKind<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// As written.
    Number(&'t str),
    /// Unescaped.
    String(Cow<'t, str>),
    /// Number of items.
    Array(u32),
    /// Number of members.
    Object(u32),
}

#[derive(Clone, Debug)]
pub(super) struct TapeNode<'t> {
    pub(super) kind: TapeKind<'t>,
    /// First node after this subtree.
    pub(super) end: u32,
}

/// A JSON document. Never empty: node 0 is the document.
#[derive(Clone, Debug)]
pub struct Tape<'t> {
    pub(super) nodes: Vec<TapeNode<'t>>,
    /// Keys of wide objects, sorted, and items of wide arrays, so that look-ups stay cheap.
    pub(super) wide: FxHashMap<u32, Box<[u32]>>,
    /// Some key is spelt like a keyword that names a schema; without one there is nothing to index but the root.
    pub names_schemas: bool,
}

/// Containers with more values than this are indexed.
pub(super) const WIDE: u32 = 16;

/// Deepest nesting whatever the limits say: copying, comparing and dropping a `Value` recurse, on a stack that may be
/// as small as 2 MB.
const DEPTH_CEILING: usize = 2_000;

impl<'t> Tape<'t> {
    /// Reads `text`.
    ///
    /// # Errors
    /// `Schema` with a byte offset where the text is not JSON, repeats a key or has a lone surrogate; `Limit` where it
    /// is too long or too deep.
    pub fn read(text: &'t str, limits: &Limits) -> Result<Self> {
        let max_bytes = limits.max_source_bytes.min(u32::MAX as usize / 2);
        if text.len() > max_bytes {
            return Err(
                Error::limit("bytes of schema text", max_bytes as u64, text.len() as u64).set_by("max_source_bytes")
            );
        }
        json_reader::read(text, limits.max_depth.min(DEPTH_CEILING))
    }

    /// What `node` is.
    pub fn kind(&self, node: TapeId) -> &TapeKind<'t> {
        &self.nodes[node.0 as usize].kind
    }

    /// First node after the subtree of `node`.
    pub fn end(&self, node: TapeId) -> TapeId {
        TapeId(self.nodes[node.0 as usize].end)
    }

    /// The text of a string.
    pub fn string(&self, node: TapeId) -> Option<&str> {
        match self.kind(node) {
            TapeKind::String(s) => Some(s),
            _ => None,
        }
    }

    /// Items of an array; nothing for other nodes.
    pub fn items(&self, node: TapeId) -> impl Iterator<Item = TapeId> + use<'_, 't> {
        let is_array = matches!(self.kind(node), TapeKind::Array(_));
        let end = if is_array { self.end(node).0 } else { 0 };
        let mut next = node.0 + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let id = TapeId(next);
                next = self.end(id).0;
                id
            })
        })
    }

    /// Members of an object in order; nothing for other nodes.
    pub fn members(&self, node: TapeId) -> impl Iterator<Item = (&str, TapeId)> + use<'_, 't> {
        let is_object = matches!(self.kind(node), TapeKind::Object(_));
        let end = if is_object { self.end(node).0 } else { 0 };
        let mut next = node.0 + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let key = self.key(next);
                let id = TapeId(next + 1);
                next = self.end(id).0;
                (key, id)
            })
        })
    }

    /// The numbers at a node and below it, as they are written.
    pub fn numbers(&self, node: TapeId) -> impl Iterator<Item = &str> + use<'_, 't> {
        (node.0..self.end(node).0).filter_map(|i| match self.kind(TapeId(i)) {
            TapeKind::Number(text) => Some(&**text),
            _ => None,
        })
    }

    /// The places of the keys of an object, in the order of [`members`](Self::members).
    pub fn keys(&self, node: TapeId) -> impl Iterator<Item = TapeId> + use<'_, 't> {
        self.members(node).map(|(_, value)| TapeId(value.0 - 1))
    }

    /// The member of an object with this key.
    pub fn get(&self, node: TapeId, key: &str) -> Option<TapeId> {
        if let TapeKind::Object(n) = self.kind(node)
            && *n > WIDE
            && let Some(keys) = self.wide.get(&node.0)
        {
            let at = keys.binary_search_by(|k| self.key(*k).cmp(key)).ok()?;
            return keys.get(at).map(|k| TapeId(k + 1));
        }
        self.members(node).find(|(k, _)| *k == key).map(|(_, id)| id)
    }

    /// The item of an array at `index`.
    pub fn item(&self, node: TapeId, index: u32) -> Option<TapeId> {
        match (self.kind(node), self.wide.get(&node.0)) {
            (TapeKind::Array(_), Some(items)) => items.get(index as usize).map(|n| TapeId(*n)),
            _ => self.items(node).nth(index as usize),
        }
    }

    pub(super) fn key(&self, node: u32) -> &str {
        self.string(TapeId(node)).unwrap_or_default()
    }

    /// A copy of the subtree, made without recursion.
    ///
    /// # Errors
    /// `Schema` for a number that `serde_json` refuses; `Limit` where the work at hand may go on no further.
    pub fn to_value(&self, node: TapeId) -> Result<Value> {
        let end = self.end(node).0;
        // Containers that are being filled, each with the key that waits for its value.
        let mut open: Vec<(OpenContainer, u32)> = Vec::new();
        let mut next = node.0;
        while next < end {
            checkpoint()?;
            let at_end = self.end(TapeId(next)).0;
            let awaits_key = matches!(open.last(), Some((OpenContainer::Object(_, None), _)));
            let kind = self.kind(TapeId(next));
            next += 1;
            let value = match kind {
                TapeKind::String(s) if awaits_key => {
                    if let Some((OpenContainer::Object(_, key), _)) = open.last_mut() {
                        *key = Some(s.to_string());
                    }
                    continue;
                }
                TapeKind::Array(n) if *n > 0 => {
                    open.push((OpenContainer::Array(Vec::with_capacity(*n as usize)), at_end));
                    continue;
                }
                TapeKind::Object(n) if *n > 0 => {
                    open.push((OpenContainer::Object(Map::with_capacity(*n as usize), None), at_end));
                    continue;
                }
                TapeKind::Array(_) => Value::Array(Vec::new()),
                TapeKind::Object(_) => Value::Object(Map::new()),
                TapeKind::Null => Value::Null,
                TapeKind::Bool(b) => Value::Bool(*b),
                TapeKind::String(s) => Value::String(s.to_string()),
                TapeKind::Number(n) => Value::Number(
                    n.parse().map_err(|_| Error::new(ErrorKind::Schema, format!("number {n} cannot be read")))?,
                ),
            };
            if let Some(whole) = put_into(&mut open, value, at_end) {
                return Ok(whole);
            }
        }
        Err(Error::new(ErrorKind::Internal, "a tape ends inside a value"))
    }
}

/// Puts a value that ends at a node into the innermost container, and what that completes into the one around it. The
/// value that is left over if nothing is open any more.
fn put_into(open: &mut Vec<(OpenContainer, u32)>, mut value: Value, mut at_end: u32) -> Option<Value> {
    loop {
        match open.last_mut() {
            None => return Some(value),
            Some((OpenContainer::Array(items), _)) => items.push(value),
            Some((OpenContainer::Object(members, key), _)) => {
                members.insert(key.take().unwrap_or_default(), value);
            }
        }
        let (done, its_end) = open.pop_if(|o| o.1 == at_end)?;
        at_end = its_end;
        value = match done {
            OpenContainer::Array(items) => Value::Array(items),
            OpenContainer::Object(members, _) => Value::Object(members),
        };
    }
}

/// A container that [`Tape::to_value`] is filling.
enum OpenContainer {
    Array(Vec<Value>),
    Object(Map<String, Value>, Option<String>),
}
