//! Plain numbers that are either owned or lie in a mapped file.
//!
//! A table that is built in this process is a vector; the same table in an artifact is a range of a file that many
//! processes map. [`MappedSlice`] is both, and reads like a slice in either case: pointer and length are at hand, no
//! branch says which it is. [`MappedFile`] is the memory behind mapped slices: a file mapped read-only, or bytes held
//! in memory with the same alignment. [`open_file`] is how files of others are opened, mapped or read.
//!
//! All unsafe code of the core's storage stands in this file. It rests on three facts:
//!
//! * A slice's elements are [`Plain`]: integers for which every pattern of bits is a value, so whatever a file holds,
//!   reading it is defined. What the numbers mean is checked by whoever asks for them.
//! * The memory outlives the slice: a slice holds its vector, or shares ownership of its pages. Neither the vector nor
//!   the pages are ever written to, grown or moved while the slice lives.
//! * A mapped file does not change. Artifacts are written under another name and renamed, never modified in place; a
//!   file that is replaced or deleted keeps its pages for those who mapped it. A program that breaks this rule and
//!   truncates or overwrites an artifact in place can make readers see other numbers (which are still numbers: every
//!   index is checked where it is used) or end them with the signal `SIGBUS`, as with any mapped file or library.
//!
//! Files are little-endian. On a big-endian machine a slice of mapped pages is a converted copy.

use std::fs::{File, OpenOptions};
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

/// The alignment of held bytes and of sections in files: a cache line, and enough for every [`Plain`] type.
pub const ALIGN: usize = 64;

/// Integers that a file may hold.
pub trait Plain: sealed::Sealed + Copy + Eq + std::fmt::Debug + Send + Sync + 'static {
    /// The value whose little-endian bytes are `self` as it lies in memory.
    fn native(self) -> Self;

    /// Appends the little-endian bytes of `self`.
    fn put(self, out: &mut Vec<u8>);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! plain {
    ($($t:ty),*) => {$(
        impl sealed::Sealed for $t {}
        impl Plain for $t {
            fn native(self) -> Self {
                <$t>::from_le(self)
            }

            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

plain!(u8, u16, u32, u64);

/// Opens a regular file to be read. For anything else it is an error at once: a pipe that nobody writes to would hold
/// its reader for good, out of reach of a signal's handler in Python, and a device may have no end. The file that was
/// opened is the one that is asked, so nothing can take its place in between.
///
/// # Errors
/// Those of the operating system, and that it is no regular file.
pub fn open_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    Ok(file)
}

/// A block of held bytes.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Block([u8; ALIGN]);

enum Backing {
    Mapped(memmap2::Mmap),
    Held { blocks: Box<[Block]>, len: usize },
}

/// The bytes of a file, mapped read-only or held in memory, shared by the slices that read them.
pub struct MappedFile(Backing);

impl MappedFile {
    /// Maps a file read-only.
    ///
    /// # Errors
    /// Those of opening and mapping it; see [`open_file`].
    pub fn map(path: &Path) -> std::io::Result<Arc<MappedFile>> {
        let file = open_file(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(MappedFile::hold(&[]));
        }
        // SAFETY: the map is read-only and the file is not changed while it is mapped, see the top of this file.
        let map = unsafe { memmap2::Mmap::map(&file) }?;
        Ok(Arc::new(MappedFile(Backing::Mapped(map))))
    }

    /// Copies bytes into memory that is aligned like a map.
    pub fn hold(bytes: &[u8]) -> Arc<MappedFile> {
        let blocks = bytes
            .chunks(ALIGN)
            .map(|chunk| {
                let mut block = Block([0; ALIGN]);
                block.0[..chunk.len()].copy_from_slice(chunk);
                block
            })
            .collect();
        Arc::new(MappedFile(Backing::Held { blocks, len: bytes.len() }))
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Backing::Mapped(map) => map,
            // SAFETY: the blocks are arrays of bytes one after the other, and `len` of them were copied there.
            Backing::Held { blocks, len } => unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), *len) },
        }
    }
}

impl std::fmt::Debug for MappedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let how = if matches!(self.0, Backing::Mapped(_)) { "mapped" } else { "held" };
        write!(f, "MappedFile({} bytes, {how})", self.bytes().len())
    }
}

/// Plain numbers that are owned or mapped. Reads like a slice.
pub struct MappedSlice<T: Plain> {
    start: *const T,
    len: usize,
    owner: Owner<T>,
}

enum Owner<T> {
    Vector(Vec<T>),
    Pages(Arc<MappedFile>),
}

// SAFETY: a slice is a shared, immutable view of integers whose owner it holds; both owners are `Send` and `Sync`.
unsafe impl<T: Plain> Send for MappedSlice<T> {}
// SAFETY: as above.
unsafe impl<T: Plain> Sync for MappedSlice<T> {}

impl<T: Plain> MappedSlice<T> {
    /// The numbers in a range of bytes of some pages: `None` if the range is outside them or not whole numbers.
    pub fn of_pages(pages: &Arc<MappedFile>, range: Range<usize>) -> Option<MappedSlice<T>> {
        let bytes = pages.bytes().get(range)?;
        let size = size_of::<T>();
        if bytes.len() % size != 0 {
            return None;
        }
        let len = bytes.len() / size;
        if bytes.as_ptr().addr() % align_of::<T>() == 0 && cfg!(target_endian = "little") {
            return Some(MappedSlice { start: bytes.as_ptr().cast(), len, owner: Owner::Pages(pages.clone()) });
        }
        let numbers = bytes.chunks_exact(size).map(|number| {
            // SAFETY: the chunk has as many bytes as the number, which need not be aligned for this read.
            unsafe { number.as_ptr().cast::<T>().read_unaligned() }.native()
        });
        Some(numbers.collect::<Vec<T>>().into())
    }

    /// Bytes of this process's own memory that the numbers occupy: none if they are mapped.
    pub fn memory_bytes(&self) -> usize {
        match &self.owner {
            Owner::Vector(vector) => vector.capacity() * size_of::<T>(),
            Owner::Pages(pages) => match pages.0 {
                Backing::Mapped(_) => 0,
                Backing::Held { .. } => self.len * size_of::<T>(),
            },
        }
    }
}

impl<T: Plain> Deref for MappedSlice<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `start` and `len` are those of the owner's memory, or of an aligned range of it, which lives as long
        // as `self` and never changes.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl<T: Plain> From<Vec<T>> for MappedSlice<T> {
    fn from(vector: Vec<T>) -> Self {
        MappedSlice { start: vector.as_ptr(), len: vector.len(), owner: Owner::Vector(vector) }
    }
}

impl<T: Plain> FromIterator<T> for MappedSlice<T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Self {
        numbers.into_iter().collect::<Vec<T>>().into()
    }
}

impl<T: Plain> Default for MappedSlice<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Plain> Clone for MappedSlice<T> {
    fn clone(&self) -> Self {
        match &self.owner {
            Owner::Vector(vector) => vector.clone().into(),
            Owner::Pages(pages) => MappedSlice { start: self.start, len: self.len, owner: Owner::Pages(pages.clone()) },
        }
    }
}

impl<T: Plain> PartialEq for MappedSlice<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Plain> Eq for MappedSlice<T> {}

impl<T: Plain> std::fmt::Debug for MappedSlice<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests;
