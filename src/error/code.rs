//! Fixed words for single faults, by which the Python layers find a remedy. Nothing decides by a message's wording.

/// Which fault an error is, where a caller does something about it that its kind and its place don't tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "python"), expect(dead_code, reason = "only exceptions of Python show it"))]
pub(crate) enum ErrorCode {
    /// A part of a pattern is a reference to what a group matched.
    Backreference,
    /// The text ends in the middle.
    CutOff,
    /// A rule of a grammar leads back to itself on every way. The subject is its name.
    EndlessRule,
    /// A part of a pattern never holds. The subject is `look`, `edge` (of the text) or `other`.
    ImpossiblePart,
    /// The vocabulary lacks tokens of single bytes that the source uses.
    MissingByteTokens,
    /// A grammar has no finite automaton.
    NoAutomaton,
    /// No output was found that is short enough to be counted.
    NoShortOutput,
    /// The grammar has no rule to start with. The subject is the name that it was to have.
    NoStart,
    /// A file is no tokenizer.
    NotATokenizer,
    /// The grammar looks like another notation, whose option is the subject: `lark`, or `gbnf` for the other two.
    OtherNotation,
    /// A file was made by another version, which is the subject.
    OtherVersion,
    /// A file is for another vocabulary, whose fingerprint is the subject.
    OtherVocabulary,
    /// The count of a repetition is beyond what is read.
    RepeatCount,
    /// All sources of the process hold more memory than they may, and this one took much of it.
    TooLittleMemory,
    /// No grammar has the name, which is the subject.
    UnknownGrammar,
    /// No file has the name of an import, which is the subject.
    UnknownImport,
    /// The pattern of whitespace is at fault, which is an option beside the source.
    WhitespacePattern,
}

impl ErrorCode {
    /// The word, as exceptions of Python have it.
    #[cfg_attr(not(feature = "python"), expect(dead_code, reason = "only exceptions of Python show it"))]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ErrorCode::Backreference => "backreference",
            ErrorCode::CutOff => "cut_off",
            ErrorCode::EndlessRule => "endless_rule",
            ErrorCode::ImpossiblePart => "impossible_part",
            ErrorCode::MissingByteTokens => "missing_byte_tokens",
            ErrorCode::NoAutomaton => "no_automaton",
            ErrorCode::NoShortOutput => "no_short_output",
            ErrorCode::NoStart => "no_start",
            ErrorCode::NotATokenizer => "not_a_tokenizer",
            ErrorCode::OtherNotation => "other_notation",
            ErrorCode::OtherVersion => "other_version",
            ErrorCode::OtherVocabulary => "other_vocabulary",
            ErrorCode::RepeatCount => "repeat_count",
            ErrorCode::TooLittleMemory => "too_little_memory",
            ErrorCode::UnknownGrammar => "unknown_grammar",
            ErrorCode::UnknownImport => "unknown_import",
            ErrorCode::WhitespacePattern => "whitespace_pattern",
        }
    }
}
