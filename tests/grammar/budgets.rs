//! Budgets over random grammars, by brute force: after each token the fewest tokens to the end are counted with a guide
//! that has no budget.
//!
//! `GRAMMARS=5000 cargo test --release --test grammar budgets -- --nocapture` walks through as many.

use std::collections::HashMap;

use interlock::grammar::model::Lexer;
use interlock::util::rng::Rng;
use interlock::{ErrorKind, GrammarOptions, Guide, GuideOptions, Index, Limits, Syntax};

use crate::random_grammar::{FIRST_SPECIAL, random_grammar, shown};
use crate::random_grammars::{EOS, vocabularies};

/// The fewest tokens to the end of each position, as far as they were counted.
#[derive(Default)]
struct Distances {
    /// The number, or that it is more than one.
    known: HashMap<Vec<u8>, Result<usize, usize>>,
}

/// Positions that one count looks at.
const MOST_POSITIONS: usize = 400;

impl Distances {
    /// The fewest tokens to the end, if they are at most `most`; `None` if that takes too long.
    fn fewest(&mut self, guide: &mut Guide, most: usize) -> Option<Option<usize>> {
        let start = guide.state_key();
        match self.known.get(&start) {
            Some(Ok(distance)) => return Some((*distance <= most).then_some(*distance)),
            Some(Err(more)) if *more >= most => return Some(None),
            _ => {}
        }
        let mut seen = std::collections::HashSet::from([start.clone()]);
        let mut level = vec![guide.clone()];
        for distance in 0..=most {
            let mut next = Vec::new();
            for guide in &mut level {
                if guide.is_accepting() {
                    self.known.insert(start, Ok(distance));
                    return Some(Some(distance));
                }
                for id in guide.allowed_token_ids() {
                    let mut fork = guide.clone();
                    fork.advance(id).unwrap();
                    if seen.insert(fork.state_key()) {
                        next.push(fork);
                    }
                }
                if seen.len() > MOST_POSITIONS {
                    return None;
                }
            }
            level = next;
        }
        self.known.insert(start, Err(most));
        Some(None)
    }
}

#[derive(Default, Debug)]
struct Counts {
    grammars: usize,
    guides: usize,
    masks: usize,
    /// Tokens that would leave enough, and those of them that are allowed.
    enough: usize,
    allowed: usize,
    unknown: usize,
    no_plan: usize,
}

fn budgeted(index: &Index, max_tokens: usize) -> interlock::Result<Guide> {
    index.guide(&GuideOptions { max_tokens: Some(max_tokens), ..GuideOptions::default() })
}

fn walk(seed: u64, counts: &mut Counts) -> Result<(), String> {
    let v = &vocabularies()[0].0;
    let mut rng = Rng(seed.wrapping_mul(0xD129_0E0B_41F5_5B21) | 1);
    let Ok(index) = Index::from_model(random_grammar(seed), format!("random {seed}"), v, &Limits::default()) else {
        return Ok(());
    };
    counts.grammars += 1;
    let mut distances = Distances::default();
    let mut free = index.guide(&GuideOptions::default()).unwrap();
    let Some(least) = distances.fewest(&mut free, 8) else { return Ok(()) };
    let least = match least {
        Some(least) => least,
        None => return Ok(()),
    };
    match (budgeted(&index, least), least) {
        (Ok(_), _) => {}
        (Err(error), _) => {
            counts.no_plan += 1;
            println!("grammar {seed}: {least} tokens suffice, but {}", error.message());
        }
    }
    if least > 0 {
        match budgeted(&index, least - 1) {
            Ok(_) => return Err(format!("a budget of {} is too small", least - 1)),
            Err(error) if error.kind() == ErrorKind::Budget => {}
            Err(error) if error.kind() == ErrorKind::Unsupported => counts.no_plan += 1,
            Err(error) => return Err(error.message().to_owned()),
        }
    }
    for _ in 0..3 {
        let most = least + rng.below(6);
        let Ok(mut guide) = budgeted(&index, most) else { continue };
        counts.guides += 1;
        let mut free = index.guide(&GuideOptions::default()).unwrap();
        let mut steps = 0;
        while !guide.is_terminated() && steps < 60 {
            steps += 1;
            let left = most - guide.num_tokens();
            let allowed = guide.allowed_token_ids();
            let text = guide_text(&free);
            let at = |what: String| format!("behind {text:?}, {left} tokens left of {most}: {what}");
            let possible = free.allowed_token_ids();
            if allowed.is_empty() {
                return Err(at("nothing is allowed".to_owned()));
            }
            counts.masks += 1;
            for &id in &possible {
                let is_allowed = allowed.contains(&id);
                if id == EOS {
                    if !is_allowed {
                        return Err(at("the end is not allowed".to_owned()));
                    }
                    continue;
                }
                let mut after = free.clone();
                after.advance(id).unwrap();
                let distance = if left == 0 { Some(None) } else { distances.fewest(&mut after, left - 1) };
                match distance {
                    None => counts.unknown += 1,
                    Some(None) if is_allowed => return Err(at(format!("{id} is allowed, and too much is missing"))),
                    Some(None) => {}
                    Some(Some(_)) => {
                        counts.enough += 1;
                        counts.allowed += usize::from(is_allowed);
                    }
                }
                if rng.chance(10) || is_allowed {
                    let mut fork = guide.clone();
                    let taken = fork.try_advance(id);
                    if is_allowed && !taken {
                        return Err(at(format!("{id} is allowed, and refused")));
                    }
                    if taken && matches!(distance, Some(None)) {
                        return Err(at(format!("{id} is taken, and too much is missing")));
                    }
                    if taken && rng.chance(5) {
                        fork.rollback(1).unwrap();
                        if fork.allowed_token_ids() != allowed {
                            return Err(at("a fork that went back is elsewhere".to_owned()));
                        }
                    }
                }
            }
            if let Some(&id) = allowed.iter().find(|id| possible.binary_search(id).is_err()) {
                return Err(at(format!("{id} is allowed with a budget only")));
            }
            let missing = guide.min_tokens_to_finish().map_err(|e| at(e.message().to_owned()))?;
            if missing > left {
                return Err(at(format!("{missing} tokens are said to be missing")));
            }
            if rng.chance(8) {
                let back = rng.below(guide.num_tokens() + 1);
                guide.rollback(back).unwrap();
                free.rollback(back).unwrap();
                continue;
            }
            let wanted: Vec<u32> = allowed.iter().copied().filter(|&id| id != EOS).collect();
            let id = if wanted.is_empty() { EOS } else { *rng.pick(&wanted) };
            guide.advance(id).map_err(|e| format!("{id} is allowed, but {}", e.message()))?;
            free.advance(id).unwrap();
        }
        if steps < 60 && !guide.is_terminated() {
            return Err("a guide came to no end".to_owned());
        }
    }
    Ok(())
}

fn guide_text(guide: &Guide) -> String {
    let v = guide.index().vocabulary();
    let bytes: Vec<u8> = guide.tokens().iter().flat_map(|&id| v.token_bytes(id).unwrap_or_default().to_vec()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn budgets_of_random_grammars_by_brute_force() {
    let count: u64 = std::env::var("GRAMMARS").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let first: u64 = std::env::var("FIRST_GRAMMAR").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut counts = Counts::default();
    let mut wrong = Vec::new();
    for seed in first..first + count {
        let begun = std::time::Instant::now();
        if let Err(error) = walk(seed, &mut counts) {
            println!("grammar {seed}: {error}\n{}", shown(&mut random_grammar(seed)));
            wrong.push(seed);
        }
        if begun.elapsed().as_secs() >= 5 {
            println!("grammar {seed} took {:?}", begun.elapsed());
        }
    }
    println!("{counts:?}");
    assert!(wrong.is_empty(), "{} of {count} grammars: {wrong:?}", wrong.len());
    assert!(counts.allowed * 50 >= counts.enough * 49, "{counts:?}");
}

fn index(grammar: &str, lexer: Lexer) -> Index {
    let options = GrammarOptions { syntax: Syntax::Lark, lexer: Some(lexer), ..GrammarOptions::default() };
    Index::from_grammar(grammar, &vocabularies()[0].0, &options, &Limits::default()).unwrap()
}

/// Takes what is allowed until the end, the last allowed token each time, and counts.
fn prolonged(guide: &mut Guide) -> usize {
    while !guide.is_terminated() {
        let allowed = guide.allowed_token_ids();
        let id = allowed.iter().rev().copied().find(|&id| id != EOS).unwrap_or(EOS);
        guide.advance(id).unwrap();
    }
    guide.num_tokens() - 1
}

#[test]
fn brackets_are_closed_in_time() {
    for lexer in [Lexer::Any, Lexer::Dynamic, Lexer::Contextual] {
        let index = index("start: \"(\" start* \")\" | W\nW: /[a-z]+/\n%ignore \" \"", lexer);
        for most in 1..40 {
            let mut guide = budgeted(&index, most).unwrap();
            assert!(prolonged(&mut guide) <= most, "{lexer:?}");
        }
        let mut guide = budgeted(&index, 20).unwrap();
        let opened = guide.advance_many(&[u32::from(b'('); 30]);
        assert_eq!(opened, 10, "{lexer:?}: each of ten brackets needs another one");
        assert_eq!(guide.min_tokens_to_finish().unwrap(), 10);
        assert_eq!(guide.allowed_token_ids(), [u32::from(b')')]);
    }
}

/// Keywords that are no names, comments, look-aheads, and terminals that take the blanks behind them.
const COMPETING: [&str; 4] = [
    r#"
start: statement+
statement: "if" NAME "then" statement "end" | "let" NAME "=" sum ";"
sum: sum "+" value | value
value: NAME | NUMBER | "(" sum ")"
NAME: /[a-z_]+/
NUMBER: /[0-9]+(\.[0-9]+)?/
%ignore /[ \n]+/
%ignore /#[^\n]*/
"#,
    include_str!("../data/queries.lark"),
    r#"
start: (item _END)+
item: CALL NAME "(" [NAME ("," NAME)*] ")" | NAME ASSIGN NAME | BLOCK "{" (item _END)* "}"
_END.1: /;[ \n]*/ | /\n[ \n]*/
CALL: /call\b[ \n]*/
BLOCK: /block\b[ \n]*/
ASSIGN: /=[ \n]*/
NAME: /(?!(call|block)\b)[a-z]+/
%ignore /[ \t]+/
"#,
    "start: WORD (\"-\" WORD)* | WORD start\nWORD: /[a-z]+/\n%ignore \" \"",
];

#[test]
fn competing_terminals_end_in_time() {
    let mut rng = Rng(7);
    for (number, grammar) in (0..).zip(COMPETING) {
        let index = index(grammar, Lexer::Contextual);
        let mut free = index.guide(&GuideOptions::default()).unwrap();
        let least = free.min_tokens_to_finish().unwrap();
        for walk in 0..60 {
            let most = least + rng.below(40);
            let mut guide = budgeted(&index, most).unwrap();
            while !guide.is_terminated() {
                let left = most - guide.num_tokens();
                let allowed = guide.allowed_token_ids();
                let at = format!("grammar {number}, walk {walk}: {:?}, {left} of {most} left", guide_text(&guide));
                assert!(!allowed.is_empty(), "{at}");
                assert!(guide.min_tokens_to_finish().unwrap() <= left, "{at}");
                let wanted: Vec<u32> = allowed.iter().copied().filter(|&id| id != EOS).collect();
                let id = if wanted.is_empty() { EOS } else { *rng.pick(&wanted) };
                guide.advance(id).unwrap_or_else(|error| panic!("{at}: {id}: {}", error.message()));
            }
            assert!(guide.num_tokens() <= most + 1);
        }
    }
}

#[test]
fn room_leaves_masks_of_competing_terminals_as_they_are() {
    let mut rng = Rng(8);
    for grammar in COMPETING {
        let index = index(grammar, Lexer::Contextual);
        let mut free = index.guide(&GuideOptions::default()).unwrap();
        let mut guide = budgeted(&index, 5_000).unwrap();
        for _ in 0..120 {
            let allowed = free.allowed_token_ids();
            assert_eq!(guide.allowed_token_ids(), allowed, "{:?}", guide_text(&free));
            let wanted: Vec<u32> = allowed.into_iter().filter(|&id| id != EOS).collect();
            let Some(&id) = wanted.get(rng.below(wanted.len().max(1))) else { break };
            guide.advance(id).unwrap();
            free.advance(id).unwrap();
        }
    }
}

#[test]
fn a_deep_stack_is_closed_in_time() {
    let index = index("start: \"(\" start? \")\"", Lexer::Any);
    let deep = 20_000;
    let mut guide = budgeted(&index, 2 * deep).unwrap();
    assert_eq!(guide.advance_many(&vec![u32::from(b'('); 2 * deep]), deep);
    assert_eq!(guide.allowed_token_ids(), [u32::from(b')')]);
    assert_eq!(guide.advance_many(&vec![u32::from(b')'); deep]), deep);
    assert!(guide.is_accepting());
}

#[test]
fn special_tokens_count() {
    for lexer in [Lexer::Any, Lexer::Dynamic, Lexer::Contextual] {
        let index = index(&format!("start: \"a\"+ <[{FIRST_SPECIAL}]> \"b\""), lexer);
        assert_eq!(budgeted(&index, 2).err().unwrap().kind(), ErrorKind::Budget);
        let mut guide = budgeted(&index, 4).unwrap();
        assert_eq!(guide.advance_many(&[97, 97, 97]), 2, "{lexer:?}");
        assert_eq!(guide.allowed_token_ids(), [FIRST_SPECIAL]);
        assert_eq!(guide.advance_many(&[FIRST_SPECIAL, 98, EOS]), 3);
    }
}

#[test]
fn what_begins_behind_a_special_token_is_counted_whole() {
    for lexer in [Lexer::Any, Lexer::Dynamic, Lexer::Contextual] {
        let index = index(&format!("start: \"a\" [<[{FIRST_SPECIAL}]> \"XYZ\"]"), lexer);
        for (most, expected) in [(4, vec![EOS]), (5, vec![FIRST_SPECIAL, EOS])] {
            let mut guide = budgeted(&index, most).unwrap();
            guide.advance(u32::from(b'a')).unwrap();
            let mut allowed = guide.allowed_token_ids();
            allowed.sort_unstable_by_key(|&id| id == EOS);
            assert_eq!(allowed, expected, "{lexer:?}, {most}");
        }
    }
}

#[test]
fn documents_are_completed_in_time() {
    let schema = r#"{"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer"}}}, "required": ["n"]}"#;
    for lexer in [Lexer::Any, Lexer::Dynamic, Lexer::Contextual] {
        let index = index(&format!("start: \"run \"+ %json {schema} \"!\""), lexer);
        let needed = budgeted(&index, 0).err().unwrap();
        assert_eq!(needed.kind(), ErrorKind::Budget, "{}", needed.message());
        for most in 13..40 {
            let mut guide = match budgeted(&index, most) {
                Ok(guide) => guide,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Budget);
                    continue;
                }
            };
            assert!(prolonged(&mut guide) <= most, "{lexer:?}");
        }
    }
}
