//! Documents and the names in them: base URIs, `$id`, anchors and what a reference reaches.
//!
//! A *resource* is a document, or a part of one that `$id` names; it has a base URI, anchors and a dialect. Where a
//! document's text has no key that could name a schema below its root, the root is its only resource and nothing is
//! indexed: a reference like `#/$defs/x` then costs two look-ups. Otherwise one walk over the places where the dialect
//! has schemas finds resources and anchors; `$id` in an `enum` or below an unknown keyword is not an identifier.
//!
//! Nothing is ever fetched. Besides the schema itself there are the documents that the caller passed and the
//! specification's own; both are read when a reference first needs them.

use crate::error::{Error, ErrorKind, Result, quoted};
use crate::limits::Limits;
use crate::schema::drafts::{Draft, Keyword, SchemaDialect, Shape, custom_dialect, metaschema};
use crate::schema::json_tape::{Tape, TapeId, TapeKind};
use crate::schema::keywords;
use crate::schema::location_path::{PathStep, Trail};
use crate::schema::pointer_targets::{meant, walk};
use crate::schema::uri;
use crate::util::seeded_hash::SeededMap;
use std::rc::Rc;

/// A document, or a part of one that has a base URI of its own.
#[derive(Debug)]
pub struct Resource {
    /// Where it starts.
    pub node: TapeId,
    /// Where it starts, as a JSON Pointer in its document.
    pub pointer: String,
    /// Base URI; empty where there is none.
    pub uri: String,
    /// What its keywords mean.
    pub dialect: SchemaDialect,
    /// Names of its `$dynamicAnchor`s; the empty name stands for `$recursiveAnchor`.
    pub dynamic: Vec<String>,
    parent: u32,
    /// A name for references to find that leaves the base URI of what is inside alone.
    is_alias: bool,
}

#[derive(Debug)]
struct Anchor {
    node: TapeId,
    pointer: String,
    is_dynamic: bool,
    /// Another place has the same name, so that a reference to it has no one meaning.
    is_ambiguous: bool,
}

/// A parsed document and its names.
#[derive(Debug)]
pub struct SchemaDocument<'t> {
    /// The text.
    pub tape: Tape<'t>,
    /// Comes before a JSON Pointer in messages: empty for the schema itself, `URI#` for other documents.
    pub prefix: String,
    /// In the order of the text, the root first.
    pub resources: Vec<Resource>,
    anchors: SeededMap<(u32, String), Anchor>,
}

impl SchemaDocument<'_> {
    /// Index of the innermost resource around `node`.
    pub fn resource_of(&self, node: TapeId) -> u32 {
        if self.resources.len() == 1 {
            return 0;
        }
        let after = self.resources.partition_point(|r| r.node <= node);
        let mut at = after.saturating_sub(1) as u32;
        while at != 0 && (self.resource(at).is_alias || self.tape.end(self.resource(at).node) <= node) {
            at = self.resource(at).parent;
        }
        at
    }

    /// The resource of this index.
    pub fn resource(&self, index: u32) -> &Resource {
        &self.resources[index as usize]
    }

    /// What the fragment of a reference to resource `index` reaches.
    fn fragment(&self, doc: u32, index: u32, fragment: &str) -> Result<ReferenceTarget, MissingDocument> {
        let resource = self.resource(index);
        let fragment = uri::percent_decode(fragment).ok_or(MissingDocument::Decoding)?;
        if fragment.is_empty() {
            return Ok(ReferenceTarget { doc, node: resource.node, pointer: resource.pointer.clone(), dynamic: None });
        }
        if fragment.starts_with('/') {
            let node = walk(&self.tape, resource.node, &fragment)
                .ok_or_else(|| MissingDocument::Pointer(meant(&self.tape, resource.node, &fragment)))?;
            let pointer = format!("{}{fragment}", resource.pointer);
            return Ok(ReferenceTarget { doc, node, pointer, dynamic: None });
        }
        let name = fragment.into_owned();
        match self.anchors.get(&(index, name.clone())) {
            Some(a) if a.is_ambiguous => Err(MissingDocument::Ambiguous),
            Some(a) => Ok(ReferenceTarget {
                doc,
                node: a.node,
                pointer: a.pointer.clone(),
                dynamic: a.is_dynamic.then_some(name),
            }),
            None => Err(MissingDocument::Anchor),
        }
    }

    /// The place of a dynamic anchor.
    pub fn dynamic(&self, doc: u32, resource: u32, name: &str) -> Option<ReferenceTarget> {
        let a = self.anchors.get(&(resource, name.to_owned())).filter(|a| a.is_dynamic)?;
        Some(ReferenceTarget { doc, node: a.node, pointer: a.pointer.clone(), dynamic: None })
    }
}

/// What a reference reaches.
#[derive(Debug)]
pub struct ReferenceTarget {
    /// Index of the document.
    pub doc: u32,
    /// The place in it.
    pub node: TapeId,
    /// The place as a JSON Pointer, without the document's prefix.
    pub pointer: String,
    /// The name of the `$dynamicAnchor` that was reached.
    pub dynamic: Option<String>,
}

enum MissingDocument {
    Decoding,
    /// With what was probably meant, as the end of a message.
    Pointer(String),
    Anchor,
    Ambiguous,
}

impl MissingDocument {
    fn error(self, reference: &str) -> Error {
        let mut meant = String::new();
        let why = match self {
            MissingDocument::Decoding => "its fragment is not percent-encoded UTF-8",
            MissingDocument::Pointer(near) => {
                meant = near;
                "there is nothing at its JSON Pointer"
            }
            MissingDocument::Anchor => "no anchor has this name; a JSON Pointer would start with \"#/\"",
            MissingDocument::Ambiguous => "several places have this name",
        };
        Error::new(ErrorKind::Schema, format!("reference {} leads nowhere: {why}{meant}", quoted(reference)))
    }
}

/// Where a URI leads.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NamedResource {
    doc: u32,
    resource: u32,
    is_ambiguous: bool,
}

/// All documents that the schema may reach.
#[derive(Debug)]
pub struct Documents<'t> {
    docs: Vec<Rc<SchemaDocument<'t>>>,
    by_uri: SeededMap<String, NamedResource>,
    /// URI without fragment, text, and whether it has been read.
    passed: Vec<(&'t str, &'t str, bool)>,
    dialects: Vec<(String, Option<SchemaDialect>)>,
    /// Length of all URIs that were joined.
    uri_bytes: usize,
    limits: &'t Limits,
}

impl<'t> Documents<'t> {
    /// Reads the schema itself: document 0.
    ///
    /// # Errors
    /// As [`Tape::read`], and where `$schema` names a dialect that is not known.
    pub fn new(text: &'t str, passed: &'t [(String, String)], limits: &'t Limits) -> Result<Self> {
        let passed = passed.iter().map(|(u, t)| (u.trim_end_matches('#'), t.as_str(), false)).collect();
        let mut all = Documents {
            docs: Vec::new(),
            by_uri: SeededMap::default(),
            passed,
            dialects: Vec::new(),
            uri_bytes: 0,
            limits,
        };
        all.add("", text, SchemaDialect::standard(Draft::Unstated))?;
        Ok(all)
    }

    /// The document of this index.
    pub fn doc(&self, index: u32) -> &Rc<SchemaDocument<'t>> {
        &self.docs[index as usize]
    }

    /// What `reference` means in `resource` of document `doc`.
    ///
    /// # Errors
    /// `Schema` where it leads nowhere, `Unsupported` where it leads to a document that was not passed.
    pub fn resolve(&mut self, doc: u32, resource: u32, reference: &str) -> Result<ReferenceTarget> {
        let (address, fragment) = uri::split_fragment(reference);
        let fragment = fragment.unwrap_or_default();
        let at = if address.is_empty() {
            NamedResource { doc, resource, is_ambiguous: false }
        } else {
            let full = uri::join(&self.doc(doc).resource(resource).uri, address);
            self.count_uri(&full)?;
            self.find(&full)?.ok_or_else(|| {
                Error::new(
                    ErrorKind::Unsupported,
                    format!(
                        "reference {} leads to {}, which was not passed, and nothing is fetched",
                        quoted(reference),
                        quoted(&full)
                    ),
                )
                .with_hint("pass it in `documents`")
            })?
        };
        if at.is_ambiguous {
            return Err(MissingDocument::Ambiguous.error(reference));
        }
        self.doc(at.doc).fragment(at.doc, at.resource, fragment).map_err(|m| m.error(reference))
    }

    /// Bounds the work for URIs: below one long base, every URI repeats it.
    fn count_uri(&mut self, uri: &str) -> Result<()> {
        self.uri_bytes += uri.len();
        let limit = self.limits.max_source_bytes;
        if self.uri_bytes > limit {
            return Err(Error::limit("bytes of URIs", limit as u64, self.uri_bytes as u64).set_by("max_source_bytes"));
        }
        Ok(())
    }

    /// The resource of a URI, reading documents as needed.
    fn find(&mut self, full: &str) -> Result<Option<NamedResource>> {
        if let Some(named) = self.by_uri.get(full) {
            return Ok(Some(*named));
        }
        if let Some(i) = self.passed.iter().position(|(u, _, is_read)| *u == full && !is_read) {
            self.read_passed(i)?;
            return Ok(self.by_uri.get(full).copied());
        }
        if let Some(text) = metaschema(full) {
            self.add(full, text, SchemaDialect::standard(Draft::D2020))?;
            return Ok(self.by_uri.get(full).copied());
        }
        // Perhaps an `$id` inside a document that was passed under another URI.
        for i in 0..self.passed.len() {
            self.read_passed(i)?;
        }
        Ok(self.by_uri.get(full).copied())
    }

    fn read_passed(&mut self, i: usize) -> Result<()> {
        let inherited = self.docs.first().map_or(SchemaDialect::standard(Draft::Unstated), |d| d.resource(0).dialect);
        if let Some(passed) = self.passed.get_mut(i)
            && !passed.2
        {
            passed.2 = true;
            let (uri, text) = (passed.0, passed.1);
            self.add(uri, text, inherited).map_err(|e| in_document(uri, &e))?;
        }
        Ok(())
    }

    /// Reads a document that was retrieved under `retrieved` and registers the names in it.
    fn add(&mut self, retrieved: &str, text: &'t str, inherited: SchemaDialect) -> Result<()> {
        let tape = Tape::read(text, self.limits)?;
        let doc = self.docs.len() as u32;
        let dialect = self.dialect_at(&tape, TapeId::ROOT, "")?.unwrap_or(inherited);
        let root = Resource {
            node: TapeId::ROOT,
            pointer: String::new(),
            uri: retrieved.to_owned(),
            dialect,
            dynamic: Vec::new(),
            parent: 0,
            is_alias: false,
        };
        let prefix = if doc == 0 { String::new() } else { format!("{retrieved}#") };
        let mut document = SchemaDocument { tape, prefix, resources: vec![root], anchors: SeededMap::default() };
        if !retrieved.is_empty() {
            self.by_uri.insert(retrieved.to_owned(), NamedResource { doc, resource: 0, is_ambiguous: false });
        }
        if document.tape.names_schemas {
            self.index(doc, &mut document)?;
        } else {
            self.name(doc, &mut document, TapeId::ROOT, "", 0)?;
        }
        self.docs.push(Rc::new(document));
        Ok(())
    }

    /// Walks over all schemas of a document, in the order of the text.
    fn index(&mut self, doc: u32, document: &mut SchemaDocument<'t>) -> Result<()> {
        // Few schemas name themselves, so places are written as pointers where one does.
        let mut trail = Trail::default();
        let mut todo = vec![(TapeId::ROOT, Trail::ROOT, 0)];
        let mut found = Vec::new();
        let mut pointer_bytes = 0;
        while let Some((node, place, around)) = todo.pop() {
            let resource = if names_itself(&document.tape, node) {
                let pointer = trail.pointer(&document.tape, place);
                self.name(doc, document, node, &pointer, around)?
            } else {
                around
            };
            let dialect = document.resource(resource).dialect;
            let tape = &document.tape;
            for (key_node, (key, value)) in tape.keys(node).zip(tape.members(node)) {
                let Some(keyword) = Keyword::from_name(key).filter(|k| dialect.has(*k)) else { continue };
                let mut add = |node, step: PathStep| {
                    let (place, bytes) = trail.add(tape, place, key_node, step);
                    pointer_bytes += bytes;
                    if pointer_bytes <= self.limits.max_source_bytes {
                        found.push((node, place, resource));
                    }
                };
                match (keyword.shape(), tape.kind(value)) {
                    (Shape::Schema | Shape::SchemaOrList, TapeKind::Object(_)) => add(value, PathStep::None),
                    (Shape::List | Shape::SchemaOrList, TapeKind::Array(_)) => {
                        tape.items(value).zip(0..).for_each(|(n, i)| add(n, PathStep::Item(i)));
                    }
                    (Shape::Map, TapeKind::Object(_)) => {
                        tape.keys(value).zip(tape.members(value)).for_each(|(k, (_, n))| add(n, PathStep::Key(k)));
                    }
                    _ => {}
                }
            }
            check_pointers(pointer_bytes, self.limits)?;
            // The stack turns the order around.
            todo.extend(found.drain(..).rev());
        }
        Ok(())
    }

    /// Registers the names that the schema at `node` gives itself. Returns its resource.
    fn name(
        &mut self,
        doc: u32,
        document: &mut SchemaDocument<'t>,
        node: TapeId,
        pointer: &str,
        around: u32,
    ) -> Result<u32> {
        let is_root = node == TapeId::ROOT;
        let tape = &document.tape;
        if !matches!(tape.kind(node), TapeKind::Object(_)) {
            return Ok(around);
        }
        let outer = document.resource(around);
        let draft = outer.dialect.draft;
        let hidden = draft.ref_hides_siblings() && tape.get(node, "$ref").is_some();
        let text = |key: &str| tape.get(node, key).and_then(|n| tape.string(n)).map(str::to_owned);
        let is_true = |key: &str| tape.get(node, key).is_some_and(|n| *tape.kind(n) == TapeKind::Bool(true));
        let id = text(draft.id_keyword()).filter(|_| !hidden);
        let old_id = if draft == Draft::Unstated && id.is_none() { text("id") } else { None };
        // A resource may be of another draft than what it is embedded in; `$schema` elsewhere means nothing.
        let embedded = if is_root || id.is_none() { None } else { self.dialect_at(tape, node, pointer)? };
        let dialect = embedded.unwrap_or(outer.dialect);
        let modern = |k: Keyword| dialect.has(k).then(|| text(k.text())).flatten();
        let anchor = modern(Keyword::Anchor);
        let dynamic = modern(Keyword::DynamicAnchor);
        let recursive = dialect.has(Keyword::RecursiveAnchor) && is_true("$recursiveAnchor");

        let mut resource = around;
        let mut plain_name = None;
        // A nested `id` in a schema of no stated draft is a name for references to find, but it leaves the base alone:
        // such schemas often have a bare word there and yet refer to `#/definitions` of the whole document.
        let opens = id.is_some() || is_root;
        if let Some(id) = id.or(old_id) {
            let (address, fragment) = uri::split_fragment(&id);
            plain_name = fragment.filter(|f| !f.is_empty() && !f.starts_with('/')).map(str::to_owned);
            if !address.is_empty() {
                let full = uri::join(&outer.uri, address);
                self.count_uri(&full)?;
                if is_root {
                    if let Some(root) = document.resources.first_mut() {
                        root.uri.clone_from(&full);
                    }
                } else {
                    document.resources.push(Resource {
                        node,
                        pointer: pointer.to_owned(),
                        uri: full.clone(),
                        dialect,
                        dynamic: Vec::new(),
                        parent: around,
                        is_alias: !opens,
                    });
                }
                let last = document.resources.len() as u32 - 1;
                let named = NamedResource { doc, resource: if is_root { 0 } else { last }, is_ambiguous: false };
                if opens && !is_root {
                    resource = last;
                }
                self.by_uri.entry(full).and_modify(|n| n.is_ambiguous |= *n != named).or_insert(named);
            }
        }
        let mut add = |name: String, is_dynamic: bool| {
            let new = Anchor { node, pointer: pointer.to_owned(), is_dynamic, is_ambiguous: false };
            if is_dynamic && let Some(r) = document.resources.get_mut(resource as usize) {
                r.dynamic.push(name.clone());
            }
            document
                .anchors
                .entry((resource, name))
                .and_modify(|a| {
                    a.is_ambiguous |= a.node != node;
                    a.is_dynamic |= is_dynamic;
                })
                .or_insert(new);
        };
        plain_name.into_iter().chain(anchor).for_each(|n| add(n, false));
        dynamic.into_iter().for_each(|n| add(n, true));
        if recursive {
            add(String::new(), true);
        }
        Ok(resource)
    }

    /// The dialect that `$schema` at `node` names. `None` where there is no `$schema`.
    fn dialect_at(&mut self, tape: &Tape<'t>, node: TapeId, pointer: &str) -> Result<Option<SchemaDialect>> {
        let Some(value) = tape.get(node, "$schema") else { return Ok(None) };
        let uri = keywords::string(tape, value).map_err(|e| e.at_pointer(pointer, "$schema"))?;
        if let Some(draft) = Draft::of_uri(uri) {
            return Ok(Some(SchemaDialect::standard(draft)));
        }
        let uri = uri.trim_end_matches('#');
        if let Some((_, dialect)) = self.dialects.iter().find(|(u, _)| u == uri) {
            return Ok(*dialect);
        }
        if uri.contains("json-schema.org/draft-0") {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("the draft {uri:?} is not supported: rewrite the schema for draft 4 or later"),
            )
            .at_pointer(pointer, "$schema"));
        }
        let dialect = match self.passed.iter().find(|(u, ..)| *u == uri) {
            Some((_, text, _)) => {
                let read = Tape::read(text, self.limits).and_then(|t| custom_dialect(&t));
                Some(read.map_err(|e| in_document(uri, &e).at_pointer(pointer, "$schema"))?)
            }
            None => None,
        };
        self.dialects.push((uri.to_owned(), dialect));
        Ok(dialect)
    }
}

/// Whether a schema has a key that may name it.
fn names_itself(tape: &Tape<'_>, node: TapeId) -> bool {
    let names = |key| matches!(key, "$id" | "id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor");
    tape.members(node).any(|(key, _)| names(key))
}

/// An error inside a document that was passed: its own place would be read as one in the schema.
fn in_document(uri: &str, e: &Error) -> Error {
    match e.limit_values() {
        Some(_) => e.clone(),
        None => Error::new(e.kind(), format!("in the document {uri:?}: {e}")),
    }
}

/// Bounds the memory for places: below one long key, every place repeats that key.
pub fn check_pointers(bytes: usize, limits: &Limits) -> Result<()> {
    let limit = limits.max_source_bytes;
    if bytes > limit {
        Err(Error::limit("bytes of JSON Pointers", limit as u64, bytes as u64).set_by("max_source_bytes"))
    } else {
        Ok(())
    }
}
