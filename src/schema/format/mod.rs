//! `format`: the language of each known format, over decoded text.
//!
//! The grammars are those of the standards that JSON Schema, or a registry of formats, names. None contains an
//! intersection or a complement, so every state of every format is live. Some standards ask for more than a finite
//! automaton can decide; there the language is narrower, never wider, and says why.

mod abnf;
mod host;
mod identifiers;
mod idn;
mod regex;
#[cfg(test)]
mod tests;
mod time;
mod upper_bounds;
mod uri;

use crate::expr::{ExprId, Exprs};

/// The language of one format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Decoded text as UTF-8, the whole string.
    pub text: ExprId,
    /// Why the language is narrower than the standard; `None` where it is exact. What is not of a narrower format is
    /// what lies outside of [`at_most`].
    pub narrower: Option<&'static str>,
}

/// One known format.
struct Known {
    name: &'static str,
    text: fn(&mut Exprs) -> ExprId,
    narrower: Option<Narrower>,
}

/// What a format that is narrower than its standard says of that.
struct Narrower {
    reason: &'static str,
    /// The language that no reading of the standard goes beyond, of which [`upper_bounds`] has more.
    at_most: fn(&mut Exprs) -> ExprId,
}

const fn exact(name: &'static str, text: fn(&mut Exprs) -> ExprId) -> Known {
    Known { name, text, narrower: None }
}

const fn narrower(
    name: &'static str,
    text: fn(&mut Exprs) -> ExprId,
    reason: &'static str,
    at_most: fn(&mut Exprs) -> ExprId,
) -> Known {
    Known { name, text, narrower: Some(Narrower { reason, at_most }) }
}

/// The known formats, by name.
const KNOWN: &[Known] = &[
    exact("date", time::date),
    narrower("date-time", time::date_time, time::LEAP_OFFSETS, upper_bounds::date_time),
    narrower("duration", time::duration, time::UPPER_CASE, upper_bounds::duration),
    narrower("email", host::email, host::MAIL_DEPARTURES, upper_bounds::email),
    narrower("hostname", host::hostname, host::HOST_DEPARTURES, upper_bounds::hostname),
    narrower("idn-email", host::idn_email, host::MAIL_DEPARTURES, upper_bounds::email),
    narrower("idn-hostname", idn::hostname, idn::IDN_DEPARTURES, upper_bounds::idn_hostname),
    exact("ipv4", host::ipv4),
    exact("ipv6", host::ipv6),
    exact("iri", uri::iri),
    exact("iri-reference", uri::iri_reference),
    exact("json-pointer", identifiers::json_pointer),
    narrower("regex", regex::regex, regex::REGEX_DEPARTURES, upper_bounds::regex),
    narrower(
        "relative-json-pointer",
        identifiers::relative_json_pointer,
        identifiers::RELATIVE_DEPARTURES,
        upper_bounds::relative_json_pointer,
    ),
    narrower("time", time::time, time::LEAP_OFFSETS, upper_bounds::time),
    exact("uri", uri::uri),
    exact("uri-reference", uri::uri_reference),
    exact("uri-template", uri::uri_template),
    exact("uuid", identifiers::uuid),
];

fn find(format: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == format)
}

/// The names of the known formats, sorted.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    KNOWN.iter().map(|known| known.name)
}

/// Whether [`lower`] knows a format.
pub fn is_known(format: &str) -> bool {
    find(format).is_some()
}

/// Formats of which the second takes whatever the first takes, where looking for that takes too long: international
/// names and addresses are made of the same parts as the others, and more.
pub const SUBSETS: [(&str, &str); 2] = [("email", "idn-email"), ("hostname", "idn-hostname")];

/// The language of a format, `None` if it is unknown. Cost: at most some hundred microseconds; building it twice in
/// one arena makes no new nodes. Ask [`Exprs::check`] afterwards.
pub fn lower(x: &mut Exprs, format: &str) -> Option<Format> {
    let known = find(format)?;
    Some(Format { text: (known.text)(x), narrower: known.narrower.as_ref().map(|narrower| narrower.reason) })
}

/// A language that holds every text of a format which is narrower here than its standard; any text for the others.
pub fn at_most(x: &mut Exprs, format: &str) -> ExprId {
    match find(format).and_then(|known| known.narrower.as_ref()) {
        Some(narrower) => (narrower.at_most)(x),
        None => upper_bounds::any_text(x),
    }
}
