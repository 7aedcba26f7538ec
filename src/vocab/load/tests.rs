//! Small files of every format, written here byte by byte; real tokenizers are checked from Python.

use super::*;
use serde_json::json;

fn hf(model: serde_json::Value, added: serde_json::Value, decoder: serde_json::Value) -> Vec<u8> {
    json!({"version": "1.0", "added_tokens": added, "decoder": decoder, "model": model}).to_string().into_bytes()
}

fn byte_level(vocab: serde_json::Value, added: serde_json::Value) -> Vec<u8> {
    hf(json!({"type": "BPE", "vocab": vocab, "merges": []}), added, json!({"type": "ByteLevel"}))
}

/// What each id spells.
fn spellings(v: &Vocabulary) -> Vec<Option<Vec<u8>>> {
    (0..v.len() as u32).map(|id| v.spelling(id).map(<[u8]>::to_vec)).collect()
}

fn some(bytes: &[u8]) -> Option<Vec<u8>> {
    Some(bytes.to_vec())
}

fn read(data: &[u8], eos: Option<Vec<u32>>, size: Option<usize>) -> Result<Arc<Vocabulary>> {
    load_bytes(data, LoadOptions { eos, size, ..LoadOptions::default() })
}

fn fails(data: &[u8], kind: ErrorKind, part: &str) {
    let e = read(data, Some(vec![0]), None).unwrap_err();
    assert!(e.kind() == kind && e.message().contains(part), "{:?}: {e}", e.kind());
}

#[test]
fn byte_level_bpe_with_added_tokens() {
    let added = json!([
        {"id": 0, "content": "<eos>", "special": true},
        {"id": 4, "content": "<｜tool｜>", "special": false},
        {"id": 5, "content": "a b", "special": false},
    ]);
    let file = byte_level(json!({"<eos>": 0, "Ġa": 1, "Ċ": 3, "ÿ": 2}), added);
    let v = read(&file, Some(vec![0]), Some(40)).unwrap();
    let tool = "<｜tool｜>".as_bytes();
    assert_eq!(spellings(&v), [None, some(b" a"), some(b"\xff"), some(b"\n"), some(tool), some(b"a b")]);
    assert_eq!((v.special_token_ids(), v.size()), (&[0][..], 40));
    assert_eq!(v.token_bytes(0), Some(&b"<eos>"[..]));
}

#[test]
fn metaspace_with_byte_fallback() {
    let decoder = json!({"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ]});
    let model = json!({"type": "BPE", "unk_token": "<unk>", "merges": [],
        "vocab": {"<unk>": 0, "<0x0A>": 1, "▁▁b": 2, "é": 3, "<0x0G>": 4, "</s>": 5}});
    let added = json!([{"id": 5, "content": "</s>", "special": true}, {"id": 6, "content": "▁x", "special": false}]);
    let v = read(&hf(model, added, decoder), Some(vec![5]), None).unwrap();
    let expected = [None, some(b"\n"), some(b"  b"), some("é".as_bytes()), some(b"<0x0G>"), None, some(b" x")];
    assert_eq!(spellings(&v), expected);
    assert_eq!(v.special_token_ids(), [0, 5]);
}

#[test]
fn added_tokens_whose_content_is_normalized() {
    let file = |normalizer: serde_json::Value, content: &str, normalized: bool| {
        let added = json!([{"id": 1, "content": content, "special": false, "normalized": normalized}]);
        let model = json!({"type": "BPE", "vocab": {"a": 0}, "merges": []});
        json!({"added_tokens": added, "decoder": {"type": "ByteLevel"}, "model": model, "normalizer": normalizer})
            .to_string()
            .into_bytes()
    };
    let replace = |pattern: serde_json::Value| json!({"type": "Replace", "pattern": pattern, "content": "▁"});
    let of = |kind: &str| json!({"type": kind});
    for (normalizer, content, kept) in [
        (json!(null), "É x", true),
        (json!({"type": "Sequence", "normalizers": []}), "É x", true),
        (of("NFC"), "a <B>", true),
        (of("NFD"), "é", false),
        (of("Lowercase"), "<think>", true),
        (of("Lowercase"), "<Think>", false),
        (json!({"type": "Prepend", "prepend": "▁"}), "x", false),
        (replace(json!({"String": " "})), "x", true),
        (replace(json!({"String": " "})), "x y", false),
        (replace(json!({"Regex": " {2,}"})), "x", false),
        (json!({"type": "Sequence", "normalizers": [of("NFC"), of("Lowercase")]}), "X", false),
        (of("Strip"), " x", false),
        (of("ByteLevel"), "<x>", true),
        (of("ByteLevel"), "x y", false),
        (of("BertNormalizer"), "x", false),
    ] {
        assert!(read(&file(normalizer.clone(), content, false), Some(vec![0]), None).is_ok(), "{normalizer}");
        let data = file(normalizer.clone(), content, true);
        match kept {
            true => assert!(read(&data, Some(vec![0]), None).is_ok(), "{normalizer} {content}"),
            false => fails(&data, ErrorKind::Unsupported, "is normalized"),
        }
    }
}

#[test]
fn unigram_pieces_are_numbered_by_place() {
    let model = json!({"type": "Unigram", "unk_id": 1, "vocab": [["</s>", 0], ["<unk>", 0], ["▁a", -1.5], ["b", -2]]});
    let decoder = json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"});
    let v = read(&hf(model, json!([]), decoder), Some(vec![0]), None).unwrap();
    assert_eq!(spellings(&v), [None, None, some(b" a"), some(b"b")]);
}

#[test]
fn gaps_and_repeated_bytes() {
    let file = byte_level(json!({"a": 0, "<e>": 2}), json!([{"id": 2, "content": "<e>", "special": true}]));
    let v = read(&file, Some(vec![2]), None).unwrap();
    assert_eq!(spellings(&v), [some(b"a"), None, None]);
    let v = read(b"YQ== 0\nYQ== 3\n= 1", Some(vec![5]), None).unwrap();
    assert_eq!(spellings(&v), [some(b"a"), None, None, some(b"a")]);
    assert_eq!((v.size(), v.eos_token_ids()), (6, &[5][..]));
}

#[test]
fn decoders_that_look_across_tokens_are_refused() {
    let model = || json!({"type": "WordPiece", "vocab": {"a": 0, "##b": 1}});
    let refused = |decoder| fails(&hf(model(), json!([]), decoder), ErrorKind::Unsupported, "");
    refused(json!(null));
    refused(json!({"type": "WordPiece", "prefix": "##", "cleanup": true}));
    refused(json!({"type": "BPEDecoder", "suffix": "</w>"}));
    refused(json!({"type": "Replace", "pattern": {"Regex": "a+"}, "content": " "}));
    refused(json!({"type": "Sequence", "decoders": [
        {"type": "Fuse"}, {"type": "Replace", "pattern": {"String": "ab"}, "content": ""}]}));
    refused(json!({"type": "Sequence", "decoders": [
        {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 0, "stop": 1}]}));
    refused(json!({"type": "New"}));
}

#[test]
fn files_that_contradict_themselves_are_refused() {
    fails(&byte_level(json!({"a": 0, "b": 0}), json!([])), ErrorKind::Vocabulary, "two tokens have the id 0");
    fails(&byte_level(json!({"a": -1}), json!([])), ErrorKind::Vocabulary, "not a whole number");
    fails(&byte_level(json!({"a": 4_000_000_000u32}), json!([])), ErrorKind::Vocabulary, "larger than the widest");
    let moved = json!([{"id": 7, "content": "<x>", "special": true}]);
    fails(&byte_level(json!({"a": 0}), moved), ErrorKind::Vocabulary, "gives it 1");
    fails(b"YQ== 0\nYg== 0", ErrorKind::Vocabulary, "two tokens have the rank 0");
    fails(b"YQ== 0\nYg=", ErrorKind::Vocabulary, "line 2");
    fails(b"YQ== 9999999999", ErrorKind::Vocabulary, "larger than the widest");
    fails(b"", ErrorKind::Vocabulary, "known format");
    fails(b"{\"a\": 1}", ErrorKind::Vocabulary, "neither");
    fails("[".repeat(100_000).as_bytes(), ErrorKind::Vocabulary, "known format");
    fails(format!("{{\"a\":{}", "[".repeat(100_000)).as_bytes(), ErrorKind::Vocabulary, "recursion");
}

#[test]
fn stop_ids_of_the_caller_widen_nothing() {
    let file = byte_level(json!({"a": 0, "b": 1}), json!([]));
    let e = read(&file, Some(vec![0, 999_999]), None).unwrap_err();
    assert!(e.kind() == ErrorKind::Vocabulary && e.message().contains("lists 2 ids, from 0 to 1; give size"), "{e}");
    let e = read(&file, Some(vec![999_999]), Some(500)).unwrap_err();
    assert!(e.message().contains("eos_token_ids: id 999999 is out of range: the size is 500"), "{e}");
    assert_eq!(read(&file, Some(vec![499]), Some(500)).unwrap().size(), 500);
    // Ranks do not list special tokens, which lie behind them.
    let ranks = b"YQ== 0\nYg== 1\n";
    assert_eq!(read(ranks, Some(vec![4097]), None).unwrap().size(), 4098);
    assert!(read(ranks, Some(vec![4098]), None).is_err());
}

#[test]
fn ids_that_the_caller_makes_special_spell_nothing() {
    let added = json!([{"id": 2, "content": "<x>", "special": false}, {"id": 3, "content": "<e>", "special": true}]);
    let file = byte_level(json!({"a": 0, "b": 1}), added);
    let of =
        |special: &[u32], size| load_bytes(&file, LoadOptions { eos: Some(vec![3]), special: special.to_vec(), size });
    let (plain, made) = (of(&[], None).unwrap(), of(&[2, 0], None).unwrap());
    assert_eq!((plain.spelling(2), made.spelling(2)), (Some(&b"<x>"[..]), None));
    assert_eq!((made.special_token_ids(), made.token_bytes(2)), (&[0, 2, 3][..], Some(&b"<x>"[..])));
    assert_eq!(plain.model_parts(), made.model_parts());
    // Beyond what is listed only where the logits are as wide.
    let e = of(&[9], None).unwrap_err();
    assert!(e.message().contains("special_token_ids: id 9 is out of range"), "{e}");
    assert_eq!(of(&[9], Some(10)).unwrap().special_token_ids(), [3, 9]);
}

#[test]
fn tekken_puts_special_tokens_first() {
    let tekken = |config: serde_json::Value, special: serde_json::Value| {
        let vocab: Vec<_> = [("YQ==", 0), ("4oI=", 1), ("Yw==", 2)]
            .iter()
            .map(|(bytes, rank)| json!({"rank": rank, "token_bytes": bytes, "token_str": null}))
            .collect();
        json!({"config": config, "vocab": vocab, "special_tokens": special}).to_string().into_bytes()
    };
    let config = json!({"default_vocab_size": 6, "default_num_special_tokens": 4, "version": "v11"});
    let special = json!([{"rank": 0, "token_str": "<unk>"}, {"rank": 1, "token_str": "</s>"}]);
    let v = read(&tekken(config.clone(), special.clone()), None, None).unwrap();
    assert_eq!(spellings(&v), [None, None, None, None, some(b"a"), some(b"\xe2\x82")]);
    assert_eq!(v.eos_token_ids(), [1]);
    assert_eq!(v.token_bytes(3), Some(&b"<SPECIAL_3>"[..]));

    fails(&tekken(config, json!(null)), ErrorKind::Vocabulary, "has to list");
    let early = json!({"default_vocab_size": 23, "default_num_special_tokens": 20, "version": "v3"});
    let v = read(&tekken(early, json!(null)), None, None).unwrap();
    assert_eq!((v.eos_token_ids(), v.spelling(22)), (&[2][..], Some(&b"c"[..])));
    for (all, count) in [(9u64, 4u64), (3, 4), (u64::MAX, 4), (1 << 40, (1 << 40) - 1)] {
        let config = json!({"default_vocab_size": all, "default_num_special_tokens": count, "version": "v11"});
        fails(&tekken(config, special.clone()), ErrorKind::Vocabulary, "cannot make");
    }
}

/// A length-delimited field of a protocol buffer message.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
}

fn piece(text: &str, kind: u8) -> Vec<u8> {
    // The score, a fixed-width number, is passed over.
    field(1, &[field(1, text.as_bytes()), vec![0x15, 0, 0, 0, 0], vec![0x18, kind]].concat())
}

#[test]
fn sentencepiece_types() {
    let pieces = [("<unk>", 2), ("<s>", 3), ("<end>", 3), ("<0x0A>", 6), ("▁a", 1), ("<user>", 4), ("▁▁", 5)];
    let mut model: Vec<u8> = pieces.iter().flat_map(|&(text, kind)| piece(text, kind)).collect();
    assert!(read(&model, None, None).unwrap_err().message().contains("no stop token"));
    // end_piece has the number 47: a tag of two bytes.
    model.extend(field(2, &[&[0xfa, 0x02, 5][..], b"<end>"].concat()));
    let v = read(&model, None, None).unwrap();
    let expected = [None, None, None, some(b"\n"), some(b" a"), some(b"<user>"), some(b"  ")];
    assert_eq!(spellings(&v), expected);
    assert_eq!((v.eos_token_ids(), v.special_token_ids()), (&[2][..], &[0, 1, 2][..]));

    // A cut model is an error, unless it is cut between two fields.
    for cut in 0..model.len() {
        match read(&model[..cut], Some(vec![0]), None) {
            Ok(v) => assert_eq!(spellings(&v)[..], expected[..v.len()]),
            Err(e) => assert_eq!(e.kind(), ErrorKind::Vocabulary),
        }
    }
    fails(&[model.clone(), field(5, &field(2, b"map"))].concat(), ErrorKind::Unsupported, "rewrites");
    fails(&[model.clone(), field(2, &[0xc0, 0x01, 1])].concat(), ErrorKind::Unsupported, "after words");
    fails(&[model.clone(), piece("<0xQ>", 6)].concat(), ErrorKind::Vocabulary, "byte piece");
    fails(&[model, piece("x", 9)].concat(), ErrorKind::Vocabulary, "unknown type");
}

fn gguf_text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

fn gguf(model: &str, tokens: &[(&str, i32)]) -> Vec<u8> {
    let mut out = [b"GGUF".to_vec(), 3u32.to_le_bytes().to_vec()].concat();
    out.extend([0u64.to_le_bytes(), 5u64.to_le_bytes()].concat());
    let mut entry = |key: &str, kind: u32, value: Vec<u8>| {
        out.extend([gguf_text(key), kind.to_le_bytes().to_vec(), value].concat());
    };
    let list = |kind: u32, items: Vec<Vec<u8>>| {
        [kind.to_le_bytes().to_vec(), (items.len() as u64).to_le_bytes().to_vec(), items.concat()].concat()
    };
    entry("general.tags", 9, list(8, vec![gguf_text("x"), gguf_text("y")]));
    entry("tokenizer.ggml.model", 8, gguf_text(model));
    entry("tokenizer.ggml.tokens", 9, list(8, tokens.iter().map(|(text, _)| gguf_text(text)).collect()));
    entry("tokenizer.ggml.token_type", 9, list(5, tokens.iter().map(|(_, k)| k.to_le_bytes().to_vec()).collect()));
    entry("tokenizer.ggml.eos_token_id", 4, 1u32.to_le_bytes().to_vec());
    out
}

#[test]
fn gguf_kinds() {
    let tokens = [("Ġa", 1), ("<eos>", 3), ("▁x y", 4), ("\u{200d}", 1), ("[PAD]", 5)];
    let v = read(&gguf("gpt2", &tokens), None, None).unwrap();
    assert_eq!(spellings(&v), [some(b" a"), None, some("▁x y".as_bytes()), None, None]);
    assert_eq!((v.eos_token_ids(), v.special_token_ids()), (&[1][..], &[1][..]));
    let tokens = [("▁a", 1), ("</s>", 3), ("<0xFF>", 6)];
    let v = read(&gguf("llama", &tokens), None, None).unwrap();
    assert_eq!(spellings(&v), [some(b" a"), None, some(b"\xff")]);
    fails(&gguf("bert", &tokens), ErrorKind::Unsupported, "bert");
    fails(&gguf("llama", &[("a", 6)]), ErrorKind::Vocabulary, "<0xNN>");
    let whole = gguf("llama", &tokens);
    for cut in 4..whole.len() {
        fails(&whole[..cut], ErrorKind::Vocabulary, "");
    }
    // Announced lengths are not believed.
    for at in 8..whole.len() - 8 {
        let mut hostile = whole.clone();
        hostile[at..at + 8].fill(0xff);
        let _ = read(&hostile, Some(vec![0]), None);
    }
}

/// A folder of its own for one test, removed when it goes.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &[u8])]) -> Folder {
        let path = std::env::temp_dir().join(format!("interlock-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let folder = Folder(path);
        files.iter().for_each(|(name, data)| std::fs::write(folder.0.join(name), data).unwrap());
        folder
    }

    fn load(&self, file: &str) -> Result<Arc<Vocabulary>> {
        load_file(&self.0.join(file), LoadOptions::default())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn stop_ids_come_from_the_files_beside() {
    let added =
        json!([{"id": 1, "content": "<end>", "special": true}, {"id": 2, "content": "<turn>", "special": true}]);
    let file = byte_level(json!({"a": 0, "<end>": 1, "<turn>": 2}), added);
    let folder = Folder::new("stops", &[("tokenizer.json", &file)]);
    let load = || folder.load("tokenizer.json");
    let e = load().unwrap_err();
    assert!(e.kind() == ErrorKind::Vocabulary && e.message().contains("eos_token_ids"), "{e}");
    let write = |name: &str, text: &str| std::fs::write(folder.0.join(name), text).unwrap();

    write("config.json", r#"{"text_config": {"eos_token_id": 0}}"#);
    assert_eq!(load().unwrap().eos_token_ids(), [0]);
    write("tokenizer_config.json", r#"{"eos_token": {"content": "<turn>"}}"#);
    assert_eq!(load().unwrap().eos_token_ids(), [2]);
    write("generation_config.json", r#"{"eos_token_id": [1]}"#);
    assert_eq!(load().unwrap().eos_token_ids(), [1, 2]);
    let path = folder.0.join("tokenizer.json");
    assert_eq!(
        load_file(&path, LoadOptions { eos: Some(vec![1]), ..LoadOptions::default() }).unwrap().eos_token_ids(),
        [1]
    );

    write("tokenizer_config.json", r#"{"eos_token": "<none>"}"#);
    assert!(load().unwrap_err().message().contains("<none>"));
    write("tokenizer_config.json", r#"{"eos_token": 3}"#);
    assert!(load().unwrap_err().message().contains("tokenizer_config.json"));
    write("generation_config.json", "[]");
    assert!(load().unwrap_err().message().contains("generation_config.json"));
}

#[test]
fn added_tokens_of_a_rank_file_come_from_beside() {
    let config = r#"{"eos_token": "<end>", "added_tokens_decoder": {
        "4": {"content": "<tool>", "special": false}, "3": {"content": "<end>", "special": true}}}"#;
    let files: [(&str, &[u8]); 2] = [("x.tiktoken", b"YQ== 0\nYg== 1\n"), ("tokenizer_config.json", config.as_bytes())];
    let v = Folder::new("ranks", &files).load("x.tiktoken").unwrap();
    assert_eq!(spellings(&v), [some(b"a"), some(b"b"), None, None, some(b"<tool>")]);
    assert_eq!((v.eos_token_ids(), v.special_token_ids()), (&[3][..], &[3][..]));
    let missing = Folder::new("missing", &[]).load("none").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Vocabulary);
}
