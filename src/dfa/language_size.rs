//! How many members a flat automaton has, exactly.

use crate::dfa::{FlatDfa, NO_SUCCESSOR};
use crate::error::{Error, Result};
use crate::util::cancel::checkpoint;

/// A natural number of any size, least digit first, to the base 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Natural(Vec<u32>);

impl Natural {
    /// Adds `other * factor`.
    fn add_multiple(&mut self, other: &Natural, factor: u32) {
        let mut carry = 0u64;
        let mut i = 0;
        while i < other.0.len() || carry > 0 {
            if i == self.0.len() {
                self.0.push(0);
            }
            let digit = other.0.get(i).copied().unwrap_or(0);
            carry += u64::from(self.0[i]) + u64::from(digit) * u64::from(factor);
            self.0[i] = carry as u32;
            carry >>= 32;
            i += 1;
        }
    }

    /// The number's bytes, least first.
    pub fn to_le_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|d| d.to_le_bytes()).collect()
    }
}

impl From<u32> for Natural {
    fn from(n: u32) -> Self {
        Natural(if n == 0 { Vec::new() } else { vec![n] })
    }
}

impl FlatDfa {
    /// States so that every state comes after its successors, or `None` if there is a cycle. All states can be reached
    /// and can accept, so a cycle means that the language is infinite.
    fn bottom_up(&self) -> Option<Vec<u32>> {
        let mut open = vec![0u8; self.len()];
        let mut order = Vec::with_capacity(self.len());
        let mut stack: Vec<(u32, usize)> = vec![(0, 0)];
        open[0] = 1;
        while let Some((s, class)) = stack.pop() {
            match self.row(s).get(class) {
                None => {
                    open[s as usize] = 2;
                    order.push(s);
                }
                Some(&to) => {
                    stack.push((s, class + 1));
                    if to == NO_SUCCESSOR {
                        continue;
                    }
                    match open[to as usize] {
                        0 => {
                            open[to as usize] = 1;
                            stack.push((to, 0));
                        }
                        1 => return None,
                        _ => {}
                    }
                }
            }
        }
        Some(order)
    }

    /// How many byte strings are accepted; `None` is without end.
    ///
    /// # Errors
    /// `Limit` where numbers of more than `max_digits` digits to the base 2^32 would have to be added: they get longer
    /// with the members.
    pub fn size(&self, max_digits: usize) -> Result<Option<Natural>> {
        let Some(order) = self.bottom_up() else { return Ok(None) };
        let sizes = self.classes.sizes();
        // How many successions are still to be counted: a number that nobody needs any more is let go.
        let mut wanted = vec![0u32; self.len()];
        self.next.iter().filter(|&&to| to != NO_SUCCESSOR).for_each(|&to| wanted[to as usize] += 1);
        let mut counts = vec![Natural::default(); self.len()];
        let mut digits = 0usize;
        let mut last = Natural::default();
        for s in order {
            let mut n = Natural::from(u32::from(self.accepting[s as usize]));
            for (&to, &factor) in self.row(s).iter().zip(&sizes).filter(|(to, _)| **to != NO_SUCCESSOR) {
                let to = to as usize;
                digits = digits.saturating_add(counts[to].0.len());
                n.add_multiple(&counts[to], factor);
                wanted[to] -= 1;
                if wanted[to] == 0 {
                    counts[to] = Natural::default();
                }
            }
            if digits > max_digits {
                return Err(Error::limit("digits of the size", max_digits as u64, digits as u64));
            }
            checkpoint()?;
            if s == 0 {
                last = n;
            } else {
                counts[s as usize] = n;
            }
        }
        Ok(Some(last))
    }
}
