//! Reports as text, for files.

use crate::schema::{Enforcement, ReportRow};

/// The letters of enforcements.
const LETTERS: [(char, Enforcement); 4] = [
    ('n', Enforcement::Narrower),
    ('a', Enforcement::Annotation),
    ('i', Enforcement::Ignored),
    ('w', Enforcement::Wider),
];

/// A report as text: for each row the letter of its enforcement, and pointer, keyword and reason, each behind its
/// length in bytes and a colon.
pub fn write(rows: &[ReportRow]) -> String {
    let mut out = String::new();
    for row in rows {
        out.extend(LETTERS.iter().find(|(_, e)| *e == row.enforcement).map(|(letter, _)| *letter));
        for text in [&row.pointer, &row.keyword, &row.reason] {
            out += &text.len().to_string();
            out.push(':');
            out += text;
        }
    }
    out
}

/// The rows of a report that [`write()`] wrote; `None` for any other text.
pub fn read(text: &str) -> Option<Vec<ReportRow>> {
    fn part<'t>(rest: &mut &'t str) -> Option<&'t str> {
        let (digits, after) = rest.split_once(':')?;
        let length: usize = digits.parse().ok()?;
        let (part, after) = after.split_at_checked(length)?;
        *rest = after;
        Some(part)
    }
    let mut rows = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let (_, enforcement) = LETTERS.iter().find(|(l, _)| *l == letter)?;
        rest = rest.get(1..)?;
        let [pointer, keyword, reason] = [part(&mut rest)?, part(&mut rest)?, part(&mut rest)?].map(str::to_owned);
        rows.push(ReportRow { pointer, keyword, enforcement: *enforcement, reason });
    }
    Some(rows)
}
