//! What the three syntaxes read a text to: definitions, and their bodies as parts.
//!
//! Parts live in one list in which children come before their parents, so no pass over them recurses, however deep they
//! nest. Names are resolved later.

use crate::error::{Error, Result, SourcePlace};
use crate::grammar::error_place::{TextPlace, Texts};
use crate::grammar::model::TokenName;
use crate::grammar::parametric::{Condition, NUMBER, Step};
use crate::limits::Limits;
use crate::util::seeded_hash::SeededMap;

/// An index into [`Tree::parts`].
pub(crate) type PartId = u32;
/// An index into [`Tree::definitions`].
pub(crate) type DefinitionId = u32;
/// An index into [`Tree::spaces`].
pub(crate) type SpaceId = u32;
/// An index into [`Tree::modules`].
pub(crate) type ModuleId = u32;

/// Parentheses nest no deeper than this, whatever the limits say: bodies of rules are walked by recursion later.
const DEEPEST: usize = 2_000;

/// A part of a definition's body.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Nothing.
    Empty,
    /// A rule, a terminal or a parameter.
    Name(Box<str>),
    /// A template with arguments.
    Template { name: Box<str>, arguments: Vec<PartId> },
    /// Exactly this text.
    Text { text: String, any_case: bool },
    /// A pattern in Python's dialect.
    Pattern { pattern: String, flags: String },
    /// A pattern in ECMA-262's dialect.
    EcmaPattern { pattern: String, flags: String },
    /// One character of these ranges.
    Class(Vec<(char, char)>),
    /// One after the other.
    Sequence(Vec<PartId>),
    /// Any one of these.
    Choice(Vec<PartId>),
    /// From `min` to `max` copies.
    Repeat { body: PartId, min: u32, max: u32 },
    /// What all of these say; in terminals only.
    And(Vec<PartId>),
    /// All texts but these; in terminals only.
    Not(PartId),
    /// Special tokens.
    Tokens { tokens: Vec<TokenName>, complement: bool },
    /// A JSON document of a schema.
    Document(String),
    /// A grammar inside of this one.
    Nested(SpaceId),
    /// Any number of neighbouring chunks of a list, in their order.
    Substring(Vec<String>),
    /// Free text in which tags open other parts.
    Dispatch(Box<Dispatch>),
    /// A body that must be followed by what another part says.
    Ahead { body: PartId, ahead: PartId },
    /// The texts of the strings of a JSON Schema, without quotes and escapes.
    SchemaText(Box<SchemaText>),
    /// Only texts that a JSON string spells as they are.
    JsonString(PartId),
    /// A parametric rule, and which number it gets.
    Parametric { name: Box<str>, step: Step },
    /// An alternative of a parametric rule that is for some numbers only.
    If { body: PartId, condition: Box<Condition> },
}

/// What a JSON Schema says about strings.
#[derive(Clone, Debug, Default)]
pub(crate) struct SchemaText {
    pub format: Option<String>,
    /// A pattern in ECMA-262's dialect, of which the text contains a match.
    pub pattern: Option<String>,
    /// The fewest and the most characters.
    pub lengths: (u64, Option<u64>),
}

/// Free text in which tags open other parts.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    /// Each tag with the part that follows it.
    pub tags: Vec<(DispatchTag, PartId)>,
    /// Whether free text goes on behind the part that a tag opened.
    pub repeats: bool,
    /// What the free text must not contain.
    pub excludes: Vec<DispatchTag>,
}

/// What opens a part inside of free text.
#[derive(Clone, Debug)]
pub(crate) enum DispatchTag {
    Text(String),
    Token(TokenName),
}

impl Part {
    /// Calls `f` with each child.
    pub fn children(&self, mut f: impl FnMut(PartId)) {
        match self {
            Part::Template { arguments: v, .. } | Part::Sequence(v) | Part::Choice(v) | Part::And(v) => {
                v.iter().for_each(|&p| f(p));
            }
            Part::Repeat { body, .. } | Part::Not(body) | Part::JsonString(body) | Part::If { body, .. } => f(*body),
            Part::Ahead { body, ahead } => {
                f(*body);
                f(*ahead);
            }
            Part::Dispatch(d) => d.tags.iter().for_each(|t| f(t.1)),
            Part::Empty
            | Part::Name(_)
            | Part::Text { .. }
            | Part::Pattern { .. }
            | Part::EcmaPattern { .. }
            | Part::SchemaText(_)
            | Part::Class(_)
            | Part::Tokens { .. }
            | Part::Document(_)
            | Part::Nested(_)
            | Part::Parametric { .. }
            | Part::Substring(_) => {}
        }
    }
}

/// What is said of a rule in brackets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    /// Only the shortest texts.
    pub lazy: bool,
    /// What ends the text, and is part of it.
    pub suffix: Option<PartId>,
    /// What ends the text. A stop that is empty ends nothing.
    pub stop: Option<PartId>,
    /// The name that the text is reported under.
    pub capture: Option<String>,
    /// The most tokens.
    pub max_tokens: Option<u32>,
}

/// A definition of a rule or a terminal.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    /// Its name, as the grammar that uses it says it.
    pub name: String,
    /// Whether it is a terminal.
    pub terminal: bool,
    /// Whether it is only declared: it has no texts, and something else makes it.
    pub declared: bool,
    pub place: TextPlace,
    /// Parameters of a template.
    pub parameters: Vec<String>,
    pub priority: i32,
    pub attributes: Attributes,
    pub body: PartId,
    /// Where its body's names are looked up.
    pub space: SpaceId,
    /// Whether another file brought it.
    pub imported: bool,
}

/// How names of an imported file become names of the grammar that imports it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Module {
    /// Put before all names that have no other name here; `None` for the grammar itself.
    pub prefix: Option<String>,
    /// What imported names are called.
    pub aliases: SeededMap<String, String>,
    /// The module whose text imports this one.
    pub parent: Option<ModuleId>,
    /// The path that the file is known by.
    pub path: String,
}

/// The names of one grammar: the whole, or one that is nested in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space {
    /// Definitions by name.
    pub names: SeededMap<String, DefinitionId>,
    /// Names in the order of their definitions.
    pub order: Vec<DefinitionId>,
    /// The name of the start rule.
    pub start: String,
    /// Where the grammar begins.
    pub place: TextPlace,
    /// What may stand between terminals.
    pub ignored: Vec<PartId>,
    /// At most one ignored text stands between two terminals.
    pub ignore_once: bool,
}

/// All that was read.
#[derive(Default)]
pub(crate) struct Tree {
    pub texts: Texts,
    pub parts: Vec<Part>,
    pub places: Vec<TextPlace>,
    pub definitions: Vec<Definition>,
    pub spaces: Vec<Space>,
    pub modules: Vec<Module>,
    /// Bodies that widen definitions, until all are read.
    pub extensions: SeededMap<DefinitionId, Vec<PartId>>,
    /// Whether some names are terminals, and others rules.
    pub has_terminals: bool,
}

impl Definition {
    /// Whether it is a rule for each number.
    pub fn is_parametric(&self) -> bool {
        self.parameters.first().is_some_and(|name| name == NUMBER)
    }
}

impl Tree {
    /// Puts the bodies that widen definitions beside theirs.
    pub fn extend_definitions(&mut self) {
        let mut all: Vec<(DefinitionId, Vec<PartId>)> = self.extensions.drain().collect();
        all.sort_unstable();
        for (id, mut bodies) in all {
            let (body, place) = (self.definitions[id as usize].body, self.definitions[id as usize].place);
            if !self.definitions[id as usize].declared {
                bodies.insert(0, body);
            }
            self.definitions[id as usize].declared = false;
            self.definitions[id as usize].body = self.choice(bodies, place);
        }
    }

    /// Adds a part whose children are in the list already.
    pub fn push(&mut self, part: Part, place: TextPlace) -> PartId {
        self.parts.push(part);
        self.places.push(place);
        self.parts.len() as PartId - 1
    }

    /// A part.
    pub fn part(&self, p: PartId) -> &Part {
        &self.parts[p as usize]
    }

    /// Where a part is written.
    pub fn place(&self, p: PartId) -> TextPlace {
        self.places[p as usize]
    }

    /// These in turn.
    pub fn sequence(&mut self, mut parts: Vec<PartId>, place: TextPlace) -> PartId {
        match parts.len() {
            0 => self.push(Part::Empty, place),
            1 => parts.swap_remove(0),
            _ => self.push(Part::Sequence(parts), place),
        }
    }

    /// Any one of these.
    pub fn choice(&mut self, mut parts: Vec<PartId>, place: TextPlace) -> PartId {
        if parts.len() == 1 { parts.swap_remove(0) } else { self.push(Part::Choice(parts), place) }
    }

    /// All parts below `root` and itself, children first.
    pub fn below(&self, root: PartId) -> Vec<PartId> {
        let mut found = vec![root];
        let mut i = 0;
        while let Some(&p) = found.get(i) {
            self.part(p).children(|child| found.push(child));
            i += 1;
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What a name of a module is called in the grammar that imports it.
    pub fn mangled(&self, module: ModuleId, name: &str) -> String {
        let mut name = name.to_owned();
        let mut module = Some(module);
        while let Some(m) = module.and_then(|m| self.modules.get(m as usize)) {
            if let Some(prefix) = &m.prefix {
                name = match m.aliases.get(&name) {
                    Some(alias) => alias.clone(),
                    None => match name.strip_prefix('_') {
                        Some(rest) => format!("_{prefix}__{rest}"),
                        None => format!("{prefix}__{name}"),
                    },
                };
            }
            module = m.parent;
        }
        name
    }
}

/// How deep parentheses may nest; `place` is that of the next one.
pub(crate) fn check_depth(depth: usize, limits: &Limits, place: TextPlace) -> Result<()> {
    let most = limits.max_depth.min(DEEPEST);
    if depth > most {
        let error = Error::limit("nesting of a grammar", most as u64, depth as u64).set_by("max_depth");
        return Err(if place.text == 0 { error.at(SourcePlace::Byte(place.at)) } else { error });
    }
    Ok(())
}
