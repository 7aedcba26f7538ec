//! What stands behind `::` and `%if` in a parametric rule.

use crate::error::Result;
use crate::error::near_name::did_you_mean;
use crate::grammar::lark::lexer::Token;
use crate::grammar::lark::parser::{Parser, shown};
use crate::grammar::parametric::{Bits, Comparison, Condition, Step};
use crate::grammar::tree::check_depth;

/// The functions that a condition may be.
const CONDITIONS: [&str; 20] = [
    "and",
    "or",
    "not",
    "true",
    "bit_clear",
    "bit_set",
    "is_ones",
    "is_zeros",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "bit_count_eq",
    "bit_count_ne",
    "bit_count_lt",
    "bit_count_le",
    "bit_count_gt",
    "bit_count_ge",
];

/// The comparison of this name.
fn comparison(name: &str) -> Option<Comparison> {
    Some(match name {
        "eq" => Comparison::Equal,
        "ne" => Comparison::NotEqual,
        "lt" => Comparison::Less,
        "le" => Comparison::AtMost,
        "gt" => Comparison::More,
        "ge" => Comparison::AtLeast,
        _ => return None,
    })
}

impl<'a> Parser<'a, '_> {
    /// Which number a named rule gets, behind `::`.
    pub(super) fn step(&mut self) -> Result<Step> {
        if let (Token::Number(_), _) = self.peek()? {
            return self.number(u64::MAX).map(Step::Set);
        }
        let (name, at) = self.expect_name("a number, _ or a function")?;
        const KNOWN: [&str; 6] = ["set_bit", "clear_bit", "bit_and", "bit_or", "incr", "decr"];
        if name == "_" {
            return Ok(Step::Keep);
        }
        if !KNOWN.contains(&name) {
            let hint = did_you_mean(name, KNOWN.into_iter());
            return Err(self.error(at, format!("there is no function {name:?} of a rule's number{hint}")));
        }
        self.expect('(', "before the argument")?;
        let step = match name {
            "set_bit" => Step::Or(1 << self.number(63)?),
            "clear_bit" => Step::And(!(1 << self.number(63)?)),
            "bit_and" => Step::And(self.number(u64::MAX)?),
            "bit_or" => Step::Or(self.number(u64::MAX)?),
            "incr" => Step::Increase(self.bits()?),
            _ => Step::Decrease(self.bits()?),
        };
        self.expect(')', "behind the argument")?;
        Ok(step)
    }

    /// Which numbers an alternative is for, behind `%if`.
    pub(super) fn condition(&mut self, depth: usize) -> Result<Condition> {
        let (name, at) = self.expect_name("a condition")?;
        check_depth(depth + self.nested, self.limits, self.place(at))?;
        if name == "true" {
            if self.takes(Token::Mark('('))? {
                self.expect(')', "behind true(")?;
            }
            return Ok(Condition::True);
        }
        if !CONDITIONS.contains(&name) {
            let hint = did_you_mean(name, CONDITIONS.into_iter());
            return Err(self.error(at, format!("there is no condition {name:?}{hint}")));
        }
        self.expect('(', "before the arguments")?;
        let one_bit = |bit: u64, with| {
            let bits = Bits { from: bit as u32, to: bit as u32 + 1 };
            Condition::Compare { bits, is: Comparison::Equal, with }
        };
        let found = match name {
            "not" => Condition::Not(Box::new(self.condition(depth + 1)?)),
            "and" | "or" => {
                let first = self.condition(depth + 1)?;
                self.expect(',', "between the conditions")?;
                let both = Box::new((first, self.condition(depth + 1)?));
                if name == "and" { Condition::And(both) } else { Condition::Or(both) }
            }
            "bit_clear" => one_bit(self.number(63)?, 0),
            "bit_set" => one_bit(self.number(63)?, 1),
            "is_ones" => Condition::all_of(self.bits()?),
            "is_zeros" => Condition::Compare { bits: self.bits()?, is: Comparison::Equal, with: 0 },
            _ => {
                let bits = self.bits()?;
                self.expect(',', "behind the bits")?;
                let with = self.number(u64::MAX)?;
                match (comparison(name), comparison(name.trim_start_matches("bit_count_"))) {
                    (Some(is), _) => Condition::Compare { bits, is, with },
                    (_, is) => Condition::Count { bits, is: is.unwrap_or(Comparison::Equal), with },
                }
            }
        };
        self.expect(')', "behind the arguments")?;
        Ok(found)
    }

    /// `_` for all bits, or `[from:to]`.
    fn bits(&mut self) -> Result<Bits> {
        if self.takes(Token::Name("_"))? {
            return Ok(Bits::ALL);
        }
        let at = self.expect('[', "before the first bit of [from:to], or _ for all bits,")?;
        let from = self.number(63)? as u32;
        self.expect(':', "behind the first bit")?;
        let to = self.number(64)? as u32;
        self.expect(']', "behind the last bit")?;
        if from >= to {
            return Err(self.error(at, format!("these bits are none: {to} is not more than {from}")));
        }
        Ok(Bits { from, to })
    }

    /// A number in decimal digits, or in hexadecimal ones behind `0x`.
    fn number(&mut self, most: u64) -> Result<u64> {
        let (token, at) = self.take()?;
        let Token::Number(digits) = token else {
            return Err(self.error(at, format!("a number must stand here, not {}", shown(token))));
        };
        let number = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        match number {
            Ok(number) if number <= most => Ok(number),
            _ => Err(self.error(at, format!("a number from 0 to {most} must stand here, not {digits}"))),
        }
    }
}
