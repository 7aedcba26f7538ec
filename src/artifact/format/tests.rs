use super::*;

fn sample() -> PackWriter {
    let mut w = PackWriter::new(PackKind::Index, [7; 32]);
    w.add("bytes", b"some bytes");
    w.add("none", &[0u32; 0]);
    w.add("numbers", &[1u32, 2, 3]);
    w
}

#[test]
fn sections_come_back() {
    let bytes = sample().to_bytes();
    assert_eq!(bytes.len() % ALIGN, 0);
    let pack = Pack::from_bytes(&bytes, PackKind::Index).unwrap();
    assert_eq!(pack.sections().collect::<Vec<_>>(), [("bytes", 10), ("none", 0), ("numbers", 12)]);
    assert_eq!(pack.section::<u8>("bytes").unwrap()[..], *b"some bytes");
    assert_eq!(pack.section::<u32>("numbers").unwrap()[..], [1, 2, 3]);
    assert!(pack.section::<u32>("none").unwrap().is_empty());
    assert_eq!(pack.vocabulary(), [7; 32]);
    pack.verify().unwrap();
    assert!(pack.section::<u32>("bytes").is_err() && pack.section::<u8>("other").is_err());
    assert_eq!(sample().to_bytes(), bytes);
}

#[test]
fn every_flipped_bit_and_every_cut_is_noticed() {
    let whole = sample().to_bytes();
    let opens = |bytes: &[u8]| Pack::from_bytes(bytes, PackKind::Index).and_then(|pack| pack.verify());
    opens(&whole).unwrap();
    for i in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[i] ^= 1 << bit;
            assert_eq!(opens(&bytes).unwrap_err().kind(), ErrorKind::Artifact, "byte {i}, bit {bit}");
        }
        assert_eq!(opens(&whole[..i]).unwrap_err().kind(), ErrorKind::Artifact);
    }
    assert!(opens(&[&whole[..], &[0; 64]].concat()).is_err());
}

#[test]
fn errors_say_what_differs() {
    let whole = sample().to_bytes();
    let said = |at: usize, byte: u8, kind: PackKind| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        Pack::from_bytes(&bytes, kind).map(|_| ()).unwrap_err().to_string()
    };
    assert!(said(0, b'x', PackKind::Index).contains("not an artifact"));
    assert!(said(8, 9, PackKind::Index).contains("format version 9"));
    assert!(said(32, b'7', PackKind::Index).contains("made by version \"7"));
    assert!(said(0, 0x89, PackKind::Vocabulary).contains("holds an index, not a vocabulary"));
    assert!(said(70, 0, PackKind::Index).contains("header's checksum"));
    let pack = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        Pack::from_bytes(&bytes, PackKind::Index).unwrap()
    };
    // A section that nobody asks for is not looked at.
    let first = HEADER + 3 * ENTRY;
    let torn = pack(first + 60);
    assert!(torn.section::<u32>("numbers").is_ok());
    assert!(torn.section::<u8>("bytes").unwrap_err().message().contains("section \"bytes\""));
}

#[test]
fn a_forged_table_leads_nowhere() {
    let whole = sample().to_bytes();
    let table = HEADER + 3 * ENTRY;
    for at in (24..28).chain(HEADER + 32..HEADER + 48).chain(HEADER + 96..HEADER + 112) {
        for value in [0u8, 1, 63, 64, 127, 255] {
            let mut bytes = whole.clone();
            if bytes[at] == value {
                continue;
            }
            bytes[at] = value;
            let end = (HEADER + ENTRY * small(&bytes, 24).unwrap_or(0) as usize).min(table);
            let sum = checksum(&[&bytes[..SUM_AT], &bytes[HEADER..end]]);
            bytes[SUM_AT..HEADER].copy_from_slice(&sum);
            // A longer length within the same padding is a section with zeros at its end; everything else is refused.
            if let Ok(pack) = Pack::from_bytes(&bytes, PackKind::Index) {
                assert!(at == HEADER + 40 || at == HEADER + 104, "byte {at} = {value}");
                assert_eq!(pack.verify().is_ok(), value > whole[at], "byte {at} = {value}");
                let mut read = pack.sections().filter_map(|(name, len)| Some((pack.section::<u8>(name).ok()?, len)));
                assert!(read.all(|(bytes, len)| bytes.len() == len));
            }
        }
    }
}

/// No byte is left over in which two packs that say the same could differ, whatever checksums say.
#[test]
fn what_says_nothing_is_zero() {
    let whole = sample().to_bytes();
    let table = HEADER + 3 * ENTRY;
    let first = table..table + ALIGN;
    let forged = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] = 1;
        let sum = checksum(&[&bytes[first.clone()]]);
        bytes[HEADER + 48..HEADER + 64].copy_from_slice(&sum);
        let sum = checksum(&[&bytes[..SUM_AT], &bytes[HEADER..table]]);
        bytes[SUM_AT..HEADER].copy_from_slice(&sum);
        Pack::from_bytes(&bytes, PackKind::Index).and_then(|pack| pack.section::<u8>("bytes").map(|_| ()))
    };
    forged(table).unwrap();
    for at in (28..32).chain(96..SUM_AT).chain(table + 10..table + ALIGN) {
        let message = forged(at).unwrap_err().to_string();
        assert!(
            message.contains("header is not zero") || message.contains("the padding of section \"bytes\""),
            "{at}: {message}"
        );
    }
    // A name and the version are as long as they are.
    let version = LIBRARY_VERSION.len();
    for at in [HEADER + 5, HEADER + 31, 32 + version, 63] {
        assert!(forged(at).is_err(), "{at}");
    }
}

#[test]
fn sections_are_those_of_the_kind() {
    let pack = Pack::from_bytes(&sample().to_bytes(), PackKind::Index).unwrap();
    pack.expect(&["bytes", "none", "numbers"]).unwrap();
    for (names, said) in [
        (&["bytes", "none"][..], "other sections"),
        (&["none", "bytes", "numbers"], "other sections"),
        (&["bytes", "none", "numbers", "more"], "no section \"more\""),
    ] {
        assert!(pack.expect(names).unwrap_err().message().contains(said));
    }
    let mut w = PackWriter::new(PackKind::Index, [7; 32]);
    w.add("one", &[7u64]);
    w.add("two", &[7u64, 8]);
    let pack = Pack::from_bytes(&w.to_bytes(), PackKind::Index).unwrap();
    assert_eq!(pack.number("one").unwrap(), 7);
    assert!(pack.number("two").unwrap_err().message().contains("not one number"));
}

#[test]
fn a_failed_write_leaves_nothing() {
    let folder = std::env::temp_dir().join(format!("interlock-format-{}", std::process::id()));
    fs::create_dir_all(folder.join("taken")).unwrap();
    fs::write(folder.join("taken/inside"), b"x").unwrap();
    // A folder that is not empty cannot be replaced by a file.
    assert_eq!(sample().write(&folder.join("taken")).unwrap_err().kind(), ErrorKind::Artifact);
    assert!(sample().write(&folder.join("missing/x")).is_err());
    sample().write(&folder.join("x")).unwrap();
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["taken", "x"]);
    Pack::open(&folder.join("x"), PackKind::Index).unwrap().verify().unwrap();
    fs::remove_dir_all(folder).unwrap();
}
