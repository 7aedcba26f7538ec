use crate::json::string_escape::EscapeUse;
use std::sync::Arc;

use smallvec::smallvec;

use crate::expr::Exprs;
use crate::expr::analysis::saturate_counts::TokenReach;
use crate::json::rules::{Contains, Element, RuleId};
use crate::json::whitespace::WhitespaceRule;
use crate::lexeme::{Lexeme, LexemeKind};
use crate::limits::Limits;
use crate::pushdown::json::program::{ArrayProgram, ObjectProgram, Program, RuleProgram};
use crate::vocab::Trie;

fn elements(rules: &[u32]) -> Vec<Element> {
    rules.iter().map(|&rule| Element { rule: RuleId(rule), matches: 0 }).collect()
}

/// Arrays of `lens` elements of these rules.
fn array(rules: &[u32], lens: (u64, u64)) -> ArrayProgram {
    ArrayProgram::new((Vec::new(), elements(rules)), Vec::new(), lens, true).unwrap()
}

/// Objects of `lens` members with properties of these rules, some of which every object needs.
fn object(rules: &[u32], required: u64, lens: (u64, u64)) -> ObjectProgram {
    let spelled: Vec<Arc<str>> = (0..rules.len()).map(|i| format!("p{i}").into()).collect();
    let mut names: Vec<(&[u8], u32)> = spelled.iter().zip(0..).map(|(name, i)| (name.as_bytes(), i)).collect();
    ObjectProgram {
        names: Trie::build(&mut names).unwrap(),
        rules: rules.iter().map(|&rule| Some(RuleId(rule))).collect(),
        words: 1,
        required: smallvec![required],
        possible: smallvec![(1 << rules.len()) - 1],
        dependent_required: None,
        others: Vec::new(),
        min: lens.0,
        max: lens.1,
        witnesses: 0,
        witness_members: smallvec![0],
        spelled,
        union: None,
    }
}

/// A program in which each rule is one of these shapes or none.
fn program(shapes: Vec<Result<ArrayProgram, Option<ObjectProgram>>>) -> Program {
    let limits = Limits::default();
    let mut exprs = Exprs::new(limits.max_expr_nodes);
    let any = exprs.any_text();
    let reach = TokenReach { digits: 8, word: 8, any: 8 };
    let any_text = Lexeme::compile(&exprs, any, LexemeKind::text(EscapeUse::Any), reach, &limits).unwrap().unwrap();
    let (mut rules, mut arrays, mut objects) = (Vec::new(), Vec::new(), Vec::new());
    for shape in shapes {
        let mut rule = RuleProgram::default();
        match shape {
            Ok(array) => {
                rule.arrays.push(arrays.len() as u32);
                arrays.push(array);
            }
            Err(Some(object)) => {
                rule.objects.push(objects.len() as u32);
                objects.push(object);
            }
            Err(None) => {}
        }
        rules.push(rule);
    }
    Program {
        rules,
        lexemes: Vec::new(),
        arrays,
        objects,
        any_text: Arc::new(any_text),
        gaps: [WhitespaceRule::none(), WhitespaceRule::none(), WhitespaceRule::none()],
        any_order: true,
        name_escapes: EscapeUse::Any,
        has_unique: true,
        has_watched: true,
        unique: Default::default(),
        constants: Default::default(),
        root: RuleId(0),
    }
}

#[test]
fn what_holds_itself_has_values_without_end() {
    let arrays = program(vec![
        Ok(array(&[0], (0, u64::MAX))),
        // Through another rule, and what leads there.
        Ok(array(&[2], (1, 1))),
        Err(Some(object(&[6, 1], 1, (0, u64::MAX)))),
        Ok(array(&[6, 2], (0, 3))),
        // Only what must have two elements holds it, none of which need differ from the other.
        Ok(array(&[4, 6], (2, u64::MAX))),
        // No element at all.
        Ok(array(&[5], (0, 0))),
        Err(None),
    ]);
    assert_eq!(arrays.endless_rules(), [true, true, true, true, false, false, false]);
    assert_eq!(arrays.variety(RuleId(0)), u64::MAX);
    assert_eq!(arrays.variety(RuleId(3)), u64::MAX);
    assert_eq!((arrays.variety(RuleId(4)), arrays.variety(RuleId(6))), (1, 1));
}

#[test]
fn a_member_must_be_possible_beside_what_is_needed() {
    let of = |object: ObjectProgram| program(vec![Err(Some(object)), Err(None)]).endless_rules()[0];
    assert!(of(object(&[0], 0, (0, 1))));
    assert!(of(object(&[0, 1], 0b10, (0, 2))));
    assert!(of(object(&[0, 1], 0b11, (2, 2))));
    // No room beside the other one, or a third member is asked for.
    assert!(!of(object(&[0, 1], 0b10, (0, 1))));
    assert!(!of(object(&[0, 1], 0b10, (3, u64::MAX))));
    let mut dependent_required = object(&[0, 1], 0, (0, u64::MAX));
    dependent_required.dependent_required = Some(vec![vec![0b10], vec![0]]);
    assert!(!of(dependent_required));
}

#[test]
fn elements_that_are_counted_say_nothing() {
    let one = Contains { min: 1, max: None };
    let counted = ArrayProgram::new((Vec::new(), elements(&[0])), vec![one], (0, u64::MAX), true).unwrap();
    assert_eq!(program(vec![Ok(counted)]).endless_rules(), [false]);
}
