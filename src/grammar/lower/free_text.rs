//! Free text in which tags open other parts, and what must follow a body.

use crate::error::Result;
use crate::expr::marked_texts::MARK;
use crate::expr::{ExprId, Exprs};
use crate::grammar::error_place::TextPlace;
use crate::grammar::lower::{Lowering, RuleKey, TerminalKey};
use crate::grammar::model::{Node, TokenName, TokenSet, UNBOUNDED};
use crate::grammar::tree::{Definition, Dispatch, DispatchTag, Part, PartId};
use crate::regex::SymbolTexts;

impl Lowering<'_> {
    /// Whether a rule is free text with tags.
    pub(super) fn is_free_text(&self, body: PartId) -> bool {
        matches!(self.tree.part(body), Part::Dispatch(_))
    }

    /// Free text up to a tag, what the tag opens, and so on; free text at the end.
    pub(super) fn dispatch(&mut self, d: &Definition, key: &RuleKey) -> Result<Node> {
        let tree = self.tree;
        let Part::Dispatch(dispatch) = tree.part(d.body) else { return Ok(Node::Empty) };
        let place = tree.place(d.body);
        let (opened, last) = match dispatch.tags.first().or(None).map(|t| &t.0).or(dispatch.excludes.first()) {
            Some(DispatchTag::Token(_)) => self.between_tokens(dispatch, place),
            _ => self.between_texts(dispatch, place),
        };
        let mut choice = Vec::with_capacity(opened.len());
        for (before, (_, part)) in opened.into_iter().zip(&dispatch.tags) {
            let body = self.body(d, *part, &key.arguments)?;
            choice.push(Node::Sequence(vec![before, body]));
        }
        if choice.is_empty() {
            return Ok(last);
        }
        Ok(match dispatch.repeats {
            true => {
                let all = Node::Repeat { body: Box::new(Node::Choice(choice)), min: 0, max: UNBOUNDED };
                Node::Sequence(vec![all, last])
            }
            false => {
                choice.push(last);
                Node::Choice(choice)
            }
        })
    }

    /// For each tag the free text that it ends, and the free text without a tag.
    fn between_texts(&mut self, dispatch: &Dispatch, place: TextPlace) -> (Vec<Node>, Node) {
        let texts = |tags: &mut dyn Iterator<Item = &DispatchTag>| -> Vec<String> {
            let text = |t: &DispatchTag| match t {
                DispatchTag::Text(s) => Some(s.clone()),
                DispatchTag::Token(_) => None,
            };
            tags.filter_map(text).collect()
        };
        let tags = texts(&mut dispatch.tags.iter().map(|t| &t.0));
        let excludes = texts(&mut dispatch.excludes.iter());
        let any = self.x.any_text();
        let some_tag = self.x.choice(&tags);
        let past_tag = self.x.cat(any, some_tag);
        let past_tag = self.x.longer(past_tag);
        let excluded = self.x.choice(&excludes);
        let excluded = if excluded == Exprs::NEVER { excluded } else { self.x.found_in_text(excluded) };
        let mut opened = Vec::with_capacity(tags.len());
        for tag in &tags {
            let end = self.x.literal(tag.as_bytes());
            let up_to = self.x.cat(any, end);
            let not = [self.x.not(past_tag), self.x.not(excluded)];
            let e = self.x.and(&[up_to, not[0], not[1]]);
            opened.push(self.free_terminal(e, format!("free text up to {tag:?}"), place));
        }
        let tagged = if some_tag == Exprs::NEVER { some_tag } else { self.x.found_in_text(some_tag) };
        let not = [self.x.not(tagged), self.x.not(excluded)];
        let last = self.x.and(&[any, not[0], not[1]]);
        (opened, self.free_terminal(last, "free text".to_owned(), place))
    }

    fn free_terminal(&mut self, e: ExprId, name: String, place: TextPlace) -> Node {
        let key = TerminalKey::Expr(e);
        let known = self.terminal_ids.get(&key).copied();
        let texts = SymbolTexts { texts: e, context: None };
        Node::Terminal(known.unwrap_or_else(|| self.add_terminal(key, name, place, texts, 0, false)))
    }

    /// For each token the others up to it, and others without one.
    fn between_tokens(&mut self, dispatch: &Dispatch, place: TextPlace) -> (Vec<Node>, Node) {
        let place = self.tree.texts.offset(place);
        let tags = dispatch.tags.iter().map(|t| &t.0);
        let named = tags.clone().chain(&dispatch.excludes).filter_map(|t| match t {
            DispatchTag::Token(t) => Some(t.clone()),
            DispatchTag::Text(_) => None,
        });
        let mut set = |tokens: Vec<TokenName>, complement: bool| {
            self.token_sets.push(TokenSet { place, tokens, complement });
            Node::Token(self.token_sets.len() as u32 - 1)
        };
        let others = set(named.collect(), true);
        let free = Node::Repeat { body: Box::new(others), min: 0, max: UNBOUNDED };
        let mut opened = Vec::new();
        for tag in tags {
            if let DispatchTag::Token(t) = tag {
                let one = set(vec![t.clone()], false);
                opened.push(Node::Sequence(vec![free.clone(), one]));
            }
        }
        (opened, free)
    }

    /// A body that something must follow.
    pub(super) fn looks_ahead(&mut self, d: &Definition, p: PartId) -> Result<Node> {
        let tree = self.tree;
        let Part::Ahead { body, ahead } = *tree.part(p) else { return Ok(Node::Empty) };
        let place = tree.place(p);
        let texts = self.plain_part(d.space, body, place)?;
        let ahead = self.plain_part(d.space, ahead, place)?;
        let any = self.x.any_text();
        let rest = self.x.cat(ahead, any);
        let rest = self.x.literal_then(&[MARK], rest);
        let context = self.x.cat(texts, rest);
        let key = TerminalKey::Expr(context);
        if let Some(&terminal) = self.terminal_ids.get(&key) {
            return Ok(Node::Terminal(terminal));
        }
        let name = format!("a part of {:?} with look-ahead", d.name);
        let texts = SymbolTexts { texts, context: Some(context) };
        Ok(Node::Terminal(self.add_terminal(key, name, place, texts, 0, false)))
    }

    /// The texts that a JSON string spells as they are.
    pub(super) fn json_spelling(&mut self, e: ExprId) -> ExprId {
        let plain = self.x.class(&[(' ', '!'), ('#', '['), (']', char::MAX)]);
        let plain = self.x.star(plain);
        self.x.and(&[e, plain])
    }
}
