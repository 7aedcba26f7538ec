//! The container: header, table of sections, sections.
//!
//! All numbers are little-endian, offsets count from the start of the file, and everything is aligned to 64 bytes.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | magic |
//! | 8 | 4 | format version |
//! | 12 | 4 | kind of pack |
//! | 16 | 8 | length of the file |
//! | 24 | 4 | number of sections |
//! | 28 | 4 | zero |
//! | 32 | 32 | version of interlock, padded with zeros |
//! | 64 | 32 | fingerprint of the vocabulary |
//! | 96 | 16 | zero |
//! | 112 | 16 | checksum of the 112 bytes before and of the table |
//! | 128 | 64 each | table: name (32, padded with zeros), offset (8), length (8), checksum (16) |
//!
//! Sections follow in the order of the table without gaps, each padded with zeros to 64 bytes; its checksum covers the
//! padding too. A reader refuses bytes other than zeros where nothing is said, and sections that packs of its kind do
//! not have. So no byte of a file is unused, and two files say the same numbers and texts only if they are the same.
//!
//! Checksums are XXH3 with 128 bits: they guard against damage, not against forgers, and XXH3 reads a section several
//! times faster than BLAKE3, which counts where an index should be ready within 100 microseconds. What identifies
//! things, fingerprints and keys of a store, is BLAKE3.

use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use twox_hash::XxHash3_128;

use crate::error::{Error, ErrorCode, ErrorKind, Result, counted};
use crate::util::mapped::{ALIGN, MappedFile, MappedSlice, Plain};

/// The number of this format; a reader knows exactly one.
pub const FORMAT_VERSION: u32 = 5;

/// The version of the library, as packs name it.
pub const LIBRARY_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Like PNG's: a byte that is not ASCII and line ends of both kinds, so that a conversion of text shows.
const MAGIC: [u8; 8] = *b"\x89ilk\r\n\x1a\n";
const HEADER: usize = 128;
const ENTRY: usize = 64;
const NAME: usize = 32;
/// Where nothing is said.
const ZERO: [Range<usize>; 2] = [28..32, 96..SUM_AT];
const SUM_AT: usize = 112;
/// More sections than any pack has; bounds the table of a forged file.
const MAX_SECTIONS: usize = 4_096;

/// What a pack holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackKind {
    /// A vocabulary.
    Vocabulary = 1,
    /// An index.
    Index = 2,
}

impl PackKind {
    fn name(code: u32) -> &'static str {
        match code {
            1 => "a vocabulary",
            2 => "an index",
            _ => "something unknown",
        }
    }
}

fn artifact(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Artifact, message)
}

fn checksum(parts: &[&[u8]]) -> [u8; 16] {
    match parts {
        [one] => XxHash3_128::oneshot(one).to_le_bytes(),
        _ => {
            let mut hasher = XxHash3_128::new();
            parts.iter().for_each(|part| hasher.write(part));
            hasher.finish_128().to_le_bytes()
        }
    }
}

fn padded(len: usize) -> Option<usize> {
    Some(len.checked_add(ALIGN - 1)? / ALIGN * ALIGN)
}

/// The bytes of a pack in the making.
pub struct PackWriter {
    kind: PackKind,
    vocabulary: [u8; 32],
    sections: Vec<(&'static str, Vec<u8>)>,
}

impl PackWriter {
    /// An empty pack about a vocabulary with this fingerprint.
    pub fn new(kind: PackKind, vocabulary: [u8; 32]) -> Self {
        PackWriter { kind, vocabulary, sections: Vec::new() }
    }

    /// Adds a section. Names are ASCII, at most 32 bytes, and each is used once.
    pub fn add<T: Plain>(&mut self, name: &'static str, numbers: &[T]) {
        let mut bytes = Vec::with_capacity(size_of_val(numbers));
        numbers.iter().for_each(|n| n.put(&mut bytes));
        self.sections.push((name, bytes));
    }

    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let table = HEADER + ENTRY * self.sections.len();
        let mut out = vec![0; table];
        let mut at = HEADER;
        for (name, bytes) in &self.sections {
            let offset = out.len();
            out.extend_from_slice(bytes);
            out.resize(out.len().next_multiple_of(ALIGN), 0);
            let sum = checksum(&[&out[offset..]]);
            let name = name.as_bytes();
            out[at..at + name.len().min(NAME)].copy_from_slice(&name[..name.len().min(NAME)]);
            out[at + 32..at + 40].copy_from_slice(&(offset as u64).to_le_bytes());
            out[at + 40..at + 48].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
            out[at + 48..at + 64].copy_from_slice(&sum);
            at += ENTRY;
        }
        let length = out.len() as u64;
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        out[12..16].copy_from_slice(&(self.kind as u32).to_le_bytes());
        out[16..24].copy_from_slice(&length.to_le_bytes());
        out[24..28].copy_from_slice(&(self.sections.len() as u32).to_le_bytes());
        out[32..32 + LIBRARY_VERSION.len()].copy_from_slice(LIBRARY_VERSION.as_bytes());
        out[64..96].copy_from_slice(&self.vocabulary);
        let sum = checksum(&[&out[..SUM_AT], &out[HEADER..table]]);
        out[SUM_AT..HEADER].copy_from_slice(&sum);
        out
    }

    /// Writes the file so that it is there as a whole or not at all; see [`write_atomically`].
    ///
    /// # Errors
    /// `Artifact` with the reason of the operating system.
    pub fn write(&self, path: &Path) -> Result<()> {
        write_atomically(path, &self.to_bytes())
    }
}

const _: () = assert!(LIBRARY_VERSION.len() <= NAME);

/// Writes a file under another name in the same folder, syncs it, renames it, and syncs the folder. Whatever fails,
/// the old file stays and the other name is removed. Of a link the file that it leads to is replaced.
///
/// # Errors
/// `Artifact` with the reason of the operating system: no space, no permission, no such folder; or if the path is one
/// of a folder, a device or a pipe, which a file must not take the place of.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let there = match fs::metadata(path) {
        Ok(there) if !there.is_file() => {
            return Err(artifact(format!("cannot write {}: it is no regular file", path.display())));
        }
        Ok(_) => fs::canonicalize(path).ok(),
        Err(_) => None,
    };
    let path = there.as_deref().unwrap_or(path);
    // Threads of one process may write the same path at once, each under a name of its own.
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let number = WRITES.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{number}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = File::create_new(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let done = written.and_then(|()| fs::rename(&temporary, path));
    if let Err(e) = done {
        let _ = fs::remove_file(&temporary);
        return Err(artifact(format!("cannot write {}: {e}", path.display())));
    }
    // Some file systems cannot sync a folder; the file itself is safe.
    if let Some(folder) = path.parent()
        && let Ok(folder) = File::open(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
    {
        let _ = folder.sync_all();
    }
    Ok(())
}

struct Section {
    name: String,
    offset: usize,
    len: usize,
    sum: [u8; 16],
    checked: AtomicBool,
}

/// An open pack: header and table checked, sections checked when they are first asked for.
pub struct Pack {
    pages: Arc<MappedFile>,
    vocabulary: [u8; 32],
    sections: Vec<Section>,
    /// How errors name it.
    title: String,
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn small(bytes: &[u8], at: usize) -> Option<u32> {
    number(bytes, at).map(u32::from_le_bytes)
}

fn size(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(number(bytes, at)?)).ok()
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// Text padded with zeros.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |i| i + 1);
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

impl Pack {
    /// Maps a file.
    ///
    /// # Errors
    /// `Artifact` if it cannot be read, is not a pack of this kind, format and version, is cut short, or its header is
    /// damaged.
    ///
    /// # Cost
    /// Some microseconds: the header and the table are read, the sections are not.
    pub fn open(path: &Path, kind: PackKind) -> Result<Pack> {
        let pages = MappedFile::map(path).map_err(|e| artifact(format!("cannot read {}: {e}", path.display())))?;
        Pack::read(pages, kind, path.display().to_string())
    }

    /// A pack whose bytes are in memory: one that came over a network, or was pickled.
    ///
    /// # Errors
    /// As [`Pack::open`].
    pub fn from_bytes(bytes: &[u8], kind: PackKind) -> Result<Pack> {
        Pack::read(MappedFile::hold(bytes), kind, "the pack".to_owned())
    }

    fn read(pages: Arc<MappedFile>, kind: PackKind, title: String) -> Result<Pack> {
        let bytes = pages.bytes();
        let says = |what: String| artifact(format!("{title} {what}"));
        let short = || says("is cut short".to_owned());
        if bytes.get(..8) != Some(&MAGIC[..]) {
            return Err(says("is not an artifact of interlock".to_owned()));
        }
        let format = small(bytes, 8).ok_or_else(short)?;
        if format != FORMAT_VERSION {
            return Err(says(format!(
                "has format version {format}, this library reads {FORMAT_VERSION}: make it again"
            )));
        }
        let version = text(bytes.get(32..64).ok_or_else(short)?);
        if version != LIBRARY_VERSION {
            let e = says(format!("was made by version {version:?}, this is {LIBRARY_VERSION:?}: make it again"));
            return Err(e.coded_about(ErrorCode::OtherVersion, version));
        }
        let code = small(bytes, 12).ok_or_else(short)?;
        if code != kind as u32 {
            return Err(says(format!("holds {}, not {}", PackKind::name(code), PackKind::name(kind as u32))));
        }
        let length = size(bytes, 16).ok_or_else(short)?;
        if bytes.len() < length {
            return Err(says(format!("is cut short: {} of {length}", counted(bytes.len() as u64, "byte"))));
        }
        if bytes.len() > length {
            return Err(says(format!("is longer than it says: {} bytes, not {length}", bytes.len())));
        }
        let count = small(bytes, 24).ok_or_else(short)? as usize;
        let damaged = || says("is damaged: the header's checksum differs".to_owned());
        if count > MAX_SECTIONS {
            return Err(damaged());
        }
        let table = bytes.get(HEADER..HEADER + ENTRY * count).ok_or_else(short)?;
        let sum: [u8; 16] = number(bytes, SUM_AT).ok_or_else(short)?;
        if checksum(&[&bytes[..SUM_AT], table]) != sum {
            return Err(damaged());
        }
        if ZERO.into_iter().any(|range| !is_zero(&bytes[range])) {
            return Err(says("is damaged: its header is not zero where nothing is said".to_owned()));
        }
        let misplaced = || says("is damaged: its sections are not one after the other".to_owned());
        let mut end = HEADER + table.len();
        let mut sections = Vec::with_capacity(count);
        for entry in table.chunks_exact(ENTRY) {
            let (offset, len) = (size(entry, 32).ok_or_else(misplaced)?, size(entry, 40).ok_or_else(misplaced)?);
            if offset != end {
                return Err(misplaced());
            }
            end = padded(len).and_then(|len| offset.checked_add(len)).filter(|&e| e <= length).ok_or_else(misplaced)?;
            let sum = number(entry, 48).ok_or_else(misplaced)?;
            sections.push(Section { name: text(&entry[..NAME]), offset, len, sum, checked: AtomicBool::new(false) });
        }
        if end != length {
            return Err(misplaced());
        }
        let vocabulary = number(bytes, 64).ok_or_else(short)?;
        Ok(Pack { pages, vocabulary, sections, title })
    }

    /// The fingerprint of the vocabulary that the pack holds or was made for.
    pub fn vocabulary(&self) -> [u8; 32] {
        self.vocabulary
    }

    /// The names and lengths of the sections, in order.
    pub fn sections(&self) -> impl Iterator<Item = (&str, usize)> {
        self.sections.iter().map(|s| (s.name.as_str(), s.len))
    }

    /// Bytes of the file.
    pub fn len(&self) -> usize {
        self.pages.bytes().len()
    }

    /// Never: a pack has a header.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// An error about this pack.
    pub fn error(&self, what: impl std::fmt::Display) -> Error {
        artifact(format!("{} {what}", self.title))
    }

    fn check(&self, section: &Section) -> Result<()> {
        if section.checked.load(Ordering::Relaxed) {
            return Ok(());
        }
        // The range was checked when the pack was opened.
        let whole = padded(section.len).and_then(|len| self.pages.bytes().get(section.offset..section.offset + len));
        let Some(bytes) = whole.filter(|bytes| checksum(&[bytes]) == section.sum) else {
            return Err(self.error(format_args!("is damaged: the checksum of section {:?} differs", section.name)));
        };
        if !is_zero(&bytes[section.len..]) {
            return Err(self.error(format_args!("is damaged: the padding of section {:?} is not zero", section.name)));
        }
        section.checked.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Checks that the sections are these, in this order.
    ///
    /// # Errors
    /// `Artifact` if one is missing, misplaced or unknown.
    pub fn expect(&self, names: &[&str]) -> Result<()> {
        if let Some(missing) = names.iter().find(|name| !self.has(name)) {
            return Err(self.error(format_args!("has no section {missing:?}")));
        }
        if !self.sections.iter().map(|s| s.name.as_str()).eq(names.iter().copied()) {
            return Err(self.error("is damaged: it has other sections than packs of its kind"));
        }
        Ok(())
    }

    /// Whether there is a section of this name.
    pub fn has(&self, name: &str) -> bool {
        self.sections.iter().any(|s| s.name == name)
    }

    /// The numbers of a section, read in place.
    ///
    /// # Errors
    /// `Artifact` if there is none of this name, its checksum differs, or its bytes are not whole numbers.
    pub fn section<T: Plain>(&self, name: &str) -> Result<MappedSlice<T>> {
        let section = self.sections.iter().find(|s| s.name == name);
        let section = section.ok_or_else(|| self.error(format_args!("has no section {name:?}")))?;
        self.check(section)?;
        MappedSlice::of_pages(&self.pages, section.offset..section.offset + section.len)
            .ok_or_else(|| self.error(format_args!("is damaged: section {name:?} has an odd length")))
    }

    /// The only number of a section.
    ///
    /// # Errors
    /// Those of [`section`](Self::section), and if there are more or fewer.
    pub fn number(&self, name: &str) -> Result<usize> {
        match self.section::<u64>(name)?[..] {
            [one] => usize::try_from(one).ok(),
            _ => None,
        }
        .ok_or_else(|| self.error(format_args!("is damaged: section {name:?} is not one number")))
    }

    /// Checks every section.
    ///
    /// # Errors
    /// `Artifact` that names the first whose checksum differs.
    pub fn verify(&self) -> Result<()> {
        self.sections.iter().try_for_each(|section| self.check(section))
    }
}

#[cfg(test)]
mod tests;
