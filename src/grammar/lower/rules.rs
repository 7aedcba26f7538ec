//! Bodies of rules.

use crate::error::Result;
use crate::grammar::lower::{Lowering, RuleKey, TerminalKey, Value, ValueId};
use crate::grammar::model::{Document, Lexer, Node, RuleId, TokenSet, UNBOUNDED};
use crate::grammar::parametric::Condition;
use crate::grammar::tree::{Definition, DefinitionId, Part, PartId, SpaceId};

/// Parts of a body, children first, with what has become of them.
pub(super) struct Lowered {
    parts: Vec<PartId>,
    nodes: Vec<Option<Node>>,
    values: Vec<Option<ValueId>>,
}

impl Lowered {
    fn at(&self, p: PartId) -> usize {
        self.parts.binary_search(&p).unwrap_or(0)
    }

    /// The argument that has become of a child.
    pub(super) fn value(&self, p: PartId) -> Option<ValueId> {
        self.values[self.at(p)]
    }

    /// What has become of a child, which belongs to one parent.
    fn take(&mut self, p: PartId) -> Node {
        let at = self.at(p);
        self.nodes[at].take().unwrap_or(Node::Empty)
    }

    /// A choice of what has become of children.
    fn take_choice(&mut self, parts: &[PartId]) -> Node {
        let mut nodes = Vec::with_capacity(parts.len());
        for &p in parts {
            match self.take(p) {
                Node::Choice(inner) if nodes.is_empty() => nodes = inner,
                Node::Choice(inner) => nodes.extend(inner),
                node => nodes.push(node),
            }
        }
        if nodes.len() == 1 { nodes.swap_remove(0) } else { Node::Choice(nodes) }
    }
}

impl Lowering<'_> {
    /// The body of a rule, and the most tokens that it may take.
    pub(super) fn rule_body(&mut self, key: &RuleKey) -> Result<(Node, Option<u32>)> {
        let tree = self.tree;
        let d = &tree.definitions[key.definition as usize];
        let a = &d.attributes;
        if a.max_tokens.is_some() && !self.is_one_symbol(d) {
            let message = "\"max_tokens\" stands on a rule that is made of terminals only, or of one nested grammar";
            return Err(tree.texts.unsupported(d.place, message));
        }
        let mut body = if self.is_regular_by_attributes(d) {
            let terminal = self.attributed_terminal(key.definition)?;
            self.symbol(d.space, Node::Terminal(terminal))
        } else if self.is_free_text(d.body) {
            self.dispatch(d, key)?
        } else {
            self.body(d, d.body, &key.arguments)?
        };
        if let Some(name) = &a.capture {
            let name = if name.is_empty() { d.name.clone() } else { name.clone() };
            body = Node::Capture { name, body: Box::new(body) };
        }
        Ok((body, a.max_tokens))
    }

    /// Whether a rule is one terminal by what is said in its brackets.
    fn is_regular_by_attributes(&self, d: &Definition) -> bool {
        let a = &d.attributes;
        let is_empty = |p: PartId| matches!(self.tree.part(p), Part::Text { text, .. } if text.is_empty());
        a.lazy || a.suffix.is_some() || a.stop.is_some_and(|p| !is_empty(p))
    }

    /// Whether a rule is made of terminals only, or is one nested grammar or document.
    fn is_one_symbol(&self, d: &Definition) -> bool {
        if matches!(self.tree.part(d.body), Part::Nested(_) | Part::Document(_)) {
            return true;
        }
        self.tree.below(d.body).into_iter().all(|p| match self.tree.part(p) {
            Part::Name(name) => {
                let found = self.tree.spaces[d.space as usize].names.get(&**name);
                found.is_some_and(|&f| self.tree.definitions[f as usize].terminal)
            }
            Part::Template { .. }
            | Part::Nested(_)
            | Part::Document(_)
            | Part::Tokens { .. }
            | Part::Parametric { .. }
            | Part::If { .. }
            | Part::Dispatch(_) => false,
            _ => true,
        })
    }

    /// The node of a part of a rule's body.
    pub(super) fn body(&mut self, d: &Definition, root: PartId, arguments: &[ValueId]) -> Result<Node> {
        let tree = self.tree;
        let parts = tree.below(root);
        let count = parts.len();
        let mut lowered = Lowered { nodes: vec![None; count], values: vec![None; count], parts };
        let mut is_argument = vec![false; count];
        let mut is_merged = vec![false; count];
        for i in 0..count {
            if let Part::Template { arguments, .. } = tree.part(lowered.parts[i]) {
                for &a in arguments {
                    is_argument[lowered.at(a)] = true;
                }
            }
            // An alternative for other numbers names no rules.
            if let Part::If { body, condition } = tree.part(lowered.parts[i])
                && !self.holds(d, lowered.parts[i], condition, arguments)?
            {
                tree.below(*body).into_iter().for_each(|p| is_merged[lowered.at(p)] = true);
            }
            // What must follow a body, and the body, are one terminal.
            if let Part::Ahead { body, ahead } = *tree.part(lowered.parts[i]) {
                tree.below(body).into_iter().chain(tree.below(ahead)).for_each(|p| is_merged[lowered.at(p)] = true);
            }
            if let Part::Sequence(v) = tree.part(lowered.parts[i]) {
                for run in self.runs(d.space, v) {
                    run.iter().for_each(|&p| is_merged[lowered.at(p)] = true);
                }
            }
        }
        for i in 0..count {
            let p = lowered.parts[i];
            if is_argument[i] {
                lowered.values[i] = Some(self.argument(d, p, arguments, &lowered)?);
            } else if !is_merged[i] {
                lowered.nodes[i] = Some(self.node(d, p, arguments, &mut lowered)?);
            }
        }
        Ok(lowered.take(root))
    }

    fn node(&mut self, d: &Definition, p: PartId, arguments: &[ValueId], lowered: &mut Lowered) -> Result<Node> {
        let tree = self.tree;
        let place = tree.place(p);
        Ok(match tree.part(p) {
            Part::Empty => Node::Empty,
            Part::Name(name) => {
                let value = self.named(d, p, name, arguments)?;
                self.value_node(d, p, &value)?
            }
            Part::Template { name, arguments: given } => {
                let value = self.named(d, p, name, arguments)?;
                let given: Vec<ValueId> = given.iter().filter_map(|&a| lowered.values[lowered.at(a)]).collect();
                let instance = self.instance(p, &value, given)?;
                self.value_node(d, p, &instance)?
            }
            Part::Sequence(v) => self.sequence_node(d.space, v, lowered)?,
            Part::Choice(v) => lowered.take_choice(v),
            Part::Repeat { body, min, max } => repeated(lowered.take(*body), *min, *max),
            Part::Tokens { tokens, complement } => {
                let at = tree.texts.offset(place);
                self.token_sets.push(TokenSet { place: at, tokens: tokens.clone(), complement: *complement });
                self.symbol(d.space, Node::Token(self.token_sets.len() as u32 - 1))
            }
            Part::Document(schema) => {
                self.documents.push(Document { place: tree.texts.offset(place), schema: schema.clone() });
                self.symbol(d.space, Node::Document(self.documents.len() as u32 - 1))
            }
            Part::Nested(space) => {
                let start = self.start_of(*space)?;
                self.symbol(d.space, Node::Rule(start))
            }
            Part::And(_) | Part::Not(_) | Part::Dispatch(_) => {
                let message = match tree.part(p) {
                    Part::Dispatch(_) => "TagDispatch must be the whole body of a rule",
                    _ => "'&' and '~' stand in terminals only; give this part a name in capitals",
                };
                return Err(tree.texts.error(place, message));
            }
            Part::Ahead { .. } => self.looks_ahead(d, p)?,
            Part::Parametric { name, step } => {
                let number = step.after(self.number(d, arguments));
                self.numbered_rule(d, p, name, number).map(Node::Rule)?
            }
            Part::If { body, condition } if self.holds(d, p, condition, arguments)? => lowered.take(*body),
            Part::If { .. } => Node::Choice(Vec::new()),
            Part::Text { .. }
            | Part::Pattern { .. }
            | Part::EcmaPattern { .. }
            | Part::SchemaText(_)
            | Part::Class(_)
            | Part::Substring(_)
            | Part::JsonString(_) => self.terminal_node(d.space, p)?,
        })
    }

    /// The terminal that a part is. The empty text is none.
    fn terminal_node(&mut self, space: SpaceId, p: PartId) -> Result<Node> {
        if matches!(self.tree.part(p), Part::Text { text, .. } if text.is_empty()) {
            return Ok(Node::Empty);
        }
        let terminal = self.terminal_of(space, p)?;
        Ok(self.symbol(space, Node::Terminal(terminal)))
    }

    /// A sequence of what has become of its parts, but for neighbours that become one terminal.
    fn sequence_node(&mut self, space: SpaceId, parts: &[PartId], lowered: &mut Lowered) -> Result<Node> {
        let mut nodes = Vec::with_capacity(parts.len());
        let mut runs = self.runs(space, parts).into_iter().peekable();
        let mut i = 0;
        while i < parts.len() {
            if let Some(run) = runs.next_if(|run| run.first() == parts.get(i)) {
                let terminal = self.terminal_of_sequence(space, run)?;
                nodes.push(self.symbol(space, Node::Terminal(terminal)));
                i += run.len();
                continue;
            }
            match lowered.take(parts[i]) {
                Node::Empty => {}
                node => nodes.push(node),
            }
            i += 1;
        }
        Ok(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.swap_remove(0),
            _ => Node::Sequence(nodes),
        })
    }

    /// The parametric rule of this name with its number, which is `None` where nothing tells it.
    fn numbered_rule(&mut self, d: &Definition, p: PartId, name: &str, number: Option<u64>) -> Result<RuleId> {
        let tree = self.tree;
        let place = tree.place(p);
        let id = self.found(d.space, p, name)?;
        if !tree.definitions[id as usize].is_parametric() {
            let message = format!("{name:?} has no number; write \"{name}::_: ...\" where it is defined");
            return Err(tree.texts.error(place, message));
        }
        let Some(number) = number else {
            let message = format!("{:?} has no number that \"{name}::\" could be told by", d.name);
            return Err(tree.texts.error(place, message));
        };
        let value = self.value(Value::Number(number));
        self.rule(RuleKey { definition: id, arguments: vec![value] })
    }

    /// The number of a parametric rule.
    fn number(&self, d: &Definition, arguments: &[ValueId]) -> Option<u64> {
        let first = arguments.first().filter(|_| d.is_parametric())?;
        match self.values[*first as usize] {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Whether an alternative is for the number of its rule.
    fn holds(&self, d: &Definition, p: PartId, condition: &Condition, arguments: &[ValueId]) -> Result<bool> {
        match self.number(d, arguments) {
            Some(number) => Ok(condition.holds(number)),
            None => {
                let message =
                    format!("%if asks for the number of {:?}, which has none; write \"{}::_\"", d.name, d.name);
                Err(self.tree.texts.error(self.tree.place(p), message))
            }
        }
    }

    /// Neighbours in a sequence that become one terminal: characters and texts of grammars without a lexer.
    fn runs<'p>(&self, space: SpaceId, parts: &'p [PartId]) -> Vec<&'p [PartId]> {
        if self.lexer != Lexer::Any || !self.tree.spaces[space as usize].ignored.is_empty() {
            return Vec::new();
        }
        let is_char = |&p: &PartId| matches!(self.tree.part(p), Part::Text { .. } | Part::Class(_));
        parts.chunk_by(|a, b| is_char(a) && is_char(b)).filter(|run| run.len() > 1).collect()
    }

    /// Named terminals that are one text or one pattern: whoever writes the same means them.
    pub(super) fn find_named_literals(&mut self) {
        let mut order: Vec<(SpaceId, TerminalKey, DefinitionId)> = Vec::new();
        for (space, s) in self.tree.spaces.iter().enumerate() {
            for &id in &s.order {
                let d = &self.tree.definitions[id as usize];
                if d.terminal
                    && !d.declared
                    && let Some(key) = self.literal_key(d.body)
                {
                    order.push((space as SpaceId, key, id));
                }
            }
        }
        for (space, key, id) in order {
            self.named_literals.entry((space, key)).or_insert(id);
        }
    }

    /// A text or a pattern that stands alone.
    pub(super) fn literal_key(&self, p: PartId) -> Option<TerminalKey> {
        match self.tree.part(p) {
            Part::Text { text, any_case } => Some(TerminalKey::Text(text.clone(), *any_case)),
            Part::Pattern { pattern, flags } => Some(TerminalKey::Pattern(pattern.clone(), flags.clone())),
            _ => None,
        }
    }
}

/// Copies of a node. Copies of copies are counted together where that says the same.
fn repeated(node: Node, min: u32, max: u32) -> Node {
    match node {
        Node::Empty => Node::Empty,
        _ if max == 0 => Node::Empty,
        node if (min, max) == (1, 1) => node,
        Node::Repeat { body, min: 0, max: UNBOUNDED } => Node::Repeat { body, min: 0, max: UNBOUNDED },
        Node::Repeat { body, min: 1, max: UNBOUNDED } => Node::Repeat { body, min, max: UNBOUNDED },
        Node::Repeat { body, min: 0, max: 1 } => Node::Repeat { body, min: 0, max },
        node => Node::Repeat { body: Box::new(node), min, max },
    }
}
