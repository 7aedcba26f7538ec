//! What tokens spell of the names of a closed object.
//!
//! In a key that can become nothing but a declared name, the tries of names and vocabulary are walked side by side. A
//! token that stays in a name is allowed if that name may still come; only what follows a quote or a backslash is
//! stepped. Where the two tries agree does not depend on the keys that the object has, so tokens and places are listed
//! once for each place among the names of a shape, and a mask goes through the list.

use crate::mask::json::cache::spelled_names::Spelled;
use smallvec::SmallVec;
use std::sync::Arc;

use crate::json::string_escape::spells_itself;
use crate::mask::json::key::escape_table::KeyPath;
use crate::mask::json::key::{ItemBits, NamePlace};
use crate::mask::json::mask_builder::{JsonMaskBuilder, WalkOver};
use crate::pushdown::json::frame::FrameId;
use crate::vocab::Trie;

/// With more items than this, what they spell is not kept: it would be as many lists.
const MOST_ITEMS: u32 = 16;

impl JsonMaskBuilder<'_> {
    /// The tokens below `node` that go on with one of `names`. Inside the names the tries say all; only quotes and
    /// escapes are stepped, once for all items: `closed` are the nodes of the vocabulary's trie where that was done.
    pub(crate) fn named_below(
        &mut self,
        over: WalkOver<'_>,
        node: u32,
        top: FrameId,
        named: &NamePlace,
        closed: Option<&mut Vec<u32>>,
    ) {
        let program = self.frames.program;
        let names = &program.objects[named.shape as usize].names;
        let allowed: ItemBits = {
            let words = program.objects[named.shape as usize].words;
            self.frames.arena.bits[named.allowed as usize..][..words].into()
        };
        let live = |&i: &u32| allowed[i as usize / 64] >> (i % 64) & 1 == 1;
        let few = self.frames.arena.nodes[top as usize].len <= MOST_ITEMS;
        let spelled = match (over, self.mask_cache) {
            (WalkOver::Whole(walked), Some(mask_cache)) if few => {
                let place = (named.shape, named.name_node, walked, node);
                mask_cache.spelled(place, || self.spelled(over, node, names, named.name_node, |_| true))
            }
            _ => {
                let comes = |name_node| names.subtree_tokens(name_node).iter().any(live);
                Arc::new(self.spelled(over, node, names, named.name_node, comes))
            }
        };
        if let Some(composition) = &mut self.composition {
            composition.expect(spelled.inside.len());
        }
        let mut last = (u32::MAX, false);
        for &(name_node, item) in &spelled.inside {
            if last.0 != name_node {
                last = (name_node, names.subtree_tokens(name_node).iter().any(live));
            }
            if last.1 {
                self.emit_one(over, item);
            }
        }
        let once = |closed: &mut Option<&mut Vec<u32>>, child: u32| {
            let Some(closed) = closed else { return true };
            let new = !closed.contains(&child);
            closed.extend(new.then_some(child));
            new
        };
        let mut closed = closed;
        for &(name_node, child) in &spelled.ends {
            if names.tokens(name_node).iter().any(live) && once(&mut closed, child) {
                let mut path = self.path_to(named, name_node);
                path.push(b'"');
                self.allow_behind(over, child, top, &path);
            }
        }
        for at in &spelled.escapes {
            if at.name_node != named.name_node && !names.subtree_tokens(at.name_node).iter().any(live) {
                continue;
            }
            if !self.escaped_below(over, at, top, named, &allowed) && once(&mut closed, at.child) {
                let mut path = self.path_to(named, at.name_node);
                path.push(b'\\');
                self.allow_behind(over, at.child, top, &path);
            }
        }
    }

    /// The bytes from a place among the names of a shape to `name_node` below it.
    pub(crate) fn path_to(&self, named: &NamePlace, name_node: u32) -> KeyPath {
        let shape = &self.frames.program.objects[named.shape as usize];
        let [from, to] = [named.name_node, name_node].map(|n| shape.names.depth[n as usize] as usize);
        let some = shape.names.subtree_tokens(name_node).first();
        some.and_then(|&i| shape.name(i).as_bytes().get(from..to)).unwrap_or_default().into()
    }

    /// Where the names of `names` below `name_node` and the tokens below `node` agree, as far as `comes` says of a
    /// place that some name below it may come.
    fn spelled(
        &self,
        over: WalkOver<'_>,
        node: u32,
        names: &Trie,
        name_node: u32,
        comes: impl Fn(u32) -> bool,
    ) -> Spelled {
        let mut found = Spelled::default();
        let trie = self.trie(over);
        let base = names.depth[name_node as usize];
        // The vocabulary's nodes from the place where the names begin.
        let mut nodes: SmallVec<[u32; 32]> = smallvec::smallvec![node];
        let mut at = name_node;
        while at < names.end[name_node as usize] {
            let depth = (names.depth[at as usize] - base) as usize;
            if depth > 0 {
                nodes.truncate(depth);
                let byte = names.byte[at as usize];
                let before = nodes.last().copied().unwrap_or(node);
                let child = if spells_itself(byte) { self.child(over, before, byte) } else { None };
                let Some(child) = child.filter(|_| comes(at)) else {
                    at = names.end[at as usize];
                    continue;
                };
                let items = match over {
                    WalkOver::Whole(walked) => self.tables.tokens(self.vocabulary, walked, child),
                    WalkOver::Suffix { .. } => trie.tokens(child),
                };
                found.inside.extend(items.iter().map(|&item| (at, item)));
                nodes.push(child);
            }
            let here = nodes.last().copied().unwrap_or(node);
            if !names.tokens(at).is_empty() {
                found.ends.extend(self.child(over, here, b'"').map(|child| (at, child)));
            }
            if let Some(child) = self.child(over, here, b'\\') {
                found.escapes.extend(self.escaped_at(over, child, names, at));
            }
            at += 1;
        }
        found
    }
}
