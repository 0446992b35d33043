//! What a device has done, and what its pages are good for: figures for its client.

/// What a device has done since it was mounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FtlCounters {
    /// Pages that the client wrote.
    pub written: u64,
    /// Pages that collectors copied.
    pub copied: u64,
    /// Pages that the wear leveler copied.
    pub leveled: u64,
    /// Pages of the checkpoint, those that a trim needed included.
    pub chunks: u64,
    /// Blocks erased.
    pub erased: u64,
    /// Blocks that went bad.
    pub retired: u64,
    /// Pages that the mount copied, to bring together what was left in blocks of few pages each.
    pub gathered: u64,
    /// 1 if a page of the checkpoint was missing at the mount, so that the map was made from all pages: trims may have
    /// come undone.
    pub scans: u64,
}

/// Pages of a device by what they are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCounts {
    /// Θ: all pages of blocks that are not bad.
    pub total: u32,
    /// Λ: live pages in these blocks.
    pub live: u32,
    /// Φ: pages that can be programmed.
    pub free: u32,
}

impl PageCounts {
    /// Δ: pages that hold nothing that anybody wants.
    pub const fn dead(&self) -> u32 {
        self.total - self.live - self.free
    }
}
