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

pub use crate::schema::format::upper_bounds::at_most;

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

/// The formats that [`lower`] knows.
pub const KNOWN: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// Formats of which the second takes whatever the first takes, where looking for that takes too long: international
/// names and addresses are made of the same parts as the others, and more.
pub const SUBSETS: [(&str, &str); 2] = [("email", "idn-email"), ("hostname", "idn-hostname")];

/// The language of a format, `None` if it is unknown. Cost: at most some hundred microseconds; building it twice in
/// one arena makes no new nodes. Ask [`Exprs::check`] afterwards.
pub fn lower(x: &mut Exprs, format: &str) -> Option<Format> {
    let exact = None;
    let (text, narrower) = match format {
        "date" => (time::date(x), exact),
        "time" => (time::time(x), Some(time::LEAP_OFFSETS)),
        "date-time" => (time::date_time(x), Some(time::LEAP_OFFSETS)),
        "duration" => (time::duration(x), Some(time::UPPER_CASE)),
        "email" => (host::email(x), Some(host::MAIL_DEPARTURES)),
        "hostname" => (host::hostname(x), Some(host::HOST_DEPARTURES)),
        "idn-email" => (host::idn_email(x), Some(host::MAIL_DEPARTURES)),
        "idn-hostname" => (idn::hostname(x), Some(idn::IDN_DEPARTURES)),
        "ipv4" => (host::ipv4(x), exact),
        "ipv6" => (host::ipv6(x), exact),
        "uri" => (uri::uri(x), exact),
        "uri-reference" => (uri::uri_reference(x), exact),
        "iri" => (uri::iri(x), exact),
        "iri-reference" => (uri::iri_reference(x), exact),
        "uri-template" => (uri::uri_template(x), exact),
        "json-pointer" => (identifiers::json_pointer(x), exact),
        "relative-json-pointer" => (identifiers::relative_json_pointer(x), Some(identifiers::RELATIVE_DEPARTURES)),
        "uuid" => (identifiers::uuid(x), exact),
        "regex" => (regex::regex(x), Some(regex::REGEX_DEPARTURES)),
        _ => return None,
    };
    Some(Format { text, narrower })
}
