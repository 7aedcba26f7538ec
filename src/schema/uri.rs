//! URI references: resolution as in RFC 3986, section 5.2, and the decoding of fragments.
//!
//! Identifiers in real schemas are often not valid URIs (spaces, bare words), so nothing here validates: a reference
//! is split at its delimiters (appendix B) and joined. Two URIs are the same where their texts are.

/// A reference without its fragment, and the fragment where there is one.
pub fn split_fragment(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((uri, fragment)) => (uri, Some(fragment)),
        None => (reference, None),
    }
}

struct UriParts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

fn parts(uri: &str) -> UriParts<'_> {
    let is_scheme = |s: &str| {
        s.starts_with(|c: char| c.is_ascii_alphabetic())
            && s.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    let (scheme, rest) = match uri.split_once(':') {
        Some((s, rest)) if is_scheme(s) => (Some(s), rest),
        _ => (None, uri),
    };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    match rest.strip_prefix("//") {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            UriParts { scheme, authority: Some(authority), path, query }
        }
        None => UriParts { scheme, authority: None, path: rest, query },
    }
}

/// `reference` (without a fragment) seen from `base`. A base may itself be relative or empty.
pub fn join(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let (b, r) = (parts(base), parts(reference));
    let path;
    let joined = if r.scheme.is_some() {
        // Opaque URIs such as `urn:` have no segments to normalize.
        if r.authority.is_none() && !r.path.starts_with('/') {
            return reference.to_owned();
        }
        path = without_dots(r.path);
        UriParts { path: &path, ..r }
    } else if r.authority.is_some() {
        path = without_dots(r.path);
        UriParts { scheme: b.scheme, path: &path, ..r }
    } else if r.path.is_empty() {
        UriParts { query: r.query.or(b.query), ..b }
    } else {
        path = if r.path.starts_with('/') {
            without_dots(r.path)
        } else if b.authority.is_some() && b.path.is_empty() {
            without_dots(&format!("/{}", r.path))
        } else {
            let folder = b.path.rfind('/').map_or("", |i| b.path.get(..=i).unwrap_or_default());
            without_dots(&format!("{folder}{}", r.path))
        };
        UriParts { path: &path, query: r.query, ..b }
    };
    let mut out = String::new();
    if let Some(s) = joined.scheme {
        out.push_str(s);
        out.push(':');
    }
    if let Some(a) = joined.authority {
        out.push_str("//");
        out.push_str(a);
    }
    out.push_str(joined.path);
    if let Some(q) = joined.query {
        out.push('?');
        out.push_str(q);
    }
    out
}

/// RFC 3986, section 5.2.4, on whole segments.
fn without_dots(path: &str) -> String {
    if !path.split('/').any(|s| s == "." || s == "..") {
        return path.to_owned();
    }
    let rooted = path.starts_with('/');
    let mut out: Vec<&str> = Vec::new();
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    out.pop();
                }
                if is_last {
                    out.push("");
                }
            }
            _ => out.push(segment),
        }
    }
    let joined = out.join("/");
    if rooted { format!("/{joined}") } else { joined }
}

/// Percent-decoding; `None` where the result is not UTF-8 or an escape is cut short.
pub fn percent_decode(text: &str) -> Option<std::borrow::Cow<'_, str>> {
    if !text.contains('%') {
        return Some(text.into());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        if b == b'%' {
            let mut digit = || (bytes.next()? as char).to_digit(16);
            out.push((digit()? * 16 + digit()?) as u8);
        } else {
            out.push(b);
        }
    }
    String::from_utf8(out).ok().map(Into::into)
}

/// One step of a JSON Pointer: `~1` is `/` and `~0` is `~`.
pub fn unescape_step(step: &str) -> std::borrow::Cow<'_, str> {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() }
}

/// Appends `/step` to a JSON Pointer, with its escapes.
pub fn push_step(pointer: &mut String, step: &str) {
    pointer.push('/');
    if step.bytes().any(|b| matches!(b, b'~' | b'/')) {
        pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(step);
    }
}
