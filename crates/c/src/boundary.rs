//! The border between C and Rust: pointers that are checked, errors and panics that become codes and messages.

use core::ffi::{CStr, c_char, c_int, c_ulonglong, c_void};
use proofmill::Error;
use std::{
    any::Any,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    ptr::NonNull,
    slice,
};

/// Why a function fails.
pub(crate) struct CallFailure {
    /// `None` for the code of errors in general.
    pub(crate) code: Option<c_int>,
    pub(crate) message: String,
}

impl CallFailure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { code: None, message: message.into() }
    }

    fn null(name: &str) -> Self {
        Self::new(format!("{name}: expected a pointer, found null"))
    }

    fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::new(format!("internal error: {}", text.unwrap_or("a panic without a message")))
    }
}

/// The message shows no values of a witness.
impl From<Error> for CallFailure {
    fn from(error: Error) -> Self {
        Self::new(error.to_string())
    }
}

/// Runs the body of a function. No panic leaves it.
///
/// Returns 0, or the code of a failure after writing its message to the buffer, as much of it as there is space for, with a zero byte
/// at its end.
///
/// # Safety
/// `error_msg` is null or points to `error_msg_maxsize` bytes that may be written.
pub(crate) unsafe fn guarded(
    error: c_int,
    error_msg: *mut c_char,
    error_msg_maxsize: c_ulonglong,
    body: impl FnOnce() -> Result<(), CallFailure>,
) -> c_int {
    // After a panic only the caller's buffers are used, and they are as before the call.
    let outcome = catch_unwind(AssertUnwindSafe(body));
    let failure = match outcome {
        Ok(Ok(())) => return 0,
        Ok(Err(failure)) => failure,
        Err(payload) => CallFailure::panicked(&*payload),
    };
    let most = usize::try_from(error_msg_maxsize).unwrap_or(usize::MAX);
    if let (Some(start), Some(most)) = (NonNull::new(error_msg), most.checked_sub(1)) {
        let length = failure.message.floor_char_boundary(most);
        // SAFETY: the buffer has more than `most` bytes.
        unsafe { write_text(start, &failure.message[..length]) };
    }
    failure.code.unwrap_or(error)
}

/// Writes a text and a zero byte after it.
///
/// # Safety
/// One byte more than the text has may be written from `start` on.
unsafe fn write_text(start: NonNull<c_char>, text: &str) {
    let start = start.cast::<u8>();
    // SAFETY: the function's contract; a text in Rust's memory does not overlap with a buffer that may be written.
    unsafe {
        start.copy_from_nonoverlapping(NonNull::from(text.as_bytes()).cast(), text.len());
        start.add(text.len()).write(0);
    }
}

/// A place for a result.
#[derive(Clone, Copy)]
pub(crate) struct OutPointer<T>(NonNull<T>);

impl<T> OutPointer<T> {
    /// # Safety
    /// `place` is null, or may be written as long as this value lives.
    pub(crate) unsafe fn new(name: &str, place: *mut T) -> Result<Self, CallFailure> {
        NonNull::new(place).map(Self).ok_or_else(|| CallFailure::null(name))
    }

    pub(crate) fn set(self, value: T) {
        // SAFETY: `new`'s contract.
        unsafe { self.0.write(value) }
    }
}

/// A buffer for a text.
pub(crate) struct Buffer {
    start: NonNull<c_char>,
    /// The buffer's size before the call, the text's length after it.
    size: NonNull<c_ulonglong>,
}

impl Buffer {
    /// # Safety
    /// `size` is null or may be read and written, and `start` is null or points to `*size` bytes that may be written, as long as this
    /// value lives.
    pub(crate) unsafe fn new(
        name: &str,
        start: *mut c_char,
        size: *mut c_ulonglong,
    ) -> Result<Self, CallFailure> {
        let start = NonNull::new(start).ok_or_else(|| CallFailure::null(&format!("{name}_buffer")))?;
        let size = NonNull::new(size).ok_or_else(|| CallFailure::null(&format!("{name}_size")))?;
        Ok(Self { start, size })
    }

    fn size(&self) -> c_ulonglong {
        // SAFETY: `new`'s contract.
        unsafe { self.size.read() }
    }

    fn set_size(&self, size: usize) {
        // SAFETY: `new`'s contract.
        unsafe { self.size.write(size as c_ulonglong) }
    }
}

/// Writes all texts, or, if a buffer is too small, only the sizes that they need.
pub(crate) fn write_texts(texts: [(Buffer, &str); 2]) -> Result<(), CallFailure> {
    let needed = |text: &str| text.len() + 1;
    if texts.iter().all(|(buffer, text)| needed(text) as c_ulonglong <= buffer.size()) {
        for (buffer, text) in texts {
            // SAFETY: `Buffer::new`'s contract: the buffer has as many bytes as the text needs.
            unsafe { write_text(buffer.start, text) };
            buffer.set_size(text.len());
        }
        return Ok(());
    }
    let sizes = texts.each_ref().map(|(buffer, _)| buffer.size());
    texts.iter().for_each(|(buffer, text)| buffer.set_size(needed(text)));
    let [proof, public] = texts.map(|(_, text)| needed(text));
    let message = format!(
        "expected buffers of {proof} bytes for the proof and {public} for the public signals, found {} and {}",
        sizes[0], sizes[1]
    );
    Err(CallFailure { code: Some(crate::PROVER_ERROR_SHORT_BUFFER), message })
}

/// The caller's bytes.
///
/// # Safety
/// `start` is null, or points to `size` bytes that nothing writes during `'a`.
pub(crate) unsafe fn bytes<'a>(
    name: &str,
    start: *const c_void,
    size: c_ulonglong,
) -> Result<&'a [u8], CallFailure> {
    let start = NonNull::new(start.cast_mut()).ok_or_else(|| CallFailure::null(&format!("{name}_buffer")))?;
    let size = isize::try_from(size)
        .map_err(|_| CallFailure::new(format!("{name}_size: {size} bytes are more than memory has")))?;
    // SAFETY: the function's contract; the size is neither negative nor too large for a slice.
    Ok(unsafe { slice::from_raw_parts(start.cast().as_ptr(), size as usize) })
}

/// The caller's text, without the zero byte at its end.
///
/// # Safety
/// `start` is null, or points to bytes up to a zero byte that nothing writes during `'a`.
pub(crate) unsafe fn text<'a>(name: &str, start: *const c_char) -> Result<&'a [u8], CallFailure> {
    let start = NonNull::new(start.cast_mut()).ok_or_else(|| CallFailure::null(name))?;
    // SAFETY: the function's contract.
    Ok(unsafe { CStr::from_ptr(start.as_ptr()) }.to_bytes())
}

/// The caller's texts, as [`text`].
///
/// # Safety
/// `start` is null, or points to `count` pointers that nothing writes during `'a`, each as for [`text`].
pub(crate) unsafe fn texts<'a>(
    name: &str,
    start: *const *const c_char,
    count: c_ulonglong,
) -> Result<Vec<&'a [u8]>, CallFailure> {
    let start = NonNull::new(start.cast_mut()).ok_or_else(|| CallFailure::null(name))?;
    let most = isize::MAX as usize / size_of::<*const c_char>();
    let length = usize::try_from(count).ok().filter(|length| *length <= most);
    let length =
        length.ok_or_else(|| CallFailure::new(format!("count: {count} texts are more than memory has")))?;
    // SAFETY: the function's contract; the size is neither negative nor too large for a slice.
    let pointers = unsafe { slice::from_raw_parts(start.as_ptr(), length) };
    // SAFETY: the function's contract.
    pointers.iter().map(|start| unsafe { text(name, *start) }).collect()
}

/// The caller's path.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn path<'a>(name: &str, start: *const c_char) -> Result<&'a Path, CallFailure> {
    // SAFETY: the function's contract.
    Ok(Path::new(OsStr::from_bytes(unsafe { text(name, start) }?)))
}
