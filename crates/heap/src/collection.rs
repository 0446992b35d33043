//! What a garbage collection reports.

/// What a collection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Objects and arrays that roots reach.
    pub live: u32,
    /// Objects and arrays that were deleted.
    pub deleted: u32,
}
