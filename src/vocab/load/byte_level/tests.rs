use super::*;

/// The published construction, step by step.
fn alphabet() -> Vec<(char, u8)> {
    let prints = |b: u8| matches!(b, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let mut next = 256;
    (0..=255u8)
        .map(|b| {
            let code = if prints(b) { u32::from(b) } else { next };
            next += u32::from(!prints(b));
            (char::from_u32(code).unwrap(), b)
        })
        .collect()
}

#[test]
fn agrees_with_the_published_construction() {
    let alphabet = alphabet();
    for &(c, b) in &alphabet {
        assert_eq!(byte_of(c), Some(b), "{c:?}");
    }
    let known = (0..=0x10_ffff).filter_map(char::from_u32).filter(|&c| byte_of(c).is_some()).count();
    assert_eq!(known, 256);
}

#[test]
fn text_outside_the_alphabet_stands_for_nothing() {
    assert_eq!(bytes_of("ĠaĊ").as_deref(), Some(&b" a\n"[..]));
    assert_eq!(bytes_of("a b"), None);
    assert_eq!(bytes_of("▁a"), None);
}
