//! Masks of warm indexes, bit for bit against the slow twin: those that were made ahead and those that were not.

use crate::support::check::{Plan, walk};
use crate::support::twin::Spellings;
use crate::support::walk::Walker;
use interlock::schema::{PropertyOrder, SchemaOptions};
use interlock::util::rng::Rng;
use interlock::{GuideOptions, Index, Limits};

/// What warming up writes in ways of its own: choices between shapes, constants, classes of keys, counts, recursion.
const CHOSEN: &[&str] = &[
    r#"{"oneOf":[{"properties":{"t":{"const":"a"},"x":{"type":"integer"}},"required":["t"]},{"properties":{"t":{"const":"b"}},"required":["t"]}]}"#,
    r#"{"type":"object","patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":{"enum":["a","b",1,null]}}"#,
    r##"{"type":"object","properties":{"a":{"type":"string","maxLength":3},"b":{"$ref":"#"}},"required":["b"],"minProperties":2,"maxProperties":4,"anyOf":[{"required":["a"]},{"properties":{"b":{"type":"null"}}}]}"##,
    r#"{"type":"array","items":{"type":"array","items":{"type":"number","multipleOf":0.5}},"minItems":1,"maxItems":3}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"enum":["a","ab","b",1,2]}}"#,
    r#"{"type":"array","prefixItems":[{"type":"boolean"},{"format":"date"}],"items":false,"contains":{"type":"string"}}"#,
];

#[test]
fn masks_are_those_of_the_twin() {
    let v = crate::support::vocabulary::small();
    let tokens = Spellings::from_vocabulary(&v);
    let mut rng = Rng(5);
    let random = (0..60).map(|_| crate::support::schemas::random(&mut rng));
    let schemas: Vec<String> = CHOSEN.iter().map(|s| s.to_string()).chain(random).collect();
    let (mut states, mut made, mut wrong) = (0, 0, Vec::new());
    for (schema, seed) in schemas.iter().zip(0..) {
        for property_order in [PropertyOrder::Any, PropertyOrder::Schema] {
            let options = SchemaOptions { property_order, ..Default::default() };
            let Ok(index) = Index::from_json_schema(schema, &v, &options, &Limits::default()) else { continue };
            let mut steps = 0;
            made += index.warm_up(|| {
                steps += 1;
                steps < 2_000
            });
            let guide = index.guide(&GuideOptions::default()).unwrap();
            let plan = Plan { tokens: 40, every: 2, probes: 4 };
            let found = walk(guide, None, &tokens, Walker::new(seed, b""), plan);
            states += found.states;
            wrong.extend(found.wrong.into_iter().map(|w| format!("{schema}: {w}")));
        }
    }
    println!("{states} masks, {made} made ahead");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    assert!(states > 300 && made > 1_000);
}
