//! Keywords without subschemas, by the type of the values that they are about.

use crate::error::{Error, ErrorKind, Result};
use crate::schema::drafts::{Draft, Keyword};
use crate::schema::format;
use crate::schema::json_tape::{TapeId, TapeKind};
use crate::schema::keywords;
use crate::schema::options::Formats;
use crate::schema::parse::{Object, of_another_group};
use crate::schema::report::{Enforcement, UNKNOWN_FORMAT};

impl Object<'_, '_> {
    pub(super) fn of_any_type(&mut self, keyword: Keyword, value: TapeId) -> Result<()> {
        let tape = &self.document.tape;
        match keyword {
            Keyword::Type => {
                self.out.types = Some(keywords::types(tape, value)?);
                self.out.bare_integers = self.dialect.draft == Draft::D4;
            }
            Keyword::Enum => self.out.enumeration = Some(keywords::values(tape, value)?),
            Keyword::Const => self.out.constant = Some(Box::new(keywords::value(tape, value)?)),
            other => return Err(of_another_group(other)),
        }
        Ok(())
    }

    pub(super) fn of_numbers(&mut self, keyword: Keyword, value: TapeId) -> Result<()> {
        let tape = &self.document.tape;
        match keyword {
            Keyword::Minimum => self.out.minimum = Some(Box::new(keywords::number(tape, value)?)),
            Keyword::Maximum => self.out.maximum = Some(Box::new(keywords::number(tape, value)?)),
            Keyword::ExclusiveMinimum | Keyword::ExclusiveMaximum => self.exclusive(keyword, value)?,
            Keyword::MultipleOf => self.out.multiple_of = Some(Box::new(keywords::positive(tape, value)?)),
            other => return Err(of_another_group(other)),
        }
        Ok(())
    }

    pub(super) fn of_strings(&mut self, keyword: Keyword, value: TapeId) -> Result<()> {
        let tape = &self.document.tape;
        match keyword {
            Keyword::MinLength => self.out.min_length = Some(keywords::count(tape, value)?),
            Keyword::MaxLength => self.out.max_length = Some(keywords::count(tape, value)?),
            Keyword::Pattern => self.out.pattern = Some(keywords::string(tape, value)?.to_owned()),
            Keyword::Format => self.format(value)?,
            other => return Err(of_another_group(other)),
        }
        Ok(())
    }

    pub(super) fn of_arrays(&mut self, keyword: Keyword, value: TapeId) -> Result<()> {
        let tape = &self.document.tape;
        match keyword {
            Keyword::MinItems => self.out.min_items = Some(keywords::count(tape, value)?),
            Keyword::MaxItems => self.out.max_items = Some(keywords::count(tape, value)?),
            Keyword::UniqueItems => self.out.unique_items = keywords::boolean(tape, value)?,
            Keyword::MinContains => self.out.min_contains = Some(keywords::count(tape, value)?),
            Keyword::MaxContains => self.out.max_contains = Some(keywords::count(tape, value)?),
            other => return Err(of_another_group(other)),
        }
        Ok(())
    }

    pub(super) fn of_objects(&mut self, keyword: Keyword, value: TapeId) -> Result<()> {
        let tape = &self.document.tape;
        match keyword {
            Keyword::MinProperties => self.out.min_properties = Some(keywords::count(tape, value)?),
            Keyword::MaxProperties => self.out.max_properties = Some(keywords::count(tape, value)?),
            Keyword::Required => self.required(value)?,
            Keyword::DependentRequired => {
                keywords::object(tape, value)?;
                for (name, list) in tape.members(value) {
                    self.out.dependent_required.push((name.to_owned(), keywords::strings(tape, list)?));
                }
            }
            other => return Err(of_another_group(other)),
        }
        Ok(())
    }

    /// A number, or up to draft 4 a boolean that changes `minimum` or `maximum`.
    fn exclusive(&mut self, keyword: Keyword, value: TapeId) -> Result<()> {
        let tape = &self.document.tape;
        let is_maximum = keyword == Keyword::ExclusiveMaximum;
        let old = matches!(self.dialect.draft, Draft::D4 | Draft::Unstated);
        if old && let TapeKind::Bool(b) = tape.kind(value) {
            self.later.exclusive[usize::from(is_maximum)] = *b;
            return Ok(());
        }
        if self.dialect.draft == Draft::D4 {
            return Err(Error::new(ErrorKind::Schema, "a boolean is expected in draft 4"));
        }
        let number = Some(Box::new(keywords::number(tape, value)?));
        if is_maximum {
            self.out.exclusive_maximum = number
        } else {
            self.out.exclusive_minimum = number
        }
        Ok(())
    }

    fn required(&mut self, value: TapeId) -> Result<()> {
        let tape = &self.document.tape;
        match tape.kind(value) {
            TapeKind::Bool(false) => {
                self.row("required", Enforcement::Ignored, "a boolean is of draft 3; false requires nothing".into())
            }
            TapeKind::Bool(true) => Err(Error::new(
                ErrorKind::Schema,
                "an array of names is expected (a boolean is of draft 3): name this property in `required` of the \
                 object",
            )),
            _ => {
                let names = &mut self.parser.names;
                self.out.required = keywords::each_string(tape, value, |s| names.intern(s))?;
                Ok(())
            }
        }
    }

    fn format(&mut self, value: TapeId) -> Result<()> {
        let format = keywords::string(&self.document.tape, value)?;
        if !format::is_known(format) {
            self.row("format", Enforcement::Annotation, format!("the format {format:?} {UNKNOWN_FORMAT}"))?;
        } else if self.parser.formats == Formats::Assert || self.dialect.format_assertion {
            self.out.format = Some(format.to_owned());
        } else {
            self.row("format", Enforcement::Annotation, "formats are annotations unless they are asked for".into())?;
        }
        Ok(())
    }
}
