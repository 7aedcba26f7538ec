//! From definitions to the model: names become numbers, templates become rules, terminals become expressions.

mod balanced_blocks;
mod free_text;
mod indentation;
mod lazy_first;
mod pattern_text;
mod rules;
mod templates;
mod terminals;
mod validate;

use crate::error::{Error, ErrorCode, Result};
use crate::expr::{ExprId, Exprs};
use crate::grammar::error_place::limit_at;
use crate::grammar::lower::terminals::TerminalState;
use crate::grammar::model::{Document, Grammar, Lexer, Node, Rule, RuleId, Terminal, TerminalId, TokenSet, UNBOUNDED};
use crate::grammar::tree::{DefinitionId, PartId, SpaceId, Tree};
use crate::limits::Limits;
use crate::util::seeded_hash::SeededMap;

/// An index into the list of values.
type ValueId = u32;

/// What an argument of a template stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Value {
    /// A rule, a template or a terminal.
    Definition(DefinitionId),
    /// A template with its arguments.
    Instance(DefinitionId, Vec<ValueId>),
    /// A terminal without a name.
    Terminal(TerminalId),
    /// The number of a parametric rule.
    Number(u64),
}

/// What a rule of the model is made from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RuleKey {
    definition: DefinitionId,
    arguments: Vec<ValueId>,
}

/// Which terminals are one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum TerminalKey {
    Definition(DefinitionId),
    /// A text, and whether case matters not.
    Text(String, bool),
    /// A pattern and its flags.
    Pattern(String, String),
    /// Anything else, by what it accepts.
    Expr(ExprId),
}

/// Numbers that a repeated part of the grammar has got.
struct Lowering<'a> {
    tree: &'a Tree,
    limits: &'a Limits,
    lexer: Lexer,
    x: Exprs,
    rules: Vec<Rule>,
    rule_ids: SeededMap<RuleKey, RuleId>,
    /// Rules whose bodies are still to be lowered.
    todo: Vec<(RuleId, RuleKey)>,
    values: Vec<Value>,
    value_ids: SeededMap<Value, ValueId>,
    terminals: Vec<Terminal>,
    terminal_ids: SeededMap<TerminalKey, TerminalId>,
    /// By definition: what is known of a terminal.
    states: Vec<TerminalState>,
    /// Named terminals that are one text or one pattern, by grammar.
    named_literals: SeededMap<(SpaceId, TerminalKey), DefinitionId>,
    /// Terminals of rules with `lazy`, `suffix` or `stop`.
    lazy: Vec<TerminalId>,
    token_sets: Vec<TokenSet>,
    documents: Vec<Document>,
    /// Ignored terminals are written out in the rules, since nested grammars do not ignore the same.
    explicit_ignore: bool,
    /// By grammar: what may stand behind a symbol of it.
    ignored: Vec<Node>,
}

/// The model of what was read. The first grammar of the tree is the whole.
///
/// # Errors
/// `Grammar` for names without a definition, terminals that contain themselves or rules, and the like; `Unsupported`
/// for what has no exact meaning; `Limit` and the errors of [`Exprs::check`].
pub(crate) fn lower(tree: &Tree, lexer: Lexer, limits: &Limits) -> Result<Grammar> {
    validate::names(tree)?;
    let mut l = Lowering {
        tree,
        limits,
        lexer,
        x: Exprs::new(limits.max_expr_nodes),
        rules: Vec::new(),
        rule_ids: SeededMap::default(),
        todo: Vec::new(),
        values: Vec::new(),
        value_ids: SeededMap::default(),
        terminals: Vec::new(),
        terminal_ids: SeededMap::default(),
        states: vec![TerminalState::Unknown; tree.definitions.len()],
        named_literals: SeededMap::default(),
        lazy: Vec::new(),
        token_sets: Vec::new(),
        documents: Vec::new(),
        explicit_ignore: false,
        ignored: Vec::new(),
    };
    l.find_named_literals();
    let mut ignored = Vec::new();
    for space in 0..tree.spaces.len() {
        ignored.push(l.ignored_terminals(space)?);
    }
    let once = tree.spaces.iter().any(|s| s.ignore_once);
    l.explicit_ignore = once || ignored.iter().any(|i| *i != ignored[0]);
    for (terminals, space) in ignored.iter().zip(&tree.spaces) {
        let choice = terminals.iter().map(|&t| Node::Terminal(t)).collect();
        let max = if space.ignore_once { 1 } else { UNBOUNDED };
        l.ignored.push(match terminals.is_empty() {
            true => Node::Empty,
            false => Node::Repeat { body: Box::new(Node::Choice(choice)), min: 0, max },
        });
    }
    let start = l.start_of(0)?;
    l.run()?;
    if lexer != Lexer::Any {
        l.let_lazy_ones_count_first(start)?;
    }
    l.x.check()?;
    let indentation = l.indentation()?.filter(|i| !ignored.iter().any(|of| of.contains(&i.newline)));
    let ignored = if l.explicit_ignore { Vec::new() } else { ignored.swap_remove(0) };
    let grammar = Grammar {
        exprs: l.x,
        rules: l.rules,
        terminals: l.terminals,
        token_sets: l.token_sets,
        documents: l.documents,
        start,
        ignored,
        lexer,
        indentation,
    };
    if let Some(indentation) = &grammar.indentation {
        indentation::check(&grammar, indentation)?;
    }
    Ok(grammar)
}

impl Lowering<'_> {
    /// Lowers the bodies of all rules that are named from the start.
    fn run(&mut self) -> Result<()> {
        while let Some((rule, key)) = self.todo.pop() {
            self.x.check()?;
            let (body, max_tokens) = self.rule_body(&key)?;
            let rule = &mut self.rules[rule as usize];
            rule.body = body;
            rule.max_tokens = max_tokens;
        }
        Ok(())
    }

    /// The rule that a grammar begins with.
    fn start_of(&mut self, space: SpaceId) -> Result<RuleId> {
        let s = &self.tree.spaces[space as usize];
        let Some(&definition) = s.names.get(&s.start) else {
            let known = s.order.iter().map(|&d| &self.tree.definitions[d as usize]).filter(|d| !d.imported);
            let hint = crate::error::near_name::did_you_mean(&s.start, known.map(|d| d.name.as_str()));
            let message = format!("there is no rule {:?} to start with{hint}", s.start);
            let e = self.tree.texts.error(s.place, message).coded_about(ErrorCode::NoStart, s.start.as_str());
            return Err(e.with_hint("name another one as `start`"));
        };
        let d = &self.tree.definitions[definition as usize];
        if !d.parameters.is_empty() {
            let message = format!("the start rule {:?} has parameters or a number; a start rule has none", s.start);
            return Err(self.tree.texts.error(d.place, message));
        }
        if d.terminal {
            let terminal = self.defined_terminal(definition)?;
            let body = self.symbol(space, Node::Terminal(terminal));
            return self.wrapper(space, body);
        }
        let rule = self.rule(RuleKey { definition, arguments: Vec::new() })?;
        if !self.explicit_ignore || self.ignored[space as usize] == Node::Empty {
            return Ok(rule);
        }
        // What may stand before the first symbol.
        self.wrapper(space, Node::Rule(rule))
    }

    /// A rule of no definition, for the start of a grammar.
    fn wrapper(&mut self, space: SpaceId, body: Node) -> Result<RuleId> {
        let s = &self.tree.spaces[space as usize];
        let place = self.tree.texts.offset(s.place);
        let before = if self.explicit_ignore { self.ignored[space as usize].clone() } else { Node::Empty };
        let body = if before == Node::Empty { body } else { Node::Sequence(vec![before, body]) };
        self.new_rule(format!("{} (start)", s.start), place, body)
    }

    fn new_rule(&mut self, name: String, place: usize, body: Node) -> Result<RuleId> {
        let most = self.limits.max_rules;
        if self.rules.len() >= most {
            let error = Error::limit("rules of a grammar", most as u64, most as u64 + 1).set_by("max_rules");
            return Err(limit_at(error, place));
        }
        self.rules.push(Rule { name, place, body, max_tokens: None });
        Ok(self.rules.len() as RuleId - 1)
    }

    /// The number of a rule, whose body is lowered later.
    fn rule(&mut self, key: RuleKey) -> Result<RuleId> {
        if let Some(&id) = self.rule_ids.get(&key) {
            return Ok(id);
        }
        let d = &self.tree.definitions[key.definition as usize];
        let arguments: Vec<String> = key.arguments.iter().map(|&v| self.value_name(v)).collect();
        let name = match &arguments[..] {
            [] => d.name.clone(),
            [number] if d.is_parametric() => format!("{}::{number}", d.name),
            _ => format!("{}{{{}}}", d.name, arguments.join(",")),
        };
        let id = self.new_rule(name, self.tree.texts.offset(d.place), Node::Empty)?;
        self.rule_ids.insert(key.clone(), id);
        self.todo.push((id, key));
        Ok(id)
    }

    fn value(&mut self, value: Value) -> ValueId {
        if let Some(&id) = self.value_ids.get(&value) {
            return id;
        }
        self.values.push(value.clone());
        let id = self.values.len() as ValueId - 1;
        self.value_ids.insert(value, id);
        id
    }

    /// A value in the name of a rule; cut off where it is long.
    fn value_name(&self, v: ValueId) -> String {
        match &self.values[v as usize] {
            Value::Definition(d) => self.tree.definitions[*d as usize].name.clone(),
            Value::Instance(d, _) => format!("{}{{...}}", self.tree.definitions[*d as usize].name),
            Value::Terminal(t) => self.terminals[*t as usize].name.chars().take(40).collect(),
            Value::Number(number) => number.to_string(),
        }
    }

    /// A symbol of a grammar, with what may stand behind it where that is written out.
    fn symbol(&self, space: SpaceId, node: Node) -> Node {
        match &self.ignored[space as usize] {
            ignored if self.explicit_ignore && *ignored != Node::Empty => Node::Sequence(vec![node, ignored.clone()]),
            _ => node,
        }
    }

    /// The terminals that a grammar ignores.
    fn ignored_terminals(&mut self, space: usize) -> Result<Vec<TerminalId>> {
        let parts: Vec<PartId> = self.tree.spaces[space].ignored.clone();
        let mut out = Vec::new();
        for p in parts {
            let terminal = self.terminal_of(space as SpaceId, p)?;
            if !out.contains(&terminal) {
                out.push(terminal);
            }
        }
        Ok(out)
    }
}
