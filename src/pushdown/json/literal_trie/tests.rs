use std::collections::VecDeque;
use std::sync::Arc;

use super::*;
use crate::expr::analysis::saturate_counts::TokenReach;
use crate::expr::{Exprs, INF};
use crate::json::whitespace::WhitespaceRule;
use crate::lexeme::{CLOSED, DEAD_STATE, Lexeme};
use crate::limits::Limits;
use crate::pushdown::json::program::RuleProgram;

const TEXT: LexemeKind = LexemeKind::Text { min: 0, max: INF, escapes: EscapeUse::Any };

/// A program whose rules list these texts, and the rules.
fn program(rules: &[&[&str]], kind: LexemeKind) -> (Program, Vec<RuleId>) {
    let mut exprs = Exprs::new(1 << 20);
    let limits = Limits::default();
    let reach = TokenReach { digits: 8, word: 8, any: 8 };
    let compile = |exprs: &Exprs, expr, kind| {
        let lexeme = Lexeme::compile(exprs, expr, kind, reach, &limits).expect("within limits");
        Arc::new(lexeme.expect("accepts something"))
    };
    let mut lexemes: Vec<Arc<Lexeme>> = Vec::new();
    for texts in rules {
        let expr = exprs.choice(texts);
        lexemes.push(compile(&exprs, expr, kind));
    }
    let any = exprs.any_text();
    let any_text = compile(&exprs, any, TEXT);
    let rule = |i: u32| RuleProgram { lexemes: smallvec::smallvec![i], ..RuleProgram::default() };
    let program = Program {
        rules: (0..rules.len() as u32).map(rule).collect(),
        lexemes,
        arrays: Vec::new(),
        objects: Vec::new(),
        any_text,
        gaps: [WhitespaceRule::none(), WhitespaceRule::none(), WhitespaceRule::none()],
        any_order: true,
        name_escapes: EscapeUse::Any,
        has_unique: false,
        has_watched: false,
        unique: Default::default(),
        constants: Default::default(),
        root: RuleId(0),
    };
    (program, (0..rules.len() as u32).map(RuleId).collect())
}

const RULES: &[&[&str]] = &[
    &["tool"],
    &["tool_1", "tool_12"],
    &["tool_12", ""],
    &["a\"b\\c/", "\u{1}\u{1f}\n\t\u{7f}"],
    &["é", "è", "日本", "日", "😀x", "\u{10FFFF}"],
    &["é"],
];

/// All places that few bytes lead to are those of the lexemes, one for each rule, side by side.
#[test]
fn a_set_is_its_lexemes_side_by_side() {
    for kind in [TEXT, LexemeKind::text(EscapeUse::Writers), LexemeKind::text(EscapeUse::Needed)] {
        let (program, rules) = program(RULES, kind);
        let (number, set) = program.constants.find_or_build(&program, &rules).expect("lists of texts");
        assert!(set.others.is_empty() && set.escapes == kind.escapes());
        let open: Vec<u32> = program.lexemes.iter().map(|l| l.next(l.start(), b'"')).collect();
        let mut seen = std::collections::HashSet::new();
        let mut queue = VecDeque::from([((0, EscapeState::Plain), open)]);
        let mut places = 0;
        while let Some(((at, sub), states)) = queue.pop_front() {
            if !seen.insert((at, sub, states.clone())) || seen.len() > 6_000 {
                continue;
            }
            places += 1;
            for byte in 0..=255u8 {
                let step =
                    |(l, &state): (&Arc<Lexeme>, &u32)| if state <= CLOSED { DEAD_STATE } else { l.next(state, byte) };
                let next: Vec<u32> = program.lexemes.iter().zip(&states).map(step).collect();
                let closed: Vec<u32> = (0..).zip(&next).filter(|(_, to)| **to == CLOSED).map(|(tag, _)| tag).collect();
                let alive = next.iter().any(|&to| to > CLOSED);
                match set.step(at, sub, byte) {
                    LiteralNode::Dead => assert!(!alive && closed.is_empty(), "{at} {sub:?} {byte} {next:?}"),
                    LiteralNode::Closed => assert_eq!((set.texts.tokens(at), alive), (&closed[..], false)),
                    LiteralNode::At(at, sub) => {
                        assert!(alive && closed.is_empty(), "{at} {sub:?} {byte}");
                        queue.push_back(((at, sub), next));
                    }
                }
            }
        }
        match kind.escapes() {
            // Each text is written in one way: 37 nodes of the trie, and 14 places inside the six escapes.
            EscapeUse::Needed => assert_eq!(places, 51),
            _ => assert!(places > 60, "{places}"),
        }
        assert_eq!(program.constants.find_or_build(&program, &rules).map(|known| known.0), Some(number));
    }
}

#[test]
fn what_is_no_list_stays_a_lexeme() {
    let (mut p, rules) = program(&[&["a"], &["b"], &["c"]], TEXT);
    let any = p.any_text.clone();
    p.lexemes.push(any);
    p.rules[1].lexemes = smallvec::smallvec![3, 1];
    let set = LiteralTrie::build(&p, &rules).expect("three lists");
    assert_eq!((&*set.others, set.texts.subtree_tokens(0)), (&[(1, 3)][..], &[0, 1, 2][..]));
    // One list alone is a lexeme, and so is everything where elements must differ.
    assert!(LiteralTrie::build(&p, &rules[..1]).is_none());
    p.rules[2].lexemes = smallvec::smallvec![3];
    assert!(LiteralTrie::build(&p, &rules[1..]).is_none());
    p.has_unique = true;
    assert!(p.constants.find_or_build(&p, &rules).is_none());
}

#[test]
fn the_ends_of_a_place() {
    let (program, rules) = program(RULES, TEXT);
    let set = LiteralTrie::build(&program, &rules).expect("lists of texts");
    let at = set.texts.find(0, b"tool").expect("a beginning");
    let ends = set.ends(at);
    let expected = [(&b""[..], &[0][..]), (b"_1", &[1]), (b"_12", &[1, 2])];
    assert_eq!(ends.iter().map(|(text, tags)| (&text[..], *tags)).collect::<Vec<_>>(), expected);
}
