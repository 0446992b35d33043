//! What a program has code for: the linker leaves out the rest.

/// What a program has code for. Images that need more give [`NoCode`](crate::MountError::NoCode). Where neither [`AllCode`] nor
/// [`LeastCode`] suits, a program says what it needs:
///
/// ```
/// #[derive(Clone, Debug)]
/// struct Checked;
///
/// impl norn_nor_store::Code for Checked {
///     const ERROR_DETECTION: bool = true;
///     const DELTA_RECORDS: bool = false;
/// }
/// ```
pub trait Code {
    /// For [error detection](crate::ErrorDetection).
    const ERROR_DETECTION: bool;
    /// For [delta records](crate::DeltaRecords).
    const DELTA_RECORDS: bool;
}

/// Code for everything: each image is used as it was formatted.
#[derive(Clone, Copy, Debug)]
pub struct AllCode;

impl Code for AllCode {
    const ERROR_DETECTION: bool = true;
    const DELTA_RECORDS: bool = true;
}

/// Code for images as TinyStore has them.
#[derive(Clone, Copy, Debug)]
pub struct LeastCode;

impl Code for LeastCode {
    const ERROR_DETECTION: bool = false;
    const DELTA_RECORDS: bool = false;
}
