//! Lark's indenter: which terminals it concerns, and whether a grammar may have one.

use crate::error::{Error, ErrorKind, Result, SourcePlace};
use crate::grammar::lower::balanced_blocks::Check;
use crate::grammar::lower::{Lowering, TerminalKey};
use crate::grammar::model::{Grammar, Indentation, Lexer, TerminalId};

impl Lowering<'_> {
    /// Lark's indenter, where a grammar uses the terminals that it makes and has one for ends of lines.
    ///
    /// # Errors
    /// `Unsupported` if only one of them is used, or both in a grammar inside of this one.
    pub(super) fn indentation(&self) -> Result<Option<Indentation>> {
        self.no_indentation_inside()?;
        let Some(names) = self.tree.spaces.first().map(|space| &space.names) else { return Ok(None) };
        let defined = |name: &str, declared: bool| {
            let d = *names.get(name)?;
            let fits = self.tree.definitions[d as usize].declared == declared;
            if fits { self.terminal_ids.get(&TerminalKey::Definition(d)).copied() } else { None }
        };
        // Lark gives these names to terminals that are written as texts.
        let bracket = |(name, text): (&str, &str)| {
            let unnamed = || self.terminal_ids.get(&TerminalKey::Text(text.to_owned(), false)).copied();
            defined(name, false).or_else(unnamed)
        };
        let Some(newline) = defined("_NEWLINE", false).or_else(|| defined("_NL", false)) else { return Ok(None) };
        let (indent, dedent) = match (defined("_INDENT", true), defined("_DEDENT", true)) {
            (Some(indent), Some(dedent)) => (indent, dedent),
            (None, None) => return Ok(None),
            (Some(one), None) | (None, Some(one)) => {
                let message =
                    "_INDENT and _DEDENT belong together: each block is opened by one and closed by the other";
                let place = SourcePlace::Byte(self.terminals[one as usize].place);
                return Err(Error::new(ErrorKind::Unsupported, message).at(place));
            }
        };
        Ok(Some(Indentation {
            newline,
            indent,
            dedent,
            open: [("LPAR", "("), ("LSQB", "["), ("LBRACE", "{")].into_iter().filter_map(bracket).collect(),
            close: [("RPAR", ")"), ("RSQB", "]"), ("RBRACE", "}")].into_iter().filter_map(bracket).collect(),
            tab_width: 8,
        }))
    }

    /// A grammar inside of another one is read without an indenter, so its blocks could never come.
    fn no_indentation_inside(&self) -> Result<()> {
        for space in self.tree.spaces.iter().skip(1) {
            let made = |name: &str| {
                let d = *space.names.get(name)?;
                let declared = self.tree.definitions[d as usize].declared;
                self.terminal_ids.get(&TerminalKey::Definition(d)).filter(|_| declared)
            };
            let lines = ["_NEWLINE", "_NL"].into_iter().any(|name| space.names.contains_key(name));
            if let (Some(&indent), Some(_), true) = (made("_INDENT"), made("_DEDENT"), lines) {
                let message = "indentation stands in a whole grammar only: inside of another one nothing makes _INDENT \
                               and _DEDENT";
                let place = SourcePlace::Byte(self.terminals[indent as usize].place);
                return Err(Error::new(ErrorKind::Unsupported, message).at(place));
            }
        }
        Ok(())
    }
}

/// Whether the blocks of a grammar fit together.
///
/// # Errors
/// `Unsupported` where they do not, with the place of the rule.
pub(super) fn check(grammar: &Grammar, indentation: &Indentation) -> Result<()> {
    if grammar.lexer != Lexer::Contextual {
        let place = grammar.terminals[indentation.newline as usize].place;
        let message = "indentation needs lexer=\"contextual\": _INDENT and _DEDENT are made behind a lexer that finds \
                       the ends of lines";
        return Err(Error::new(ErrorKind::Unsupported, message).at(SourcePlace::Byte(place)));
    }
    let seen = std::iter::once(indentation.newline).chain(indentation.open.iter().chain(&indentation.close).copied());
    if let Some(terminal) = seen.into_iter().find(|terminal| grammar.ignored.contains(terminal)) {
        let terminal = &grammar.terminals[terminal as usize];
        let message = format!(
            "{} is ignored, so the indenter does not see it; take it out of %ignore, or do not declare _INDENT and \
             _DEDENT",
            terminal.name
        );
        return Err(Error::new(ErrorKind::Unsupported, message).at(SourcePlace::Byte(terminal.place)));
    }
    let check = Check::new(grammar, indentation);
    let blocks = |t: TerminalId| i32::from(t == indentation.indent) - i32::from(t == indentation.dedent);
    check.balance(blocks, "blocks", "_DEDENT may come where no block is open")?;
    let brackets = |t: TerminalId| i32::from(indentation.open.contains(&t)) - i32::from(indentation.close.contains(&t));
    let depth = check.balance(brackets, "brackets", "a closing bracket may come where none is open")?;
    check.brackets_hold_no_lines(brackets, &depth)?;
    check.neighbours()
}
