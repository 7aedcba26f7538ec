//! The byte-level alphabet of GPT-2: one printable character for each byte.
//!
//! Bytes that print in Latin-1 stand for themselves; the other 68 (controls, the space, 0x7f to 0xa0, 0xad) take the
//! characters from U+0100 on in ascending order. A space is therefore written `Ġ` (U+0120).

/// The byte that `c` stands for.
fn byte_of(c: char) -> Option<u8> {
    let code = c as u32;
    match code {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => Some(code as u8),
        0x100..=0x120 => Some((code - 0x100) as u8),
        0x121..=0x142 => Some((code - 0x121 + 0x7f) as u8),
        0x143 => Some(0xad),
        _ => None,
    }
}

/// The bytes that `text` stands for, or `None` if it has a character outside the alphabet.
pub(super) fn bytes_of(text: &str) -> Option<Vec<u8>> {
    text.chars().map(byte_of).collect()
}

#[cfg(test)]
mod tests {
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
}
