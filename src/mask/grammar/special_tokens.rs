//! Adds the special tokens that a grammar names to a mask in the making.

use smallvec::SmallVec;

use crate::mask::grammar::mask_builder::GrammarMaskBuilder;
use crate::pushdown::grammar::bnf_rules::Symbol;
use crate::pushdown::grammar::closure::Shifted;
use crate::pushdown::grammar::parse_stack::{Branch, NO_COLUMN};
use crate::pushdown::grammar::scanner::NO_OBLIGATIONS;
use crate::pushdown::grammar::succession::outlook::Outlook;

impl GrammarMaskBuilder<'_, '_> {
    /// Whether the output can be completed behind the special tokens of a set, and how far down the stack that looks.
    fn completes_behind_special(&mut self, place: u32, symbol: Symbol) -> (bool, usize) {
        let program = self.masker.program;
        let from = &self.places[place as usize];
        let (indents, level) = (from.indents, from.level);
        if program.succession.is_free {
            return (true, level);
        }
        let mut shifted = Shifted::default();
        from.found.shift(&program.lr, &program.productions, self.stack, symbol, &mut shifted);
        let tops = shifted.finish(self.stack);
        if tops.is_empty() {
            return (false, level);
        }
        let to = self.place(None, tops, indents, level);
        let start = self.start_at(to, NO_OBLIGATIONS);
        let (outlook, level) = self.outlook(to, start, NO_COLUMN);
        (outlook != Outlook::Dead, level.max(self.places[to as usize].level))
    }

    /// Adds the special tokens that may come next.
    pub(super) fn special_tokens(&mut self, branch: &Branch) {
        let program = self.masker.program;
        if program.token_sets.is_empty() {
            return;
        }
        let here = self.first_place(branch);
        let mut places: SmallVec<[u32; 4]> = SmallVec::new();
        if program.scanner.state(branch.scan).at_boundary {
            places.push(here);
        } else {
            for &(terminal, _) in &program.scanner.state(branch.scan).ends {
                places.extend(self.ends_of(here, terminal, branch.column));
            }
        }
        for place in places {
            let next = self.places[place as usize].found.closure.next.clone();
            for &symbol in next.iter() {
                let Some(set) = program.productions.token_set(symbol) else { continue };
                let tokens = &program.token_sets[set];
                let (completes, level) = self.completes_behind_special(place, symbol);
                self.levels.look_at(tokens, level);
                if completes {
                    let row = self.levels.row_at(level);
                    tokens.iter().for_each(|&t| row[t as usize >> 5] |= 1 << (t & 31));
                }
            }
        }
    }
}
