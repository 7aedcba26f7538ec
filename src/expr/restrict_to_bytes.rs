//! Restriction to a set of bytes: what is left of an expression when only some bytes can be written.
//!
//! A vocabulary may lack tokens of single bytes. What can then be spelled byte by byte is the intersection with all
//! strings over the bytes that are there. [`Exprs::restrict`] takes it structurally wherever that is exact, so that an
//! expression without intersection and complement stays one; digit arithmetic, complements and recursion are
//! intersected as a whole.

use rustc_hash::FxHashMap;

use crate::expr::arena::{Edge, Expr, ExprId, Exprs};
use crate::expr::byte_bits::{ByteBits, intersection, range, set_of, union};

/// A set of bytes.
pub type ByteSet = [bool; 256];

/// What of a JSON document can be written byte by byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alphabet {
    /// Bytes of numbers and of the words `null`, `true` and `false`.
    pub raw: ByteSet,
    /// Bytes of decoded text; `None` where escapes spell every character.
    pub text: Option<ByteSet>,
    /// Bytes of decoded text that names and constants can be written with where they are spelled plainly.
    pub plain: ByteSet,
    /// Strings can be written.
    pub strings: bool,
    /// Most elements of an array, `u64::MAX` without bound; `None` where arrays cannot be written.
    pub elements: Option<u64>,
    /// Most members of an object, `u64::MAX` without bound; `None` where objects cannot be written.
    pub members: Option<u64>,
}

impl Exprs {
    /// Bytes that members of `e` may contain: all that they do, perhaps some more. Linear in the nodes of `e`, but for
    /// recursive names.
    pub fn used_bytes(&self, e: ExprId) -> ByteSet {
        let nodes = self.reachable(e);
        if let Some(all) = self.read_bytes(&nodes) {
            return set_of(all);
        }
        let mut used: FxHashMap<ExprId, ByteBits> = FxHashMap::default();
        let recursive = nodes.iter().any(|&n| matches!(self.get(n), Expr::Fix(_)));
        loop {
            let mut changed = false;
            for &n in &nodes {
                let of = |i: &ExprId| used.get(i).copied().unwrap_or_default();
                let now = match self.get(n) {
                    Expr::Never | Expr::Eps => [0; 4],
                    Expr::Step { edges, .. } => {
                        edges.iter().fold([0; 4], |u, e| union(u, union(range(e.lo, e.hi), of(&e.to))))
                    }
                    Expr::Cat(a, b) => union(of(a), of(b)),
                    Expr::Alt(v) => v.iter().fold([0; 4], |u, e| union(u, of(e))),
                    Expr::And(v) => v.iter().fold([u64::MAX; 4], |u, e| intersection(u, of(e))),
                    Expr::Not(_) => [u64::MAX; 4],
                    Expr::Rep { body, .. } => of(body),
                    Expr::Multiple(_) => union(range(b'.', b'.'), range(b'0', b'9')),
                    Expr::Fix(f) => self.fixes.get(*f as usize).and_then(|f| f.1).map_or([0; 4], |d| of(&d)),
                };
                if used.get(&n) != Some(&now) {
                    used.insert(n, now);
                    changed = true;
                }
            }
            // Children stand before their parents, so one round settles everything but recursion.
            if !changed || !recursive {
                break;
            }
        }
        let all = used.get(&e).copied().unwrap_or_default();
        set_of(all)
    }

    /// The bytes that some of the nodes of an expression reads, which are those of its members if there is neither
    /// intersection nor complement nor recursion. `None` where there is.
    fn read_bytes(&self, nodes: &[ExprId]) -> Option<ByteBits> {
        nodes.iter().try_fold([0; 4], |all, &n| match self.get(n) {
            Expr::Step { edges, .. } => Some(edges.iter().fold(all, |all, e| union(all, range(e.lo, e.hi)))),
            Expr::Multiple(_) => Some(union(all, union(range(b'.', b'.'), range(b'0', b'9')))),
            Expr::And(_) | Expr::Not(_) | Expr::Fix(_) => None,
            Expr::Never | Expr::Eps | Expr::Cat(..) | Expr::Alt(_) | Expr::Rep { .. } => Some(all),
        })
    }

    /// The members of `e` that contain no byte outside `keep`. Where the answer contains intersection or complement,
    /// its liveness is for the caller to decide.
    pub fn restrict(&mut self, e: ExprId, keep: &ByteSet) -> ExprId {
        if self.used_bytes(e).iter().zip(keep).all(|(&used, &kept)| kept || !used) {
            return e;
        }
        let ranges: Vec<(u8, u8)> = (0..=255u8).filter(|&b| keep[b as usize]).map(|b| (b, b)).collect();
        let one = self.byte_set(&ranges);
        let any = self.star(one);
        let nodes = self.reachable(e);
        if nodes.iter().any(|&n| matches!(self.get(n), Expr::Fix(_))) {
            return self.and(&[e, any]);
        }
        let digits = keep[b'.' as usize] && (b'0'..=b'9').all(|b| keep[b as usize]);
        let mut map: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for old in nodes {
            let at = |i: &ExprId| map.get(i).copied().unwrap_or(Self::NEVER);
            let new = match self.get(old).clone() {
                Expr::Never | Expr::Eps => old,
                Expr::Step { nullable, edges } => {
                    let mut kept = Vec::new();
                    for e in edges.iter() {
                        let to = at(&e.to);
                        kept.extend((e.lo..=e.hi).filter(|&b| keep[b as usize]).map(|b| Edge { lo: b, hi: b, to }));
                    }
                    self.step(nullable, kept)
                }
                Expr::Cat(a, b) => {
                    let (a, b) = (at(&a), at(&b));
                    self.cat(a, b)
                }
                Expr::Alt(v) => {
                    let v: Vec<ExprId> = v.iter().map(at).collect();
                    self.alt(&v)
                }
                Expr::And(v) => {
                    // One restricted part restricts the whole, so complements can stay as they are.
                    let plain = |x: &Self, e: &ExprId| !matches!(x.get(*e), Expr::Not(_));
                    let mut parts: Vec<ExprId> = v.iter().map(|e| if plain(self, e) { at(e) } else { *e }).collect();
                    if !v.iter().any(|e| plain(self, e)) {
                        parts.push(any);
                    }
                    self.and(&parts)
                }
                Expr::Rep { body, min, max } => {
                    let body = at(&body);
                    self.rep(body, min, max)
                }
                Expr::Multiple(_) if digits => old,
                Expr::Not(_) | Expr::Multiple(_) | Expr::Fix(_) => self.and(&[old, any]),
            };
            map.insert(old, new);
        }
        map.get(&e).copied().unwrap_or(Self::NEVER)
    }
}
