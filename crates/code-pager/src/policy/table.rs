//! What a policy knows of its frames: 4 bytes of each, in three lanes.
//!
//! ```text
//! pages:     for each frame, the number of the page in it    2 bytes
//! bytes[0]:  for each frame, what the policy makes of it     1 byte     e.g. the next frame of a list
//! bytes[1]:  for each frame, what the policy makes of it     1 byte     e.g. the number of its last request
//! ```
//!
//! Lanes and not a row for each frame, so that a policy that compares one byte of every frame reads bytes that follow
//! each other.

use super::contract::Policy;

/// The pages in the frames of a cache: an array, a slice, a `Vec`.
pub trait PageLane: AsRef<[u16]> + AsMut<[u16]> {}

impl<T: AsRef<[u16]> + AsMut<[u16]>> PageLane for T {}

/// A byte for each frame of a cache: an array, a slice, a `Vec`.
pub trait ByteLane: AsRef<[u8]> + AsMut<[u8]> {}

impl<T: AsRef<[u8]> + AsMut<[u8]>> ByteLane for T {}

/// Memory of a policy, of as many frames as each lane is long. What is in it does not matter: a policy that is made
/// over it overwrites it.
#[derive(Clone, Debug)]
pub struct FrameTable<P, B> {
    /// The pages in the frames.
    pub pages: P,
    /// Two bytes for each frame.
    pub bytes: [B; 2],
}

impl<P: PageLane, B: ByteLane> FrameTable<P, B> {
    /// The table, with lanes of one length, between 1 and `frames_max`.
    pub(super) fn checked(self, frames_max: usize) -> Self {
        let frames = self.pages.as_ref().len();
        assert!(frames > 0 && frames <= frames_max, "{frames} frames: the policy takes 1 to {frames_max}");
        assert!(self.bytes.iter().all(|lane| lane.as_ref().len() == frames), "lanes of different lengths");
        self
    }
}

/// A policy that keeps what it knows of its frames in a [`FrameTable`].
pub trait PolicyIn<P, B>: Policy + Sized {
    /// Frames that it can tell apart, at most 255.
    const FRAMES_MAX: usize;

    /// An empty cache of as many frames as the table has. Cost: a write to each byte of the table.
    ///
    /// # Panics
    /// If the lanes differ in length, are empty, or longer than [`FRAMES_MAX`](Self::FRAMES_MAX).
    fn over(table: FrameTable<P, B>) -> Self;
}

/// An empty cache with its table in itself. The compiler refuses a number of frames that the policy does not take.
pub(super) fn fixed<T: PolicyIn<[u16; FRAMES], [u8; FRAMES]>, const FRAMES: usize>() -> T {
    const { assert!(FRAMES > 0 && FRAMES <= T::FRAMES_MAX, "a number of frames that the policy does not take") };
    T::over(FrameTable { pages: [0; FRAMES], bytes: [[0; FRAMES]; 2] })
}
