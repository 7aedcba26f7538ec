//! `%import`: names of other files. Nothing is opened: files are texts that the caller passes, beside three libraries
//! of terminals that come with the crate.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::error::near_name::did_you_mean;
use crate::error::{ErrorCode, Result};
use crate::grammar::lark::directives::MOST_NESTED;
use crate::grammar::lark::lexer::Token;
use crate::grammar::lark::parser::{Parser, shown};
use crate::grammar::tree::{Module, SpaceId};
use crate::util::seeded_hash::SeededMap;

/// Libraries that come with the crate.
const LIBRARIES: [(&str, &str); 3] = [
    ("common", include_str!("library/common.lark")),
    ("python", include_str!("library/python.lark")),
    ("unicode", include_str!("library/unicode.lark")),
];

/// The texts that a grammar may name.
pub(crate) struct ImportedTexts<'a> {
    /// Files by their path, with dots or slashes.
    pub files: &'a BTreeMap<String, String>,
    /// Grammars by the name that stands behind `@`.
    pub grammars: &'a BTreeMap<String, String>,
    /// Named grammars that were read; `None` while one is being read.
    pub spaces: RefCell<SeededMap<String, Option<SpaceId>>>,
}

/// A name there, the name here, and where the import is written.
type ImportedName = (String, String, usize);

/// All that is imported from one file.
pub(crate) struct Import {
    path: Vec<String>,
    names: Vec<ImportedName>,
    at: usize,
}

impl Parser<'_, '_> {
    /// Reads a statement behind `%import`.
    pub fn import(&mut self, imports: &mut Vec<Import>) -> Result<()> {
        let start = self.peek()?.1;
        self.takes(Token::Mark('.'))?;
        let mut path = Vec::new();
        loop {
            let (name, _) = self.expect_name("the name of a file, a rule or a terminal")?;
            path.push(name.to_owned());
            if !self.takes(Token::Mark('.'))? {
                break;
            }
        }
        let names = if self.takes(Token::Mark('('))? {
            self.imported_names()?
        } else {
            let name = path.pop().unwrap_or_default();
            if path.is_empty() {
                let message = format!("the file that {name:?} comes from must stand before it: %import file.{name}");
                return Err(self.error(start, message));
            }
            let alias = self.alias(&name)?;
            vec![(name, alias, start)]
        };
        match self.peek()? {
            (Token::Newline, _) => {
                self.take()?;
            }
            (Token::End, _) => {}
            (Token::Mark('}'), _) if self.in_braces => {}
            (token, at) => return Err(self.error(at, format!("the import must end here, before {}", shown(token)))),
        }
        match imports.iter_mut().find(|i| i.path == path) {
            Some(known) => known.names.extend(names),
            None => imports.push(Import { path, names, at: start }),
        }
        Ok(())
    }

    /// The names of an import that stand in parentheses, whose first is taken.
    fn imported_names(&mut self) -> Result<Vec<ImportedName>> {
        let mut names = Vec::new();
        loop {
            match self.take()? {
                (Token::Newline, _) => {}
                (Token::Name(name), at) => {
                    let alias = self.alias(name)?;
                    names.push((name.to_owned(), alias, at));
                    while self.takes(Token::Newline)? {}
                    match self.take()? {
                        (Token::Mark(','), _) => {}
                        (Token::Mark(')'), _) => return Ok(names),
                        (token, at) => {
                            let message = format!("',' or ')' must stand behind a name, not {}", shown(token));
                            return Err(self.error(at, message));
                        }
                    }
                }
                (Token::Mark(')'), _) if !names.is_empty() => return Ok(names),
                (token, at) => return Err(self.error(at, format!("a name must stand here, not {}", shown(token)))),
            }
        }
    }

    /// The name behind an arrow, or the same name.
    fn alias(&mut self, name: &str) -> Result<String> {
        if !self.takes(Token::Arrow)? {
            return Ok(name.to_owned());
        }
        Ok(self.expect_name("the name that it gets here")?.0.to_owned())
    }
}

/// What helps without the file, behind a hint: a library that has all of these names, or a definition.
fn other_way(names: &[ImportedName]) -> String {
    let has = |library: &str, name: &str| {
        library.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', '.'])))
    };
    let listed = names.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>().join(", ");
    match LIBRARIES.iter().find(|(_, text)| names.iter().all(|(name, ..)| has(text, name))) {
        Some((library, _)) if names.len() > 1 => {
            format!("; or take those of the library: %import {library} ({listed})")
        }
        Some((library, _)) => format!("; or take that of the library: %import {library}.{listed}"),
        None => format!("; or define {listed} here, or take a terminal of the library, such as %import common.CNAME"),
    }
}

/// Reads the definitions of an import into the names of the parser's grammar.
pub(crate) fn load(parser: &mut Parser<'_, '_>, import: Import) -> Result<()> {
    let dotted = import.path.join(".");
    let slashed = import.path.join("/");
    let with_suffix = format!("{slashed}.lark");
    let given = [&dotted, &slashed, &with_suffix].into_iter().find_map(|p| parser.imported.files.get(p));
    let library = LIBRARIES.iter().find(|l| l.0 == dotted).map(|l| l.1);
    let Some(text) = given.map(String::as_str).or(library) else {
        let known = LIBRARIES.iter().map(|l| l.0).chain(parser.imported.files.keys().map(String::as_str));
        let hint = did_you_mean(&dotted, known);
        let message = format!("there is no file {dotted:?}{hint}");
        let e = parser.error(import.at, message).coded_about(ErrorCode::UnknownImport, dotted);
        return Err(e.with_hint(format!("pass its text in `imports`{}", other_way(&import.names))));
    };
    let mut chain = Some(parser.module);
    let mut depth = 0;
    while let Some(m) = chain.and_then(|m| parser.tree.modules.get(m as usize)) {
        depth += 1;
        if m.prefix.is_some() && m.path == dotted {
            return Err(parser.error(import.at, format!("the file {dotted:?} imports itself")));
        }
        chain = m.parent;
    }
    if depth + parser.nested > MOST_NESTED {
        return Err(parser.error(import.at, format!("imports nest no deeper than {MOST_NESTED} in each other")));
    }
    let mut aliases = SeededMap::default();
    for (name, alias, at) in &import.names {
        if let Some(other) = aliases.insert(name.clone(), alias.clone())
            && other != *alias
        {
            return Err(parser.error(*at, format!("{name:?} is imported under two names")));
        }
    }
    let module = parser.tree.modules.len() as u32;
    parser.tree.modules.push(Module {
        prefix: Some(import.path.join("__")),
        aliases,
        parent: Some(parser.module),
        path: dotted.clone(),
    });
    for (name, alias, at) in &import.names {
        let global = parser.tree.mangled(module, name);
        if parser.tree.spaces[parser.space as usize].names.contains_key(&global) {
            return Err(parser.error(*at, format!("{alias:?} is imported, and defined already")));
        }
    }
    let number = parser.tree.texts.add(dotted.clone(), text);
    let mut inner =
        Parser::new(parser.tree, (number, text), parser.limits, parser.imported, (parser.space, module), parser.nested);
    inner.statements()?;
    for (name, _, at) in &import.names {
        let global = parser.tree.mangled(module, name);
        let space = &parser.tree.spaces[parser.space as usize];
        if !space.names.contains_key(&global) {
            let prefix = parser.tree.mangled(module, "");
            let there = space.names.keys().filter_map(|k| k.strip_prefix(&prefix));
            let hint = did_you_mean(name, there);
            return Err(parser.error(*at, format!("the file {dotted:?} defines no {name:?}{hint}")));
        }
    }
    Ok(())
}
