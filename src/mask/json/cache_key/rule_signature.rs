//! Rule signatures: what suffixes can tell of the rule of a value.
//!
//! A suffix spells a few bytes of a value: a quote, a bracket and perhaps the next one, a word. They tell little of its
//! rules: the lexemes, whether an array or object may be empty, what its elements may be. That is the rule's
//! *signature*. What suffixes spell of a value (see `member_value`) is equal for all rules of one signature, in
//! whatever schema: most schemas have strings, any values, objects that need a name, and lists of these. Rules that
//! count what they contain or tie names to each other have no signature.

use crate::mask::json::crossing::signature_scope::SignatureScope;
use smallvec::SmallVec;

use crate::json::rules::RuleId;
use crate::json::whitespace::WhitespaceRule;
use crate::pushdown::json::program::{ArrayProgram, ObjectProgram, Program};

/// Words of a signature; what needs more has none.
const MOST_WORDS: usize = 64;
/// Whitespace of more states than this is not told apart.
const FEW_STATES: usize = 4;

/// What suffixes can tell of the rules of a value: equal signatures, equal viable suffixes.
pub(crate) type RuleSignature = SmallVec<[u64; 16]>;

/// Looks at rules as suffixes do; `lexeme` says what two lexemes have in common that are not told apart.
pub(crate) struct Look<'a, F: Fn(u32) -> [u64; 2]> {
    pub(crate) program: &'a Program,
    pub(crate) insight: SignatureScope,
    pub(crate) lexeme: F,
}

/// The signature of a value that may follow `rule`, among those of one program.
pub(crate) fn profile_within(program: &Program, insight: SignatureScope, rule: RuleId) -> Option<RuleSignature> {
    let mut out = RuleSignature::new();
    let look = Look { program, insight, lexeme: |lexeme| [lexeme.into(), 0] };
    look.rules(&[rule], &mut out)?;
    Some(out)
}

impl<F: Fn(u32) -> [u64; 2]> Look<'_, F> {
    pub(crate) fn rules(&self, rules: &[RuleId], out: &mut RuleSignature) -> Option<()> {
        // What elements that differ may become is a matter of the elements before.
        if self.program.has_unique {
            return None;
        }
        rules.iter().try_for_each(|&rule| self.rule(rule, self.insight.brackets, out))
    }

    /// What can be told of a rule by suffixes that open so many more `brackets`.
    fn rule(&self, rule: RuleId, brackets: u32, out: &mut RuleSignature) -> Option<()> {
        let program = self.program;
        let rule = &program.rules[rule.0 as usize];
        let seen = |shapes: &[u32]| if brackets > 0 { shapes.len() as u64 } else { 0 };
        out.push(rule.lexemes.len() as u64 | seen(&rule.arrays) << 20 | seen(&rule.objects) << 40);
        rule.lexemes.iter().for_each(|&lexeme| out.extend((self.lexeme)(lexeme)));
        if brackets > 0 {
            for &shape in &rule.arrays {
                self.array(&program.arrays[shape as usize], brackets - 1, out)?;
            }
            for &shape in &rule.objects {
                out.push(self.object(&program.objects[shape as usize])?);
            }
        }
        (out.len() <= MOST_WORDS).then_some(())
    }

    fn array(&self, p: &ArrayProgram, brackets: u32, out: &mut RuleSignature) -> Option<()> {
        if !(p.prefix.is_empty() && p.contains.is_empty()) {
            return None;
        }
        out.extend([p.min, p.max, p.rest.len() as u64]);
        p.rest.iter().try_for_each(|way| self.rule(way.rule, brackets, out))
    }

    /// Whether an object of the shape may be empty, and whether it may have a key.
    fn object(&self, p: &ObjectProgram) -> Option<u64> {
        let simple = p.witnesses == 0 && p.dependent_required.is_none() && p.min <= 1;
        if !simple || self.insight.keys {
            return None;
        }
        let empty = p.min == 0 && p.required.iter().all(|w| *w == 0);
        let others = p.others.iter().any(|c| c.keys.as_ref().is_none_or(|k| k.residual_size(k.start()) > 0));
        let key = p.max > 0 && (others || p.possible.iter().any(|w| *w != 0));
        Some(u64::from(empty) | u64::from(key) << 1)
    }
}

/// Writes what tells `blanks` from other whitespace, unless that is too much.
pub(crate) fn blanks(blanks: &WhitespaceRule, out: &mut RuleSignature) -> Option<()> {
    if let Some(most) = blanks.most {
        out.push(most.into());
        return Some(());
    }
    if blanks.next.len() > FEW_STATES {
        return None;
    }
    // No bound is that large.
    out.push(u64::MAX - blanks.next.len() as u64);
    for (next, &accepting) in blanks.next.iter().zip(&blanks.accepting) {
        out.push(next.iter().fold(0, |word, &to| word << 16 | u64::from(to)));
        out.push(accepting.into());
    }
    Some(())
}

#[cfg(test)]
mod tests;
