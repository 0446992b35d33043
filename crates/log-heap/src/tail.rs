//! What of an object's tail counts: the deltas that `object.rs` has found in its places.
//!
//! Invariant: a delta begins in a place below 32, since a tail has no more places than a set has bits.

/// What of a tail counts. Bit *n* of a set stands for the delta that begins in place *n*.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tail {
    /// Deltas that count.
    pub(crate) deltas: u32,
    /// Those of the field that was asked for.
    pub(crate) wanted: u32,
    /// Where the last one that was complete ends.
    pub(crate) end: u8,
    /// Places before the first that may be free.
    pub(crate) used: u8,
    /// The first place that reads neither as erased nor as what counts, without what explains that.
    pub(crate) suspect: Option<u8>,
    /// Whether something follows it, so that no cut can have torn it.
    pub(crate) is_followed: bool,
}

impl Tail {
    pub(crate) fn add(&mut self, first: u8, end: u8) {
        self.deltas |= 1 << first;
        self.end = end;
    }

    /// Notes that something follows a gap which begins with a place.
    pub(crate) fn suspect_followed(&mut self, place: u8) {
        self.suspect = self.suspect.or(Some(place));
        self.is_followed = true;
    }

    /// Follows a seal or a void: what is not whole from a place on does not count whatever it reads.
    pub(crate) fn explain_from(&mut self, place: u8) {
        if self.suspect.is_some_and(|suspect| suspect >= place) {
            (self.suspect, self.is_followed) = (None, false);
        }
    }

    /// Keeps deltas that begin before a place.
    pub(crate) fn keep_before(&mut self, place: u8) {
        let kept = 1u32.checked_shl(u32::from(place)).map_or(u32::MAX, |bit| bit - 1);
        (self.deltas, self.wanted) = (self.deltas & kept, self.wanted & kept);
    }

    /// Drops the delta that ends before the place of a seal.
    pub(crate) fn void_before(&mut self, place: u8) {
        if self.end == place
            && let Some(last) = self.last()
        {
            self.keep_before(last);
        }
    }

    /// The last delta.
    pub(crate) fn last(&self) -> Option<u8> {
        last_of(self.deltas)
    }

    /// Whether a delta counts, or may have counted, that begins in a place or after it.
    pub(crate) fn has_from(&self, place: u8) -> bool {
        self.suspect.max(self.last()).is_some_and(|last| last >= place)
    }

    /// Whether a place before this one may be damaged.
    pub(crate) fn is_damaged_before(&self, place: u8) -> bool {
        self.suspect.is_some_and(|suspect| suspect < place)
    }

    /// The last delta of the field that was asked for.
    pub(crate) fn last_wanted(&self) -> Option<u8> {
        last_of(self.wanted)
    }
}

fn last_of(deltas: u32) -> Option<u8> {
    deltas.checked_ilog2().map(|last| last as u8)
}
