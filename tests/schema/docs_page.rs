//! The tables of `docs/json-schema.md` are true: every schema in them is compiled, every document read.

use interlock::schema::{Enforcement, OnUnsupported, PropertyOrder, SchemaOptions, Spelling, Whitespace, format};
use interlock::{Error, GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use serde_json::{Value, json};
use std::sync::Arc;

const PAGE: &str = include_str!("../../docs/json-schema.md");

const DRAFTS: [(&str, &str); 5] = [
    ("4", "http://json-schema.org/draft-04/schema#"),
    ("6", "http://json-schema.org/draft-06/schema#"),
    ("7", "http://json-schema.org/draft-07/schema#"),
    ("2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

/// The rows of all tables whose first column has this title.
fn rows(title: &str) -> Vec<Vec<String>> {
    let (mut found, mut inside) = (Vec::new(), false);
    for line in PAGE.lines() {
        if !line.starts_with('|') {
            inside = false;
            continue;
        }
        let cells: Vec<String> = line.trim_matches('|').split('|').map(|c| c.trim().to_string()).collect();
        if inside && !line.starts_with("|---") {
            found.push(cells);
        } else if cells[0] == title {
            inside = true;
        }
    }
    found
}

/// The texts between backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn vocabulary() -> Arc<Vocabulary> {
    let tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).chain([Vec::new()]).collect();
    Vocabulary::new(&tokens, VocabularyOptions { eos_token_ids: vec![256], ..Default::default() }).unwrap()
}

struct Judge {
    vocabulary: Arc<Vocabulary>,
    wrong: Vec<String>,
}

impl Judge {
    fn new() -> Self {
        Judge { vocabulary: vocabulary(), wrong: Vec::new() }
    }

    fn compile(&self, schema: &str, on_unsupported: OnUnsupported) -> Result<Index, Error> {
        // Any order of keys, so that what is accepted is what the specification accepts.
        let options = SchemaOptions {
            whitespace: Whitespace::Compact,
            spelling: Some(Spelling::Any),
            property_order: PropertyOrder::Any,
            on_unsupported,
            ..SchemaOptions::default()
        };
        Index::from_json_schema(schema, &self.vocabulary, &options, &Limits::default())
    }

    fn check(&mut self, holds: bool, message: impl Into<String>) {
        if !holds {
            self.wrong.push(message.into());
        }
    }

    /// Reads the documents of both columns.
    fn read(&mut self, index: &Index, schema: &str, accepts: &[String], refuses: &[String]) {
        for (texts, wanted) in [(accepts, true), (refuses, false)] {
            for text in texts {
                let mut guide = index.guide(&GuideOptions::default()).unwrap();
                let ids: Vec<u32> = text.bytes().map(u32::from).collect();
                let accepted = guide.advance_many(&ids) == ids.len() && guide.is_accepting();
                self.check(accepted == wanted, format!("{schema}: {text} accepted: {accepted}"));
            }
        }
    }

    fn done(self) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
    }
}

/// How the report says that a keyword is enforced; no row is exact.
fn enforced(index: &Index, keyword: &str) -> &'static str {
    match index.report().iter().find(|r| r.keyword == keyword).map(|r| r.enforcement) {
        None => "exact",
        Some(Enforcement::Narrower) => "narrower",
        Some(Enforcement::Annotation) => "annotation",
        Some(Enforcement::Ignored) => "ignored",
        Some(Enforcement::Wider) => "wider",
    }
}

fn owned(texts: Vec<&str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}

#[test]
fn keywords() {
    let mut judge = Judge::new();
    let rows = rows("keyword");
    assert!(rows.len() > 60, "only {} rows", rows.len());
    for row in &rows {
        let [keyword, drafts, how, schema, accepts, refuses, _notes] = row.as_slice() else {
            panic!("seven cells: {row:?}")
        };
        let (keyword, schema) = (quoted(keyword)[0], quoted(schema)[0]);
        match judge.compile(schema, OnUnsupported::Error) {
            Err(e) => judge.check(false, format!("{schema}: {e}")),
            Ok(index) => {
                let said = enforced(&index, keyword);
                let wanted = if how == "silent" { "exact" } else { how };
                judge.check(said == wanted, format!("{schema}: {keyword} is {said}"));
                judge.read(&index, schema, &owned(quoted(accepts)), &owned(quoted(refuses)));
            }
        }
        if drafts == "-" {
            continue;
        }
        let counts: Vec<&str> = drafts.split(' ').collect();
        assert!(counts.iter().all(|d| DRAFTS.iter().any(|(name, _)| name == d)), "{drafts}");
        for (draft, uri) in DRAFTS {
            let mut dated: Value = serde_json::from_str(schema).unwrap();
            dated["$schema"] = json!(uri);
            // What is ignored makes no error, but for values that the draft gives another form.
            let result = judge.compile(&dated.to_string(), OnUnsupported::Error);
            let ignored = result.as_ref().map_or(true, |i| enforced(i, keyword) == "ignored");
            let message = format!("draft {draft}: {schema}: {keyword}: {:?}", result.as_ref().err());
            judge.check(ignored != counts.contains(&draft), message);
        }
    }
    judge.done();
}

#[test]
fn no_keyword_is_left_out() {
    let source = include_str!("../../src/schema/drafts.rs");
    let list =
        source.split("\nkeywords! {\n").nth(1).and_then(|s| s.split("\n}").next()).expect("the list of keywords");
    let known: Vec<&str> =
        list.lines().filter(|l| !l.trim_start().starts_with("//")).filter_map(|l| l.split('"').nth(1)).collect();
    assert!(known.len() >= 50, "{known:?}");
    let rows = rows("keyword");
    for keyword in known {
        assert!(rows.iter().any(|r| quoted(&r[0]) == [keyword]), "{keyword} is not on the page");
    }
}

#[test]
fn formats() {
    let mut judge = Judge::new();
    let rows = rows("format");
    let mut named: Vec<&str> = rows.iter().map(|r| quoted(&r[0])[0]).collect();
    for row in &rows {
        let name = quoted(&row[0])[0];
        let schema = json!({"type": "string", "format": name}).to_string();
        let index = judge.compile(&schema, OnUnsupported::Error).unwrap();
        judge.check(enforced(&index, "format") == row[1], format!("{name} is not {}", row[1]));
        let reason = index.report().first().map_or("", |r| r.reason.as_str());
        judge.check(reason == row[4], format!("{name}: {reason}"));
        let texts = |cell: &str| -> Vec<String> { quoted(cell).into_iter().map(|t| json!(t).to_string()).collect() };
        judge.read(&index, name, &texts(&row[2]), &texts(&row[3]));
    }
    named.sort_unstable();
    for name in format::names().filter(|name| !named.contains(name)) {
        judge.check(false, format!("docs/json-schema.md has no row for the format {name}"));
    }
    for name in named.iter().filter(|name| !format::is_known(name)) {
        judge.check(false, format!("docs/json-schema.md has a row for {name}, which is no format here"));
    }
    judge.done();
}

#[test]
fn refusals() {
    let mut judge = Judge::new();
    let rows = rows("what");
    assert!(rows.len() > 15);
    for row in &rows {
        let deep = format!("{{\"const\":{}1{}}}", "[".repeat(2_000), "]".repeat(2_000));
        let schema = match quoted(&row[3])[0] {
            "DEEP" => deep.as_str(),
            schema => schema,
        };
        match judge.compile(schema, OnUnsupported::Error) {
            Ok(_) => judge.check(false, format!("{} is not refused", row[0])),
            Err(e) => judge.check(format!("{:?}", e.kind()) == row[1], format!("{}: {:?}: {e}", row[0], e.kind())),
        }
        let warned = match judge.compile(schema, OnUnsupported::Warn) {
            Ok(index) if index.report().iter().any(|r| r.enforcement == Enforcement::Wider) => "wider",
            Ok(_) => "silent",
            Err(_) => "refused",
        };
        judge.check(warned == row[2], format!("{} with on_unsupported=warn: {warned}", row[0]));
    }
    judge.done();
}
