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
mod tests;
