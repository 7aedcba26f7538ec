//! Objects that no token can tell apart, though their shapes or their surroundings differ.
//!
//! Most objects of most schemas allow any key. Then a token can see little of one: whether it may end, that another key
//! may follow, the rule of unnamed keys, and of its names only those that some token spells to the closing quote. Where
//! these are few they are written by their texts and rules, and rules by their signatures (see `rule_signature`). So
//! the cache key of a mask does not depend on the shape, and the masks of one object serve all others like it. Of an
//! object that allows names only, where no token begins one of them behind a comma, a token sees from inside or behind
//! a member whether the object may end and whether it may go on.
//!
//! Tokens that close a key and go on are few, and in most vocabularies none of them reaches the end of its object. Then
//! before a key, in it and behind it the stack below the object cannot be told either, and is left out.
//!
//! In declared order a name that is gone is refused like a name that is seen, and after a name only those behind it may
//! come; names are written in their order. While a name is needed no unnamed key may come.

use crate::json::rules::RuleId;
use crate::lexeme::CLOSED;
use crate::mask::json::cache_key::declared_order::{UpcomingKeys, WORDS};
use crate::mask::json::cache_key::visible_keys::{ITEMS, KeyEncoder, SPELLED};
use crate::pushdown::json::arena::Arena;
use crate::pushdown::json::frame::{Frame, FrameKind, ObjectItem, Phase};
use crate::pushdown::json::program::ObjectProgram;
use crate::util::bits::ones;

/// The number of a shape in which any key may come, or none but names that no token spells.
const OPEN: u32 = u32::MAX;
const NAMED: u32 = u32::MAX - 1;

impl KeyEncoder<'_> {
    /// Whether no token can tell what the node stands in.
    pub(crate) fn hides_stack(&self, n: &Frame) -> bool {
        let at_key =
            n.kind == FrameKind::Object && matches!(n.phase, Phase::BeforeKey | Phase::Key | Phase::BeforeColon);
        // Where bytes are missing, what may be spelled is a matter of what comes behind it.
        at_key && !self.tables.suffixes.keys.ends_object && self.tables.spelling.is_none()
    }

    fn rule_number(&self, rule: RuleId) -> u32 {
        self.views.rules.number(self.program, self.tables.suffixes.insight, rule)
    }

    /// Writes a name, or what is left of it, and the rule of its value if it may come.
    fn tell(&self, p: &ObjectProgram, i: usize, text: &[u8], may_come: bool, out: &mut Vec<u8>) {
        let rule = p.rules[i].filter(|_| may_come).map_or(0, |rule| self.rule_number(rule));
        out.push(may_come as u8);
        out.extend_from_slice([rule, text.len() as u32].map(u32::to_le_bytes).as_flattened());
        out.extend_from_slice(text);
    }

    /// [`item`](Self::item) without its shape. `None`, and nothing was written, where its shape may matter.
    pub(crate) fn shapeless_item(
        &self,
        arena: &Arena,
        n: &Frame,
        item: &ObjectItem,
        out: &mut Vec<u8>,
    ) -> Option<bool> {
        let p = &self.program.objects[item.shape as usize];
        // In declared order the position tells more about many names, without a look at each of them.
        if n.len > ITEMS || p.union.is_some() || (p.words > WORDS && !self.program.any_order) || !self.is_plain(n, p) {
            return None;
        }
        let bits = |at: u32| &arena.bits[at as usize..][..p.words];
        let (seen, need) = (bits(item.seen), bits(item.need));
        let missing = need.iter().zip(seen).any(|(need, seen)| need & !seen != 0);
        if p.others.is_empty() || (missing && !self.program.any_order) {
            return self.named_item(arena, n, item, missing, out);
        }
        let [class] = &p.others[..] else { return None };
        if class.keys.is_some() {
            return None;
        }
        let has = |of: &[u64], i: usize| of[i / 64] >> (i % 64) & 1 == 1;
        let view = self.of_shape(item.shape, n.phase, true);
        let names = view.iter().map(|w| w.count_ones() as usize).sum::<usize>();
        // No token ends the object from here.
        let goes_on = self.hides_stack(n);
        // A name that a token spells may be the one that is missing.
        if names > if missing && !goes_on { 0 } else { SPELLED } {
            return None;
        }
        let class_told = |out: &mut Vec<u8>, names: usize| {
            out.extend_from_slice([OPEN, self.rule_number(class.rule)].map(u32::to_le_bytes).as_flattened());
            out.extend_from_slice(&[names as u8, u8::from(missing && !goes_on)]);
        };
        if n.phase == Phase::Key {
            let reads_any = item.others && arena.states[item.classes as usize] > CLOSED && self.is_between_chars(n);
            if !reads_any || names > 0 || (missing && !goes_on) {
                return None;
            }
            let allowed = bits(item.allowed);
            let mut look = |names: &[u32]| {
                if names.len() > SPELLED {
                    return None;
                }
                class_told(out, names.len());
                for &i in names {
                    self.tell(p, i as usize, p.rest(item.name_node, i), has(allowed, i as usize), out);
                }
                Some(true)
            };
            return if item.name_node == u32::MAX { look(&[]) } else { self.inside(item, look) };
        }
        class_told(out, names);
        for i in ones(view) {
            let gone = if self.program.any_order { has(seen, i) } else { i < item.position as usize };
            self.tell(p, i, p.name(i as u32).as_bytes(), has(&p.possible, i) && !gone, out);
        }
        Some(false)
    }

    /// [`item`](Self::item) without its shape, for an object that allows names only, of which no token spells anything
    /// behind a comma.
    fn named_item(
        &self,
        arena: &Arena,
        n: &Frame,
        item: &ObjectItem,
        missing: bool,
        out: &mut Vec<u8>,
    ) -> Option<bool> {
        let p = &self.program.objects[item.shape as usize];
        let inside = matches!(n.phase, Phase::Inside | Phase::After | Phase::BeforeColon);
        if !inside || self.of_shape(item.shape, n.phase, false).iter().any(|w| *w != 0) {
            return None;
        }
        let more = match self.program.any_order {
            true => {
                let seen = &arena.bits[item.seen as usize..][..p.words];
                p.possible.iter().zip(seen).any(|(p, s)| p & !s != 0)
            }
            false => UpcomingKeys::from_position(p, item.position as usize).is_any(),
        };
        out.extend_from_slice(&NAMED.to_le_bytes());
        out.push(u8::from(more) | u8::from(missing) << 1);
        Some(false)
    }
}
