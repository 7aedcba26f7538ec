//! A whole terminal as one pattern in Python's dialect, as Lark writes it.

use crate::error::{Error, Result};
use crate::grammar::lower::Lowering;
use crate::grammar::model::UNBOUNDED;
use crate::grammar::tree::{Part, PartId, SpaceId};

/// Bytes of one terminal's pattern: what names are written out to.
const MOST_BYTES: usize = 1 << 20;

/// What is still to be written.
enum Job {
    Write(String),
    Part(PartId),
}

/// A text as a pattern that matches it.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_alphanumeric() && c != '_' {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

impl Lowering<'_> {
    /// The pattern of a part and the flags that hold from its start.
    pub(super) fn pattern_text(&self, space: SpaceId, root: PartId) -> Result<(String, String)> {
        let tree = self.tree;
        if let Part::Pattern { pattern, flags } = tree.part(root) {
            return Ok((pattern.clone(), flags.clone()));
        }
        let mut out = String::new();
        let mut jobs = vec![Job::Part(root)];
        while let Some(job) = jobs.pop() {
            let p = match job {
                Job::Write(s) => {
                    out.push_str(&s);
                    continue;
                }
                Job::Part(p) => p,
            };
            let most = self.limits.max_source_bytes.min(MOST_BYTES);
            if out.len() + jobs.len() > most {
                let e = Error::limit("bytes of a terminal's pattern", most as u64, out.len() as u64);
                return Err(e.set_by("max_source_bytes"));
            }
            self.write_part(space, p, &mut out, &mut jobs)?;
        }
        Ok((out, String::new()))
    }

    /// Writes what a part begins with, and puts what comes behind that on top of the jobs.
    fn write_part(&self, space: SpaceId, p: PartId, out: &mut String, jobs: &mut Vec<Job>) -> Result<()> {
        let tree = self.tree;
        let write = |s: &str| Job::Write(s.to_owned());
        match tree.part(p) {
            Part::Empty => {}
            Part::Name(name) => {
                let d = &tree.definitions[self.found(space, p, name)? as usize];
                if d.declared {
                    out.push_str("(?!)");
                } else {
                    jobs.extend([write(")"), Job::Part(d.body), write("(?:")]);
                }
            }
            Part::Text { text, any_case } => {
                let open = if *any_case { "(?i:" } else { "(?:" };
                out.push_str(&format!("{open}{})", escaped(text)));
            }
            Part::Pattern { pattern, flags } => {
                let mut flags: String = flags.chars().filter(|c| *c != 'u').collect();
                // A comment of a verbose pattern ends with its line.
                let end = if flags.contains('x') { "\n)" } else { ")" };
                flags.insert_str(0, "(?");
                out.push_str(&format!("{flags}:{pattern}{end}"));
            }
            Part::Class(ranges) => {
                let range = |(lo, hi): &(char, char)| format!("\\U{:08X}-\\U{:08X}", *lo as u32, *hi as u32);
                let ranges: String = ranges.iter().map(range).collect();
                out.push_str(&if ranges.is_empty() { "(?!)".to_owned() } else { format!("[{ranges}]") });
            }
            Part::Sequence(v) => jobs.extend(v.iter().rev().map(|&c| Job::Part(c))),
            Part::Choice(v) => {
                jobs.push(write(")"));
                for (i, &c) in v.iter().enumerate().rev() {
                    jobs.push(Job::Part(c));
                    if i > 0 {
                        jobs.push(write("|"));
                    }
                }
                jobs.push(write("(?:"));
            }
            Part::Repeat { body, min, max } => {
                let count = match *max {
                    UNBOUNDED => format!("){{{min},}}"),
                    max => format!("){{{min},{max}}}"),
                };
                jobs.extend([Job::Write(count), Job::Part(*body), write("(?:")]);
            }
            _ => {
                let message = "this part stands in one terminal with look-around or a lazy repetition, which are \
                                   exact only beside texts and patterns; write them without, or as terminals of their \
                                   own";
                return Err(tree.texts.unsupported(tree.place(p), message));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_texts_match_themselves() {
        assert_eq!(escaped("a.b-c\n"), "a\\.b\\-c\\\n");
    }
}
