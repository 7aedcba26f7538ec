//! Arrays that belong to Python, seen as rows: masks to fill and logits to mask. All unsafe code of
//! this folder but a declaration.
//!
//! # Why this is sound
//!
//! A row is handed out as `&mut [T]` made from the array's own pointer, shape and strides, after these checks: it is
//! a NumPy array (a torch tensor is first asked for its NumPy view, which shares the memory), its element type has
//! exactly the width of `T` and native byte order, it is aligned and writable, its rows are contiguous, and the row
//! number is in range. Then:
//!
//! * *The memory stays.* The struct holds a reference to the array, which holds its base. NumPy refuses to resize an
//!   array that is referenced elsewhere.
//! * *Rows do not overlap.* A contiguous array's rows are disjoint; `row_mut` borrows the struct exclusively, and
//!   `rows_mut` refuses repeated numbers. Logits may have any stride between rows, so they are lent one at a time,
//!   and a mask that lies in the same memory is refused.
//! * *Every bit pattern is a value* of `u16`, `u32` and `u64`.
//! * *Other threads.* The GIL is released while rows are written, so another Python thread could touch the same row.
//!   That is the rule that NumPy itself has for its own operations: an array that one thread writes while another
//!   uses the same elements has unspecified contents. Threads that write different rows do not meet, which is why
//!   the array as a whole is never borrowed exclusively.

use numpy::npyffi::{NPY_ARRAY_WRITEABLE, NPY_TYPES, PyArrayObject_fields};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::error::counted;
use crate::mask_kernels::{LogitKind, LogitRow, NEG_INFINITY_BF16, NEG_INFINITY_F16};
use crate::python::errors::argument;

/// The array itself, or the NumPy view of a torch tensor on the CPU.
fn as_array<'py>(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let py = object.py();
    if is_torch_tensor(object)? {
        let view = object.call_method0("numpy").map_err(|e| {
            let needs = "it must be on the CPU, and of a dtype that NumPy has";
            argument(py, format!("{what}: this torch tensor has no NumPy view ({needs}): {e}"))
        })?;
        if let Ok(array) = view.cast_into::<PyUntypedArray>() {
            return Ok(array);
        }
    }
    let name = object.get_type().name()?;
    Err(argument(py, format!("{what} must be a NumPy array or a torch tensor on the CPU, not {name}")))
}

/// Whether `object` is a `torch.Tensor`. Other libraries' `numpy()` methods copy, so duck typing would lose writes.
fn is_torch_tensor(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static TENSOR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = object.py();
    if let Some(tensor) = TENSOR.get(py) {
        return object.is_instance(tensor.bind(py));
    }
    // No object can be a tensor before torch is imported, and importing it takes seconds.
    let modules = py.import("sys")?.getattr("modules")?;
    let Ok(torch) = modules.get_item("torch") else { return Ok(false) };
    let Ok(tensor) = torch.getattr("Tensor").and_then(|t| Ok(t.cast_into::<PyType>()?)) else { return Ok(false) };
    let answer = object.is_instance(&tensor)?;
    let _ = TENSOR.set(py, tensor.unbind());
    Ok(answer)
}

/// A checked look at an array's memory: one or two dimensions, contiguous within a row.
struct ArrayLayout {
    data: *mut u8,
    rows: usize,
    columns: usize,
    /// Bytes from one row to the next; any sign.
    stride: isize,
}

impl ArrayLayout {
    /// The addresses that the rows lie in, as a half-open range.
    fn extent(&self, width: usize) -> (usize, usize) {
        if self.rows == 0 || self.columns == 0 {
            return (0, 0);
        }
        let first = self.data as usize;
        let last = first.wrapping_add_signed(self.stride.wrapping_mul(self.rows as isize - 1));
        (first.min(last), first.max(last) + self.columns * width)
    }
}

/// The layout of an array whose elements take `width` bytes.
fn layout(array: &Bound<'_, PyUntypedArray>, what: &str, writable: bool, width: usize) -> PyResult<ArrayLayout> {
    let py = array.py();
    let (shape, strides) = (array.shape(), array.strides());
    let (rows, columns, stride, step) = match (shape, strides) {
        (&[columns], &[step]) => (1, columns, 0, step),
        (&[rows, columns], &[stride, step]) => (rows, columns, stride, step),
        _ => return Err(argument(py, format!("{what} must have one or two dimensions, not {}", shape.len()))),
    };
    // NumPy's strides of an empty array say nothing.
    if rows > 0 && columns > 1 && step != width as isize {
        return Err(argument(py, format!("{what} must be contiguous: the elements of a row are {step} bytes apart")));
    }
    // SAFETY: `array` is a live NumPy array and the GIL is held; the fields are plain data.
    let fields: &PyArrayObject_fields = unsafe { &*numpy::npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr()) };
    if writable && fields.flags & NPY_ARRAY_WRITEABLE == 0 {
        return Err(argument(py, format!("{what} must be writable")));
    }
    let data = fields.data.cast::<u8>();
    let misaligned = |n: isize| n.unsigned_abs() & (width - 1) != 0;
    if width == 0 || misaligned(data as isize) || (rows > 1 && misaligned(stride)) {
        return Err(argument(py, format!("{what} must be aligned")));
    }
    Ok(ArrayLayout { data, rows, columns, stride })
}

/// The `int32` rows of a token bitmask. `WRITABLE` says that writing was checked for.
pub struct MaskRows<'py, const WRITABLE: bool> {
    array: Bound<'py, PyUntypedArray>,
    data: *mut u32,
    rows: usize,
    words: usize,
}

impl<'py, const WRITABLE: bool> MaskRows<'py, WRITABLE> {
    /// The rows of `bits`, a NumPy array or CPU torch tensor of `int32` with one or two dimensions.
    pub fn new(bits: &Bound<'py, PyAny>) -> PyResult<Self> {
        let array = as_array(bits, "bits")?;
        let py = array.py();
        let dtype = array.dtype();
        let int32 = dtype.num() == NPY_TYPES::NPY_INT as i32 && dtype.is_native_byteorder() == Some(true);
        if !int32 && !dtype.is_equiv_to(&numpy::dtype::<i32>(py)) {
            return Err(argument(py, format!("bits must be int32, not {dtype}")));
        }
        if !array.is_c_contiguous() {
            return Err(argument(py, "bits must be C-contiguous"));
        }
        let ArrayLayout { data, rows, columns, .. } = layout(&array, "bits", WRITABLE, size_of::<u32>())?;
        Ok(MaskRows { array, data: data.cast(), rows, words: columns })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Words of one row.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Refuse rows narrower than `words`, which those of `whose` vocabulary need.
    pub fn check_width(&self, words: usize, whose: impl FnOnce() -> String) -> PyResult<()> {
        if self.words < words {
            let has = counted(self.words as u64, "word");
            let message = format!("bits has {has} a row, {} needs {words}", whose());
            return Err(argument(self.array.py(), message));
        }
        Ok(())
    }

    #[inline]
    fn check_row(&self, row: i64) -> PyResult<usize> {
        match usize::try_from(row) {
            Ok(n) if n < self.rows => Ok(n),
            _ => {
                let has = counted(self.rows as u64, "row");
                Err(argument(self.array.py(), format!("row {row} is out of range: bits has {has}")))
            }
        }
    }
}

impl MaskRows<'_, true> {
    /// `count` rows from `row` on as one slice.
    pub fn span_mut(&mut self, row: i64, count: usize) -> PyResult<&mut [u32]> {
        let first = self.check_row(row)?;
        if self.rows - first < count {
            let has = counted(self.rows as u64, "row");
            let message = format!("bits has {has}, {count} from row {first} on are needed");
            return Err(argument(self.array.py(), message));
        }
        // SAFETY: the rows are in range and contiguous, and `self` is borrowed exclusively; see the module.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.data.add(first * self.words), count * self.words) })
    }

    /// One row.
    #[inline]
    pub fn row_mut(&mut self, row: i64) -> PyResult<&mut [u32]> {
        self.span_mut(row, 1)
    }

    /// Several different rows at once, in the order of `numbers`.
    pub fn rows_mut(&mut self, numbers: &[i64]) -> PyResult<Vec<&mut [u32]>> {
        for &number in numbers {
            self.check_row(number)?;
        }
        // Mostly they ascend.
        if !numbers.is_sorted_by(|a, b| a < b) {
            let mut sorted = numbers.to_vec();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(argument(self.array.py(), format!("row {} is named twice", pair[0])));
            }
        }
        let row = |&number: &i64| {
            // SAFETY: in range and all different, checked above; `self` is borrowed exclusively.
            unsafe { std::slice::from_raw_parts_mut(self.data.add(number as usize * self.words), self.words) }
        };
        Ok(numbers.iter().map(row).collect())
    }
}

impl MaskRows<'_, false> {
    /// All words, row after row.
    pub fn all(&self) -> &[u32] {
        // SAFETY: the array is contiguous and `self` keeps it alive.
        unsafe { std::slice::from_raw_parts(self.data, self.rows * self.words) }
    }
}

/// The writable rows of logits, lent one at a time.
pub struct LogitRows<'py> {
    array: Bound<'py, PyUntypedArray>,
    kind: LogitKind,
    layout: ArrayLayout,
}

// SAFETY: the struct's pointer is only followed through an exclusive borrow, and the memory is plain data.
unsafe impl Send for ArrayLayout {}

/// What [`LogitRows`] needs to lend rows, free of Python.
pub struct LogitMemory<'a> {
    kind: LogitKind,
    layout: &'a mut ArrayLayout,
}

impl<'py> LogitRows<'py> {
    /// The rows of `logits`; `bfloat16` says that 16-bit integers are that format's bit patterns.
    pub fn new(logits: &Bound<'py, PyAny>, bfloat16: bool) -> PyResult<Self> {
        let array = as_array(logits, "logits")?;
        let py = array.py();
        let dtype = array.dtype();
        let native = dtype.is_native_byteorder().unwrap_or(true);
        let kind = match (dtype.kind(), dtype.itemsize(), bfloat16) {
            (b'f', 8, false) if native => LogitKind::Float64,
            (b'f', 4, false) if native => LogitKind::Float32,
            (b'f', 2, false) if native => LogitKind::Float16,
            (b'i' | b'u', 2, true) if native => LogitKind::BFloat16,
            _ => {
                return Err(argument(
                    py,
                    format!("logits must be float16, bfloat16 of torch, float32 or float64, not {dtype}"),
                ));
            }
        };
        let layout = layout(&array, "logits", true, kind.size())?;
        Ok(LogitRows { array, kind, layout })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.layout.rows
    }

    /// Logits of one row.
    pub fn columns(&self) -> usize {
        self.layout.columns
    }

    /// Refuse rows that lie in each other's memory: what is written to one would change another.
    pub fn check_rows_apart(&self) -> PyResult<()> {
        let row = self.layout.columns * self.kind.size();
        if self.layout.rows > 1 && self.layout.stride.unsigned_abs() < row {
            return Err(argument(self.array.py(), "rows of logits share memory"));
        }
        Ok(())
    }

    /// Refuse a mask that lies in the memory of the logits.
    pub fn check_apart(&self, bits: &MaskRows<'_, false>) -> PyResult<()> {
        let (from, to) = self.layout.extent(self.kind.size());
        let start = bits.data as usize;
        if start < to && from < start + 4 * bits.rows * bits.words {
            return Err(argument(self.array.py(), "logits and bits share memory"));
        }
        Ok(())
    }

    /// Refuse a source of another shape or format, or in the same memory.
    pub fn check_source(&self, source: &LogitRows<'_>) -> PyResult<()> {
        let (a, b) = (&self.layout, &source.layout);
        if (a.rows, a.columns, self.kind) != (b.rows, b.columns, source.kind) {
            return Err(argument(self.array.py(), "source must have the shape and dtype of the logits"));
        }
        let ((from, to), (start, end)) = (a.extent(self.kind.size()), b.extent(self.kind.size()));
        if start < to && from < end {
            return Err(argument(self.array.py(), "logits and source share memory"));
        }
        Ok(())
    }

    /// The rows, for use without the GIL.
    pub fn memory(&mut self) -> LogitMemory<'_> {
        LogitMemory { kind: self.kind, layout: &mut self.layout }
    }
}

impl LogitMemory<'_> {
    /// Row `row`; `None` if there is no such row.
    pub fn row_mut(&mut self, row: usize) -> Option<LogitRow<'_>> {
        if row >= self.layout.rows {
            return None;
        }
        // SAFETY: NumPy guarantees that element (row, 0) lies at this offset and `columns` elements follow it; the
        // pointer and the stride are multiples of the element's width; `self` is borrowed exclusively.
        unsafe {
            let data = self.layout.data.offset(self.layout.stride * row as isize);
            let n = self.layout.columns;
            Some(match self.kind {
                LogitKind::Float64 => LogitRow::Bits64(std::slice::from_raw_parts_mut(data.cast(), n)),
                LogitKind::Float32 => LogitRow::Bits32(std::slice::from_raw_parts_mut(data.cast(), n)),
                LogitKind::Float16 => {
                    LogitRow::Bits16(std::slice::from_raw_parts_mut(data.cast(), n), NEG_INFINITY_F16)
                }
                LogitKind::BFloat16 => {
                    LogitRow::Bits16(std::slice::from_raw_parts_mut(data.cast(), n), NEG_INFINITY_BF16)
                }
            })
        }
    }
}
