//! A pack of any bytes, and a sound pack with any bytes changed under checksums that fit, is refused or can be used:
//! its guides say something at every step, and end in an error at worst.

#![no_main]

use std::sync::{Arc, LazyLock};

use interlock::artifact::index::IndexPack;
use interlock::artifact::{Pack, PackKind, PackWriter, index, vocabulary};
use interlock::index::from_artifact::StoredIndex;
use interlock::index::report;
use interlock::regex::{Dialect, RegexOptions};
use interlock::{GuideOptions, Index, Limits, Result, Vocabulary, VocabularyOptions};
use libfuzzer_sys::fuzz_target;

fn compile(pattern: &str, v: &Arc<Vocabulary>) -> Result<Index> {
    let options = RegexOptions { dialect: Dialect::Python, flags: String::new() };
    let limits = Limits { max_expr_nodes: 50_000, max_explored_states: 2_000, ..Limits::default() };
    Index::from_regex(pattern, v, &options, &limits)
}

static VOCABULARY: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let tokens = (0..=255u8).map(|b| vec![b]).chain(["ab", "abc", "12", "é", ""].map(|t| t.as_bytes().to_vec()));
    let options = VocabularyOptions { eos_token_ids: vec![260], special_token_ids: vec![], size: Some(270) };
    Vocabulary::new(tokens, options).expect("the tokens are sound")
});

static PACKS: LazyLock<[Pack; 2]> = LazyLock::new(|| {
    let index = compile("(ab|12){1,9}x[^c]*", &VOCABULARY).expect("the pattern compiles");
    let made = IndexPack::from_index(&index, "(ab|12){1,9}x[^c]*".to_owned(), Some(4_096)).expect("it has tables");
    let open = |writer: PackWriter, kind| Pack::from_bytes(&writer.to_bytes(), kind).expect("the pack is sound");
    [open(made.pack(), PackKind::Index), open(vocabulary::pack(&VOCABULARY), PackKind::Vocabulary)]
});

fn use_index(pack: &Pack, moves: &[u8]) {
    let Ok(IndexPack { index, recipe, size, built: Some((tables, text)), .. }) = IndexPack::unpack(pack) else {
        return;
    };
    if size != VOCABULARY.size() {
        return;
    }
    let index = Index::stored(StoredIndex {
        vocabulary: VOCABULARY.clone(),
        fingerprint: index,
        tables,
        read_report: Box::new(move || report::read(&text)),
        remake: Box::new(move || compile(&recipe, &VOCABULARY)),
    });
    index.report();
    index.token_classes();
    let Ok(mut guide) = index.guide(&GuideOptions::default()) else { return };
    for &m in moves.iter().take(40) {
        let allowed = guide.allowed_token_ids();
        match m {
            0..200 => drop(allowed.get(m as usize % allowed.len().max(1)).map(|&id| guide.try_advance(id))),
            200..220 => drop(guide.rollback(usize::from(m) % (guide.num_tokens() + 1))),
            220..240 => drop(guide.forced_bytes()),
            240..250 => drop(guide.explain(m.into())),
            _ => drop(guide.min_tokens_to_finish()),
        }
    }
}

fuzz_target!(|input: (Vec<(u8, u16, u8)>, Vec<u8>)| {
    let (changes, moves) = input;
    if let Ok(pack) = Pack::from_bytes(&moves, PackKind::Index) {
        use_index(&pack, &moves);
    }
    for (pack, kind, names) in [
        (&PACKS[0], PackKind::Index, &index::SECTIONS[..]),
        (&PACKS[1], PackKind::Vocabulary, &vocabulary::SECTIONS[..]),
    ] {
        let mut forged = PackWriter::new(kind, pack.vocabulary());
        for (number, name) in names.iter().enumerate() {
            let mut bytes = pack.section::<u8>(name).map(|s| s.to_vec()).unwrap_or_default();
            for &(section, at, value) in changes.iter().filter(|c| usize::from(c.0) % names.len() == number) {
                let len = bytes.len().max(1);
                if section < 250 {
                    bytes.get_mut(usize::from(at) % len).into_iter().for_each(|b| *b = value);
                } else {
                    bytes.truncate(usize::from(at) % len);
                }
            }
            forged.add(name, &bytes);
        }
        let Ok(forged) = Pack::from_bytes(&forged.to_bytes(), kind) else { continue };
        match kind {
            PackKind::Index => use_index(&forged, &moves),
            PackKind::Vocabulary => {
                if let Ok(v) = vocabulary::unpack(&forged) {
                    drop(v.check());
                    drop(compile("[a-c]+", &v).and_then(|index| index.guide(&GuideOptions::default())));
                }
            }
        }
    }
});
