//! Escaped spellings inside declared names.
//!
//! A name may be spelled by escapes. Behind a backslash go on a `u` and digits, and the characters that they may still
//! become decide whether the name may go on like that. Hardly a token is in such a place, and what it may become does
//! not depend on names. So the tokens behind a backslash of the vocabulary's trie are listed once, with the ASCII
//! characters that they may become, and a mask compares these with the characters with which its names go on. Names
//! that go on with more than ASCII are stepped.

use crate::mask::json::key::escape_table::{Ascii, EscapedAt, Escapes, ascii};
use std::sync::Arc;

use crate::mask::json::key::{ItemBits, NamePlace};
use crate::mask::json::mask_builder::{JsonMaskBuilder, WalkOver};
use crate::pushdown::json::frame::FrameId;
use crate::vocab::Trie;

impl JsonMaskBuilder<'_> {
    /// What is behind the backslash `child`, in front of which the tries agree in `name_node` of `names`. `None` if no
    /// name can go on there.
    pub(crate) fn escaped_at(&self, over: WalkOver<'_>, child: u32, names: &Trie, name_node: u32) -> Option<EscapedAt> {
        let escapes = self.frames.program.name_escapes;
        let mut next = Some(0);
        for at in names.children(name_node) {
            let byte = names.byte[at as usize];
            next = next.filter(|_| byte.is_ascii()).map(|all| all | ascii(byte.into(), byte.into()));
        }
        let trie = self.trie(over);
        let table = match over {
            WalkOver::Whole(walked) => self.tables.escapes.get(trie, escapes, walked, child),
            WalkOver::Suffix { .. } => Arc::new(Escapes::find(trie, child, escapes)),
        };
        let inside = table.inside.iter().map(|e| e.1);
        let any = inside.chain(table.complete.iter().map(|c| 1 << c.1)).fold(0, |all, some| all | some);
        next.is_none_or(|next| next & any != 0).then_some(EscapedAt { name_node, child, next, escapes: table })
    }

    /// Allows the tokens behind a backslash that go on with one of the names below `named` that may come. False, and
    /// nothing was done, where these are to be stepped.
    pub(crate) fn escaped_below(
        &mut self,
        over: WalkOver<'_>,
        at: &EscapedAt,
        top: FrameId,
        named: &NamePlace,
        allowed: &ItemBits,
    ) -> bool {
        let program = self.frames.program;
        let Some(next) = at.next.filter(|_| !program.has_unique) else { return false };
        let names = &program.objects[named.shape as usize].names;
        let live = |&i: &u32| allowed[i as usize / 64] >> (i % 64) & 1 == 1;
        let comes = |name_node: u32| names.subtree_tokens(name_node).iter().any(live);
        // Mostly an escape may become any of the characters, and then it does not matter which of them may come.
        let told = |some: Ascii| some & next != 0 && some & next != next;
        let tell =
            at.escapes.inside.iter().any(|e| told(e.1)) || at.escapes.complete.iter().any(|c| next >> c.1 & 1 == 1);
        let next = if tell {
            let live = names.children(at.name_node).filter(|&child| comes(child));
            live.fold(0, |all, child| all | 1 << names.byte[child as usize])
        } else {
            let ended = names.tokens(at.name_node).len();
            let longer = names.subtree_tokens(at.name_node)[ended..].iter().any(live);
            if longer { next } else { 0 }
        };
        for &(item, some) in &at.escapes.inside {
            if some & next != 0 {
                self.emit_one(over, item);
            }
        }
        for (node, char, spelled) in &at.escapes.complete {
            if next >> char & 1 == 1 {
                let mut path = self.path_to(named, at.name_node);
                path.extend_from_slice(spelled);
                self.allow_behind(over, *node, top, &path);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests;
