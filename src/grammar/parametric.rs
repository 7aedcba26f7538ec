//! Parametric rules, as llguidance has them: `name::_` is a rule for each number of 64 bits.
//!
//! A rule that is named with a number is a rule of its own: `perm::0x3`. What stands behind `::` says which number the
//! named rule gets, and `%if` which numbers an alternative is for.

use std::cmp::Ordering;

/// The name of the parameter of a parametric rule among the parameters of templates; no name is spelled so.
pub(crate) const NUMBER: &str = "::";

/// The bits of a number from one up to another, the latter left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    pub from: u32,
    pub to: u32,
}

impl Bits {
    /// All bits.
    pub const ALL: Bits = Bits { from: 0, to: 64 };

    fn ones(self) -> u64 {
        u64::MAX >> (64 - (self.to - self.from))
    }

    fn read(self, number: u64) -> u64 {
        number >> self.from & self.ones()
    }
}

/// Which number a named rule gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The same.
    Keep,
    /// This one.
    Set(u64),
    /// The same with these bits only.
    And(u64),
    /// The same with these bits too.
    Or(u64),
    /// One more in these bits, unless all of them are set.
    Increase(Bits),
    /// One less in these bits, unless none of them is set.
    Decrease(Bits),
}

impl Step {
    /// The number behind a step from `number`; `None` if there is none to step from.
    pub fn after(self, number: Option<u64>) -> Option<u64> {
        if let Step::Set(value) = self {
            return Some(value);
        }
        let number = number?;
        Some(match self {
            Step::Keep => number,
            Step::Set(value) => value,
            Step::And(bits) => number & bits,
            Step::Or(bits) => number | bits,
            Step::Increase(bits) if bits.read(number) == bits.ones() => number,
            Step::Increase(bits) => number + (1 << bits.from),
            Step::Decrease(bits) if bits.read(number) == 0 => number,
            Step::Decrease(bits) => number - (1 << bits.from),
        })
    }
}

/// Which numbers an alternative is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// All.
    True,
    /// Those whose bits, as a number, compare so with a number.
    Compare {
        bits: Bits,
        is: Comparison,
        with: u64,
    },
    /// Those whose count of set bits compares so.
    Count {
        bits: Bits,
        is: Comparison,
        with: u64,
    },
    And(Box<(Condition, Condition)>),
    Or(Box<(Condition, Condition)>),
    Not(Box<Condition>),
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::AtMost => order.is_le(),
            Comparison::More => order.is_gt(),
            Comparison::AtLeast => order.is_ge(),
        }
    }
}

impl Condition {
    /// Whether it holds of a number.
    pub fn holds(&self, number: u64) -> bool {
        match self {
            Condition::True => true,
            Condition::Compare { bits, is, with } => is.holds(bits.read(number).cmp(with)),
            Condition::Count { bits, is, with } => is.holds(u64::from(bits.read(number).count_ones()).cmp(with)),
            Condition::And(both) => both.0.holds(number) && both.1.holds(number),
            Condition::Or(both) => both.0.holds(number) || both.1.holds(number),
            Condition::Not(one) => !one.holds(number),
        }
    }

    /// Whether it is all of these bits.
    pub fn all_of(bits: Bits) -> Condition {
        Condition::Compare { bits, is: Comparison::Equal, with: bits.ones() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_keep_to_their_bits() {
        let low = Bits { from: 2, to: 4 };
        assert_eq!(Step::Increase(low).after(Some(0b1000)), Some(0b1100));
        assert_eq!(Step::Increase(low).after(Some(0b1101)), Some(0b1101));
        assert_eq!(Step::Decrease(low).after(Some(0b10001)), Some(0b10001));
        assert_eq!(Step::Decrease(low).after(Some(0b0101)), Some(0b0001));
        assert_eq!(Step::Increase(Bits::ALL).after(Some(u64::MAX)), Some(u64::MAX));
        assert_eq!((Step::Keep.after(None), Step::Set(3).after(None)), (None, Some(3)));
    }

    #[test]
    fn conditions_look_at_their_bits() {
        let bits = Bits { from: 1, to: 4 };
        assert!(Condition::all_of(bits).holds(0b1110) && !Condition::all_of(bits).holds(0b0110));
        let two = Condition::Count { bits, is: Comparison::AtLeast, with: 2 };
        assert!(two.holds(0b1010) && !two.holds(0b1001));
        assert!(Condition::all_of(Bits::ALL).holds(u64::MAX));
    }
}
