//! The reader's stack: a graph-structured stack whose links know their text and the markers in it.
//!
//! A node is a state of the LR automaton. A link leads from a node to one below and stands for a symbol: where its text
//! begins and ends, and the trail of the captures inside. Reductions are made at once, at every place where a terminal
//! may have ended; what nothing follows is forgotten. All derivations of one nonterminal over one base are one link:
//! the preferred one.

use smallvec::SmallVec;

use crate::pushdown::grammar::bnf_rules::Symbol;
use crate::pushdown::grammar::events::left_corners::EventGrammar;
use crate::pushdown::grammar::events::trail::{Certain, EMPTY, Marker, TrailId, Trails};
use crate::pushdown::grammar::lr_automaton::{LrStateId, NO_STATE};

/// Names a node.
pub(super) type NodeId = u32;

/// No memo.
const NONE: u32 = u32::MAX;
/// Reductions at one place, beyond which a grammar is called too ambiguous.
const MOST_REDUCTIONS: usize = 4096;

/// A symbol on top of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) below: NodeId,
    /// The markers inside, its own ones too.
    pub(super) trail: TrailId,
    pub(super) start: u32,
    pub(super) end: u32,
}

#[derive(Clone, Copy)]
struct Node {
    state: LrStateId,
    first: u32,
    count: u32,
    memo: u32,
}

/// A node in the making.
#[derive(Clone)]
pub(super) struct OpenNode {
    pub(super) state: LrStateId,
    pub(super) links: SmallVec<[Link; 1]>,
}

/// A node that something may be read on top of, and where that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Top {
    pub(super) node: NodeId,
    pub(super) start: u32,
}

/// Lengths, to go back to.
#[derive(Clone, Copy, Default)]
pub(super) struct StackMark {
    nodes: u32,
    links: u32,
    memos: u32,
    kept: u32,
    trails: u32,
}

impl StackMark {
    /// How many nodes were made since an earlier mark.
    pub(super) fn nodes_since(&self, before: &StackMark) -> u32 {
        self.nodes - before.nodes
    }
}

/// What was found of a node: for each item of its kernel what is certain of the output before the item's dot.
#[derive(Clone)]
struct Memo {
    node: NodeId,
    first: u32,
}

/// The stack, and all that it was.
#[derive(Clone, Default)]
pub(super) struct Derivations {
    nodes: Vec<Node>,
    links: Vec<Link>,
    memos: Vec<Memo>,
    kept: Vec<Certain>,
    pub(super) trails: Trails,
    /// More derivations were met than anybody could compare.
    pub(super) is_too_ambiguous: bool,
}

/// A derivation of a nonterminal over a base.
struct Candidate {
    base: NodeId,
    rule: Symbol,
    reduction_order: u32,
    production: u32,
    /// The ends of its parts, the first part first.
    ends: SmallVec<[u32; 6]>,
    trail: TrailId,
    start: u32,
}

impl Candidate {
    /// Whether this derivation is preferred to another one of the same nonterminal.
    fn is_before(&self, other: &Candidate) -> bool {
        (self.production, std::cmp::Reverse(&self.ends)) < (other.production, std::cmp::Reverse(&other.ends))
    }
}

impl Derivations {
    pub(super) fn mark(&self) -> StackMark {
        StackMark {
            nodes: self.nodes.len() as u32,
            links: self.links.len() as u32,
            memos: self.memos.len() as u32,
            kept: self.kept.len() as u32,
            trails: self.trails.count(),
        }
    }

    pub(super) fn truncate(&mut self, mark: &StackMark) {
        self.nodes.truncate(mark.nodes as usize);
        self.links.truncate(mark.links as usize);
        self.memos.truncate(mark.memos as usize);
        self.kept.truncate(mark.kept as usize);
        self.trails.truncate(mark.trails);
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.links.capacity() * size_of::<Link>()
            + self.memos.capacity() * size_of::<Memo>()
            + self.kept.capacity() * size_of::<Certain>()
            + self.trails.memory_bytes()
    }

    pub(super) fn state(&self, node: NodeId) -> LrStateId {
        self.nodes[node as usize].state
    }

    pub(super) fn links(&self, node: NodeId) -> &[Link] {
        let n = &self.nodes[node as usize];
        &self.links[n.first as usize..(n.first + n.count) as usize]
    }

    /// Makes a node.
    pub(super) fn push(&mut self, state: LrStateId, links: &[Link]) -> NodeId {
        let first = self.links.len() as u32;
        self.links.extend_from_slice(links);
        self.nodes.push(Node { state, first, count: links.len() as u32, memo: NONE });
        self.nodes.len() as NodeId - 1
    }

    /// Adds to `open` where a symbol leads from the tops of a boundary. The symbol's text ends at `end`.
    pub(super) fn shift(
        &mut self,
        program: EventGrammar<'_>,
        tops: &[Top],
        symbol: Symbol,
        end: u32,
        open: &mut SmallVec<[OpenNode; 2]>,
    ) {
        for top in tops {
            let to = program.lr.goto(&program.productions, self.state(top.node), symbol);
            if to != NO_STATE {
                Self::add_link(open, to, Link { below: top.node, trail: EMPTY, start: top.start, end });
            }
        }
    }

    /// Reduces what may be reduced on nodes behind a terminal, and makes the nodes that something may follow.
    pub(super) fn close(
        &mut self,
        program: EventGrammar<'_>,
        mut open: SmallVec<[OpenNode; 2]>,
    ) -> SmallVec<[NodeId; 4]> {
        let mut pending: SmallVec<[Candidate; 4]> = SmallVec::new();
        let mut done: SmallVec<[(NodeId, Symbol); 8]> = SmallVec::new();
        let begun: SmallVec<[(LrStateId, Link); 4]> =
            open.iter().flat_map(|node| node.links.iter().map(|&link| (node.state, link))).collect();
        for (state, link) in begun {
            self.reduce(program, state, link, &mut pending);
        }
        while !pending.is_empty() {
            // The shortest texts first: whoever contains them comes later.
            let next = pending.iter().map(|c| (c.base, std::cmp::Reverse(c.reduction_order))).max();
            let Some((base, std::cmp::Reverse(reduction_order))) = next else { break };
            let mut best: Option<Candidate> = None;
            let mut at = 0;
            while at < pending.len() {
                if (pending[at].base, pending[at].reduction_order) != (base, reduction_order) {
                    at += 1;
                    continue;
                }
                let one = pending.swap_remove(at);
                if best.as_ref().is_none_or(|best| one.is_before(best)) {
                    best = Some(one);
                }
            }
            let Some(found) = best else { break };
            if done.contains(&(base, found.rule)) {
                continue;
            }
            done.push((base, found.rule));
            if done.len() > MOST_REDUCTIONS {
                self.is_too_ambiguous = true;
                break;
            }
            let to = program.lr.goto(&program.productions, self.state(base), found.rule);
            if to == NO_STATE {
                continue;
            }
            let (start, end) = (found.start, found.ends.last().copied().unwrap_or_default());
            let mut trail = found.trail;
            if let Some(capture) = program.productions.capture(found.rule) {
                let begin = self.trails.begin(EMPTY, capture, start);
                let inside = self.trails.pair(begin, trail);
                let close = self.trails.marker(Marker { capture, begins: false, at: end });
                trail = self.trails.pair(inside, close);
            }
            let link = Link { below: base, trail, start, end };
            Self::add_link(&mut open, to, link);
            self.reduce(program, to, link, &mut pending);
        }
        let mut out = SmallVec::new();
        for node in &open {
            let state = program.lr.state(node.state);
            if state.accepting || state.terminals(&program.productions).next().is_some() {
                out.push(self.push(node.state, &node.links));
            }
        }
        out
    }

    /// Adds the reductions that begin with a link of a node of this state.
    fn reduce(
        &mut self,
        program: EventGrammar<'_>,
        state: LrStateId,
        link: Link,
        pending: &mut SmallVec<[Candidate; 4]>,
    ) {
        let productions = &program.productions;
        for &(production, parts) in &*program.corners(state).ends {
            let rule = productions.all[production as usize].of;
            if rule == productions.start {
                continue;
            }
            let reduction_order = program.reduction_order(rule);
            let mut path: SmallVec<[Link; 8]> = smallvec::smallvec![link];
            if parts == 1 {
                self.add_candidate(rule, reduction_order, production, &path, pending);
                continue;
            }
            // The next link to take at each depth of the path.
            let mut choices: SmallVec<[u32; 8]> = smallvec::smallvec![0];
            while let Some(choice) = choices.last_mut() {
                let below = path[path.len() - 1].below;
                let links = self.links(below);
                let Some(&next) = links.get(*choice as usize) else {
                    choices.pop();
                    path.pop();
                    continue;
                };
                *choice += 1;
                path.push(next);
                if path.len() == parts as usize {
                    self.add_candidate(rule, reduction_order, production, &path, pending);
                    path.pop();
                    if pending.len() > MOST_REDUCTIONS {
                        self.is_too_ambiguous = true;
                        return;
                    }
                    continue;
                }
                choices.push(0);
            }
        }
    }

    /// Adds a derivation by its links, the last part first.
    fn add_candidate(
        &mut self,
        rule: Symbol,
        reduction_order: u32,
        production: u32,
        path: &[Link],
        pending: &mut SmallVec<[Candidate; 4]>,
    ) {
        let first = path[path.len() - 1];
        let mut trail = EMPTY;
        for link in path.iter().rev() {
            trail = self.trails.pair(trail, link.trail);
        }
        let ends = path.iter().rev().map(|link| link.end).collect();
        pending.push(Candidate {
            base: first.below,
            rule,
            reduction_order,
            production,
            ends,
            trail,
            start: first.start,
        });
    }

    /// One set of tops of several: nodes of one state become one.
    pub(super) fn merge(&mut self, all: &[Top]) -> SmallVec<[Top; 4]> {
        let mut out: SmallVec<[Top; 4]> = SmallVec::new();
        let mut sorted: SmallVec<[Top; 8]> = all.into();
        sorted.sort_by_key(|top| (self.state(top.node), top.node, std::cmp::Reverse(top.start)));
        sorted.dedup_by_key(|top| top.node);
        let groups: Vec<(usize, usize)> = {
            let mut groups = Vec::new();
            let mut first = 0;
            for at in 1..=sorted.len() {
                if at == sorted.len() || self.state(sorted[at].node) != self.state(sorted[first].node) {
                    groups.push((first, at));
                    first = at;
                }
            }
            groups
        };
        for (first, end) in groups {
            if end - first == 1 {
                out.push(sorted[first]);
                continue;
            }
            // Who stands on the same nodes reads the same from here on: the one whose earlier parts are longer stays.
            let mut kept: SmallVec<[(Link, u32); 4]> = SmallVec::new();
            for top in &sorted[first..end] {
                for &link in self.links(top.node) {
                    match kept.iter_mut().find(|(known, _)| known.below == link.below) {
                        Some(known) if (known.0.end, known.1) < (link.end, top.start) => *known = (link, top.start),
                        Some(_) => {}
                        None => kept.push((link, top.start)),
                    }
                }
            }
            let state = self.state(sorted[first].node);
            kept.sort_by_key(|&(_, start)| start);
            // What is read on top begins at different places for different links.
            let groups: SmallVec<[SmallVec<[Link; 4]>; 2]> =
                kept.chunk_by(|a, b| a.1 == b.1).map(|group| group.iter().map(|one| one.0).collect()).collect();
            let starts: SmallVec<[u32; 4]> = kept.chunk_by(|a, b| a.1 == b.1).map(|group| group[0].1).collect();
            for (links, start) in groups.into_iter().zip(starts) {
                let same = sorted[first..end].iter().find(|top| {
                    let own = self.links(top.node);
                    top.start == start
                        && own.len() == links.len()
                        && own.iter().zip(&links).all(|(a, b)| (a.below, a.trail, a.end) == (b.below, b.trail, b.end))
                });
                out.push(match same {
                    Some(&top) => top,
                    None => Top { node: self.push(state, &links), start },
                });
            }
        }
        out
    }

    /// What is certain of the output before the dot of an item of a node's kernel, and of what begins there. `known`
    /// markers are the same in all live derivations.
    pub(super) fn certain(&mut self, program: EventGrammar<'_>, node: NodeId, item: u32, known: u32) -> Certain {
        let at = self.memo(program, node, known);
        self.kept[(at + item) as usize]
    }

    fn known_memo(&self, node: NodeId) -> Option<u32> {
        let memo = self.memos.get(self.nodes[node as usize].memo as usize)?;
        (memo.node == node).then_some(memo.first)
    }

    /// Where the memo of a node begins; it is made, and those that it needs, if it is not known.
    fn memo(&mut self, program: EventGrammar<'_>, node: NodeId, known: u32) -> u32 {
        if let Some(first) = self.known_memo(node) {
            return first;
        }
        let mut todo: Vec<NodeId> = vec![node];
        let mut last = 0;
        while let Some(&node) = todo.last() {
            if let Some(first) = self.known_memo(node) {
                last = first;
                todo.pop();
                continue;
            }
            let before = todo.len();
            let made = self.items_of(program, node, known, &mut todo);
            if todo.len() > before {
                continue;
            }
            last = self.kept.len() as u32;
            self.kept.extend(made);
            self.nodes[node as usize].memo = self.memos.len() as u32;
            self.memos.push(Memo { node, first: last });
            todo.pop();
        }
        last
    }

    /// For each item of a node's kernel what is certain before its dot. Nodes whose memos are needed and missing go to
    /// `missing`; then the answer is none.
    fn items_of(
        &mut self,
        program: EventGrammar<'_>,
        node: NodeId,
        known: u32,
        missing: &mut Vec<NodeId>,
    ) -> SmallVec<[Certain; 4]> {
        let mut out: SmallVec<[Certain; 4]> = SmallVec::new();
        let state = program.lr.state(self.state(node));
        for item in &state.kernel {
            let rule = program.productions.all[item.production as usize].of;
            if item.parts == 0 {
                out.push(Certain::exactly(EMPTY));
                continue;
            }
            let mut all: Option<Certain> = None;
            let mut paths: Vec<(NodeId, u32, TrailId)> =
                self.links(node).iter().map(|link| (link.below, link.start, link.trail)).collect();
            for _ in 1..item.parts {
                let mut deeper = Vec::with_capacity(paths.len());
                for (below, _, behind) in paths {
                    for link in self.links(below).iter().copied().collect::<SmallVec<[Link; 4]>>() {
                        let trail = self.trails.pair(link.trail, behind);
                        deeper.push((link.below, link.start, trail));
                    }
                }
                paths = deeper;
                if paths.len() > MOST_REDUCTIONS {
                    self.is_too_ambiguous = true;
                    paths.truncate(1);
                }
            }
            for (base, start, inside) in paths {
                let Some(first) = self.known_memo(base).or_else(|| {
                    missing.push(base);
                    None
                }) else {
                    continue;
                };
                let before = match rule == program.productions.start {
                    true => Some(Certain::exactly(EMPTY)),
                    false => self.opened(program, base, first, rule, start, known),
                };
                let Some(before) = before else { continue };
                let own = match program.productions.capture(rule) {
                    Some(capture) => {
                        let begin = self.trails.begin(EMPTY, capture, start);
                        self.trails.follow(before, begin)
                    }
                    None => before,
                };
                let one = self.trails.follow(own, inside);
                all = Some(all.map_or(one, |all| self.trails.meet(all, one, known)));
            }
            out.push(all.unwrap_or(Certain { trail: EMPTY, limit: 0 }));
        }
        out
    }

    /// What is certain before a symbol that begins at `start` on top of a node, what begins with it included.
    fn opened(
        &mut self,
        program: EventGrammar<'_>,
        node: NodeId,
        memo: u32,
        symbol: Symbol,
        start: u32,
        known: u32,
    ) -> Option<Certain> {
        let corners = program.corners(self.state(node));
        let mut all: Option<Certain> = None;
        for lead in corners.leads(symbol) {
            let mut one = self.kept[(memo + lead.item) as usize];
            for &capture in &lead.begins.captures {
                let begin = self.trails.begin(EMPTY, capture, start);
                one = self.trails.follow(one, begin);
            }
            if !lead.begins.is_whole {
                one.limit = one.limit.min(start);
            }
            all = Some(all.map_or(one, |all| self.trails.meet(all, one, known)));
        }
        all
    }

    /// Adds a link to the node of a state in the making. Of two over one base, the longer one stays.
    pub(super) fn add_link(open: &mut SmallVec<[OpenNode; 2]>, state: LrStateId, link: Link) {
        let Some(node) = open.iter_mut().find(|node| node.state == state) else {
            open.push(OpenNode { state, links: smallvec::smallvec![link] });
            return;
        };
        match node.links.iter_mut().find(|known| known.below == link.below) {
            Some(known) if known.end < link.end => *known = link,
            Some(_) => {}
            None => node.links.push(link),
        }
    }

    /// What is certain where a symbol is being read, or may be read next, on top of a node.
    pub(super) fn before(
        &mut self,
        program: EventGrammar<'_>,
        top: Top,
        symbol: Symbol,
        known: u32,
    ) -> Option<Certain> {
        let memo = self.memo(program, top.node, known);
        self.opened(program, top.node, memo, symbol, top.start, known)
    }
}
