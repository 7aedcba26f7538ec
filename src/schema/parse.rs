//! JSON Schema text to [`SchemaModel`].
//!
//! Only schemas that the root reaches through applicators and references are read. A schema gets its id when something
//! first names it, and ids are read in the order in which they were given: no recursion, and a cycle of references ends
//! by itself. What a keyword means is brought to the vocabulary of 2020-12 here; see [`crate::schema::drafts`] for
//! which keyword counts where.

mod applicators;
mod assertions;
mod children;
mod envelope;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::schema::drafts::{Draft, Keyword, SILENT, SchemaDialect};
use crate::schema::dynamic_scope::{ScopeId, Scopes};
use crate::schema::json_pointers::{PointerStep, Pointers};
use crate::schema::json_tape::{TapeId, TapeKind};
use crate::schema::keywords;
use crate::schema::model::{Keywords, Schema, SchemaId, SchemaKind, SchemaModel};
use crate::schema::name_table::Names;
use crate::schema::options::{Formats, SchemaOptions};
use crate::schema::report::{Enforcement, ReportRow, UNKNOWN_KEYWORD};
use crate::schema::resolve::{Documents, ReferenceTarget, SchemaDocument, check_pointers};
use crate::util::cancel::checkpoint;
use crate::util::seeded_hash::SeededMap;
use std::rc::Rc;

/// Parses and resolves a schema. Rows are returned for keywords that are not enforced exactly.
///
/// # Errors
/// `Schema` where the text is not JSON, a keyword's value is malformed or a reference leads nowhere; `Unsupported`
/// where a reference leads to a document that was not passed; `Limit` for size, depth and the number of schemas.
///
/// # Cost
/// Linear in the text that the schema reaches, about 10 us for a schema of 1 KB; schemas that use dynamic references
/// are read once per dynamic scope.
pub fn parse_schema(text: &str, options: &SchemaOptions, limits: &Limits) -> Result<(SchemaModel, Vec<ReportRow>)> {
    let mut parser = SchemaParser {
        docs: Documents::new(text, &options.documents, limits)?,
        scopes: Scopes::default(),
        ids: Ids::default(),
        refs: SeededMap::default(),
        places: Vec::new(),
        pointers: Pointers::default(),
        names: Names::default(),
        row_bytes: 0,
        schemas: Vec::new(),
        rows: Vec::new(),
        formats: options.formats,
        limits,
    };
    let root = ReferenceTarget { doc: 0, node: TapeId::ROOT, pointer: String::new(), dynamic: None };
    let root = parser.reach(&root, ScopeId::EMPTY)?;
    envelope::refuse(&parser.docs.doc(0).tape)?;
    parser.unknown_dialect();
    while let Some(&place) = parser.places.get(parser.schemas.len()) {
        parser.schema(place)?;
    }
    Ok((SchemaModel { schemas: parser.schemas, root, pointers: parser.pointers, names: parser.names }, parser.rows))
}

/// What a [`SchemaId`] stands for.
#[derive(Clone, Copy, Debug)]
struct SchemaSlot {
    id: SchemaId,
    doc: u32,
    node: TapeId,
    resource: u32,
    scope: ScopeId,
}

/// Ids by place. Nearly all schemas are in document 0 and the empty scope.
#[derive(Debug, Default)]
struct Ids {
    /// Id + 1 by node.
    common: Vec<u32>,
    other: SeededMap<(u32, TapeId, ScopeId), SchemaId>,
}

struct SchemaParser<'t> {
    docs: Documents<'t>,
    scopes: Scopes,
    ids: Ids,
    /// Where the references of document 0's root resource lead from the empty scope.
    refs: SeededMap<String, SchemaId>,
    places: Vec<SchemaSlot>,
    pointers: Pointers,
    names: Names,
    /// Length of the pointers of rows.
    row_bytes: usize,
    schemas: Vec<Schema>,
    rows: Vec<ReportRow>,
    formats: Formats,
    limits: &'t Limits,
}

impl<'t> SchemaParser<'t> {
    /// The id of a place, which is new if nothing has named it before. Only then `pointer` is called, to append to the
    /// pointer of `parent`.
    fn place(
        &mut self,
        doc: u32,
        document: &SchemaDocument<'t>,
        node: TapeId,
        scope: ScopeId,
        pointer: impl FnOnce(&mut Pointers, &Names),
    ) -> Result<SchemaId> {
        let resource = document.resource_of(node);
        let scope = self.scopes.enter(scope, doc, document, resource, self.limits)?;
        let new = SchemaId(self.places.len() as u32);
        if doc == 0 && scope == ScopeId::EMPTY {
            if self.ids.common.is_empty() {
                self.ids.common = vec![0; document.tape.end(TapeId::ROOT).0 as usize];
            }
            let slot = &mut self.ids.common[node.0 as usize];
            if *slot != 0 {
                return Ok(SchemaId(*slot - 1));
            }
            *slot = new.0 + 1;
        } else {
            let id = *self.ids.other.entry((doc, node, scope)).or_insert(new);
            if id != new {
                return Ok(id);
            }
        }
        if self.places.len() >= self.limits.max_rules {
            return Err(Error::limit(
                "the number of subschemas",
                self.limits.max_rules as u64,
                self.places.len() as u64 + 1,
            )
            .set_by("max_rules"));
        }
        checkpoint()?;
        self.places.push(SchemaSlot { id: new, doc, node, resource, scope });
        pointer(&mut self.pointers, &self.names);
        self.check_pointers()?;
        Ok(new)
    }

    fn reach(&mut self, target: &ReferenceTarget, scope: ScopeId) -> Result<SchemaId> {
        let document = Rc::clone(self.docs.doc(target.doc));
        self.place(target.doc, &document, target.node, scope, |p, _| {
            p.push_text(document.prefix.clone() + &target.pointer);
        })
    }

    fn check_pointers(&self) -> Result<()> {
        check_pointers(self.pointers.bytes() + self.row_bytes, self.limits)
    }

    /// `$schema` that names no dialect known here.
    fn unknown_dialect(&mut self) {
        let document = self.docs.doc(0);
        let tape = &document.tape;
        if document.resource(0).dialect.draft == Draft::Unstated
            && let Some(uri) = tape.get(TapeId::ROOT, "$schema").and_then(|n| tape.string(n))
            && Draft::of_uri(uri).is_none()
        {
            let reason = format!("{uri:?} is not known and was not passed in `documents`: read as draft 2020-12");
            self.rows.push(ReportRow {
                pointer: String::new(),
                keyword: "$schema".into(),
                enforcement: Enforcement::Ignored,
                reason,
            });
        }
    }

    fn schema(&mut self, place: SchemaSlot) -> Result<()> {
        let document = Rc::clone(self.docs.doc(place.doc));
        let kind = match document.tape.kind(place.node) {
            TapeKind::Bool(b) => SchemaKind::Bool(*b),
            TapeKind::Object(_) => {
                let mut object = Object {
                    dialect: document.resource(place.resource).dialect,
                    document: &document,
                    place,
                    parser: self,
                    out: Box::default(),
                    later: Later::default(),
                };
                object.read()?;
                SchemaKind::Keywords(object.out)
            }
            _ => {
                let e = Error::new(ErrorKind::Schema, keywords::no_schema(document.tape.string(place.node)));
                return Err(e.at_pointer(self.pointers.get(place.id, &self.names), ""));
            }
        };
        self.schemas.push(Schema { kind });
        Ok(())
    }
}

/// Keywords whose meaning depends on others of the same schema.
#[derive(Default)]
struct Later {
    item_list: bool,
    additional_items: Option<TapeId>,
    exclusive: [bool; 2],
}

/// The error of a group of keywords that is asked for one of another group; no schema leads to it.
fn of_another_group(keyword: Keyword) -> Error {
    Error::new(ErrorKind::Internal, format!("{} belongs to another group of keywords", keyword.text()))
}

/// One schema object being read.
struct Object<'p, 't> {
    parser: &'p mut SchemaParser<'t>,
    document: &'p SchemaDocument<'t>,
    dialect: SchemaDialect,
    place: SchemaSlot,
    out: Box<Keywords>,
    later: Later,
}

impl Object<'_, '_> {
    fn read(&mut self) -> Result<()> {
        let tape = &self.document.tape;
        let node = self.place.node;
        let draft = self.dialect.draft;
        let hides = draft.ref_hides_siblings() && tape.get(node, "$ref").is_some();
        for (key, value) in tape.members(node) {
            let Some(keyword) = Keyword::from_name(key) else {
                self.annotation(key)?;
                continue;
            };
            if !self.dialect.has(keyword) {
                if !SILENT.contains(&key) && keyword != Keyword::Defs {
                    let left_out = SchemaDialect::standard(draft).has(keyword);
                    let whose = if left_out { "the metaschema's vocabularies" } else { draft.name() };
                    self.row(key, Enforcement::Ignored, format!("not a keyword of {whose}"))?;
                }
                continue;
            }
            if hides && keyword != Keyword::Ref {
                if !matches!(keyword, Keyword::Id | Keyword::OldId | Keyword::Definitions) {
                    self.row(key, Enforcement::Ignored, format!("{} ignores what is next to $ref", draft.name()))?;
                }
                continue;
            }
            self.keyword(keyword, value).map_err(|e| {
                let SchemaParser { pointers, names, .. } = &*self.parser;
                e.at_pointer(pointers.get(self.place.id, names), key)
            })?;
        }
        self.finish()
    }

    /// Reads a keyword's value. Every keyword belongs to one group, whose function knows what its keywords mean.
    fn keyword(&mut self, keyword: Keyword, value: TapeId) -> Result<()> {
        use Keyword as K;
        match keyword {
            K::Ref | K::DynamicRef | K::RecursiveRef => {
                let id = self.reference(keyword, value)?;
                self.out.refs.push(id);
                Ok(())
            }
            K::Id | K::OldId | K::Anchor | K::DynamicAnchor | K::RecursiveAnchor | K::Defs | K::Definitions => {
                self.identifier(keyword, value)
            }
            K::AllOf | K::AnyOf | K::OneOf | K::Not | K::If | K::Then | K::Else => self.in_place(keyword, value),
            K::DependentSchemas | K::Dependencies => self.in_place(keyword, value),
            K::Properties
            | K::PatternProperties
            | K::AdditionalProperties
            | K::PropertyNames
            | K::UnevaluatedProperties => self.of_members(keyword, value),
            K::PrefixItems | K::Items | K::AdditionalItems | K::Contains | K::UnevaluatedItems => {
                self.of_elements(keyword, value)
            }
            K::Type | K::Enum | K::Const => self.of_any_type(keyword, value),
            K::Minimum | K::Maximum | K::ExclusiveMinimum | K::ExclusiveMaximum | K::MultipleOf => {
                self.of_numbers(keyword, value)
            }
            K::MinLength | K::MaxLength | K::Pattern | K::Format => self.of_strings(keyword, value),
            K::MinItems | K::MaxItems | K::UniqueItems | K::MinContains | K::MaxContains => {
                self.of_arrays(keyword, value)
            }
            K::MinProperties | K::MaxProperties | K::Required | K::DependentRequired => self.of_objects(keyword, value),
        }
    }

    /// Keywords that give a schema names, or hold schemas for references to find. What they mean was read before: see
    /// `resolve`.
    fn identifier(&mut self, keyword: Keyword, value: TapeId) -> Result<()> {
        let tape = &self.document.tape;
        match keyword {
            // Schemas of draft 4 that forgot `properties` around a property called `id` are common.
            Keyword::OldId if tape.string(value).is_none() => {
                self.row(keyword.text(), Enforcement::Ignored, "it is no string, so it names nothing".to_owned())
            }
            Keyword::OldId => Ok(()),
            Keyword::RecursiveAnchor => keywords::boolean(tape, value).map(drop),
            Keyword::Defs | Keyword::Definitions => keywords::object(tape, value).map(drop),
            _ => keywords::string(tape, value).map(drop),
        }
    }

    fn reference(&mut self, keyword: Keyword, value: TapeId) -> Result<SchemaId> {
        let SchemaSlot { doc, resource, scope, .. } = self.place;
        let reference = keywords::string(&self.document.tape, value)?;
        // Some schemas refer to one place from thousands.
        let is_common = keyword == Keyword::Ref && (doc, resource, scope) == (0, 0, ScopeId::EMPTY);
        if is_common && let Some(&id) = self.parser.refs.get(reference) {
            return Ok(id);
        }
        let docs = &mut self.parser.docs;
        let mut target = docs.resolve(doc, resource, reference)?;
        let name = match keyword {
            Keyword::DynamicRef => target.dynamic.take(),
            Keyword::RecursiveRef => {
                let document = docs.doc(target.doc);
                let at = document.resource_of(target.node);
                document.dynamic(target.doc, at, "").map(|_| String::new())
            }
            _ => None,
        };
        if let Some(name) = name {
            target = self.parser.scopes.target(scope, &name, |d| docs.doc(d), target);
        }
        let id = self.parser.reach(&target, scope)?;
        if is_common {
            self.parser.refs.insert(reference.to_owned(), id);
        }
        Ok(id)
    }

    fn finish(&mut self) -> Result<()> {
        if let Some(value) = self.later.additional_items {
            if self.later.item_list {
                self.out.items = Some(self.child(value, "additionalItems", PointerStep::None)?);
            } else {
                let reason = "without a list in `items` it has no items to apply to";
                self.row("additionalItems", Enforcement::Ignored, reason.into())?;
            }
        }
        let [minimum, maximum] = self.later.exclusive;
        if minimum {
            self.out.exclusive_minimum = self.out.minimum.take();
        }
        if maximum {
            self.out.exclusive_maximum = self.out.maximum.take();
        }
        Ok(())
    }

    fn annotation(&mut self, key: &str) -> Result<()> {
        if !SILENT.contains(&key) {
            let reason = match key {
                "contentEncoding" | "contentMediaType" | "contentSchema" => {
                    "says how to read a string, asserts nothing"
                }
                _ => UNKNOWN_KEYWORD,
            };
            self.row(key, Enforcement::Annotation, reason.into())?;
        }
        Ok(())
    }

    fn row(&mut self, keyword: &str, enforcement: Enforcement, reason: String) -> Result<()> {
        let pointer = self.parser.pointers.get(self.place.id, &self.parser.names);
        self.parser.row_bytes += pointer.len();
        self.parser.check_pointers()?;
        self.parser.rows.push(ReportRow { pointer, keyword: keyword.to_owned(), enforcement, reason });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
