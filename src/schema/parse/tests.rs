//! Parsing and resolution: what the model says for small schemas.

use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::schema::model::{Keywords, SchemaId, SchemaKind, SchemaModel, Types};
use crate::schema::{Enforcement, Formats, ReportRow, SchemaOptions, parse_schema, uri};

fn parse_with(text: &str, documents: &[(&str, &str)]) -> crate::Result<(SchemaModel, Vec<ReportRow>)> {
    let documents = documents.iter().map(|(u, t)| (u.to_string(), t.to_string())).collect();
    parse_schema(text, &SchemaOptions { documents, ..SchemaOptions::default() }, &Limits::default())
}

fn parse(text: &str) -> (SchemaModel, Vec<ReportRow>) {
    parse_with(text, &[]).unwrap()
}

fn refused(text: &str) -> Error {
    parse_with(text, &[]).unwrap_err()
}

fn keywords(model: &SchemaModel, id: SchemaId) -> &Keywords {
    match &model.schemas[id.0 as usize].kind {
        SchemaKind::Keywords(k) => k,
        SchemaKind::Bool(_) => panic!("a boolean schema"),
    }
}

fn pointer(model: &SchemaModel, id: SchemaId) -> String {
    model.pointer(id)
}

/// Where the first reference of the root leads.
fn target(text: &str, documents: &[(&str, &str)]) -> String {
    let (model, _) = parse_with(text, documents).unwrap();
    pointer(&model, keywords(&model, model.root).refs[0])
}

fn draft(n: &str, rest: &str) -> String {
    let uri = match n {
        "4" | "6" | "7" => format!("http://json-schema.org/draft-0{n}/schema#"),
        _ => format!("https://json-schema.org/draft/{n}/schema"),
    };
    format!("{{\"$schema\":\"{uri}\",{rest}}}")
}

#[test]
fn plain_keywords() {
    let (model, rows) = parse(
        r#"{"type":["string","integer"],"minLength":2.0,"maxLength":1e30,"minimum":-1.50,"enum":[1,{"a":2}],
            "required":["b"],"properties":{"b~/":true,"a":{"const":null}},"additionalProperties":false,"format":"date",
            "uniqueItems":true,"title":"t"}"#,
    );
    let k = keywords(&model, model.root);
    assert_eq!(k.types, Some(Types(Types::STRING.0 | Types::INTEGER.0)));
    assert_eq!((k.min_length, k.max_length), (Some(2), Some(u64::MAX)));
    let minimum = k.minimum.as_ref().unwrap();
    assert_eq!((minimum.negative, &minimum.digits[..], minimum.exponent), (true, &[1u8, 5][..], -1));
    assert_eq!(k.enumeration.as_ref().map(Vec::len), Some(2));
    assert_eq!(
        k.properties.iter().filter_map(|p| model.names.get(p.0)).map(|n| &**n).collect::<Vec<_>>(),
        ["b~/", "a"]
    );
    assert_eq!(pointer(&model, k.properties[0].1), "/properties/b~0~1");
    assert!(keywords(&model, k.properties[1].1).constant.is_some());
    assert_eq!(k.format.as_deref(), Some("date"));
    assert!(k.unique_items);
    assert_eq!(rows, []);
}

#[test]
fn malformed_values_are_refused_with_their_place() {
    let cases = [
        r#"{"properties":{"a":{"minLength":"3"}}}"#,
        r#"{"properties":{"a":{"minLength":-1}}}"#,
        r#"{"properties":{"a":{"minLength":1.5}}}"#,
        r#"{"properties":{"a":{"required":true}}}"#,
        r#"{"properties":{"a":{"type":"any"}}}"#,
        r#"{"properties":{"a":{"type":[]}}}"#,
        r#"{"properties":{"a":{"multipleOf":0}}}"#,
        r#"{"properties":{"a":{"anyOf":[]}}}"#,
        r#"{"properties":{"a":{"enum":{}}}}"#,
        r#"{"properties":{"a":{"pattern":1}}}"#,
        r#"{"properties":{"a":{"$ref":1}}}"#,
        r##"{"properties":{"a":{"$ref":"#/nowhere"}}}"##,
        r##"{"properties":{"a":{"$ref":"#nowhere"}}}"##,
    ];
    for text in cases {
        let e = refused(text);
        assert_eq!(e.kind(), ErrorKind::Schema, "{e}");
        assert!(e.to_string().contains("/properties/a") && e.to_string().contains("keyword"), "{e}");
    }
    assert_eq!(refused("3").kind(), ErrorKind::Schema);
    assert_eq!(refused(r#"{"not":[]}"#).kind(), ErrorKind::Schema);
}

#[test]
fn numbers_that_are_too_far_from_one_are_refused() {
    for exponent in ["1e99999999999999999999", "-1.5E-99999999999999999999", "1e281474976710657"] {
        for keyword in ["minimum", "exclusiveMaximum", "multipleOf", "maxLength", "const"] {
            let e = refused(&format!(r#"{{"properties":{{"a":{{"{keyword}":{exponent}}}}}}}"#));
            assert!(matches!(e.kind(), ErrorKind::Limit), "{e}");
            assert!(e.to_string().contains("/properties/a") && e.to_string().contains(keyword), "{e}");
        }
        for value in [format!("[{exponent}]"), format!(r#"[5,{{"b":[{exponent}]}}]"#)] {
            assert_eq!(refused(&format!(r#"{{"enum":{value}}}"#)).kind(), ErrorKind::Limit);
            assert_eq!(refused(&format!(r#"{{"not":{{"const":{value}}}}}"#)).kind(), ErrorKind::Limit);
        }
    }
    parse(r#"{"enum":[1e281474976710656,0e99999999999999999999],"default":1e99999999999999999999}"#);
}

#[test]
fn a_keyword_of_a_later_draft_changes_nothing_in_an_older_one() {
    for draft in ["draft-04", "draft-06", "draft-07", "draft/2019-09"] {
        let text = format!(
            r#"{{"$schema":"http://json-schema.org/{draft}/schema#","items":[{{"type":"null"}}],"prefixItems":5}}"#
        );
        let (model, rows) = parse(&text);
        assert_eq!(keywords(&model, model.root).prefix_items.len(), 1, "{draft}");
        assert_eq!((rows.len(), rows[0].keyword.as_str()), (1, "prefixItems"));
    }
    assert_eq!(refused(r#"{"items":[{}],"prefixItems":[{}]}"#).kind(), ErrorKind::Schema);
}

#[test]
fn older_drafts_are_brought_to_one_vocabulary() {
    for text in [
        draft("4", r#""items":[{},{}],"additionalItems":{"type":"null"},"minimum":3,"exclusiveMinimum":true"#),
        r#"{"items":[{},{}],"additionalItems":{"type":"null"},"minimum":3,"exclusiveMinimum":true}"#.to_owned(),
    ] {
        let (model, _) = parse(&text);
        let k = keywords(&model, model.root);
        assert_eq!((k.prefix_items.len(), k.minimum.is_none(), k.exclusive_minimum.is_some()), (2, true, true));
        assert_eq!(pointer(&model, k.items.unwrap()), "/additionalItems");
    }
    let (model, _) = parse(r#"{"dependencies":{"a":["b"],"c":{"minProperties":2}}}"#);
    let k = keywords(&model, model.root);
    assert_eq!((k.dependent_required.len(), k.dependent_schemas.len()), (1, 1));
    assert_eq!(refused(&draft("2020-12", r#""items":[{}]"#)).kind(), ErrorKind::Schema);
    assert_eq!(refused(&draft("4", r#""exclusiveMinimum":3"#)).kind(), ErrorKind::Schema);
    let draft3 = refused(r#"{"$schema":"http://json-schema.org/draft-03/schema#"}"#);
    assert_eq!(draft3.kind(), ErrorKind::Unsupported);
}

#[test]
fn keywords_of_other_drafts_are_ignored_and_reported() {
    let (model, rows) = parse(&draft("4", r#""const":1,"if":{},"x-own":3,"maxLength":1"#));
    let k = keywords(&model, model.root);
    assert!(k.constant.is_none() && k.if_.is_none() && k.max_length == Some(1));
    let seen: Vec<_> = rows.iter().map(|r| (r.keyword.as_str(), r.enforcement)).collect();
    assert_eq!(
        seen,
        [("const", Enforcement::Ignored), ("if", Enforcement::Ignored), ("x-own", Enforcement::Annotation)]
    );
}

#[test]
fn siblings_of_ref_count_since_2019() {
    let rest = r##""$ref":"#/definitions/a","maxLength":3,"definitions":{"a":{}}"##;
    for (n, counts) in [("4", false), ("6", false), ("7", false), ("2019-09", true), ("2020-12", true)] {
        let (model, rows) = parse(&draft(n, rest));
        let k = keywords(&model, model.root);
        assert_eq!((k.refs.len(), k.max_length.is_some(), rows.is_empty()), (1, counts, counts), "{n}");
    }
}

#[test]
fn formats() {
    let (model, rows) = parse(r#"{"format":"int32"}"#);
    assert!(keywords(&model, model.root).format.is_none());
    assert_eq!(rows[0].enforcement, Enforcement::Annotation);
    let options = SchemaOptions { formats: Formats::Annotate, ..SchemaOptions::default() };
    let (model, rows) = parse_schema(r#"{"format":"date"}"#, &options, &Limits::default()).unwrap();
    assert!(keywords(&model, model.root).format.is_none());
    assert_eq!(rows.len(), 1);
}

#[test]
fn references() {
    let t = |text: &str| target(text, &[]);
    assert_eq!(t(r##"{"$ref":"#/$defs/a~1b","$defs":{"a/b":{}}}"##), "/$defs/a~1b");
    assert_eq!(t(r##"{"$ref":"#/$defs/a%25b%22","$defs":{"a%b\"":{}}}"##), "/$defs/a%b\"");
    assert_eq!(t(r##"{"$ref":"#/x/0/y","x":[{"y":{}}]}"##), "/x/0/y");
    assert_eq!(t(r##"{"$ref":"#a","$defs":{"x":{"$anchor":"a"}}}"##), "/$defs/x");
    assert_eq!(t(r##"{"$id":"http://h/root","$ref":"other","$defs":{"x":{"$id":"other"}}}"##), "/$defs/x");
    assert_eq!(t(r##"{"$id":"http://h/a/b","$ref":"/a/b#/$defs/x","$defs":{"x":{}}}"##), "/$defs/x");
    assert_eq!(t(&draft("4", r##""$ref":"#a","definitions":{"x":{"id":"#a"}}"##)), "/definitions/x");
    // A name in data or below an unknown keyword is none.
    let e = refused(r##"{"$ref":"#a","enum":[{"$anchor":"a"}],"unknown":{"$anchor":"a"}}"##);
    assert_eq!(e.kind(), ErrorKind::Schema);
    // Two places of one name have no meaning, as long as nobody asks.
    let twice = r##""$defs":{"x":{"$anchor":"a"},"y":{"$anchor":"a"}}"##;
    assert!(parse_with(&format!("{{{twice}}}"), &[]).is_ok());
    assert_eq!(refused(&format!("{{\"$ref\":\"#a\",{twice}}}")).kind(), ErrorKind::Schema);
    // A reference to itself is one schema.
    let (model, _) = parse(r##"{"properties":{"a":{"$ref":"#"}}}"##);
    let a = keywords(&model, model.root).properties[0].1;
    assert_eq!(keywords(&model, a).refs.as_slice(), [model.root]);
}

#[test]
fn an_old_id_that_is_no_string_is_a_forgotten_property_and_names_nothing() {
    let (_, rows) = parse(&draft("4", r#""items":{"id":{"type":"integer"}}"#));
    let row = rows.iter().find(|r| r.keyword == "id").unwrap();
    assert_eq!((row.pointer.as_str(), row.enforcement), ("/items", Enforcement::Ignored));
    assert_eq!(refused(r#"{"items":{"$id":5}}"#).kind(), ErrorKind::Schema);
}

#[test]
fn nested_ids_change_the_base_but_old_ones_in_unstated_drafts_do_not() {
    let inner = |id: &str| {
        format!(r##""properties":{{"a":{{"{id}":"in","$ref":"#/definitions/x"}}}},"definitions":{{"x":{{}}}}"##)
    };
    assert_eq!(refused(&format!("{{{}}}", inner("$id"))).kind(), ErrorKind::Schema);
    assert!(parse_with(&format!("{{{}}}", inner("id")), &[]).is_ok());
    let embedded = r##"{"definitions":{"a":{"$schema":"http://json-schema.org/draft-04/schema","id":"s/a",
        "properties":{"p":{"$ref":"#/definitions/a/definitions/q"}},"definitions":{"q":{}}}},"$ref":"#/definitions/a"}"##;
    assert!(parse_with(embedded, &[]).is_ok());
}

#[test]
fn other_documents() {
    let docs = [("http://h/d.json", r#"{"$defs":{"x":{"$id":"http://else/y"}}}"#)];
    assert_eq!(target(r##"{"$ref":"http://h/d.json#/$defs/x"}"##, &docs), "http://h/d.json#/$defs/x");
    assert_eq!(target(r##"{"$ref":"http://else/y"}"##, &docs), "http://h/d.json#/$defs/x");
    let e = parse_with(r#"{"$ref":"http://h/absent.json"}"#, &docs).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    assert!(e.to_string().contains("documents"), "{e}");
    let e = parse_with(r#"{"$ref":"http://h/d"}"#, &[("http://h/d", "{]")]).unwrap_err();
    assert!(e.to_string().contains("http://h/d") && e.to_string().contains("$ref"), "{e}");
    for n in ["draft-04/schema#", "draft-06/schema", "draft-07/schema#", "draft/2019-09/schema", "draft/2020-12/schema"]
    {
        for scheme in ["http", "https"] {
            if scheme == "https" || n.starts_with("draft-0") {
                let (model, _) = parse(&format!("{{\"$ref\":\"{scheme}://json-schema.org/{n}\"}}"));
                assert!(model.schemas.len() > 20, "{n}");
            }
        }
    }
}

#[test]
fn vocabularies_of_a_metaschema_decide() {
    let meta = r#"{"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/core":true,
        "https://json-schema.org/draft/2020-12/vocab/applicator":true}}"#;
    let text = r#"{"$schema":"http://h/m","properties":{"a":{"minimum":3}},"maxLength":2}"#;
    let (model, _) = parse_with(text, &[("http://h/m", meta)]).unwrap();
    let k = keywords(&model, model.root);
    assert!(k.max_length.is_none() && k.properties.len() == 1);
    // A format is a keyword of vocabularies of its own, which say whether it asserts.
    let text_of = |format: &str| {
        let core = r#""https://json-schema.org/draft/2020-12/vocab/core":true"#;
        format!(r#"{{"$vocabulary":{{{core}{format}}}}}"#)
    };
    let formatted = r#"{"$schema":"http://h/m","format":"ipv4"}"#;
    let (model, rows) = parse_with(formatted, &[("http://h/m", &text_of(""))]).unwrap();
    assert!(keywords(&model, model.root).format.is_none());
    assert_eq!((rows[0].enforcement, rows[0].keyword.as_str()), (Enforcement::Ignored, "format"));
    assert!(rows[0].reason.contains("vocabularies"));
    for vocabulary in ["format-annotation", "format-assertion"] {
        let format = format!(r#","https://json-schema.org/draft/2020-12/vocab/{vocabulary}":true"#);
        let (model, _) = parse_with(formatted, &[("http://h/m", &text_of(&format))]).unwrap();
        assert!(keywords(&model, model.root).format.is_some(), "{vocabulary}");
    }
    let unknown = r#"{"$vocabulary":{"http://own/vocabulary":true}}"#;
    assert_eq!(parse_with(text, &[("http://h/m", unknown)]).unwrap_err().kind(), ErrorKind::Unsupported);
    let (model, rows) = parse(text);
    assert!(keywords(&model, model.root).max_length.is_some());
    assert_eq!(rows[0].keyword, "$schema");
}

#[test]
fn dynamic_references_follow_the_way() {
    // A list whose items are whatever the schema that refers to it says.
    let list = r##"{"$id":"http://h/list","items":{"$dynamicRef":"#item"},"$defs":{"any":{"$dynamicAnchor":"item"}}}"##;
    let strings = r##"{"$id":"http://h/s","allOf":[{"$ref":"list"},{"$ref":"numbers"}],
        "$defs":{"i":{"$dynamicAnchor":"item","type":"string"}}}"##;
    let numbers = r##"{"$ref":"list","$defs":{"i":{"$dynamicAnchor":"item","type":"number"}}}"##;
    let docs = [("http://h/list", list), ("http://h/numbers", numbers), ("http://h/s", strings)];
    let item = |model: &SchemaModel, list: SchemaId| {
        let items = keywords(model, list).items.unwrap();
        pointer(model, keywords(model, items).refs[0])
    };
    let follow = |model: &SchemaModel, id: SchemaId| keywords(model, id).refs[0];
    let (model, _) =
        parse_with(r#"{"anyOf":[{"$ref":"http://h/list"},{"$ref":"http://h/numbers"},{"$ref":"http://h/s"}]}"#, &docs)
            .unwrap();
    let any = keywords(&model, model.root).any_of.clone().unwrap();
    let plain = follow(&model, any[0]);
    assert_eq!(item(&model, plain), "http://h/list#/$defs/any");
    let numbers = follow(&model, any[1]);
    assert_eq!(item(&model, follow(&model, numbers)), "http://h/numbers#/$defs/i");
    // The outermost owner wins, also on the way through `numbers`.
    let strings = follow(&model, any[2]);
    let all = keywords(&model, strings).all_of.clone();
    assert_eq!(item(&model, follow(&model, all[0])), "http://h/s#/$defs/i");
    let numbers = follow(&model, all[1]);
    assert_eq!(item(&model, follow(&model, numbers)), "http://h/s#/$defs/i");
}

#[test]
fn recursive_references_follow_the_way() {
    let tree = r##"{"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"http://h/tree",
        "$recursiveAnchor":true,"items":{"$recursiveRef":"#"}}"##;
    let text = |flag: &str| {
        draft(
            "2019-09",
            &format!("\"$id\":\"http://h/root\",\"$recursiveAnchor\":{flag},\"$ref\":\"tree\",\"maxItems\":2"),
        )
    };
    for (flag, expected) in [("true", ""), ("false", "http://h/tree#")] {
        let (model, _) = parse_with(&text(flag), &[("http://h/tree", tree)]).unwrap();
        let tree = keywords(&model, model.root).refs[0];
        let items = keywords(&model, tree).items.unwrap();
        assert_eq!(pointer(&model, keywords(&model, items).refs[0]), expected);
    }
}

#[test]
fn work_is_limited() {
    let limits = Limits { max_rules: 10, ..Limits::default() };
    let text = format!("{{\"allOf\":[{}]}}", ["{}"; 10].join(","));
    let e = parse_schema(&text, &SchemaOptions::default(), &limits).unwrap_err();
    assert_eq!((e.kind(), e.limit_values()), (ErrorKind::Limit, Some((10, 11))));
    // One long key above many schemas: every pointer would repeat it.
    let limits = Limits { max_source_bytes: 100_000, ..Limits::default() };
    let many = vec!["{}"; 100].join(",");
    let text = format!("{{\"properties\":{{\"{}\":{{\"allOf\":[{many}]}}}}}}", "k".repeat(50_000));
    assert_eq!(parse_schema(&text, &SchemaOptions::default(), &limits).unwrap_err().kind(), ErrorKind::Limit);
    let ids = vec![r#"{"$id":"x"}"#; 100].join(",");
    let text = format!("{{\"$id\":\"http://h/{}/\",\"allOf\":[{ids}]}}", "k".repeat(50_000));
    assert_eq!(parse_schema(&text, &SchemaOptions::default(), &limits).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn uris_join_as_in_rfc_3986() {
    // Section 5.4 of the RFC.
    let cases = [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        (";x", "http://a/b/c/;x"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
    ];
    for (reference, expected) in cases {
        assert_eq!(uri::join("http://a/b/c/d;p?q", reference), expected, "{reference}");
    }
    assert_eq!(uri::join("", "a/b.json"), "a/b.json");
    assert_eq!(uri::join("http://h", "x"), "http://h/x");
    assert_eq!(uri::join("urn:uuid:1", "urn:x:../y"), "urn:x:../y");
}

#[test]
fn envelopes_of_interfaces_are_refused() {
    for (text, way) in [
        (r#"{"name":"user","strict":true,"schema":{"type":"object"}}"#, r#"["schema"]"#),
        (r#"{"schema":true}"#, r#"["schema"]"#),
        (r#"{"type":"json_schema","json_schema":{"name":"n","schema":{}}}"#, r#"["json_schema"]["schema"]"#),
        (r#"{"type":"function","function":{"name":"f","parameters":{}}}"#, r#"["function"]["parameters"]"#),
        (r#"{"name":"f","description":"d","input_schema":{}}"#, r#"["input_schema"]"#),
        (r#"{"format":{"type":"json_schema","schema":{}}}"#, r#"["format"]["schema"]"#),
    ] {
        let error = refused(text);
        assert_eq!(error.kind(), ErrorKind::Schema, "{text}");
        assert!(error.to_string().contains(way), "{error}");
    }
    // One keyword makes a schema of it, and so does `$schema`; what holds no schema is no envelope.
    for text in [
        r#"{"type":"object","schema":{}}"#,
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","schema":{}}"#,
        r#"{"name":"f","parameters":[]}"#,
        r#"{"schema":5}"#,
        r#"{"properties":{"schema":{"schema":{}}}}"#,
    ] {
        parse(text);
    }
}

#[test]
fn identifiers_have_a_type() {
    for (text, keyword) in [
        (r#"{"$schema":5}"#, "$schema"),
        (r#"{"$id":[]}"#, "$id"),
        (r#"{"$anchor":5}"#, "$anchor"),
        (r#"{"$defs":[]}"#, "$defs"),
        (r#"{"properties":{"a":{"$dynamicAnchor":1}}}"#, "$dynamicAnchor"),
    ] {
        let error = refused(text);
        assert!(error.kind() == ErrorKind::Schema && error.to_string().contains(keyword), "{error}");
    }
}
