//! Index packs: what an index is made from, and its tables.
//!
//! A pack names the vocabulary that the index is over and the index's fingerprint, and carries the *recipe*, the text
//! from which the index is compiled again: which kind of source, the source, its options, limits and documents. The
//! recipe's form is the caller's; the core keeps it as text.
//!
//! A pack of an index that was built holds its tables and its report too. Such an index is ready as soon as the pack is
//! open: its arrays are read where they are mapped. Tables are complete where the index has few configurations. Of any
//! other index they are a *beginning*, enough for the first tokens of an output; the rest is compiled when it is
//! needed.

use std::path::Path;

use crate::artifact::format::{Pack, PackKind, PackWriter};
use crate::error::{ErrorKind, Result};
use crate::index::tables::mask_set::MaskSet;
use crate::index::tables::packed_rows::PackedRows;
use crate::index::tables::{DenseTables, TableArrays};
use crate::index::{Index, report, tables};
use crate::vocab::MAX_SIZE;

const RECIPE: &str = "recipe";
const INDEX: &str = "index fingerprint";
const REPORT: &str = "report";
const SIZE: &str = "size";
const BYTE_CLASSES: &str = "byte classes";
const ROWS: &str = "row starts";
const CLASSES: &str = "row classes";
const NEXT: &str = "next states";
const ACCEPTING: &str = "accepting states";
const MASK_OF: &str = "masks of states";
const MASK_BASE: &str = "mask bases";
const MASK_START: &str = "mask starts";
const MASK_GAPS: &str = "mask gaps";
const MASK_ROWS: &str = "mask rows";

/// The sections of an index pack with tables, in order; without them it has the first two.
pub const SECTIONS: [&str; 14] = [
    INDEX,
    RECIPE,
    REPORT,
    SIZE,
    BYTE_CLASSES,
    ROWS,
    CLASSES,
    NEXT,
    ACCEPTING,
    MASK_OF,
    MASK_BASE,
    MASK_START,
    MASK_GAPS,
    MASK_ROWS,
];

/// States of a beginning. Each costs as many steps as there are classes of bytes, and a mask.
const BEGINNING: usize = 48;
/// Bytes of tables that a pack holds at most: an index whose tables are larger is compiled when it is loaded.
const MAX_TABLE_BYTES: usize = 16 << 20;

/// What an index pack says.
pub struct IndexPack {
    /// The fingerprint of the vocabulary.
    pub vocabulary: [u8; 32],
    /// The fingerprint of the index that the recipe makes.
    pub index: [u8; 32],
    /// The text that makes the index again.
    pub recipe: String,
    /// The size of the vocabulary that its tables are for.
    pub size: usize,
    /// The index's tables and the text of its report, if it was built.
    pub built: Option<(DenseTables, String)>,
}

impl IndexPack {
    /// What a pack of `index` says, of which `recipe` is the recipe. It has tables if the index was built or came with
    /// some from a file, or if `make` says to make them now: of an index of at most so many configurations (4,096 in
    /// any case) complete ones.
    ///
    /// # Errors
    /// Those of a build, but for its limits: tables that are beyond them are left out.
    ///
    /// # Cost
    /// Nothing for tables that exist; else, on the calling thread, that of a build without parts.
    pub fn from_index(index: &Index, recipe: String, make: Option<usize>) -> Result<IndexPack> {
        let vocabulary = index.vocabulary();
        let within = |made: Result<DenseTables>| match made {
            Ok(tables) => Ok(Some(tables).filter(|t| t.bytes() <= MAX_TABLE_BYTES)),
            Err(e) if matches!(e.kind(), ErrorKind::Unsupported | ErrorKind::Limit) => Ok(None),
            Err(e) => Err(e),
        };
        let known = index.built().or(index.stored_tables()).cloned();
        let mut tables = known.filter(|t| t.bytes() <= MAX_TABLE_BYTES);
        if tables.is_none()
            && !index.is_complete()
            && let Some(max_states) = make
        {
            let max_states = max_states.min(tables::MAX_CONFIGURATIONS);
            tables = within(tables::complete(index, max_states, MAX_TABLE_BYTES, 1, |_, _| Ok(())))?;
        }
        if tables.is_none() && (make.is_some() || index.is_complete()) {
            tables = within(tables::beginning(index, BEGINNING, MAX_TABLE_BYTES))?;
        }
        let built = tables.map(|tables| (tables, report::write(index.report())));
        Ok(IndexPack {
            vocabulary: vocabulary.fingerprint(),
            index: index.fingerprint(),
            recipe,
            size: vocabulary.size(),
            built,
        })
    }

    /// The pack.
    pub fn pack(&self) -> PackWriter {
        let mut out = PackWriter::new(PackKind::Index, self.vocabulary);
        out.add(INDEX, &self.index);
        out.add(RECIPE, self.recipe.as_bytes());
        if let Some((tables, report)) = &self.built {
            let TableArrays { byte_classes, rows, accepting, mask_of, masks } = tables.parts();
            out.add(REPORT, report.as_bytes());
            out.add(SIZE, &[self.size as u64]);
            out.add(BYTE_CLASSES, byte_classes);
            out.add(ROWS, &rows.start);
            out.add(CLASSES, &rows.class);
            out.add(NEXT, &rows.next);
            out.add(ACCEPTING, accepting);
            out.add(MASK_OF, mask_of);
            out.add(MASK_BASE, &masks.base);
            out.add(MASK_START, &masks.start);
            out.add(MASK_GAPS, &masks.gaps);
            out.add(MASK_ROWS, &masks.rows);
        }
        out
    }

    /// Writes the pack to a file.
    ///
    /// # Errors
    /// `Artifact` if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.pack().write(path)
    }

    /// What a file says. Every section is checked.
    ///
    /// # Errors
    /// `Artifact` if it is not an index pack of this version, or is damaged.
    ///
    /// # Cost
    /// One pass over the file, in place.
    pub fn load(path: &Path) -> Result<IndexPack> {
        IndexPack::unpack(&Pack::open(path, PackKind::Index)?)
    }

    /// What a pack says.
    ///
    /// # Errors
    /// `Artifact` if it is damaged.
    pub fn unpack(pack: &Pack) -> Result<IndexPack> {
        pack.expect(if pack.has(REPORT) { &SECTIONS } else { &SECTIONS[..2] })?;
        let text = |name: &str| {
            let text = String::from_utf8(pack.section::<u8>(name)?.to_vec());
            text.map_err(|_| pack.error(format_args!("is damaged: section {name:?} is not text")))
        };
        let index = pack.section::<u8>(INDEX)?;
        let index = <[u8; 32]>::try_from(&index[..]).map_err(|_| pack.error("is damaged: no index is named"))?;
        let recipe = text(RECIPE)?;
        let mut size = 0;
        let built = if pack.has(REPORT) {
            size = pack.number(SIZE)?;
            if size > MAX_SIZE {
                return Err(pack.error("is damaged: its tables are for a vocabulary that is too large"));
            }
            let masks = MaskSet {
                base: pack.section(MASK_BASE)?,
                start: pack.section(MASK_START)?,
                gaps: pack.section(MASK_GAPS)?,
                rows: pack.section(MASK_ROWS)?,
            };
            let parts = TableArrays {
                byte_classes: pack.section(BYTE_CLASSES)?,
                rows: PackedRows {
                    start: pack.section(ROWS)?,
                    class: pack.section(CLASSES)?,
                    next: pack.section(NEXT)?,
                },
                accepting: pack.section(ACCEPTING)?,
                mask_of: pack.section(MASK_OF)?,
                masks,
            };
            let tables = DenseTables::new(parts, size).map_err(|e| pack.error(e.message()))?;
            Some((tables, text(REPORT)?))
        } else {
            None
        };
        Ok(IndexPack { vocabulary: pack.vocabulary(), index, recipe, size, built })
    }
}

#[cfg(test)]
mod tests;
