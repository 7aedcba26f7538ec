//! Statements of a grammar in Lark's notation: definitions and directives.

use crate::error::near_name::did_you_mean;
use crate::error::{Error, Result};
use crate::grammar::error_place::TextPlace;
use crate::grammar::lark::imports::{Import, ImportedTexts, load};
use crate::grammar::lark::lexer::{Lexer, Token};
use crate::grammar::parametric::NUMBER;
use crate::grammar::tree::{Attributes, Definition, ModuleId, Part, PartId, SpaceId, Tree};
use crate::limits::Limits;

/// Parameters of one template.
const MOST_PARAMETERS: usize = 100;

/// How a definition stands to one of the same name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    New,
    Overrides,
    Extends,
}

/// What statements say that counts once all of them are read.
#[derive(Default)]
struct AfterStatements {
    imports: Vec<Import>,
    ignores: Vec<PartId>,
}

/// Reads one text into a tree.
pub(crate) struct Parser<'a, 'b> {
    pub tree: &'b mut Tree,
    pub lexer: Lexer<'a>,
    /// The number of the text.
    pub number: u32,
    pub limits: &'b Limits,
    pub imported: &'b ImportedTexts<'b>,
    /// Where definitions go, and how names change on the way.
    pub space: SpaceId,
    pub module: ModuleId,
    /// Grammars that this one is nested in, in braces or through imports.
    pub nested: usize,
    /// A brace ends the statements.
    pub in_braces: bool,
    /// Parameters of the definition that is read.
    pub parameters: Vec<String>,
    ahead: Option<(Token<'a>, usize)>,
    definitions: Vec<(Standing, Definition)>,
}

impl<'a, 'b> Parser<'a, 'b> {
    pub fn new(
        tree: &'b mut Tree,
        (number, text): (u32, &'a str),
        limits: &'b Limits,
        imported: &'b ImportedTexts<'b>,
        (space, module): (SpaceId, ModuleId),
        nested: usize,
    ) -> Self {
        Parser {
            tree,
            lexer: Lexer { text, at: 0 },
            number,
            limits,
            imported,
            space,
            module,
            nested,
            in_braces: false,
            parameters: Vec::new(),
            ahead: None,
            definitions: Vec::new(),
        }
    }

    /// A place in this text.
    pub fn place(&self, at: usize) -> TextPlace {
        TextPlace { text: self.number, at }
    }

    /// An error at a place of this text.
    pub fn error(&self, at: usize, message: impl AsRef<str>) -> Error {
        self.tree.texts.error(self.place(at), message)
    }

    /// An error for what has no exact meaning.
    pub fn unsupported(&self, at: usize, message: impl AsRef<str>) -> Error {
        self.tree.texts.unsupported(self.place(at), message)
    }

    /// The next symbol, which stays where it is.
    pub fn peek(&mut self) -> Result<(Token<'a>, usize)> {
        if let Some(token) = self.ahead {
            return Ok(token);
        }
        let token = self.lexer.next().map_err(|(at, message)| self.error(at, message))?;
        self.ahead = Some(token);
        Ok(token)
    }

    /// Takes the next symbol.
    pub fn take(&mut self) -> Result<(Token<'a>, usize)> {
        let token = self.peek()?;
        self.ahead = None;
        Ok(token)
    }

    /// Takes the next symbol if it is this one.
    pub fn takes(&mut self, token: Token<'_>) -> Result<bool> {
        let found = self.peek()?.0 == token;
        if found {
            self.ahead = None;
        }
        Ok(found)
    }

    /// Takes this symbol.
    ///
    /// # Errors
    /// Anything else stands here.
    pub fn expect(&mut self, mark: char, what: &str) -> Result<usize> {
        let (token, at) = self.take()?;
        if token == Token::Mark(mark) {
            return Ok(at);
        }
        Err(self.error(at, format!("{mark:?} must stand here {what}, not {}", shown(token))))
    }

    /// Takes a name.
    ///
    /// # Errors
    /// Anything else stands here.
    pub fn expect_name(&mut self, what: &str) -> Result<(&'a str, usize)> {
        match self.take()? {
            (Token::Name(name), at) => Ok((name, at)),
            (token, at) => Err(self.error(at, format!("{what} must stand here, not {}", shown(token)))),
        }
    }

    /// All statements, up to the end of the text or the brace that ends them.
    pub fn statements(&mut self) -> Result<()> {
        let mut later = AfterStatements::default();
        loop {
            let (token, at) = self.peek()?;
            match token {
                Token::Newline => {
                    self.take()?;
                }
                Token::End if self.in_braces => return Err(self.error(at, "'}' must end the nested grammar")),
                Token::End => break,
                Token::Mark('}') if self.in_braces => break,
                Token::Name(_) | Token::Mark('!' | '?') => self.definition(Standing::New)?,
                Token::Directive(name) => {
                    self.take()?;
                    self.directive(name, at, &mut later)?;
                }
                _ => {
                    let message = "a definition \"name: ...\" or a directive must begin here";
                    return Err(self.error(at, format!("{message}, not {}", shown(token))));
                }
            }
        }
        for import in later.imports {
            load(self, import)?;
        }
        for (standing, definition) in std::mem::take(&mut self.definitions) {
            self.define(standing, definition)?;
        }
        // What an imported file ignores is its own affair.
        if !self.is_imported() {
            self.tree.spaces[self.space as usize].ignored.extend(later.ignores);
        }
        Ok(())
    }

    /// What stands behind `%name`.
    fn directive(&mut self, name: &str, at: usize, later: &mut AfterStatements) -> Result<()> {
        match name {
            "import" => self.import(&mut later.imports),
            "ignore" => {
                later.ignores.push(self.expansions()?);
                self.end_of_statement()
            }
            "declare" => self.declare(),
            "override" => self.definition(Standing::Overrides),
            "extend" => self.definition(Standing::Extends),
            "llguidance" => self.options(),
            _ => {
                let known = ["import", "ignore", "declare", "override", "extend", "llguidance"];
                let hint = did_you_mean(name, known.into_iter());
                Err(self.error(at, format!("there is no directive %{name}{hint}")))
            }
        }
    }

    fn end_of_statement(&mut self) -> Result<()> {
        match self.peek()? {
            (Token::Newline, _) => self.take().map(|_| ()),
            (Token::End, _) => Ok(()),
            (Token::Mark('}'), _) if self.in_braces => Ok(()),
            (token, at) => Err(self.error(at, format!("the statement must end here, before {}", shown(token)))),
        }
    }

    fn is_imported(&self) -> bool {
        self.tree.modules[self.module as usize].prefix.is_some()
    }

    /// What a name of this text is called in the grammar that imports it.
    pub fn global(&self, name: &str) -> String {
        self.tree.mangled(self.module, name)
    }

    fn declare(&mut self) -> Result<()> {
        loop {
            let (name, at) = self.expect_name("the name of a terminal")?;
            if !is_terminal(name) {
                return Err(
                    self.error(at, format!("only terminals are declared, and {name:?} is a rule by its letters"))
                );
            }
            let place = self.place(at);
            let body = self.tree.push(Part::Choice(Vec::new()), place);
            let definition = Definition {
                name: self.global(name),
                terminal: true,
                declared: true,
                place,
                parameters: Vec::new(),
                priority: 0,
                attributes: Attributes::default(),
                body,
                space: self.space,
                imported: self.is_imported(),
            };
            self.definitions.push((Standing::New, definition));
            self.takes(Token::Mark(','))?;
            if !matches!(self.peek()?.0, Token::Name(_)) {
                return self.end_of_statement();
            }
        }
    }

    fn definition(&mut self, standing: Standing) -> Result<()> {
        let (name, at) = self.name_of_definition()?;
        let terminal = is_terminal(name);
        self.template_parameters(terminal, at)?;
        let (attributes, priority) = self.attributes_and_priority(terminal)?;
        self.expect(':', "behind the name")?;
        let body = self.expansions()?;
        self.end_of_statement()?;
        let place = self.place(at);
        let definition = Definition {
            name: self.global(name),
            terminal,
            declared: false,
            place,
            parameters: std::mem::take(&mut self.parameters),
            priority,
            attributes,
            body,
            space: self.space,
            imported: self.is_imported(),
        };
        self.definitions.push((standing, definition));
        Ok(())
    }

    /// The name of a rule or a terminal, with the modifiers before it, which mean nothing here.
    fn name_of_definition(&mut self) -> Result<(&'a str, usize)> {
        let mut modifiers = String::new();
        while let (Token::Mark(c @ ('!' | '?')), at) = self.peek()? {
            self.take()?;
            if modifiers.contains(c) {
                return Err(self.error(at, format!("{c:?} stands here twice")));
            }
            modifiers.push(c);
        }
        let (name, at) = self.expect_name("the name of a rule or a terminal")?;
        let terminal = is_terminal(name);
        if terminal && !modifiers.is_empty() {
            return Err(self.error(at, "the modifiers ? and ! stand before rules, not before terminals"));
        }
        if terminal && name.bytes().any(|b| b.is_ascii_lowercase()) {
            let message =
                format!("{name:?} mixes upper and lower case: terminals are named in capitals, rules without any");
            return Err(self.error(at, message));
        }
        Ok((name, at))
    }

    /// The parameters of the definition that is read, which a template has in braces. Its name stands at `at`.
    fn template_parameters(&mut self, terminal: bool, at: usize) -> Result<()> {
        self.parameters.clear();
        if !self.takes(Token::Mark('{'))? {
            return Ok(());
        }
        loop {
            let (parameter, at) = self.expect_name("the name of a parameter")?;
            if self.parameters.iter().any(|p| p == parameter) {
                return Err(self.error(at, format!("the parameter {parameter:?} stands here twice")));
            }
            if self.parameters.len() == MOST_PARAMETERS {
                return Err(self.error(at, format!("a template has at most {MOST_PARAMETERS} parameters")));
            }
            self.parameters.push(parameter.to_owned());
            if !self.takes(Token::Mark(','))? {
                break;
            }
        }
        self.expect('}', "behind the parameters")?;
        if terminal {
            return Err(self.error(at, "terminals have no parameters; only rules are templates"));
        }
        Ok(())
    }

    /// What stands between the name and the colon: attributes in brackets, a priority behind a point, and `::_`, by
    /// which a rule has a number.
    fn attributes_and_priority(&mut self, terminal: bool) -> Result<(Attributes, i32)> {
        let (mut attributes, mut priority) = (Attributes::default(), 0);
        loop {
            match self.peek()? {
                (Token::Mark('['), place) => {
                    attributes = self.attributes()?;
                    if self.parameters.iter().any(|p| p == NUMBER) {
                        return Err(self.error(place, "a rule with a number has no attributes"));
                    }
                    if terminal {
                        let message = "terminals have no attributes; write a rule that is made of the terminal";
                        return Err(self.error(place, message));
                    }
                }
                (Token::Mark('.'), _) => {
                    self.take()?;
                    priority = match self.take()? {
                        (Token::Number(n), at) => {
                            let number = n.parse().map_err(|_| self.error(at, "this priority is too large"));
                            number?
                        }
                        (token, at) => {
                            return Err(self.error(at, format!("a priority must stand here, not {}", shown(token))));
                        }
                    };
                }
                (Token::Parameter, at) => {
                    self.take()?;
                    let (name, named_at) = self.expect_name("_ for the number of the rule")?;
                    if name != "_" {
                        return Err(self.error(named_at, "'_' must stand behind '::' where the rule is defined"));
                    }
                    if terminal || !self.parameters.is_empty() {
                        let message = "only rules have a number, and no parameters beside it";
                        return Err(self.error(at, message));
                    }
                    self.parameters.push(NUMBER.to_owned());
                }
                _ => break,
            }
        }
        Ok((attributes, priority))
    }

    /// Adds a definition to the names of its grammar.
    fn define(&mut self, standing: Standing, definition: Definition) -> Result<()> {
        let kind = if definition.terminal { "terminal" } else { "rule" };
        let (name, place) = (definition.name.clone(), definition.place);
        let space = &mut self.tree.spaces[self.space as usize];
        let Some(&known) = space.names.get(&name) else {
            if standing != Standing::New {
                let hint = did_you_mean(&name, space.names.keys().map(String::as_str));
                let what = if standing == Standing::Overrides { "override" } else { "extend" };
                let message = format!("there is no {kind} {name:?} to {what}{hint}");
                return Err(self.tree.texts.error(place, message));
            }
            let id = self.tree.definitions.len() as u32;
            space.names.insert(name, id);
            space.order.push(id);
            self.tree.definitions.push(definition);
            return Ok(());
        };
        let slot = known as usize;
        match standing {
            Standing::New => {
                let message = format!(
                    "the {kind} {name:?} is defined twice; write %override to replace or %extend to widen the first one"
                );
                return Err(self.tree.texts.error(place, message));
            }
            Standing::Overrides => {
                self.tree.definitions[slot] = definition;
                self.tree.extensions.remove(&known);
            }
            Standing::Extends => {
                let old = &self.tree.definitions[slot];
                if old.parameters != definition.parameters {
                    let message = format!("the {kind} {name:?} has other parameters than the one that it extends");
                    return Err(self.tree.texts.error(place, message));
                }
                self.tree.extensions.entry(known).or_default().push(definition.body);
            }
        }
        Ok(())
    }
}

/// Whether a name is a terminal's: its first letter is a capital.
pub(crate) fn is_terminal(name: &str) -> bool {
    name.bytes().find(u8::is_ascii_alphabetic).is_some_and(|b| b.is_ascii_uppercase())
}

/// A symbol in an error.
pub(crate) fn shown(token: Token<'_>) -> String {
    match token {
        Token::Name(name) => format!("the name {name:?}"),
        Token::Text { .. } => "a text".to_owned(),
        Token::Pattern { .. } => "a pattern".to_owned(),
        Token::Number(n) => format!("the number {n}"),
        Token::Special(name) => format!("the special token <{name}>"),
        Token::Grammar(name) => format!("@{name}"),
        Token::Directive(name) => format!("%{name}"),
        Token::Arrow => "'->'".to_owned(),
        Token::To => "'..'".to_owned(),
        Token::Parameter => "'::'".to_owned(),
        Token::Mark(c) => format!("{c:?}"),
        Token::Newline => "the end of the line".to_owned(),
        Token::End => "the end of the grammar".to_owned(),
    }
}
