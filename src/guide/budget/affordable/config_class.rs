//! Classes of configurations with one future, and where their bytes lead.

use smallvec::SmallVec;

use crate::guide::budget::completions::PlainPrices;
use crate::pushdown::json::frame::{FrameId, NONE};

/// Not stepped yet.
const UNKNOWN_CONFIG: u32 = u32::MAX;

/// Where the bytes of a class lead, as far as they were stepped: few as a list, many as a table.
#[derive(Default)]
pub(super) struct NextClasses {
    few: SmallVec<[(u8, u32); 6]>,
    all: Option<Box<[u32; 256]>>,
}

impl NextClasses {
    pub fn get(&self, byte: u8) -> Option<u32> {
        match &self.all {
            Some(all) => Some(all[usize::from(byte)]).filter(|&to| to != UNKNOWN_CONFIG),
            None => self.few.iter().find(|next| next.0 == byte).map(|next| next.1),
        }
    }

    pub fn set(&mut self, byte: u8, to: u32) {
        if self.all.is_none() && self.few.len() < self.few.inline_size() {
            return self.few.push((byte, to));
        }
        let few = &self.few;
        let all = self.all.get_or_insert_with(|| {
            let mut all = Box::new([UNKNOWN_CONFIG; 256]);
            few.iter().for_each(|&(byte, to)| all[usize::from(byte)] = to);
            all
        });
        all[usize::from(byte)] = to;
    }
}

/// A class of configurations with one future: how it is completed, and where its bytes lead.
pub(super) struct ConfigClass {
    pub node: FrameId,
    /// One new text stands in for all.
    pub is_new: bool,
    /// Behind such a text, in the same token.
    pub is_behind: bool,
    /// The node below the object whose new key this is in or behind, where it matters for other keys; else [`NONE`].
    pub below: FrameId,
    /// Keys that are not completed like the one that stands for all: what was read of them here.
    pub except: Box<[Box<[u8]>]>,
    /// Tokens that complete the output, `ENDLESS` where none are known; `None` if that was not asked.
    pub price: Option<u32>,
    /// So many tokens complete it at most, by the bounds of its frames; `None` if that was not asked.
    pub bound: Option<u32>,
    /// What plain text costs from here; `None` if that was not asked.
    pub plain: Option<Option<PlainPrices>>,
    pub next: NextClasses,
}

impl ConfigClass {
    pub fn at(node: FrameId) -> ConfigClass {
        ConfigClass {
            node,
            is_new: false,
            is_behind: false,
            below: NONE,
            except: Box::default(),
            price: None,
            bound: None,
            plain: None,
            next: NextClasses::default(),
        }
    }
}
