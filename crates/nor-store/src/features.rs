//! What a program has code for: the linker leaves out the rest.

/// What a program has code for. Images that need more give [`MissingFeature`](crate::MountRefusal::MissingFeature).
/// Where neither [`AllFeatures`] nor [`LeastFeatures`] suits, a program says what it needs:
///
/// ```
/// #[derive(Clone, Debug)]
/// struct Checked;
///
/// impl norn_nor_store::Features for Checked {
///     const ERROR_DETECTION: bool = true;
///     const DELTA_RECORDS: bool = false;
/// }
/// ```
pub trait Features {
    /// Code for [error detection](crate::ErrorDetection).
    const ERROR_DETECTION: bool;
    /// Code for [delta records](crate::DeltaRecords).
    const DELTA_RECORDS: bool;
}

/// Code for everything: each image is used as it was formatted.
#[derive(Clone, Copy, Debug)]
pub struct AllFeatures;

impl Features for AllFeatures {
    const ERROR_DETECTION: bool = true;
    const DELTA_RECORDS: bool = true;
}

/// Code for images as TinyStore has them.
#[derive(Clone, Copy, Debug)]
pub struct LeastFeatures;

impl Features for LeastFeatures {
    const ERROR_DETECTION: bool = false;
    const DELTA_RECORDS: bool = false;
}
