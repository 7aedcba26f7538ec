//! The schemas below a keyword: one, a list, or one for each name.

use crate::error::{Error, ErrorKind, Result};
use crate::schema::json_pointers::PointerStep;
use crate::schema::json_tape::{TapeId, TapeKind};
use crate::schema::keywords;
use crate::schema::model::SchemaId;
use crate::schema::name_table::Name;
use crate::schema::parse::{Object, SchemaSlot};

impl Object<'_, '_> {
    pub(super) fn child(&mut self, node: TapeId, keyword: &'static str, step: PointerStep) -> Result<SchemaId> {
        let SchemaSlot { id, doc, scope, .. } = self.place;
        self.parser.place(doc, self.document, node, scope, |p, names| p.push(id, keyword, step, names))
    }

    pub(super) fn list(&mut self, keyword: &'static str, value: TapeId) -> Result<Vec<SchemaId>> {
        let tape = &self.document.tape;
        let TapeKind::Array(n) = *tape.kind(value) else {
            return Err(Error::new(ErrorKind::Schema, "an array of schemas is expected"));
        };
        if n == 0 {
            return Err(Error::new(ErrorKind::Schema, "an array of at least one schema is expected"));
        }
        let mut out = Vec::with_capacity(n as usize);
        for (i, item) in (0..).zip(tape.items(value)) {
            out.push(self.child(item, keyword, PointerStep::Item(i))?);
        }
        Ok(out)
    }

    pub(super) fn map(&mut self, keyword: &'static str, value: TapeId) -> Result<Vec<(String, SchemaId)>> {
        self.members(keyword, value, |_, name| name.to_owned())
    }

    pub(super) fn properties(&mut self, value: TapeId) -> Result<Vec<(Name, SchemaId)>> {
        self.members("properties", value, |name, _| name)
    }

    /// The schemas of an object's members, each with what `key` makes of its name's number and text.
    fn members<K>(
        &mut self,
        keyword: &'static str,
        value: TapeId,
        key: impl Fn(Name, &str) -> K,
    ) -> Result<Vec<(K, SchemaId)>> {
        let tape = &self.document.tape;
        let n = keywords::object(tape, value)?;
        let mut out = Vec::with_capacity(n as usize);
        for (text, schema) in tape.members(value) {
            let name = self.parser.names.intern(text);
            out.push((key(name, text), self.child(schema, keyword, PointerStep::Key(name))?));
        }
        Ok(out)
    }
}
