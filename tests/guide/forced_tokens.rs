//! Forced tokens against brute force: over small languages all outputs can be encoded, and what they have in common is
//! what is certain. Merges, patterns and languages are random, out of characters that patterns treat in special ways.

use interlock::util::rng::Rng;
use interlock::vocab::{ModelParts, NextText, SENTENCEPIECE, TokenizerModel, UNIGRAM};
use interlock::{GuideOptions, Index, Limits, Vocabulary, VocabularyOptions};
use std::sync::Arc;

const PATTERNS: [&str; 4] = [
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
];
const LETTERS: &[&str] = &["a", "B", "l", "s", "'", " ", " ", "\n", "\"", ":", "/", "1", "2", "é", "ª", "e", "r"];

/// A vocabulary of all bytes and of random merges, one token after all: the stop token. Some have an added token.
fn vocabulary(rng: &mut Rng) -> Arc<Vocabulary> {
    let mut tokens: Vec<Vec<u8>> = (0..=255u8).map(|b| vec![b]).collect();
    let mut merges: Vec<[u32; 3]> = Vec::new();
    let known: Vec<u32> = LETTERS.iter().flat_map(|l| l.bytes()).map(u32::from).collect();
    while merges.len() < 40 {
        let part = |rng: &mut Rng, n: usize| {
            if rng.chance(60) { known[rng.below(known.len())] } else { 256 + rng.below(n.max(1)) as u32 }
        };
        let (left, right) = (part(rng, merges.len()), part(rng, merges.len()));
        let text = |id: u32| tokens.get(id as usize).cloned();
        let (Some(a), Some(b)) = (text(left), text(right)) else { continue };
        let made = [a, b].concat();
        if made.len() < 6 && !tokens.contains(&made) {
            merges.push([left, right, tokens.len() as u32]);
            tokens.push(made);
        }
    }
    let n = tokens.len() as u32;
    tokens.push(b":/".to_vec());
    tokens.push(Vec::new());
    let added = rng.chance(30);
    let special_token_ids = if added { vec![n] } else { Vec::new() };
    let options = VocabularyOptions { eos_token_ids: vec![n + 1], special_token_ids, ..VocabularyOptions::default() };
    let mut parts = ModelParts {
        pattern: PATTERNS[rng.below(PATTERNS.len())].into(),
        whole: rng.chance(50),
        nfc: rng.chance(30),
        ids: (0..n).collect(),
        merges: if rng.chance(70) { Some(merges) } else { None },
        added: if added { vec![n] } else { Vec::new() },
        ..ModelParts::default()
    };
    if rng.chance(25) {
        characters(rng, &mut parts, &tokens);
    } else if rng.chance(25) {
        scores(rng, &mut parts, &tokens);
    }
    let tokens = if added { tokens } else { [&tokens[..n as usize], &[Vec::new(), Vec::new()]].concat() };
    Vocabulary::new(tokens, options).unwrap().with_model(&parts)
}

/// Makes the parts one of characters: bytes that spell ASCII are pieces, and all are what other characters fall back
/// to. Ranks are random, and some are equal.
fn characters(rng: &mut Rng, parts: &mut ModelParts, tokens: &[Vec<u8>]) {
    parts.bytes = (0..256).collect();
    parts.ids.retain(|&id| id < 128 || id >= 256 && std::str::from_utf8(&tokens[id as usize]).is_ok());
    parts.ranks = parts.ids.iter().map(|_| rng.below(20) as u32).collect();
    (parts.pattern, parts.whole, parts.nfc, parts.merges) = (SENTENCEPIECE.into(), false, false, None);
}

/// Makes the parts a unigram model of characters and texts, with random scores, some of which are equal.
fn scores(rng: &mut Rng, parts: &mut ModelParts, tokens: &[Vec<u8>]) {
    parts.ids.retain(|&id| id < 128 || id >= 256 && std::str::from_utf8(&tokens[id as usize]).is_ok());
    let score = |rng: &mut Rng| -(rng.below(3_000) as f32 / 256.0);
    parts.ranks = parts.ids.iter().map(|_| score(rng).to_bits()).collect();
    (parts.pattern, parts.whole, parts.nfc, parts.merges) = (UNIGRAM.into(), false, false, None);
}

/// Of all ways to spell a text by pieces the one of the highest score, with sums as sentencepiece makes them.
fn best(v: &Vocabulary, parts: &ModelParts, text: &str) -> Vec<u32> {
    let mut sums: Vec<Option<(f32, Vec<u32>)>> = vec![None; text.len() + 1];
    sums[0] = Some((0.0, Vec::new()));
    for from in 0..text.len() {
        let Some((sum, way)) = sums[from].clone() else { continue };
        for (&id, &bits) in parts.ids.iter().zip(&parts.ranks) {
            let piece = v.token_bytes(id).unwrap();
            if !text.as_bytes()[from..].starts_with(piece) {
                continue;
            }
            let sum = sum + f32::from_bits(bits);
            let to = &mut sums[from + piece.len()];
            if to.as_ref().is_none_or(|known| sum > known.0) {
                *to = Some((sum, [&way[..], &[id]].concat()));
            }
        }
    }
    sums.pop().flatten().expect("every character is a piece").1
}

/// The tokens of a whole text, with the added token taken out first.
fn encode(v: &Vocabulary, model: &TokenizerModel, text: &str) -> Vec<u32> {
    let mut out = Vec::new();
    let added = model.parts().added.first().copied();
    for (i, part) in
        if added.is_some() { text.split(":/").collect::<Vec<_>>() } else { vec![text] }.into_iter().enumerate()
    {
        out.extend(added.filter(|_| i > 0));
        if model.parts().pattern == UNIGRAM {
            out.extend(best(v, model.parts(), part));
            continue;
        }
        let cut = model.pieces(part.as_bytes(), NextText::Nothing);
        assert!(cut.known, "{part:?} of {text:?}");
        let (tokens, all) = model.encode(part.as_bytes(), &cut.ends);
        assert!(all);
        out.extend(tokens);
    }
    let spelled: Vec<u8> = out.iter().flat_map(|&t| v.token_bytes(t).unwrap_or(b":/").to_vec()).collect();
    assert_eq!(spelled, text.as_bytes());
    out
}

fn word(rng: &mut Rng, most: usize) -> String {
    (0..rng.below(most + 1)).map(|_| LETTERS[rng.below(LETTERS.len())]).collect()
}

/// Words that begin and go on alike, so that runs are long and end where it matters.
fn language(rng: &mut Rng, model: &TokenizerModel) -> Vec<String> {
    let (begin, middle) = (word(rng, 6), word(rng, 3));
    let mut out: Vec<String> = Vec::new();
    for _ in 0..2 + rng.below(4) {
        let branch = word(rng, 2);
        for _ in 0..1 + rng.below(2) {
            out.push([&begin, &branch, &middle, &word(rng, 3)].map(String::as_str).concat());
        }
    }
    // Marks would be moved about by the normal form.
    let unigram = model.parts().pattern == UNIGRAM;
    out.retain(|w| !(w.is_empty() || model.composes() && w.contains('ª') || unigram && !w.is_ascii()));
    out.sort();
    out.dedup();
    out
}

#[test]
fn what_all_outputs_have_in_common() {
    let mut rng = Rng(5);
    let (mut forced, mut possible, mut places) = (0, 0, 0);
    for _ in 0..150 {
        let v = vocabulary(&mut rng);
        let model = v.model().unwrap();
        for _ in 0..8 {
            let words = language(&mut rng, model);
            if words.is_empty() {
                continue;
            }
            let index = Index::from_choices(&words, &v, &Limits::default()).unwrap();
            let all: Vec<(&str, Vec<u32>)> = words.iter().map(|w| (w.as_str(), encode(&v, model, w))).collect();
            for (word, ids) in &all {
                let mut guide = index.guide(&GuideOptions::default()).unwrap();
                let mut read = 0;
                for (at, &id) in ids.iter().enumerate() {
                    let permitted = || all.iter().filter(|(w, _)| w.as_bytes().starts_with(&word.as_bytes()[..read]));
                    let shared = permitted().map(|(_, o)| o.iter().zip(ids).take_while(|(a, b)| a == b).count()).min();
                    let certain = shared.unwrap_or(0).saturating_sub(at);
                    let found = guide.forced_tokens();
                    assert!(
                        found.len() <= certain && found[..] == ids[at..at + found.len()],
                        "{found:?} after {read} bytes of {word:?}, out of {words:?} as {all:?}: {:?}",
                        model.parts()
                    );
                    places += 1;
                    forced += usize::from(!found.is_empty());
                    possible += usize::from(certain > 0);
                    if !guide.try_advance(id) {
                        // Special tokens never spell text.
                        break;
                    }
                    read += v.spelling(id).map_or(0, <[u8]>::len);
                }
            }
        }
    }
    println!("{forced} of {possible} at {places} places");
    assert!(places > 10_000 && forced * 100 >= possible * 90, "{forced} of {possible} at {places} places");
}
