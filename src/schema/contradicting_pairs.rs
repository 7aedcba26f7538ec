//! Contradictions by name: which two keywords of an unsatisfiable schema exclude each other.
//!
//! Lowering finds that a part of a schema accepts nothing, by algebra that no longer knows the keywords. This looks at
//! the keywords of that part, and of what it refers to in place (`allOf`, `$ref`), for pairs that everybody can see to
//! contradict each other. It never decides anything: it only adds words to an error that is certain.

use serde_json::{Map, Value};

use crate::error::at_pointer;
use crate::schema::drafts::{Draft, Keyword, SchemaDialect};

/// Schemas that are looked into, and how deep.
const MOST_SCHEMAS: usize = 64;
const DEPTH: usize = 16;
/// Characters of a value that are shown.
const SHOWN: usize = 40;

/// Which keywords of the part at `pointer`, which accepts nothing, contradict each other, where two do at sight.
pub(crate) fn named_contradiction(pointer: &str, text: &str) -> Option<String> {
    let document = serde_json::from_str::<Value>(text).ok()?;
    Conjunction::at_pointer(&document, pointer).contradiction()
}

/// A keyword and where its schema is.
struct Stated<'v> {
    pointer: String,
    keyword: &'static str,
    value: &'v Value,
}

impl Stated<'_> {
    fn show(&self, home: &str) -> String {
        let mut value = self.value.to_string();
        if value.chars().count() > SHOWN {
            value = value.chars().take(SHOWN).chain("...".chars()).collect();
        }
        match self.pointer == home {
            true => format!("{} {value}", self.keyword),
            false => format!("{} {value} ({})", self.keyword, at_pointer(&self.pointer)),
        }
    }
}

/// A schema of a conjunction: where it is, what it says, and the draft that it is read in.
struct Part<'v> {
    pointer: String,
    keywords: &'v Map<String, Value>,
    draft: Draft,
}

impl<'v> Part<'v> {
    /// The value of a keyword that says something here.
    fn get(&self, keyword: &str) -> Option<&'v Value> {
        let has_draft = Keyword::from_name(keyword).is_some_and(|known| SchemaDialect::standard(self.draft).has(known));
        // Beside no `contains`, how many items it asks for means nothing.
        let counts_nothing =
            matches!(keyword, "minContains" | "maxContains") && !self.keywords.contains_key("contains");
        self.keywords.get(keyword).filter(|_| has_draft && !counts_nothing)
    }
}

/// All schemas that a value has to satisfy at one place.
struct Conjunction<'v> {
    home: String,
    parts: Vec<Part<'v>>,
    never: Option<String>,
}

/// Kinds of values, and the keywords of a least and a most number that are about them.
const COUNTS: [(&str, &str, &str); 4] = [
    ("string", "minLength", "maxLength"),
    ("array", "minItems", "maxItems"),
    ("object", "minProperties", "maxProperties"),
    ("array", "minContains", "maxContains"),
];
/// The types of JSON Schema without `integer`, which is a part of `number`.
const KINDS: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];
const KEYWORDS: [&str; 16] = [
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "type",
    "enum",
    "const",
    "required",
];

impl<'v> Conjunction<'v> {
    fn at_pointer(document: &'v Value, pointer: &str) -> Conjunction<'v> {
        let mut all = Conjunction { home: pointer.to_owned(), parts: Vec::new(), never: None };
        if let Some(schema) = document.pointer(pointer) {
            all.add(document, schema, pointer.to_owned(), DEPTH);
        }
        all
    }

    fn add(&mut self, document: &'v Value, schema: &'v Value, pointer: String, depth: usize) {
        if depth == 0 || self.parts.len() >= MOST_SCHEMAS || self.parts.iter().any(|part| part.pointer == pointer) {
            return;
        }
        let Some(keywords) = schema.as_object() else {
            if *schema == Value::Bool(false) {
                self.never.get_or_insert(pointer);
            }
            return;
        };
        let reference = keywords.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|uri| uri.strip_prefix('#'));
        let target = target.filter(|target| target.is_empty() || target.starts_with('/'));
        let target = target.and_then(|target| Some((target, document.pointer(target)?)));
        let draft = draft_at(document, &pointer);
        // What is beside a reference may count or not where the draft is not known: it is no reason then.
        if reference.is_some() && draft.is_none_or(Draft::ref_hides_siblings) {
            if let Some((target, schema)) = target {
                self.add(document, schema, target.to_owned(), depth - 1);
            }
            return;
        }
        self.parts.push(Part { pointer: pointer.clone(), keywords, draft: draft.unwrap_or(Draft::Unstated) });
        for (part, i) in keywords.get("allOf").and_then(Value::as_array).into_iter().flatten().zip(0..) {
            self.add(document, part, format!("{pointer}/allOf/{i}"), depth - 1);
        }
        if let Some((target, schema)) = target {
            self.add(document, schema, target.to_owned(), depth - 1);
        }
    }

    fn stated(&self, keyword: &str) -> Vec<Stated<'v>> {
        let keyword = KEYWORDS.into_iter().find(|known| *known == keyword).unwrap_or_default();
        let stated =
            |part: &Part<'v>| Some(Stated { pointer: part.pointer.clone(), keyword, value: part.get(keyword)? });
        self.parts.iter().filter_map(stated).collect()
    }

    /// The first pair for which `excludes` holds.
    fn pair(&self, one: &str, other: &str, excludes: impl Fn(&Value, &Value) -> bool) -> Option<String> {
        let others = self.stated(other);
        self.stated(one).iter().find_map(|a| {
            let b = others.iter().find(|b| (one != other || a.pointer < b.pointer) && excludes(a.value, b.value))?;
            Some(format!("{} contradicts {}", a.show(&self.home), b.show(&self.home)))
        })
    }

    fn contradiction(&self) -> Option<String> {
        if let Some(never) = self.never.as_ref().filter(|never| **never != self.home) {
            return Some(format!("the schema at {never:?} is false"));
        }
        self.of_bounds().or_else(|| self.of_values()).or_else(|| self.of_objects())
    }

    fn of_bounds(&self) -> Option<String> {
        let greater = |a: &Value, b: &Value| a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| a > b);
        let not_less = |a: &Value, b: &Value| a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| a >= b);
        // Keywords say nothing about other types: only where the type is told they leave nothing.
        let counts = COUNTS.into_iter().filter(|(kind, ..)| self.leaves_only(kind));
        let counts = counts.map(|(_, least, most)| (least, most)).find_map(|(a, b)| self.pair(a, b, greater));
        if counts.is_some() || !self.leaves_only("number") {
            return counts;
        }
        self.pair("minimum", "maximum", greater)
            .or_else(|| self.pair("minimum", "exclusiveMaximum", not_less))
            .or_else(|| self.pair("exclusiveMinimum", "maximum", not_less))
            .or_else(|| self.pair("exclusiveMinimum", "exclusiveMaximum", not_less))
    }

    /// Whether `type`, `enum` and `const` leave values of this kind, and of no other.
    fn leaves_only(&self, kind: &str) -> bool {
        let named = |types: &Value, kind: &str| {
            types_of(types).into_iter().any(|name| name == kind || (name, kind) == ("integer", "number"))
        };
        let listed = |all: &Value, kind: &str| all.as_array().is_some_and(|a| a.iter().any(|v| is_of_type(kind, v)));
        let all = |keyword: &str, holds: &dyn Fn(&Value) -> bool| self.stated(keyword).iter().all(|s| holds(s.value));
        KINDS.iter().all(|&other| {
            let left = all("type", &|types| named(types, other))
                && all("const", &|v| is_of_type(other, v))
                && all("enum", &|values| listed(values, other));
            left == (other == kind)
        })
    }

    fn of_values(&self) -> Option<String> {
        let listed = |all: &Value, one: &Value| all.as_array().is_some_and(|all| all.iter().any(|v| equal(v, one)));
        let apart = |a: &Value, b: &Value| a.as_array().is_some_and(|a| !a.iter().any(|v| listed(b, v)));
        let has_type = |types: &Value, v: &Value| types_of(types).iter().any(|name| is_of_type(name, v));
        let excludes =
            |types: &Value, all: &Value| all.as_array().is_some_and(|all| !all.iter().any(|v| has_type(types, v)));
        let types_apart = |a: &Value, b: &Value| {
            let related = |a: &str, b: &str| a == b || matches!((a, b), ("integer", "number") | ("number", "integer"));
            !types_of(a).iter().any(|a| types_of(b).iter().any(|b| related(a, b)))
        };
        self.pair("type", "type", types_apart)
            .or_else(|| self.pair("type", "enum", excludes))
            .or_else(|| self.pair("type", "const", |types, v| !has_type(types, v)))
            .or_else(|| self.pair("const", "const", |a, b| !equal(a, b)))
            .or_else(|| self.pair("enum", "const", |all, v| !listed(all, v)))
            .or_else(|| self.pair("enum", "enum", apart))
    }

    fn of_objects(&self) -> Option<String> {
        if !self.leaves_only("object") {
            return None;
        }
        let required = self.stated("required");
        let names = required.iter().flat_map(|stated| {
            let names = stated.value.as_array().into_iter().flatten();
            names.filter_map(move |name| Some((stated, name.as_str()?)))
        });
        for (stated, name) in names.clone() {
            let by = |keyword: &str, at: &str| match at == self.home {
                true => keyword.to_owned(),
                false => format!("{keyword} ({})", at_pointer(at)),
            };
            for part in &self.parts {
                let pointer = &part.pointer;
                let own = part.get("properties").and_then(|properties| properties.get(name));
                if own == Some(&Value::Bool(false)) {
                    return Some(format!(
                        "{} names {name:?}, which {} forbids: its schema is false",
                        by("required", &stated.pointer),
                        by("properties", pointer)
                    ));
                }
                let closed = part.get("additionalProperties") == Some(&Value::Bool(false));
                if closed && own.is_none() && part.get("patternProperties").is_none() {
                    return Some(format!(
                        "{} names {name:?}, which additionalProperties false{} forbids: it is not among the properties",
                        by("required", &stated.pointer),
                        if *pointer == self.home { String::new() } else { format!(" ({})", at_pointer(pointer)) }
                    ));
                }
            }
        }
        let most = self.stated("maxProperties");
        let mut needed: Vec<&str> = names.map(|(_, name)| name).collect();
        needed.sort_unstable();
        needed.dedup();
        let few = most.iter().find(|most| most.value.as_f64().is_some_and(|most| most < needed.len() as f64))?;
        let properties = if needed.len() == 1 { "property" } else { "properties" };
        Some(format!("required names {} {properties}, which {} excludes", needed.len(), few.show(&self.home)))
    }
}

/// The draft of the schema at `pointer`. The document says it, or the innermost schema around it that has a name.
/// `None` for a metaschema that is no draft's.
fn draft_at(document: &Value, pointer: &str) -> Option<Draft> {
    let ends = pointer.match_indices('/').map(|(at, _)| at).chain([pointer.len()]);
    let around = ends.filter_map(|end| Some((end, document.pointer(&pointer[..end])?)));
    let named = |(end, schema): (usize, &'_ Value)| {
        let is_resource = end == 0 || schema.get("$id").or_else(|| schema.get("id")).is_some();
        schema.get("$schema").and_then(Value::as_str).filter(|_| is_resource).map(str::to_owned)
    };
    around.filter_map(named).next_back().map_or(Some(Draft::Unstated), |uri| Draft::of_uri(&uri))
}

fn types_of(value: &Value) -> Vec<&str> {
    match value {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        // Whether a number counts as an integer is a matter of drafts.
        Value::Number(_) => matches!(name, "number" | "integer"),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

/// Whether two values are equal as JSON Schema has it; numbers by value, as far as doubles tell.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}
