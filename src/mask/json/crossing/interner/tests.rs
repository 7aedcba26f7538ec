//! Lexemes with the same crossing tokens name one set; others do not.

use crate::json::string_escape::EscapeUse;
use std::sync::Arc;

use crate::expr::Exprs;
use crate::lexeme::LexemeKind;
use crate::limits::Limits;
use crate::mask::lexeme::lexeme_mask::CrossingTokens;
use crate::mask::lexeme::masked_lexeme::LexemeRole;
use crate::mask::vocab_tables::VocabTables;
use crate::vocab::{Vocabulary, VocabularyOptions};

fn crossing(tables: &VocabTables, vocabulary: &Vocabulary, text: &str, read: &str) -> Option<Arc<CrossingTokens>> {
    let mut exprs = Exprs::new(1 << 16);
    let expr = exprs.choice(&[text]);
    let kind = LexemeKind::text(EscapeUse::Any);
    let limits = Limits::default();
    let masked = tables.lexeme(&mut exprs, expr, kind, LexemeRole::Value, &limits).unwrap().unwrap();
    let l = &masked.lexeme;
    let state = read.bytes().fold(l.start(), |s, b| l.next(s, b));
    tables.root_mask(vocabulary, &masked, state).cross.clone()
}

#[test]
fn sets_are_named_once() {
    let tokens = ["\"", "\",", "\"}", "t\"", "t\",", "ant", "a", "n", "t", "\\", "u", "</s>"];
    let options = VocabularyOptions { eos_token_ids: vec![11], ..Default::default() };
    let vocabulary = Vocabulary::new(tokens, options).unwrap();
    let tables = VocabTables::for_vocabulary(&vocabulary).unwrap();
    let name = |text: &str, read: &str| crossing(&tables, &vocabulary, text, read).map(|c| c.id);
    let first = crossing(&tables, &vocabulary, "ant", "\"ant");
    let id = first.as_ref().map(|c| c.id);
    assert!(id.is_some());
    assert_eq!(id, name("tan", "\"tan"), "behind the last character");
    assert_eq!(name("ant", "\"an"), name("aunt", "\"aun"), "in front of it");
    assert_ne!(id, name("ant", "\"an"), "one character before");
    assert_eq!(name("ant", "\"a"), None);
}
