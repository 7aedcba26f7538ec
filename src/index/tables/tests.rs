use crate::json::string_escape::EscapeUse;
use std::sync::Arc;

use crate::dfa::explore::Explorer;
use crate::dfa::{FlatDfa, NO_SUCCESSOR};
use crate::index::tables::dedup::MaskSetBuilder;
use crate::index::tables::mask_delta::{DeltaEncoder, MaskDelta};
use crate::index::tables::mask_set::{MaskSet, NO_BASE, OF_MASK};
use crate::index::tables::packed_rows::PackedRows;
use crate::index::tables::token_classes::{TokenClasses, walk};
use crate::index::tables::{DenseTables, OUTSIDE, TableArrays, beginning, complete};
use crate::lexeme::CLOSED;
use crate::mask::trie_kind::TrieKind;
use crate::mask::vocab_tables::VocabTables as VocabularyTables;
use crate::regex::{Dialect, RegexOptions};
use crate::schema::{SchemaOptions, Whitespace};
use crate::util::rng::Rng;
use crate::{GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};

fn vocabulary() -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    tokens.extend(["ab", "abc", "bc", "aa", "12", "a1", "", "ab", "foo"].iter().map(|t| t.as_bytes().to_vec()));
    tokens.push(b"</s>".to_vec());
    let options = VocabularyOptions { eos_token_ids: vec![265], special_token_ids: vec![], size: Some(300) };
    Vocabulary::new(tokens, options).unwrap()
}

fn index(pattern: &str) -> Index {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    Index::from_regex(pattern, &vocabulary(), &options, &Limits::default()).unwrap()
}

fn tables(index: &Index, threads: usize) -> DenseTables {
    complete(index, 10_000, 1 << 30, threads, |_, _| Ok(())).unwrap()
}

fn mask(tables: &DenseTables, state: u16) -> Vec<u32> {
    let mut row = vec![u32::MAX; 10];
    tables.fill(state, &mut row);
    row
}

const PATTERNS: [&str; 7] =
    ["(ab|abc)*", "((ab|c)1?){3,70}", "[a-c]{2,40}", "(a|b)*abb|foo", "a(?!b)[a-z]{0,3}1*", "(aa|aaa)*b", "é+[0-9]{3}"];

#[test]
fn tables_say_what_guides_and_walks_of_the_trie_say() {
    for pattern in PATTERNS {
        let index = index(pattern);
        let made = tables(&index, 1);
        assert!(made.is_complete() && made == tables(&index, 2) && made == tables(&index, 8));
        for state in 0..made.num_states() as u16 {
            let walked = walk(&made, index.vocabulary(), state);
            let row = mask(&made, state);
            assert_eq!(row.iter().map(|w| w.count_ones() as usize).sum::<usize>(), walked.len(), "{pattern}");
            assert!(walked.iter().all(|&(t, _)| row[t as usize >> 5] >> (t & 31) & 1 == 1), "{pattern}");
        }
        let mut rng = Rng(3);
        for _ in 0..20 {
            let mut guide = index.guide(&GuideOptions::default()).unwrap();
            let mut state = 0;
            for _ in 0..12 {
                let mut row = vec![0; index.vocabulary().words()];
                guide.fill_mask(&mut row);
                row[265 >> 5] &= !(1 << (265 & 31));
                assert_eq!(mask(&made, state), row, "{pattern}");
                assert_eq!(made.is_accepting(state), guide.is_accepting());
                let allowed: Vec<u32> = guide.allowed_token_ids().into_iter().filter(|&t| t != 265).collect();
                let Some(&token) = allowed.get(rng.below(allowed.len())) else { break };
                guide.advance(token).unwrap();
                state = made.advance(state, index.vocabulary().spelling(token).unwrap());
                assert!(state < OUTSIDE);
            }
        }
    }
}

#[test]
fn token_classes_act_alike_in_every_state() {
    for pattern in PATTERNS {
        let index = index(pattern);
        let (made, v) = (tables(&index, 1), index.vocabulary());
        let classes = TokenClasses::from_tables(&made, v, 3);
        assert!(classes.count <= v.size() + 1 && classes.rows.len() == made.num_states());
        for (row, state) in classes.rows.iter().zip(0..) {
            assert!(row.windows(2).all(|w| w[0].0 < w[1].0));
            for t in 0..v.size() as u32 {
                let to = v.spelling(t).map(|bytes| made.advance(state, bytes)).filter(|&to| to < OUTSIDE);
                let found = row.binary_search_by_key(&classes.of[t as usize], |r| r.0).ok().map(|i| row[i].1);
                assert_eq!(found, to, "{pattern}: token {t} in state {state}");
            }
        }
    }
}

#[test]
fn a_beginning_leads_outside_only_where_the_whole_goes_on() {
    for pattern in PATTERNS {
        let index = index(pattern);
        let whole = tables(&index, 1);
        for states in [1, 2, 5, 10_000] {
            let begun = beginning(&index, states, 1 << 30).unwrap();
            // Pairs of states that the same bytes lead to.
            let mut pairs = vec![(0u16, 0u16)];
            let mut at = 0;
            while let Some(&(a, b)) = pairs.get(at) {
                assert_eq!((mask(&whole, a), whole.is_accepting(a)), (mask(&begun, b), begun.is_accepting(b)));
                for byte in 0..=255 {
                    let (to, other) = (whole.step(a, byte), begun.step(b, byte));
                    assert!(to == other || to < OUTSIDE && other != crate::index::tables::DEAD_ENTRY, "{pattern}");
                    if other < OUTSIDE && !pairs.contains(&(to, other)) {
                        pairs.push((to, other));
                    }
                }
                at += 1;
            }
            assert!(begun.is_complete() || states < 10_000);
            assert!(!begun.is_complete() || states > 1);
        }
    }
}

#[test]
fn rows_of_next_states_give_back_the_table() {
    let mut rng = Rng(5);
    for (states, width) in [(1u16, 1usize), (1, 256), (40, 3), (300, 70), (2_000, 20)] {
        let mut table: Vec<u16> = Vec::new();
        for s in 0..states {
            // Empty, full, sparse and repeated rows.
            match rng.below(8) {
                0 => table.extend(vec![crate::index::tables::DEAD_ENTRY; width]),
                1 => table.extend((0..width).map(|_| rng.below(states.into()) as u16)),
                2 if s > 0 => table.extend_from_within(..width),
                _ => {
                    let at = table.len();
                    table.extend(vec![crate::index::tables::DEAD_ENTRY; width]);
                    (0..rng.below(4)).for_each(|_| table[at + rng.below(width)] = rng.below(states.into()) as u16);
                }
            }
        }
        let rows = PackedRows::pack(&table, width);
        assert!(rows.fits(width) && rows.len() == usize::from(states) && rows == PackedRows::pack(&table, width));
        for (at, &to) in table.iter().enumerate() {
            assert_eq!(rows.step((at / width) as u16, (at % width) as u8), to);
        }
        if states == 2_000 {
            assert!(rows.next.len() < table.len() / 2, "{} of {}", rows.next.len(), table.len());
        }
    }
}

#[test]
fn sets_of_masks_give_back_what_was_added() {
    let mut rng = Rng(1);
    let mut rows: Vec<Vec<u32>> = vec![vec![0; 40], vec![u32::MAX; 40]];
    for _ in 0..200 {
        let mut row = rng.pick(&rows).clone();
        (0..rng.below(8)).for_each(|_| row[rng.below(40)] ^= 1 << rng.below(32));
        rows.push(row);
    }
    rows.extend_from_within(..50);
    let mut builder = MaskSetBuilder::new(40);
    let mut sketcher = DeltaEncoder::new(40);
    let numbers: Vec<u32> = rows.iter().map(|row| builder.add(&sketcher.of_row(row))).collect();
    // Whatever a mask's delta stands on, it is the same mask.
    let full: Arc<[u32]> = vec![u32::MAX; 40].into();
    let hash_of_full = sketcher.of_row(&full).hash;
    for (number, row) in numbers.iter().zip(&rows) {
        let ids = (0..1280).filter(|id| row[id / 32] >> (id % 32) & 1 == 0).map(|id| id as u32).collect();
        let hash = sketcher.of_row(row).hash;
        assert_eq!(builder.add(&MaskDelta { hash, base: Some((full.clone(), hash_of_full)), ids }), *number);
    }
    let set = builder.finish();
    assert!(set.fits(1280) && !set.fits(1279 - 40));
    let mut row = vec![0; 40];
    for (number, added) in numbers.iter().zip(&rows) {
        set.read(*number as usize, &mut row);
        assert_eq!(&row, added);
    }
    let mut distinct = rows.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(set.len(), distinct.len());
    assert!(
        set.base.contains(&NO_BASE)
            && set.rows.len() / 40 < distinct.len() * 3 / 4
            && set.bytes() < 100 * distinct.len()
    );
}

#[test]
fn damaged_tables_are_refused() {
    let index = index("(ab|abc)*1{0,3}x[^x]+");
    let made = tables(&index, 1);
    let p = made.parts();
    assert!(DenseTables::new(p.clone(), 300).is_ok() && !p.masks.rows.is_empty());
    type Break = fn(&mut TableArrays, &mut dyn FnMut(&mut Vec<u32>));
    fn wide<T: crate::util::mapped::Plain + Into<u32> + TryFrom<u32>>(
        s: &mut crate::util::mapped::MappedSlice<T>,
        most: T,
        change: &mut dyn FnMut(&mut Vec<u32>),
    ) {
        let mut v: Vec<u32> = s.iter().map(|&n| n.into()).collect();
        change(&mut v);
        *s = v.into_iter().map(|n| T::try_from(n).unwrap_or(most)).collect();
    }
    let fields: [Break; 5] = [
        |p, f| wide(&mut p.masks.base, 0, f),
        |p, f| wide(&mut p.masks.start, 0, f),
        |p, f| wide(&mut p.masks.gaps, 60_000, f),
        |p, f| wide(&mut p.rows.start, 0, f),
        |p, f| wide(&mut p.rows.next, 60_000, f),
    ];
    for field in fields {
        let mut broken = p.clone();
        field(&mut broken, &mut |v| v[0] = 1 << 20);
        assert!(DenseTables::new(broken, 300).is_err());
        let mut short = p.clone();
        field(&mut short, &mut |v| v.truncate(v.len() - 1));
        assert!(DenseTables::new(short, 300).is_err());
    }
    // A mask may stand on one that stands on none, and on no other.
    let sets: [(&[u32], bool); 3] =
        [(&[NO_BASE, OF_MASK], true), (&[OF_MASK, OF_MASK], false), (&[NO_BASE, OF_MASK | 2], false)];
    for (base, sound) in sets {
        let start = vec![0; base.len() + 1].into();
        let set = MaskSet { base: base.to_vec().into(), start, ..Default::default() };
        assert_eq!(set.fits(300), sound);
    }
    let drops: [fn(&mut TableArrays); 7] = [
        |p| p.rows.class = p.rows.class[1..].to_vec().into(),
        |p| p.masks.rows = p.masks.rows[1..].to_vec().into(),
        |p| p.accepting = Vec::new().into(),
        |p| p.mask_of = p.mask_of.iter().map(|_| 60_000).collect(),
        |p| p.byte_classes = p.byte_classes[1..].to_vec().into(),
        // Classes that no byte has, and classes in another order.
        |p| p.byte_classes = vec![1; 256].into(),
        |p| p.byte_classes = p.byte_classes.iter().map(|&class| if class < 2 { 1 - class } else { class }).collect(),
    ];
    for drop in drops {
        let mut broken = p.clone();
        drop(&mut broken);
        assert!(DenseTables::new(broken, 300).is_err());
    }
    assert_eq!(MaskSet::default().memory_bytes(), 0);
}

#[test]
fn classes_that_act_alike_in_a_configuration_are_found() {
    for source in [
        r#"{"type": "object", "properties": {"ab": {"type": "string", "maxLength": 3}, "b": {"type": "number"}},
            "additionalProperties": false}"#,
        r#"{"type": "array", "items": {"enum": [null, "ab\n", 12, "é", {"a": [true]}]}, "maxItems": 3}"#,
        r#"{"anyOf": [{"type": "string", "pattern": "^a+b?$"}, {"type": "object", "required": ["a"],
            "properties": {"a": {"const": "{}"}}, "additionalProperties": {"type": "integer"}, "maxProperties": 2}]}"#,
        r#"{"type": "array", "items": {"type": "boolean"}, "uniqueItems": true, "maxItems": 2}"#,
    ] {
        let index = Index::from_json_schema(source, &vocabulary(), &SchemaOptions::default(), &Limits::default());
        let index = index.unwrap();
        let mut explorer = Explorer::new(index.source().unwrap(), 100_000);
        let classes = explorer.classes().clone();
        let mut id = 0;
        while id < explorer.len().min(2_000) as u32 {
            let mut row = Vec::new();
            explorer.row(id, &mut row).unwrap();
            for (&first, to) in classes.first.iter().zip(row) {
                assert_eq!(explorer.step(id, first).unwrap().unwrap_or(NO_SUCCESSOR), to, "{source}: {first} in {id}");
            }
            id += 1;
        }
        assert!(id > 20, "{source}: {id}");
    }
}

#[test]
fn what_lies_behind_an_open_key_makes_no_configurations() {
    let source = r#"{"properties": {"ab": {"const": 1}, "abc": {"const": 2}, "b": {"const": 3}, "ad": {"const": 4}},
        "type": "object", "additionalProperties": false}"#;
    let options = SchemaOptions { whitespace: Whitespace::Pattern("[ ]?".into()), ..Default::default() };
    let index = Index::from_json_schema(source, &vocabulary(), &options, &Limits::default()).unwrap();
    let mut explorer = Explorer::new(index.source().unwrap(), 1_000);
    let (flat, _) = FlatDfa::explore(&mut explorer).unwrap();
    // Neither whitespace in front of it nor names that it cannot become any more tell keys apart. What is left are ends
    // of values.
    assert!(explorer.len() < flat.len() + 8, "{} configurations, {} states", explorer.len(), flat.len());
}

#[test]
fn masks_of_bounded_text_inside_escapes_are_those_of_steps() {
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    let more =
        ["u00", "n\"", "41ab", "ab", "abc\"", "\\nab", "d83d", "\\ude00a", "\"}", "é", "éab", "x\\u00e9yz", "\"a"];
    tokens.extend(more.iter().map(|t| t.as_bytes().to_vec()));
    let split = "😀".as_bytes();
    tokens.extend([split[1..].to_vec(), [&split[2..], b"ab"].concat(), b"</s>".to_vec()]);
    let eos = tokens.len() as u32 - 1;
    let options = VocabularyOptions { eos_token_ids: vec![eos], special_token_ids: vec![], size: None };
    let vocabulary = Vocabulary::new(tokens, options).unwrap();
    let shared = VocabularyTables::for_vocabulary(&vocabulary).unwrap();
    let masked = shared.any_text_of(1, 5, EscapeUse::Any).unwrap();
    let l = &masked.lexeme;
    let (mut states, mut at, mut rooms) = (vec![l.start()], 0, 0);
    while let Some(&state) = states.get(at) {
        at += 1;
        for byte in 0..=255 {
            let to = l.next(state, byte);
            if to > CLOSED && !states.contains(&to) {
                states.push(to);
            }
        }
        for count in (0..=5).filter(|&c| (c == 0 || state != l.start()) && l.live_at(l.state(state), c)) {
            rooms += usize::from(l.has_rooms(l.room_and_need(count)));
            let mask = shared.submask(&vocabulary, &masked, state, count, TrieKind::Tokens, 0).inner.tokens();
            let stays = |t: &u32| {
                let mut now = (state, count);
                for &b in vocabulary.spelling(*t).unwrap_or_default() {
                    let from = l.state(now.0);
                    now = (l.next(now.0, b), now.1 + u32::from(l.starts_char(from, b)));
                    if now.0 <= CLOSED || !l.live_at(l.state(now.0), now.1) {
                        return false;
                    }
                }
                true
            };
            let expected: Vec<u32> = (0..eos).filter(stays).collect();
            assert_eq!(mask, expected, "state {state} after {count}");
        }
    }
    assert!(states.len() > 20 && rooms > 60, "{} states, {rooms} rooms", states.len());
}

fn document(schema: &str) -> Index {
    let options = SchemaOptions { whitespace: Whitespace::Spaced, ..SchemaOptions::default() };
    Index::from_json_schema(schema, &vocabulary(), &options, &Limits::default()).unwrap()
}

/// Schemas under which what was read is remembered, each with a text and what may stand there for a `?`.
const REMEMBERED: [(&str, &str, [&str; 3]); 5] = [
    (r#"{"additionalProperties": {"const": 1}, "type": "object"}"#, r#"{"?": 1, "?": 1}"#, ["k", "j", "kj"]),
    (
        r##"{"propertyNames": {"pattern": "^[#$]$"}, "additionalProperties": {"const": 1}, "type": "object"}"##,
        r#"{"?": 1, "?": 1}"#,
        ["#", "$", "$"],
    ),
    (
        r##"{"patternProperties": {"^[x-z]{1,2}$": {"const": 1}}, "additionalProperties": false, "type": "object"}"##,
        r#"{"?": 1, "?": 1}"#,
        ["xy", "xz", "y"],
    ),
    (
        r#"{"items": {"type": "integer", "minimum": 0, "maximum": 9}, "uniqueItems": true, "maxItems": 2, "type": "array"}"#,
        "[?, ?]",
        ["2", "3", "0"],
    ),
    (
        r##"{"items": {"pattern": "^[#$%]$", "type": "string"}, "uniqueItems": true, "maxItems": 2, "type": "array"}"##,
        r#"["?", "?"]"#,
        ["#", "$", "%"],
    ),
];

/// Texts of the same length from the same letters are not the same key or element.
#[test]
fn built_tables_remember_what_was_read() {
    for (schema, text, values) in REMEMBERED {
        let (lazy, built) = (document(schema), document(schema));
        built.build(Some(1), 4_096, |_, _| Ok(())).unwrap();
        let begun = beginning(&lazy, 500, 1 << 30).unwrap();
        for (a, b) in values.iter().flat_map(|a| values.iter().map(move |b| (a, b))) {
            let text = text.replacen('?', a, 1).replacen('?', b, 1);
            let accepts = |index: &Index| {
                let mut guide = index.guide(&GuideOptions::default()).unwrap();
                text.bytes().all(|byte| guide.try_advance(u32::from(byte))) && guide.is_accepting()
            };
            assert_eq!(accepts(&lazy), a != b, "{schema}: {text}");
            assert_eq!(accepts(&built), a != b, "built, {schema}: {text}");
            let at = begun.advance(0, text.as_bytes());
            assert!(at == OUTSIDE || (at != crate::index::tables::DEAD_ENTRY) == (a != b), "begun, {schema}: {text}");
        }
        let mut members = 0;
        for seed in 0..200 {
            // Behind a key of any text, the shortest end may be too far.
            let Ok(member) = lazy.random_member(seed, 100, 20_000) else { continue };
            members += 1;
            let mut guide = lazy.guide(&GuideOptions::default()).unwrap();
            let taken = member.iter().all(|&byte| guide.try_advance(u32::from(byte))) && guide.is_accepting();
            assert!(taken, "{schema}: {}", String::from_utf8_lossy(&member));
        }
        assert!(members > 50, "{schema}");
    }
}

/// The bound on states is one on all lexemes, and what others leave is for the last.
#[test]
fn parts_of_one_lexeme_take_all_the_states_that_there_are() {
    let pattern = |n: usize| index(&format!("a{{{n}}}"));
    let string = |n: usize| document(&format!(r#"{{"type": "string", "pattern": "^a{{{n}}}$"}}"#));
    for (index, complete) in [
        (pattern(6_200), true),
        (pattern(12_200), true),
        (pattern(12_300), false),
        (string(1_500), true),
        (string(3_000), false),
    ] {
        index.build(Some(1), 200_000, |_, _| Ok(())).unwrap();
        assert_eq!((index.is_complete(), index.built().is_none()), (complete, true));
    }
}

/// What an explorer says of a class without a step for each is what steps say of each byte.
#[test]
fn bytes_that_are_read_alike_lead_where_each_leads_alone() {
    let schemas = [
        r#"{"type": "string", "pattern": "^(a|b\\d+)x$"}"#,
        r#"{"type": "object", "properties": {"a": {"type": "number"}, "ab": {"enum": ["x", "a\"b", 12]}}, "required": ["a"]}"#,
        r#"{"anyOf": [{"type": "string", "maxLength": 3}, {"type": "string", "pattern": "^[0-9]{1,6}$"}, {"type": "number"}]}"#,
        r#"{"type": "array", "items": {"type": ["integer", "null", "string"], "maxLength": 2}, "maxItems": 2}"#,
        r#"{"type": "array", "items": {"enum": ["a", "b", 1]}, "uniqueItems": true, "maxItems": 2}"#,
        r#"{"type": "object", "patternProperties": {"^a": {"const": 1}, "b$": {"type": "integer"}}, "maxProperties": 1}"#,
        r#"{"type": "object", "properties": {"é": {"format": "time", "type": "string"}}, "additionalProperties": false}"#,
    ];
    for schema in schemas.into_iter().chain(REMEMBERED.map(|r| r.0)) {
        let index = document(schema);
        let mut explorer = Explorer::new(index.source().unwrap(), 100_000);
        let classes = explorer.classes().clone();
        let mut id = 0;
        // Those nearest to the start, where there are many.
        while id < (explorer.len() as u32).min(600) {
            let mut row = Vec::new();
            explorer.row(id, &mut row).unwrap();
            for byte in 0..=255u8 {
                let class = classes.of[byte as usize] as usize;
                // What is remembered of keys of any text is not told by a class, and nobody takes it from there.
                if explorer.tells_apart(id) && classes.first[class] != byte {
                    continue;
                }
                let alone = explorer.step(id, byte).unwrap().unwrap_or(NO_SUCCESSOR);
                assert_eq!(row[class], alone, "{schema}: {id} under {byte}");
            }
            id += 1;
        }
        assert!(id > 10, "{schema}");
    }
}
