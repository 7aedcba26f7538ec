//! Arrays and objects of any depth, read and written without recursion.

use crate::json::canonical::{blanks, decoded, quote, scalar};

/// A value, children before their parents.
enum TreeNode {
    /// The bytes of the canonical text from the first number to the second, in `Tree::scalars`.
    Scalar(usize, usize),
    Array(Vec<usize>),
    /// Members by key, no key twice.
    Object(Vec<(String, usize)>),
}

/// An array or object that has begun.
enum OpenContainer {
    Array(Vec<usize>),
    /// The members so far, and the key of the one that is read.
    Object(Vec<(String, usize)>, Option<String>),
}

/// A value as a list of values, its own the last.
pub(crate) struct Tree {
    nodes: Vec<TreeNode>,
    scalars: Vec<u8>,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq)]
enum Expected {
    /// A value.
    Value,
    /// A value, or the end of the array that has just begun.
    ValueOrEnd,
    /// A key.
    Key,
    /// A key, or the end of the object that has just begun.
    KeyOrEnd,
    /// A comma, or the end of what is open.
    CommaOrEnd,
}

impl Tree {
    /// Reads JSON text; `None` if it is not JSON.
    pub fn read(text: &[u8]) -> Option<Tree> {
        let mut tree = Tree { nodes: Vec::new(), scalars: Vec::new() };
        let (mut open, mut next, mut at) = (Vec::<OpenContainer>::new(), Expected::Value, 0);
        loop {
            at += blanks(&text[at..]);
            let Some(&byte) = text.get(at) else {
                let whole = open.is_empty() && !tree.nodes.is_empty();
                return whole.then_some(tree);
            };
            if open.is_empty() && !tree.nodes.is_empty() {
                return None;
            }
            let node = match (byte, next) {
                (b'[', Expected::Value | Expected::ValueOrEnd) => {
                    open.push(OpenContainer::Array(Vec::new()));
                    (at, next) = (at + 1, Expected::ValueOrEnd);
                    continue;
                }
                (b'{', Expected::Value | Expected::ValueOrEnd) => {
                    open.push(OpenContainer::Object(Vec::new(), None));
                    (at, next) = (at + 1, Expected::KeyOrEnd);
                    continue;
                }
                (b']', Expected::ValueOrEnd | Expected::CommaOrEnd)
                | (b'}', Expected::KeyOrEnd | Expected::CommaOrEnd) => {
                    at += 1;
                    match (byte, open.pop()?) {
                        (b']', OpenContainer::Array(elements)) => TreeNode::Array(elements),
                        (b'}', OpenContainer::Object(members, _)) => TreeNode::Object(by_key(members)),
                        _ => return None,
                    }
                }
                (b',', Expected::CommaOrEnd) => {
                    at += 1;
                    next =
                        if matches!(open.last()?, OpenContainer::Array(_)) { Expected::Value } else { Expected::Key };
                    continue;
                }
                (b'"', Expected::Key | Expected::KeyOrEnd) => {
                    let end = string_end(text, at)?;
                    let Some(OpenContainer::Object(_, key)) = open.last_mut() else { return None };
                    *key = Some(decoded(&text[at..end])?);
                    let colon = end + blanks(&text[end..]);
                    if text.get(colon) != Some(&b':') {
                        return None;
                    }
                    (at, next) = (colon + 1, Expected::Value);
                    continue;
                }
                (_, Expected::Value | Expected::ValueOrEnd) => {
                    let end = match byte {
                        b'"' => string_end(text, at)?,
                        _ => {
                            at + text[at..]
                                .iter()
                                .take_while(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b))
                                .count()
                        }
                    };
                    let begin = tree.scalars.len();
                    scalar(&text[at..end], &mut tree.scalars)?;
                    at = end;
                    TreeNode::Scalar(begin, tree.scalars.len())
                }
                _ => return None,
            };
            let number = tree.nodes.len();
            tree.nodes.push(node);
            match open.last_mut() {
                None => {}
                Some(OpenContainer::Array(elements)) => elements.push(number),
                Some(OpenContainer::Object(members, key)) => members.push((key.take()?, number)),
            }
            next = Expected::CommaOrEnd;
        }
    }

    /// Adds the canonical text.
    pub fn write(&self, out: &mut Vec<u8>) {
        // The arrays and objects that have begun, and how many of their values are written.
        let mut open = vec![(self.nodes.len() - 1, 0)];
        while let Some((number, written)) = open.last_mut() {
            let (child, ends) = match &self.nodes[*number] {
                TreeNode::Scalar(begin, end) => {
                    out.extend(&self.scalars[*begin..*end]);
                    (None, None)
                }
                TreeNode::Array(elements) => {
                    out.extend((*written == 0).then_some(b'['));
                    (elements.get(*written).copied(), Some(b']'))
                }
                TreeNode::Object(members) => {
                    out.extend((*written == 0).then_some(b'{'));
                    let member = members.get(*written);
                    if let Some((key, _)) = member {
                        quote(key, out);
                        out.push(b':');
                    }
                    (member.map(|m| m.1), Some(b'}'))
                }
            };
            *written += 1;
            match child {
                Some(child) => open.push((child, 0)),
                None => {
                    out.extend(ends);
                    open.pop();
                    if !open.is_empty() {
                        out.push(b',');
                    }
                }
            }
        }
    }
}

/// Sorted; of members with the same key, the last.
fn by_key(mut members: Vec<(String, usize)>) -> Vec<(String, usize)> {
    members.reverse();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    members.dedup_by(|b, a| a.0 == b.0);
    members
}

/// Where the string that begins at `at` ends, behind its quote.
fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    loop {
        match text.get(end)? {
            b'"' => return Some(end + 1),
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
}
