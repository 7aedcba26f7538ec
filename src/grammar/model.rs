//! The model of a grammar: rules over terminals.
//!
//! A *terminal* is a set of texts, written as an expression over bytes. A *rule* names a part of the output. What a
//! rule's body says is made of terminals and other rules by sequence, choice and repetition.

use crate::expr::{ExprId, Exprs};

/// An index into [`Grammar::rules`].
pub type RuleId = u32;
/// An index into [`Grammar::terminals`].
pub type TerminalId = u32;
/// An index into [`Grammar::token_sets`].
pub type TokenSetId = u32;
/// An index into [`Grammar::documents`].
pub type DocumentId = u32;

/// No upper bound of a repetition.
pub const UNBOUNDED: u32 = u32::MAX;

/// How the text is cut into terminals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lexer {
    /// A terminal may take any text that it matches: a context-free grammar over characters.
    Any,
    /// Each terminal takes its own longest match, whatever other terminals would take. Lark's Earley parser does so.
    #[default]
    Dynamic,
    /// The longest match of all terminals that the parser can take here; among equals the highest priority, then
    /// literals before patterns, so keywords are reserved. Lark's LALR parser does so.
    Contextual,
}

/// Rules over terminals.
pub struct Grammar {
    /// Where the terminals' expressions live.
    pub exprs: Exprs,
    /// The rules.
    pub rules: Vec<Rule>,
    /// The terminals.
    pub terminals: Vec<Terminal>,
    /// Special tokens that stand in the output beside its text.
    pub token_sets: Vec<TokenSet>,
    /// JSON documents inside the output.
    pub documents: Vec<Document>,
    /// What the whole output is.
    pub start: RuleId,
    /// Terminals that may stand between any two others, before the first and behind the last.
    pub ignored: Vec<TerminalId>,
    /// How the text is cut into terminals.
    pub lexer: Lexer,
    /// The terminals that an indenter emits, where the grammar is sensitive to indentation.
    pub indentation: Option<Indentation>,
}

/// A named part of the output.
pub struct Rule {
    /// Its name in the grammar's text, or one made of its parent's where it has none.
    pub name: String,
    /// Where it is defined, as a byte offset in the text.
    pub place: usize,
    /// What it is made of.
    pub body: Node,
    /// The most tokens that it may take.
    pub max_tokens: Option<u32>,
}

/// A part of a rule's body.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// Nothing.
    Empty,
    /// What a rule says.
    Rule(RuleId),
    /// A text of a terminal.
    Terminal(TerminalId),
    /// One special token of a set.
    Token(TokenSetId),
    /// A JSON document.
    Document(DocumentId),
    /// One after the other.
    Sequence(Vec<Node>),
    /// Any one of these.
    Choice(Vec<Node>),
    /// From `min` to `max` copies; [`UNBOUNDED`] for no upper bound.
    Repeat {
        /// What is repeated.
        body: Box<Node>,
        /// The fewest copies.
        min: u32,
        /// The most copies.
        max: u32,
    },
    /// The body, whose text is reported under a name.
    Capture {
        /// The name.
        name: String,
        /// What is captured.
        body: Box<Node>,
    },
}

/// A set of texts that the parser reads as one symbol.
pub struct Terminal {
    /// Its name, or its text where it has none.
    pub name: String,
    /// Where it is defined or first used, as a byte offset in the text.
    pub place: usize,
    /// Its texts, well-formed UTF-8. The empty text may be among them.
    pub pattern: ExprId,
    /// Its texts with what may follow each of them, where look-ahead at the terminal's end sees beyond it: a text, the
    /// byte 0xFF, which no text has, and all the rest of the output.
    pub context: Option<ExprId>,
    /// Higher ones are preferred by [`Lexer::Contextual`]. 0 where nothing is said.
    pub priority: i32,
    /// Whether it is one text, written as a string. Such terminals are preferred to patterns of the same priority.
    pub literal: bool,
    /// The most tokens that hold a part of its text.
    pub max_tokens: Option<u32>,
}

/// Special tokens by name or id: any one of them may stand here, and nothing else.
pub struct TokenSet {
    /// Where it is written, as a byte offset in the text.
    pub place: usize,
    /// The tokens.
    pub tokens: Vec<TokenName>,
    /// The tokens are those that may *not* stand here: any other token of the vocabulary may.
    pub complement: bool,
}

/// How a special token is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenName {
    /// By its text in the tokenizer.
    Text(String),
    /// By its id.
    Id(u32),
    /// By the first and the last id of a range.
    Range(u32, u32),
}

/// A JSON document inside the output.
pub struct Document {
    /// Where it is written, as a byte offset in the text.
    pub place: usize,
    /// Its JSON Schema, as text.
    pub schema: String,
}

/// How indentation becomes terminals, as Lark's `Indenter` does it: after a newline that is not inside brackets, the
/// blanks behind it are compared with a stack of widths.
pub struct Indentation {
    /// The terminal that ends a line and takes the blanks of the next one.
    pub newline: TerminalId,
    /// The declared terminal that opens a block.
    pub indent: TerminalId,
    /// The declared terminal that closes a block.
    pub dedent: TerminalId,
    /// Terminals that open brackets; inside of them newlines are ignored.
    pub open: Vec<TerminalId>,
    /// Terminals that close brackets.
    pub close: Vec<TerminalId>,
    /// Columns that a tab character counts for.
    pub tab_width: u32,
}
