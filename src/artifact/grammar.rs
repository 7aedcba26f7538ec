//! Grammar packs: what an index is made from.
//!
//! A pack names the vocabulary that the index is over and the index's fingerprint, and carries the *recipe*, the text
//! from which the index is compiled again: which kind of source, the source, its options, limits and documents. The
//! recipe's form is the caller's; the core keeps it as text.

use std::path::Path;

use super::format::{Kind, Pack, PackWriter};
use crate::error::Result;

const RECIPE: &str = "recipe";
const INDEX: &str = "index fingerprint";

/// What a grammar pack says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    /// The fingerprint of the vocabulary.
    pub vocabulary: [u8; 32],
    /// The fingerprint of the index that the recipe makes.
    pub index: [u8; 32],
    /// The text that makes the index again.
    pub recipe: String,
}

impl Grammar {
    /// The pack.
    pub fn pack(&self) -> PackWriter {
        let mut out = PackWriter::new(Kind::Grammar, self.vocabulary);
        out.add(INDEX, &self.index);
        out.add(RECIPE, self.recipe.as_bytes());
        out
    }

    /// Writes the pack to a file.
    ///
    /// # Errors
    /// `Artifact` if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.pack().write(path)
    }

    /// What a file says.
    ///
    /// # Errors
    /// `Artifact` if it is not a grammar pack of this version, or is damaged.
    pub fn load(path: &Path) -> Result<Grammar> {
        Grammar::unpack(&Pack::open(path, Kind::Grammar)?)
    }

    /// What a pack says.
    ///
    /// # Errors
    /// `Artifact` if it is damaged.
    pub fn unpack(pack: &Pack) -> Result<Grammar> {
        let index = pack.section::<u8>(INDEX)?;
        let index = <[u8; 32]>::try_from(&index[..]).map_err(|_| pack.error("is damaged: no index is named"))?;
        let recipe = String::from_utf8(pack.section::<u8>(RECIPE)?.to_vec());
        let recipe = recipe.map_err(|_| pack.error("is damaged: its recipe is not text"))?;
        Ok(Grammar { vocabulary: pack.vocabulary(), index, recipe })
    }
}
