//! One error type for the whole core.
//!
//! Every failure carries its *kind* (which becomes one Python exception class), a message that a user can act on,
//! and the *location* that caused it: a JSON Pointer in a schema, an offset in a pattern, a token id. Limit errors also
//! carry the limit and the value that broke it. Nothing in the core panics on input.

mod code;
mod limit_remedies;
mod line_with_caret;
mod message;
pub(crate) mod near_name;

pub(crate) use crate::error::code::ErrorCode;
pub(crate) use crate::error::message::{at_pointer, counted, quoted};

pub use crate::error::line_with_caret::SourceExcerpt;
use std::fmt;

/// What went wrong, coarsely. The Python layer maps each kind to one exception class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A pattern is not well formed.
    Pattern,
    /// A schema is not well formed.
    Schema,
    /// The source means something that interlock cannot enforce exactly.
    Unsupported,
    /// The source accepts nothing, or nothing that this vocabulary can spell.
    Unsatisfiable,
    /// A grammar is not well formed.
    Grammar,
    /// A limit on work (never on time) was exceeded, by a compile or by a question about a language.
    Limit,
    /// A token budget is too small for any output.
    Budget,
    /// A token was refused; the guide is unchanged.
    TokenRejected,
    /// A vocabulary is not usable or does not belong here.
    Vocabulary,
    /// A stored artifact cannot be used.
    Artifact,
    /// An argument has the wrong shape, type or range.
    Argument,
    /// The work was stopped from outside; see [`crate::util::cancel`].
    Cancelled,
    /// A bug in interlock.
    Internal,
}

/// Where in the source an error lies: its location. Exceptions have it as `place`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SourcePlace {
    /// Nowhere in particular.
    #[default]
    Unknown,
    /// A character offset in a pattern.
    Offset(usize),
    /// A JSON Pointer in a schema, with the keyword that it leads to where there is one.
    Pointer {
        /// RFC 6901 pointer from the root of the schema document; `""` is the root itself.
        pointer: String,
        /// The keyword at fault, `""` where the schema as a whole is.
        keyword: String,
    },
    /// An offset in a schema's text (it is not JSON).
    Byte(usize),
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourcePlace::Unknown => Ok(()),
            SourcePlace::Offset(n) => write!(f, "at offset {n}"),
            SourcePlace::Byte(n) => write!(f, "at byte {n}"),
            SourcePlace::Pointer { pointer, keyword } => {
                f.write_str(&at_pointer(pointer))?;
                if keyword.is_empty() { Ok(()) } else { write!(f, ", keyword {}", quoted(keyword)) }
            }
        }
    }
}

/// An error of any stage; see [`ErrorKind`].
#[derive(Clone, Debug)]
pub struct Error(Box<Repr>);

#[derive(Clone, Debug)]
struct Repr {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    code: Option<ErrorCode>,
    subject: Option<String>,
    place: SourcePlace,
    limit: Option<(u64, u64)>,
    field: Option<&'static str>,
    excerpt: Option<SourceExcerpt>,
}

/// The core's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `kind` with a message for people.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Repr {
            kind,
            message: message::fitted(message.into()),
            hint: None,
            code: None,
            subject: None,
            place: SourcePlace::Unknown,
            limit: None,
            field: None,
            excerpt: None,
        }))
    }

    /// A limit named `name` of `limit` was exceeded by `value`.
    pub fn limit(name: &str, limit: u64, value: u64) -> Self {
        let mut e = Error::new(ErrorKind::Limit, format!("{name} exceeds its limit: {value} > {limit}"));
        e.0.limit = Some((limit, value));
        e
    }

    /// Names the field of [`Limits`](crate::Limits) that sets a limit error's limit; the hint names it too. The limit
    /// may be a multiple of the field. Of a limit that masks meet, the hint says too how the source becomes smaller.
    #[must_use]
    pub fn set_by(mut self, field: &'static str) -> Self {
        self.0.field = Some(field);
        let smaller = limit_remedies::for_field(field).filter(|_| limit_remedies::is_of_masks(field));
        let or = smaller.map(|remedy| format!("; raise it, or {remedy}")).unwrap_or_default();
        self.with_hint(format!("Limits.{field} sets it{or}"))
    }

    /// Adds what a program that calls this library can do about the error, in the library's own names. The error shows
    /// it behind the message; [`message`](Self::message) is without it, and may be shown to who wrote the source.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Says which fault it is, for callers that do something about it.
    #[must_use]
    pub(crate) fn coded(mut self, code: ErrorCode) -> Self {
        self.0.code = Some(code);
        self
    }

    /// [`coded`](Self::coded) with the name that the fault is about, see [`ErrorCode`].
    #[must_use]
    pub(crate) fn coded_about(mut self, code: ErrorCode, subject: impl Into<String>) -> Self {
        self.0.subject = Some(subject.into());
        self.coded(code)
    }

    /// A token budget of `max_tokens` is smaller than the `needed` tokens of a complete output.
    pub fn budget(max_tokens: u64, needed: u64) -> Self {
        let needs = counted(needed, "token");
        let message = format!("max_tokens is {max_tokens}, but a complete output needs {needs}");
        Error::of_budget(message, max_tokens, needed)
    }

    /// No output of at most `max_tokens` tokens was found, but one of `known` exists; fewer may do.
    pub fn budget_unless_fewer(max_tokens: u64, known: u64) -> Self {
        let message = format!(
            "max_tokens is {max_tokens}, but the shortest output that was found needs {}",
            counted(known, "token")
        );
        Error::of_budget(message, max_tokens, known)
    }

    /// No output of at most `max_tokens` tokens was found, nor any other that is short enough to be planned.
    pub fn budget_unknown(max_tokens: u64) -> Self {
        let message =
            format!("max_tokens is {max_tokens}, but no complete output is known that is short enough to be counted");
        Error::new(ErrorKind::Budget, message)
    }

    fn of_budget(message: String, max_tokens: u64, tokens: u64) -> Self {
        let mut e = Error::new(ErrorKind::Budget, message);
        e.0.limit = Some((max_tokens, tokens));
        e.with_hint(format!("pass max_tokens={tokens} or more"))
    }

    /// Adds `place` to the error, unless it already names one.
    #[must_use]
    pub fn at(mut self, place: SourcePlace) -> Self {
        // That the work was stopped lies nowhere in the source, nor do all steps together.
        let is_of_all = self.0.kind == ErrorKind::Cancelled || self.0.field == Some("max_compile_steps");
        if self.0.place == SourcePlace::Unknown && !is_of_all {
            self.0.place = place;
        }
        self
    }

    /// Adds a character offset of a pattern to the error, unless it already names a place.
    #[must_use]
    pub fn at_offset(self, offset: usize) -> Self {
        self.at(SourcePlace::Offset(offset))
    }

    /// Adds a JSON Pointer and keyword of a schema to the error, unless it already names a place.
    #[must_use]
    pub fn at_pointer(self, pointer: impl Into<String>, keyword: impl Into<String>) -> Self {
        self.at(SourcePlace::Pointer { pointer: pointer.into(), keyword: keyword.into() })
    }

    /// Shows the place in `source`, if the error names an offset in it and no excerpt was made before.
    #[must_use]
    pub(crate) fn in_source(self, source: &str) -> Self {
        match self.0.kind {
            ErrorKind::Pattern | ErrorKind::Schema | ErrorKind::Unsupported => self.showing(source),
            _ => self,
        }
    }

    /// [`in_source`](Self::in_source) for an error that is no mistake in writing.
    #[must_use]
    pub(crate) fn showing(mut self, source: &str) -> Self {
        if self.0.excerpt.is_none() {
            self.0.excerpt = match self.0.place {
                SourcePlace::Offset(at) => Some(SourceExcerpt::of_char(source, at)),
                SourcePlace::Byte(at) => Some(SourceExcerpt::of_byte(source, at)),
                SourcePlace::Unknown | SourcePlace::Pointer { .. } => None,
            };
        }
        self
    }

    /// Another message for the same error.
    #[must_use]
    pub(crate) fn saying(mut self, message: impl Into<String>) -> Self {
        self.0.message = message::fitted(message.into());
        self
    }

    /// Another place for the same error, whose excerpt stays what it is.
    #[must_use]
    pub(crate) fn moved_to(mut self, place: SourcePlace) -> Self {
        self.0.place = place;
        self
    }

    /// For a syntax error in a pattern or in JSON text: line, column and the line itself with a caret. Of a pattern in
    /// a schema, the place is in the pattern.
    ///
    /// # Example
    ///
    /// ```
    /// use interlock::{Limits, RegexOptions, check_regex};
    ///
    /// let error = check_regex("ab(c", &RegexOptions::default(), &Limits::default()).unwrap_err();
    /// let excerpt = error.excerpt().expect("a syntax error");
    /// assert_eq!((excerpt.line, excerpt.column), (1, 3));
    /// assert_eq!(excerpt.text, "ab(c\n  ^");
    /// ```
    pub fn excerpt(&self) -> Option<&SourceExcerpt> {
        self.0.excerpt.as_ref()
    }

    /// The coarse kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without the hint and the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What a program that calls this library can do about the error, in the library's own names.
    ///
    /// # Example
    ///
    /// ```
    /// use interlock::{Limits, RegexOptions, check_regex};
    ///
    /// let limits = Limits { max_source_bytes: 3, ..Default::default() };
    /// let error = check_regex("abcd", &RegexOptions::default(), &limits).unwrap_err();
    /// assert_eq!(error.hint(), Some("Limits.max_source_bytes sets it"));
    /// assert!(!error.client_message().contains("Limits"));
    /// ```
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Which fault it is, and the name that it is about.
    #[cfg_attr(not(feature = "python"), expect(dead_code, reason = "only exceptions of Python show it"))]
    pub(crate) fn code(&self) -> (Option<ErrorCode>, Option<&str>) {
        (self.0.code, self.0.subject.as_deref())
    }

    /// The error for a client that sent the source and does not know this library: message and place, without the hint.
    /// Of a limit it says how a source becomes smaller, because a client cannot raise the limit.
    pub fn client_message(&self) -> String {
        let remedy =
            self.0.field.and_then(limit_remedies::for_field).map(|remedy| format!("; {remedy}")).unwrap_or_default();
        // As in `Display`: an excerpt shows the place itself.
        match (self.0.message.split_once('\n'), &self.0.place) {
            (Some((said, excerpt)), _) => format!("{said}{remedy}\n{excerpt}"),
            (None, SourcePlace::Unknown) => format!("{}{remedy}", self.0.message),
            (None, place) => format!("{}{remedy} ({place})", self.0.message),
        }
    }

    /// Where in the source.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// use interlock::SourcePlace;
    ///
    /// let error = Index::from_regex("a(b", &vocabulary, &RegexOptions::default(), &Limits::default()).unwrap_err();
    /// assert!(matches!(error.place(), SourcePlace::Offset(_)));
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn place(&self) -> &SourcePlace {
        &self.0.place
    }

    /// For a limit error: the limit and the value that exceeded it. For a budget error: `max_tokens`, and the tokens
    /// of an output that is complete, the fewest that are known.
    ///
    /// # Example
    ///
    /// ```
    /// # use interlock::{ErrorKind, GuideOptions, Index, Limits, RegexOptions, Vocabulary, VocabularyOptions};
    /// # let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).chain([vec![]]).collect();
    /// # let options = VocabularyOptions { eos_token_ids: vec![256], ..Default::default() };
    /// # let vocabulary = Vocabulary::new(&tokens, options)?;
    /// let limits = Limits { max_source_bytes: 3, ..Default::default() };
    /// let error = Index::from_regex("abcd", &vocabulary, &RegexOptions::default(), &limits).unwrap_err();
    /// assert_eq!(error.limit_values(), Some((3, 4)));
    /// assert_eq!(error.limit_field(), Some("max_source_bytes"));
    /// # Ok::<(), interlock::Error>(())
    /// ```
    pub fn limit_values(&self) -> Option<(u64, u64)> {
        self.0.limit
    }

    /// For a limit error: the field of [`Limits`](crate::Limits) that sets the limit. `None` for bounds that nobody may
    /// set.
    pub fn limit_field(&self) -> Option<&'static str> {
        self.0.field
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        if let Some(hint) = &self.0.hint {
            // Behind an excerpt, a line of its own.
            write!(f, "{}{hint}", if self.0.message.contains('\n') { "\n" } else { "; " })?;
        }
        // An excerpt in the message has the line and a caret: the byte would stand behind them, and says no more.
        if self.0.place != SourcePlace::Unknown && !self.0.message.contains('\n') {
            write!(f, " ({})", self.0.place)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}
