//! Texts of terminals that can be written one behind the other, with an ignored text between, whatever was read before.
//!
//! Where terminals take longest matches and compete, not every row of terminals can be read as such: behind a name no
//! letter may come, and a keyword is no name. But for each terminal there mostly is a text that it wins beside all that
//! compete with it anywhere, and behind which a blank keeps all that was promised. Such texts with blanks between them
//! are read as the terminals they were written for, in every place that takes these terminals: fewer compete there, and
//! fewer promise something. So the sum of their lengths bounds what completes an output.

use std::sync::Arc;

use crate::grammar::model::Lexer;
use crate::pushdown::grammar::completion::terminal_ways::{
    Reach, TerminalWays, TextTo, byte_of_each_class, start_beside_rivals,
};
use crate::pushdown::grammar::follow::Follow;
use crate::pushdown::grammar::scanner::{NO_OBLIGATIONS, ObligationsId, REFUSED, ScanStateId, Scanner};
use crate::util::bounded_cache::BoundedCache;
use crate::util::cache_register::SEPARATED_ENDS;
use crate::util::seeded_hash::{SeededMap, SeededSet};
use crate::util::work_meter::{charge, is_over};

/// States of the scanner that are looked at for the end of one terminal.
const MOST_STATES: usize = 400;

/// A terminal that can be ended, and by which text, what separates it from the next one included.
pub type SeparatedEnd = (u32, Arc<[u8]>);

/// Texts of terminals that can be written one behind the other.
pub struct SeparatedTexts {
    /// A byte of each class, letters and digits first.
    bytes: Box<[u8]>,
    /// Texts of ignored terminals, each of which may come before any text. None if there are none such.
    separators: Vec<Separator>,
    /// What the text of a terminal is, and what must not follow it; none where no text was found.
    texts: Vec<Option<End>>,
    /// The same texts with what separates them from any other.
    separated: Vec<Option<Arc<[u8]>>>,
    /// The ends that states of the scanner lead to, as far as they were asked for.
    ends: BoundedCache<ScanStateId, Arc<[SeparatedEnd]>, SEPARATED_ENDS>,
}

/// A text of an ignored terminal that separates others, and what must not follow it.
type Separator = End;

/// A text that ends a terminal, and what must not follow it.
struct End {
    text: Arc<[u8]>,
    to: ObligationsId,
}

impl SeparatedTexts {
    /// The texts of a grammar's terminals.
    pub fn find(scanner: &Scanner, follow: &Follow, ignored: &[u32]) -> SeparatedTexts {
        /// Separators that are used.
        const MOST_SEPARATORS: usize = 4;
        let mut this = SeparatedTexts {
            bytes: byte_of_each_class(scanner),
            separators: Vec::new(),
            texts: Vec::new(),
            separated: Vec::new(),
            ends: BoundedCache::default(),
        };
        let starts: Vec<Option<ScanStateId>> = (0..scanner.len() as u32)
            .map(|t| scanner.lexeme(t).is_some().then(|| start_beside_rivals(scanner, follow, t)))
            .collect();
        let known = this.find_texts(scanner, &starts);
        let mut candidates: Vec<Separator> =
            ignored.iter().flat_map(|&terminal| this.separators_of(scanner, ignored, terminal)).collect();
        candidates.truncate(2 * MOST_SEPARATORS);
        for separator in candidates {
            if this.separators.len() == MOST_SEPARATORS {
                break;
            }
            if !this.separators.is_empty() {
                // One more helps to end what only it ends.
                if this.texts.iter().flatten().all(|end| closes(scanner, separator.to, &end.text)) {
                    this.separators.push(separator);
                }
                continue;
            }
            this.separators.push(separator);
            let texts = std::mem::take(&mut this.texts);
            let found = this.find_texts(scanner, &starts);
            if found < known {
                this.separators.pop();
                this.texts = texts;
            }
        }
        this.separated = this.texts.iter().map(|end| this.separated(scanner, end.as_ref()?)).collect();
        this
    }

    /// Finds a text of each terminal: behind each separator it can be read, and any text can come behind it, at once or
    /// behind a separator. Says how many were found.
    fn find_texts(&mut self, scanner: &Scanner, starts: &[Option<ScanStateId>]) -> usize {
        /// What was found first may not go together with what was found then.
        const ROUNDS: usize = 4;
        self.texts = starts.iter().map(|_| None).collect();
        for _ in 0..ROUNDS {
            let mut changed = false;
            for (terminal, &start) in (0..).zip(starts) {
                let Some(start) = start else { continue };
                let before = self.separators.first().map_or(NO_OBLIGATIONS, |separator| separator.to);
                let start = scanner.oblige_start(start, before);
                let known = self.texts[terminal as usize].as_ref();
                if known.is_some_and(|end| self.gap(scanner, end.to).is_some()) {
                    continue;
                }
                let found = self.shortest_end(scanner, start, terminal, |end| {
                    self.separators.iter().all(|before| closes(scanner, before.to, &end.text))
                        && (self.goes_before_all(scanner, end.to) && closes(scanner, end.to, &end.text)
                            || self.separates(scanner, end.to).is_some())
                });
                changed |= found.is_some() || known.is_some();
                self.texts[terminal as usize] = found;
            }
            if !changed {
                break;
            }
        }
        // The last round may have found what does not go together.
        let fits = |end: &End| self.gap(scanner, end.to).is_some();
        let fit: Vec<bool> = self.texts.iter().map(|end| end.as_ref().is_some_and(fits)).collect();
        for (text, fits) in self.texts.iter_mut().zip(&fit) {
            text.take_if(|_| !fits);
        }
        fit.into_iter().filter(|&fits| fits).count()
    }

    /// Whether any text and the end of the output keep all that must not follow.
    fn goes_before_all(&self, scanner: &Scanner, held: ObligationsId) -> bool {
        scanner.may_end(held) && self.texts.iter().flatten().all(|end| closes(scanner, held, &end.text))
    }

    /// A separator that keeps all that must not follow.
    fn separates(&self, scanner: &Scanner, held: ObligationsId) -> Option<&[u8]> {
        let mut separators = self.separators.iter().map(|separator| &*separator.text);
        separators.find(|text| closes(scanner, held, text))
    }

    /// What separates what must not be followed by everything from any text, and from the end of the output.
    fn gap(&self, scanner: &Scanner, held: ObligationsId) -> Option<&[u8]> {
        match self.goes_before_all(scanner, held) {
            true => Some(&[]),
            false => self.separates(scanner, held),
        }
    }

    fn separated(&self, scanner: &Scanner, end: &End) -> Option<Arc<[u8]>> {
        Some([&*end.text, self.gap(scanner, end.to)?].concat().into())
    }

    /// The text of a terminal, with what separates it from any other.
    pub fn text(&self, terminal: u32) -> Option<&Arc<[u8]>> {
        self.separated[terminal as usize].as_ref()
    }

    /// The terminals that can be ended from a state of the scanner, each as the terminals there let it.
    pub fn ends(&self, scanner: &Scanner, scan: ScanStateId) -> Arc<[SeparatedEnd]> {
        if let Some(known) = self.ends.get(&scan) {
            return known;
        }
        let ends: Arc<[SeparatedEnd]> = self.shortest_ends(scanner, scan).into();
        let size = ends.iter().map(|(_, text)| text.len() + size_of::<SeparatedEnd>() + 16).sum::<usize>();
        if !is_over() {
            self.ends.keep(scan, ends.clone(), size + 64);
        }
        ends
    }

    /// The shortest texts that end each terminal from a state of the scanner, with what separates them. A terminal that
    /// is read in some state was read in all before it, so one search finds them all.
    fn shortest_ends(&self, scanner: &Scanner, from: ScanStateId) -> Vec<SeparatedEnd> {
        /// States of the scanner that are looked at for the ends of all terminals.
        const MOST_STATES: usize = 2_000;
        let mut missing: SeededSet<u32> = scanner.state(from).live.iter().map(|live| live.0).collect();
        let mut gaps: SeededMap<ObligationsId, Option<&[u8]>> = SeededMap::default();
        let mut ends: Vec<SeparatedEnd> = Vec::new();
        let mut order: Vec<(ScanStateId, u32, u8)> = vec![(from, 0, 0)];
        let mut seen = SeededSet::from_iter([from]);
        let mut at = 0;
        while let Some(&(scan, ..)) = order.get(at).filter(|_| !missing.is_empty() && !is_over()) {
            let state = scanner.state(scan);
            charge(1 + state.ends.len() / 2);
            for &(terminal, to) in &state.ends {
                let gap = *gaps.entry(to).or_insert_with(|| self.gap(scanner, to));
                if let Some(gap) = gap
                    && missing.remove(&terminal)
                {
                    let text = TextTo { order: &order, at }.bytes();
                    ends.push((terminal, [&*text, gap].concat().into()));
                }
            }
            let goes_on = order.len() < MOST_STATES && state.live.iter().any(|live| missing.contains(&live.0));
            for &byte in if goes_on { &*self.bytes } else { &[] } {
                let to = scanner.next(scan, byte);
                if to != REFUSED && seen.insert(to) {
                    order.push((to, at as u32, byte));
                }
            }
            at += 1;
        }
        ends.sort_unstable_by_key(|end| end.0);
        ends
    }

    /// The shortest text that ends a terminal from a state of the scanner where the terminal is read, of those that are
    /// good.
    fn shortest_end(
        &self,
        scanner: &Scanner,
        from: ScanStateId,
        terminal: u32,
        is_good: impl Fn(&End) -> bool,
    ) -> Option<End> {
        let is_live = |scan: ScanStateId| scanner.state(scan).live.iter().any(|&(live, _)| live == terminal);
        let mut order: Vec<(ScanStateId, u32, u8)> = vec![(from, 0, 0)];
        let mut seen = SeededSet::from_iter([from]);
        let mut at = 0;
        while let Some(&(scan, ..)) = order.get(at) {
            // What must not follow says as well which look-aheads must not be met.
            if let Some(&(_, to)) = scanner.state(scan).ends.iter().find(|end| end.0 == terminal) {
                let end = End { text: TextTo { order: &order, at }.bytes(), to };
                if is_good(&end) {
                    return Some(end);
                }
            }
            let bytes: &[u8] = if order.len() < MOST_STATES { &self.bytes } else { &[] };
            for &byte in bytes {
                let to = scanner.next(scan, byte);
                if to != REFUSED && is_live(to) && seen.insert(to) {
                    order.push((to, at as u32, byte));
                }
            }
            at += 1;
        }
        None
    }

    /// Texts of an ignored terminal that it wins beside all others: the shortest one, and those of one byte.
    fn separators_of(&self, scanner: &Scanner, ignored: &[u32], terminal: u32) -> Vec<Separator> {
        let shortest = TerminalWays::new(scanner, Reach { ways: 1, states: 1_000 }).shortest(scanner, terminal);
        let start = scanner.start_of_all();
        let step = |scan, &byte: &u8| Some(scanner.next(scan, byte)).filter(|&to| to != REFUSED);
        let wins = |text: &[u8]| {
            let end = text.iter().try_fold(start, step)?;
            let mut ends = scanner.state(end).ends.iter();
            let &(_, to) = match scanner.lexer() {
                // Only the first one ends, whatever follows.
                Lexer::Contextual => ends.next().filter(|end| ignored.contains(&end.0))?,
                _ => ends.find(|end| ignored.contains(&end.0))?,
            };
            Some(Separator { text: text.into(), to })
        };
        let of_one_byte = self.bytes.chunks(1);
        shortest.as_deref().filter(|text| text.len() > 1).into_iter().chain(of_one_byte).filter_map(wins).collect()
    }
}

/// Whether a text keeps all that must not follow, and nothing of it is left.
fn closes(scanner: &Scanner, held: ObligationsId, text: &[u8]) -> bool {
    let step = |held, &byte: &u8| scanner.next_obligations(held, byte);
    text.iter().try_fold(held, step) == Some(NO_OBLIGATIONS)
}
