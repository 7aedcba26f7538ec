use super::*;

#[test]
fn every_character_has_one_group() {
    for c in ('\0'..=char::MAX).step_by(7).chain("\u{85}\u{A0}\u{2028}\u{202F}\u{3000}\u{FEFF}~\u{7F}é世😀".chars())
    {
        let mut bytes = [0; 4];
        let bytes = c.encode_utf8(&mut bytes).as_bytes();
        let (mut place, mut all) = (PartialChar::default(), 0);
        for (i, &b) in bytes.iter().enumerate() {
            assert_eq!(place.partial().count_ones(), u32::from(i > 0));
            let possible = group_of(bytes[0]) | specials_of(bytes[0]);
            assert!(place.partial() & !possible == 0, "{c:?}");
            let (next, group) = place.after(b);
            place = next;
            all |= group;
        }
        assert_eq!(place, PartialChar::default());
        let own = if special(c as u32) != 0 { special(c as u32) } else { group_of(bytes[0]) };
        assert_eq!((all, all & ALL, all.count_ones()), (own, own, 1), "{c:?}");
        assert!(special(c as u32) & !specials_of(bytes[0]) == 0);
        if bytes.len() == 3 {
            assert!(own & !groups_behind(bytes[0], bytes[1]) == 0);
        }
        if matches!(bytes.len(), 2 | 3) {
            let last = bytes[bytes.len() - 1];
            assert_eq!(groups_of_some(c as u32 >> 6, last_bytes(last, last)), own, "{c:?}");
            let all = groups_of_some(c as u32 >> 6, last_bytes(0x10, 0xFF));
            assert!(own & !all == 0 && (bytes.len() < 3 || all == groups_behind(bytes[0], bytes[1])));
        }
    }
    for b in 0x80..0xC0u8 {
        assert_eq!(group_of(b), 0);
    }
    // A character that is begun counts as one that it may become.
    let begun = |bytes: &[u8]| bytes.iter().fold(PartialChar::default(), |place, &b| place.after(b).0).partial();
    assert_eq!(begun(b"\xE2"), group_of(0xE2));
    assert_eq!(begun("\u{4E00}".as_bytes().get(..2).unwrap()), group_of(0xE4));
    assert_eq!(begun("\u{300}".as_bytes().get(..1).unwrap()), special(0x300));
    assert_eq!(begun_by(0xE2, 0x80), begun(b"\xE2\x80"));
    assert_eq!(begun_by(0xE4, 0xB8), begun(b"\xE4\xB8"));
    assert_eq!(begun("\u{2028}".as_bytes().get(..2).unwrap()) & group_of(0xE2), 0);
    assert_eq!((last_bytes(0x70, 0x7F), last_bytes(0xC0, 0xC8)), (0, 0));
    assert_eq!((last_bytes(0x7F, 0x81), last_bytes(0xBE, 0xC8), last_bytes(0x82, 0x82)), (3, 3 << 62, 4));
    for b in [0xC0, 0xC1, 0xF5, 0xFF] {
        assert_eq!(group_of(b) & ALL, 0);
    }
    let (broken, _) = PartialChar::default().after(0xE2);
    assert_eq!(broken.after(b'a').1 & !ALL, 1 << INVALID);
}
