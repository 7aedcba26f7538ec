//! Keywords with subschemas: which place of a schema's [`Keywords`](crate::schema::model::Keywords) they fill.

use crate::error::{Error, ErrorKind, Result};
use crate::schema::drafts::{Draft, Keyword};
use crate::schema::json_pointers::PointerStep;
use crate::schema::json_tape::{TapeId, TapeKind};
use crate::schema::keywords;
use crate::schema::model::SchemaId;
use crate::schema::parse::{Object, of_another_group};

impl Object<'_, '_> {
    /// The one schema that is a keyword's value.
    fn one(&mut self, keyword: Keyword, value: TapeId) -> Result<Option<SchemaId>> {
        self.child(value, keyword.text(), PointerStep::None).map(Some)
    }

    /// Keywords whose subschemas are about the value itself.
    pub(super) fn in_place(&mut self, keyword: Keyword, value: TapeId) -> Result<()> {
        match keyword {
            Keyword::AllOf => self.out.all_of = self.list(keyword.text(), value)?,
            Keyword::AnyOf => self.out.any_of = Some(self.list(keyword.text(), value)?),
            Keyword::OneOf => self.out.one_of = Some(self.list(keyword.text(), value)?),
            Keyword::Not => self.out.not = self.one(keyword, value)?,
            Keyword::If => self.out.if_ = self.one(keyword, value)?,
            Keyword::Then => self.out.then = self.one(keyword, value)?,
            Keyword::Else => self.out.else_ = self.one(keyword, value)?,
            Keyword::DependentSchemas => {
                let schemas = self.map(keyword.text(), value)?;
                self.out.dependent_schemas.extend(schemas);
            }
            Keyword::Dependencies => self.dependencies(value)?,
            other => return Err(of_another_group(other)),
        }
        Ok(())
    }

    /// Keywords whose subschemas are about the members of an object, or their names.
    pub(super) fn of_members(&mut self, keyword: Keyword, value: TapeId) -> Result<()> {
        match keyword {
            Keyword::Properties => self.out.properties = self.properties(value)?,
            Keyword::PatternProperties => self.out.pattern_properties = self.map(keyword.text(), value)?,
            Keyword::AdditionalProperties => self.out.additional_properties = self.one(keyword, value)?,
            Keyword::PropertyNames => self.out.property_names = self.one(keyword, value)?,
            Keyword::UnevaluatedProperties => self.out.unevaluated_properties = self.one(keyword, value)?,
            other => return Err(of_another_group(other)),
        }
        Ok(())
    }

    /// Keywords whose subschemas are about the elements of an array.
    pub(super) fn of_elements(&mut self, keyword: Keyword, value: TapeId) -> Result<()> {
        match keyword {
            Keyword::PrefixItems => self.out.prefix_items = self.list(keyword.text(), value)?,
            Keyword::Items => self.items(value)?,
            Keyword::AdditionalItems => self.later.additional_items = Some(value),
            Keyword::Contains => {
                self.out.contains = self.one(keyword, value)?;
                self.out.contains_does_not_evaluate = !matches!(self.dialect.draft, Draft::D2020 | Draft::Unstated);
            }
            Keyword::UnevaluatedItems => self.out.unevaluated_items = self.one(keyword, value)?,
            other => return Err(of_another_group(other)),
        }
        Ok(())
    }

    /// A list of schemas here is what 2020-12 calls `prefixItems`.
    fn items(&mut self, value: TapeId) -> Result<()> {
        let tape = &self.document.tape;
        let TapeKind::Array(n) = *tape.kind(value) else {
            self.out.items = self.one(Keyword::Items, value)?;
            return Ok(());
        };
        let has_prefix = || tape.get(self.place.node, "prefixItems").is_some();
        if self.dialect.draft == Draft::D2020 || (self.dialect.draft == Draft::Unstated && has_prefix()) {
            return Err(Error::new(ErrorKind::Schema, "a schema is expected; a list of schemas is `prefixItems` here"));
        }
        self.later.item_list = true;
        if n > 0 {
            self.out.prefix_items = self.list("items", value)?;
        }
        Ok(())
    }

    fn dependencies(&mut self, value: TapeId) -> Result<()> {
        let tape = &self.document.tape;
        keywords::object(tape, value)?;
        for (name, dependency) in tape.members(value) {
            if matches!(tape.kind(dependency), TapeKind::Array(_)) {
                self.out.dependent_required.push((name.to_owned(), keywords::strings(tape, dependency)?));
            } else {
                let step = PointerStep::Key(self.parser.names.intern(name));
                let id = self.child(dependency, "dependencies", step)?;
                self.out.dependent_schemas.push((name.to_owned(), id));
            }
        }
        Ok(())
    }
}
