//! The rank files of tiktoken: one token a line, its bytes in base64, a space, its rank, which is its id.
//!
//! Special tokens are not in the file. They come from `tokenizer_config.json` beside it, or stay ids without text. A
//! token written as padding alone (`=`, which Whisper's file has) has no text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::Result;
use crate::vocab::MAX_SIZE;
use crate::vocab::load::{TokenizerTable, malformed};

/// Bytes and rank of one line.
fn entry(line: &[u8]) -> Option<(Vec<u8>, u64)> {
    let space = line.iter().position(|&b| b == b' ')?;
    let (token, rank) = (line.get(..space)?, line.get(space + 1..)?);
    if rank.is_empty() || rank.len() > 10 || !rank.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let rank = rank.iter().fold(0, |n, digit| n * 10 + u64::from(digit - b'0'));
    let token = if token == b"=" { Vec::new() } else { STANDARD.decode(token).ok()? };
    Some((token, rank))
}

fn lines(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    data.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Whether the first line is that of a rank file.
pub(super) fn recognises(data: &[u8]) -> bool {
    lines(data).find(|line| !line.is_empty()).is_some_and(|line| entry(line).is_some())
}

/// Reads a rank file.
pub(super) fn read(data: &[u8]) -> Result<TokenizerTable> {
    let mut table = TokenizerTable { is_open: true, ..TokenizerTable::default() };
    let mut taken = vec![];
    for (number, line) in lines(data).enumerate().filter(|(_, line)| !line.is_empty()) {
        let Some((token, rank)) = entry(line) else {
            return Err(malformed(format!("line {} is not base64, a space and a rank", number + 1)));
        };
        if taken.len() as u64 <= rank {
            taken.resize(rank.min(MAX_SIZE as u64) as usize + 1, false);
        }
        let id = table.set(rank, token)? as usize;
        if std::mem::replace(&mut taken[id], true) {
            return Err(malformed(format!("line {}: two tokens have the rank {id}", number + 1)));
        }
    }
    Ok(table)
}
