//! The search for a value that an array of unique elements does not have: beside a list of all values where few are
//! left, and that it takes no longer for each byte than for each element: where each byte, mask or alternative took as
//! long as what was read or listed, these tests would take hours.

use std::collections::BTreeSet;

use crate::support::every_byte::bytes;
use interlock::schema::{PropertyOrder, SchemaOptions, Whitespace};
use interlock::util::rng::Rng;
use interlock::{Guide, GuideOptions, Index, Limits};
use serde_json::{Value, json};

const ORDERS: [PropertyOrder; 2] = [PropertyOrder::Any, PropertyOrder::Schema];

fn guide_of(items: &Value, property_order: PropertyOrder) -> Guide {
    let schema = json!({"type": "array", "uniqueItems": true, "items": items});
    let options = SchemaOptions { whitespace: Whitespace::Compact, property_order, ..Default::default() };
    let index = Index::from_json_schema(&schema.to_string(), &bytes(), &options, &Limits::default()).unwrap();
    index.guide(&GuideOptions::default()).unwrap()
}

fn take(guide: &mut Guide, text: &str) {
    let taken = text.bytes().take_while(|&b| guide.try_advance(b.into())).count();
    assert_eq!(taken, text.len(), "{}", &text[taken.saturating_sub(40)..]);
}

/// What may follow, but for the beginnings of other spellings.
fn allowed(guide: &mut Guide) -> BTreeSet<char> {
    guide.allowed_token_ids().into_iter().filter_map(char::from_u32).filter(|c| c.is_ascii() && *c != '\\').collect()
}

/// The key of a bit.
fn key(bit: u32) -> char {
    char::from(b'a' + bit as u8)
}

fn bits(set: u32) -> Vec<u32> {
    (0..32).filter(|b| set >> b & 1 == 1).collect()
}

/// Uses up all sets of keys, whose values are all 1, and compares what may follow wherever it is not certain.
fn use_up(rng: &mut Rng, items: &Value, order: PropertyOrder, sets: &[u32]) {
    let mut guide = guide_of(items, order);
    let mut left: Vec<u32> = sets.to_vec();
    take(&mut guide, "[");
    while !left.is_empty() {
        let whole = left.swap_remove(rng.below(left.len()));
        left.push(whole);
        let mut keys = bits(whole);
        if order == PropertyOrder::Any {
            (1..keys.len()).for_each(|i| keys.swap(i, rng.below(i + 1)));
        }
        take(&mut guide, "{");
        let mut read = 0;
        for (i, &next) in keys.iter().enumerate() {
            // Sets that go on from what was read, with no key in between where they come as declared.
            let behind =
                |set: u32| order == PropertyOrder::Any || (set & !read).trailing_zeros() >= 32 - read.leading_zeros();
            let may: Vec<u32> = left.iter().copied().filter(|s| s & read == read && behind(*s)).collect();
            let ends = may.contains(&read);
            let goes_on = may.iter().any(|s| *s != read);
            let expected = |c: &str| match goes_on {
                true => c.chars().chain(ends.then_some('}')).collect::<BTreeSet<_>>(),
                false => BTreeSet::from(['}']),
            };
            let context = || format!("{items} {order:?} {:?} left of {}, {read:b}", left.len(), sets.len());
            assert_eq!(allowed(&mut guide), expected(if i == 0 { "\"" } else { "," }), "{}", context());
            take(&mut guide, if i == 0 { "\"" } else { ",\"" });
            let first = |s: &u32| match order {
                PropertyOrder::Any => bits(s & !read),
                PropertyOrder::Schema => bits(s & !read).into_iter().take(1).collect(),
            };
            let keys: BTreeSet<char> = may.iter().flat_map(first).map(key).collect();
            assert_eq!(allowed(&mut guide), keys, "{}", context());
            take(&mut guide, &format!("{}\":1", key(next)));
            read |= 1 << next;
        }
        take(&mut guide, "}");
        left.pop();
        let expected = if left.is_empty() { BTreeSet::from([']']) } else { BTreeSet::from([']', ',']) };
        assert_eq!(allowed(&mut guide), expected, "{items} {order:?} {} left", left.len());
        if !left.is_empty() {
            take(&mut guide, ",");
        }
    }
}

#[test]
fn objects_that_need_most_of_many_keys_are_used_up() {
    let mut rng = Rng(77);
    let n = 14;
    let names = |from: u32, to: u32| {
        (from..to).map(|b| (key(b).to_string(), json!({"const": 1}))).collect::<serde_json::Map<_, _>>()
    };
    let closed = |named: u32, min: u32| {
        let others = format!("^[{}-{}]$", key(named), key(n - 1));
        let patterns = if named < n { json!({others: {"const": 1}}) } else { json!({}) };
        json!({"type": "object", "properties": names(0, named), "patternProperties": patterns,
               "additionalProperties": false, "minProperties": min})
    };
    for named in [0, 6, n] {
        let min = n - 1;
        let sets: Vec<u32> = (0..1 << n).filter(|s: &u32| s.count_ones() >= min).collect();
        // Where classes follow names in declared order, the classes' own order is free: not what is listed here.
        let orders = if named == n { &ORDERS[..] } else { &ORDERS[..1] };
        orders.iter().for_each(|&order| use_up(&mut rng, &closed(named, min), order, &sets));
    }
    // Members that ask for others.
    let mut items = closed(n, 12);
    items["dependentRequired"] =
        json!({"h": ["a"], "i": ["b"], "j": ["c"], "k": ["d"], "l": ["e"], "m": ["f"], "n": ["g"]});
    let asked = |s: &u32| (0..7).all(|b| s >> (b + 7) & 1 == 0 || s >> b & 1 == 1);
    let sets: Vec<u32> = (0..1 << n).filter(|s: &u32| s.count_ones() >= 12 && asked(s)).collect();
    ORDERS.iter().for_each(|&order| use_up(&mut rng, &items, order, &sets));
}

#[test]
fn long_elements_are_used_up() {
    let long = "x".repeat(20_000);
    let mut properties: serde_json::Map<String, Value> =
        (0..4).map(|i| (format!("p{i}"), json!({"const": 1}))).collect();
    properties.insert("zz".into(), json!({"const": long}));
    let items = json!({"type": "object", "properties": properties, "additionalProperties": false, "required": ["zz"],
        "dependentRequired": {"p1": ["p0"]}});
    let sets = (0..16u32).filter(|s| s & 3 != 2);
    let element = |s: u32| bits(s).iter().map(|b| format!("\"p{b}\":1,")).collect::<String>();
    let elements: Vec<String> = sets.map(|s| format!("{{{}\"zz\":\"{long}\"}}", element(s))).collect();
    for order in ORDERS {
        let mut guide = guide_of(&items, order);
        for (i, element) in elements.iter().enumerate() {
            take(&mut guide, &format!("{}{element}", if i == 0 { "[" } else { "," }));
            let more = i + 1 < elements.len();
            assert_eq!(allowed(&mut guide).contains(&','), more, "{order:?} {i}");
        }
    }
}

/// An object of optional members one of which asks for another, and its values in ascending order, as the search writes
/// them.
fn asking(names: usize, most: usize) -> (Value, Vec<String>) {
    let name = |i: usize| format!("p{i:02}");
    let properties: serde_json::Map<String, Value> = (0..names).map(|i| (name(i), json!({"const": 1}))).collect();
    let items = json!({"type": "object", "properties": properties, "additionalProperties": false,
        "dependentRequired": {name(1): [name(0)]}});
    let mut sets: Vec<Vec<usize>> = Vec::new();
    let mut open: Vec<Vec<usize>> = vec![vec![]];
    while let Some(set) = open.pop().filter(|_| sets.len() < most) {
        let from = set.last().map_or(0, |l| l + 1);
        open.extend((from..names).rev().map(|i| [set.as_slice(), &[i]].concat()));
        if !set.contains(&1) || set.contains(&0) {
            sets.push(set);
        }
    }
    let member = |i: &usize| format!("\"{}\":1", name(*i));
    let text = |s: &Vec<usize>| format!("{{{}}}", s.iter().map(member).collect::<Vec<_>>().join(","));
    (items, sets.iter().map(text).collect())
}

#[test]
fn bytes_of_objects_that_were_searched_for_take_no_search() {
    let (items, values) = asking(14, 300);
    let mut guide = guide_of(&items, PropertyOrder::Any);
    take(&mut guide, &format!("[{}", values.join(",")));
    // Blanks are on no way, and lead off none.
    let schema = json!({"type": "array", "uniqueItems": true, "items": items});
    let index = Index::from_json_schema(&schema.to_string(), &bytes(), &SchemaOptions::default(), &Limits::default());
    let mut guide = index.unwrap().guide(&GuideOptions::default()).unwrap();
    take(&mut guide, &format!("[ {}", values[..150].join(" , ").replace(',', " , ").replace(':', " : ")));
}

#[test]
fn searches_inside_searches_share_their_steps() {
    let (items, values) = asking(12, 48);
    let (all, others) = values.split_at(24);
    let items = json!({"type": "array", "uniqueItems": true, "maxItems": all.len() + 1, "items": items});
    let mut guide = guide_of(&items, PropertyOrder::Any);
    let all = all.join(",");
    let mut outer = vec![format!("[{all}]")];
    outer.extend(others.iter().map(|other| format!("[{all},{other}]")));
    take(&mut guide, &format!("[{},[{all}", outer.join(",")));
    assert_eq!(allowed(&mut guide), BTreeSet::from([',']));
}

#[test]
fn many_alternatives_take_no_longer_than_their_number() {
    let all: Vec<Value> = (0..3_000).map(|i| json!([i, format!("n{i}")])).collect();
    let digits = |from: char| (from..='9').collect::<BTreeSet<char>>();
    let mut guide = guide_of(&json!({"enum": all}), PropertyOrder::Any);
    take(&mut guide, "[[0,\"n0\"],[");
    for _ in 0..40 {
        assert_eq!(allowed(&mut guide), digits('1'));
    }
    take(&mut guide, "1");
    assert_eq!(allowed(&mut guide), digits('0').into_iter().chain([',']).collect());
    take(&mut guide, ",\"n1\"],[");
    assert_eq!(allowed(&mut guide), digits('1'));
}

#[test]
fn what_differs_early_is_known_to_differ_however_deep() {
    let own = json!({"anyOf": [{"$ref": "#"}, {"type": "string"}]});
    for depth in [1_000, 4_000] {
        let mut guide = guide_of(&own, PropertyOrder::Any);
        take(&mut guide, &"[[],".repeat(depth));
        let before = allowed(&mut guide);
        assert_eq!(before, BTreeSet::from(['[', '"']));
        for _ in 0..1_000 {
            assert_eq!(allowed(&mut guide), before);
        }
        // Only the empty array is there.
        take(&mut guide, "[");
        assert_eq!(allowed(&mut guide), BTreeSet::from(['[', '"']));
    }
}

/// A blank ends a number: what could become another number before it is the same one behind it.
#[test]
fn a_blank_behind_a_number_decides_its_value() {
    let items = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
                       "additionalProperties": false});
    let schema = json!({"type": "array", "uniqueItems": true, "items": items});
    let index =
        Index::from_json_schema(&schema.to_string(), &bytes(), &SchemaOptions::default(), &Limits::default()).unwrap();
    let mut guide = index.guide(&GuideOptions::default()).unwrap();
    take(&mut guide, r#"[{"a":1},{"a":1"#);
    for blank in [b' ', b'\n'] {
        assert!(!guide.try_advance(blank.into()));
    }
    assert!(guide.allowed_token_ids().iter().all(|id| !b" \t\n\r}".map(u32::from).contains(id)));
    take(&mut guide, "0 }");
}

/// What was found behind a name or text that was begun plainly says nothing of one that goes on with an escape: the
/// same bytes lead to another value there.
#[test]
fn escapes_are_on_no_way_that_was_found() {
    let members =
        |value: &str| [r#"{"a":V}"#, r#"{"a":V,"p":1}"#, r#"{"a":V,"p":1,"q":1}"#].map(|e| e.replace('V', value));
    let items = json!({"type": "object",
                       "properties": {"a": {"enum": ["bbb", "bbc"]}, "p": {"const": 1}, "q": {"const": 1}},
                       "required": ["a"], "dependentRequired": {"q": ["p"]}, "additionalProperties": false});
    let spellings = |text: &str| {
        (0..1 << text.len())
            .map(|escaped: u32| {
                let spelled = |(i, c): (usize, char)| match escaped >> i & 1 {
                    1 => format!("\\u{:04x}", c as u32),
                    _ => c.to_string(),
                };
                text.chars().enumerate().map(spelled).collect::<String>()
            })
            .collect::<Vec<_>>()
    };
    for order in ORDERS {
        let schema = json!({"type": "array", "uniqueItems": true, "items": items});
        let options = SchemaOptions { property_order: order, ..Default::default() };
        let index = Index::from_json_schema(&schema.to_string(), &bytes(), &options, &Limits::default()).unwrap();
        for begun in spellings("bb") {
            let mut guide = index.guide(&GuideOptions::default()).unwrap();
            take(&mut guide, &format!("[{},{{\"a\":\"{begun}", members("\"bbb\"").join(",")));
            let expected: Vec<u32> = b"\\c".iter().map(|&b| b.into()).collect();
            assert_eq!(guide.allowed_token_ids(), [expected[0], expected[1]], "{begun} {order:?}");
            assert!(!guide.try_advance(b'b'.into()) && guide.try_advance(b'c'.into()));
        }
    }
}
