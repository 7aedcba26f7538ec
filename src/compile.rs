//! Source and vocabulary to index: the only file that knows all stages.

use std::sync::Arc;

use crate::automaton::lexeme::Kind;
use crate::automaton::program::Blanks;
use crate::error::{Error, ErrorKind, Result};
use crate::frontend::regex::{Dialect, RegexOptions, lower_full};
use crate::frontend::schema::blanks;
use crate::frontend::schema::{PropertyOrder, ReportRow, SchemaOptions, Whitespace, lower, parse_schema};
use crate::index::program::{Layout, compile};
use crate::index::tables::{Role, Tables};
use crate::index::{Engine, Index, Inner};
use crate::ir::{ExprId, Exprs, Rules};
use crate::limits::Limits;
use crate::vocab::Vocabulary;

/// The longest run of whitespace between two JSON tokens: an indentation of thirty levels of two spaces fits. Longer
/// runs are how models idle until they run out of tokens.
pub const MAX_BLANKS: u16 = 64;

impl Index {
    /// Every text that `pattern` matches as a whole.
    ///
    /// # Errors
    /// `Pattern` for bad syntax and `Unsupported` for what is not regular, both with the offset; `Unsatisfiable` if
    /// nothing matches; `Limit`.
    pub fn from_regex(
        pattern: &str,
        vocabulary: &Arc<Vocabulary>,
        options: &RegexOptions,
        limits: &Limits,
    ) -> Result<Index> {
        if pattern.len() > limits.max_source_bytes {
            return Err(Error::limit("source bytes", limits.max_source_bytes as u64, pattern.len() as u64));
        }
        let mut exprs = Exprs::new(limits.max_expr_nodes);
        let expr = lower_full(&mut exprs, pattern, options, limits)?;
        let source = format!("{:?}\0{}\0{pattern}", options.dialect, options.flags);
        Index::from_expr(&mut exprs, expr, &source, vocabulary, limits)
    }

    /// One of `choices`, exactly.
    ///
    /// # Errors
    /// `Unsatisfiable` without choices, `Limit` for more text than the limits allow.
    pub fn from_choices(choices: &[String], vocabulary: &Arc<Vocabulary>, limits: &Limits) -> Result<Index> {
        let total: usize = choices.iter().map(|c| c.len()).sum();
        if total > limits.max_source_bytes {
            return Err(Error::limit("source bytes", limits.max_source_bytes as u64, total as u64));
        }
        let mut exprs = Exprs::new(limits.max_expr_nodes);
        let expr = exprs.choice(choices);
        let mut sorted: Vec<&str> = choices.iter().map(|c| c.as_str()).collect();
        sorted.sort_unstable();
        let source = sorted.iter().fold(String::from("choices"), |s, c| s + "\0" + c);
        Index::from_expr(&mut exprs, expr, &source, vocabulary, limits)
    }

    /// Everything that `expr` accepts. `source` is what the index's fingerprint names.
    pub(crate) fn from_expr(
        exprs: &mut Exprs,
        expr: ExprId,
        source: &str,
        vocabulary: &Arc<Vocabulary>,
        limits: &Limits,
    ) -> Result<Index> {
        exprs.check()?;
        let tables = Tables::of(vocabulary)?;
        let lexeme = tables
            .lexeme(exprs, expr, Kind::Raw, Role::Whole, limits)?
            .ok_or_else(|| Error::new(ErrorKind::Unsatisfiable, "the pattern accepts nothing").at_offset(0))?;
        let engine = Engine::Pattern(lexeme);
        Ok(Index::new(vocabulary, tables, engine, Vec::new(), source))
    }

    /// Every document that a JSON Schema accepts, written as the options say.
    ///
    /// # Errors
    /// `Schema` for what is not a schema, `Unsupported` for a keyword that cannot be enforced, `Unsatisfiable` if no
    /// document is valid, all with the place; `Limit`.
    pub fn from_json_schema(
        text: &str,
        vocabulary: &Arc<Vocabulary>,
        options: &SchemaOptions,
        limits: &Limits,
    ) -> Result<Index> {
        let (model, mut report) = parse_schema(text, options, limits)?;
        let rules = lower(&model, options, limits, &mut report)?;
        let source = format!("{options:?}\0{text}");
        Index::from_rules(rules, &source, report, options, vocabulary, limits)
    }

    /// What `rules` describe.
    pub fn from_rules(
        mut rules: Rules,
        source: &str,
        report: Vec<ReportRow>,
        options: &SchemaOptions,
        vocabulary: &Arc<Vocabulary>,
        limits: &Limits,
    ) -> Result<Index> {
        rules.exprs.check()?;
        let tables = Tables::of(vocabulary)?;
        let gaps = match &options.whitespace {
            Whitespace::Flexible => [Blanks::none(), Blanks::up_to(MAX_BLANKS), Blanks::up_to(MAX_BLANKS)],
            Whitespace::Compact => [Blanks::none(), Blanks::none(), Blanks::none()],
            Whitespace::Spaced => [Blanks::none(), Blanks::none(), Blanks::one_space()],
            Whitespace::Pattern(p) => {
                let mut x = Exprs::new(limits.max_expr_nodes);
                let regex = RegexOptions { dialect: Dialect::Ecma, flags: String::new() };
                let e = lower_full(&mut x, p, &regex, limits)?;
                let b = blanks::gap(&mut x, e, limits)?;
                [Blanks::none(), b.clone(), b]
            }
        };
        let layout = Layout { gaps, any_order: options.property_order == PropertyOrder::Any };
        let (program, lexemes) = compile(&mut rules, layout, &tables, limits)?;
        let engine = Engine::Document { program: Box::new(program), lexemes };
        Ok(Index::new(vocabulary, tables, engine, report, source))
    }

    fn new(
        vocabulary: &Arc<Vocabulary>,
        tables: Arc<Tables>,
        engine: Engine,
        report: Vec<ReportRow>,
        source: &str,
    ) -> Index {
        let mut h = blake3::Hasher::new();
        h.update(env!("CARGO_PKG_VERSION").as_bytes());
        h.update(&vocabulary.fingerprint());
        h.update(source.as_bytes());
        let fingerprint = *h.finalize().as_bytes();
        Index(Arc::new(Inner { vocabulary: vocabulary.clone(), tables, engine, report, fingerprint }))
    }
}
