//! A journal in a ring that has its own map, as dhara's (Daniel Beer; its sources, `journal.c` and `map.c`).
//!
//! What is followed:
//! - pages are programmed in the order of the part, around and around; the last of each 2ⁿ pages has the metadata of
//!   the others, 132 bytes each, in which the map is: with pages of 512 bytes, every fourth;
//! - while the journal has as many pages as the capacity, each write first looks at `gc_ratio` + 1 pages at its tail,
//!   and copies those that count to its head;
//! - the capacity: of the pages that are not metadata of all blocks but one, the share `gc_ratio` / (`gc_ratio` + 1),
//!   less 8 blocks. More logical pages than that are refused.
//!
//! What is left out: bad blocks, syncs (each would fill up the group at hand with copies), and trims. A page is durable
//! with its group's metadata, not when its write returns.
//!
//! Invariant: a logical page's place lies in the journal, between tail and head.

use super::steady::Device;

const NONE: u32 = u32::MAX;
const HEADER_BYTES: u32 = 16 + 4;
const METADATA_BYTES: u32 = 132;
/// Blocks that may be tried when some fail.
const RETRIES: u32 = 8;

/// Pages and blocks of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub blocks: u32,
    pub pages_per_block: u32,
    pub page_bytes: u32,
}

impl Geometry {
    /// Pages of a group, the metadata's included.
    pub fn group_pages(&self) -> u32 {
        let fits = |&pages: &u32| (pages - 1) * METADATA_BYTES + HEADER_BYTES <= self.page_bytes;
        let powers = std::iter::successors(Some(2), |pages| Some(pages * 2));
        powers.take_while(|pages| *pages <= self.pages_per_block).take_while(fits).last().unwrap_or(2)
    }

    /// Pages of the blocks that are not metadata.
    fn data_pages(&self, blocks: u32) -> u32 {
        let groups = blocks * (self.pages_per_block / self.group_pages());
        groups * (self.group_pages() - 1)
    }

    /// The most logical pages with a `gc_ratio`.
    pub fn capacity(&self, gc_ratio: u8) -> u32 {
        let all = self.data_pages(self.blocks - 1);
        let kept = all / (u32::from(gc_ratio) + 1) + RETRIES * self.pages_per_block;
        all.saturating_sub(kept)
    }
}

/// The device.
pub struct DharaLike {
    geometry: Geometry,
    gc_ratio: u8,
    /// The logical page of each page of the part.
    owner: Vec<u32>,
    place: Vec<u32>,
    head: u32,
    tail: u32,
    /// The tail that the last page of metadata names.
    tail_synced: u32,
    /// Whether pages were programmed since.
    is_dirty: bool,
    programs: u64,
}

impl DharaLike {
    /// An empty journal; `None` if it has no room for the logical pages.
    pub fn new(geometry: Geometry, logical_pages: u32, gc_ratio: u8) -> Option<Self> {
        (logical_pages <= geometry.capacity(gc_ratio)).then(|| DharaLike {
            geometry,
            gc_ratio,
            owner: vec![NONE; (geometry.blocks * geometry.pages_per_block) as usize],
            place: vec![NONE; logical_pages as usize],
            head: 0,
            tail: 0,
            tail_synced: 0,
            is_dirty: false,
            programs: 0,
        })
    }

    /// The next page after one that is not metadata.
    fn next(&self, page: u32) -> u32 {
        let next = page + 1;
        let next = if (next + 1).is_multiple_of(self.geometry.group_pages()) { next + 1 } else { next };
        if next as usize >= self.owner.len() { 0 } else { next }
    }

    /// Pages in the journal that are not metadata.
    fn journal_pages(&self) -> u32 {
        let group = self.geometry.group_pages();
        let data = |page: u32| page - page / group;
        let all = data(self.owner.len() as u32);
        (data(self.head) + all - data(self.tail_synced)) % all
    }

    fn append(&mut self, logical: u32) {
        let per_block = self.geometry.pages_per_block;
        let next = self.next(self.head);
        let is_free = next / per_block != self.tail_synced / per_block || next / per_block == self.head / per_block;
        assert!(is_free, "the capacity leaves the journal room");
        self.owner[self.head as usize] = logical;
        self.place[logical as usize] = self.head;
        self.is_dirty = true;
        self.programs += 1;
        if next != self.head + 1 {
            self.programs += 1;
            self.is_dirty = false;
            self.tail_synced = self.tail;
        }
        self.head = next;
    }

    /// Copies the page at the tail, if it counts, and leaves it behind.
    fn collect(&mut self) {
        if self.tail == self.head {
            return;
        }
        let logical = self.owner[self.tail as usize];
        if self.place[logical as usize] == self.tail {
            self.append(logical);
        }
        self.tail = self.next(self.tail);
        if !self.is_dirty {
            self.tail_synced = self.tail;
        }
    }
}

impl Device for DharaLike {
    fn write(&mut self, page: u32) {
        if self.journal_pages() >= self.geometry.capacity(self.gc_ratio) {
            (0..=self.gc_ratio).for_each(|_| self.collect());
        }
        self.append(page);
    }

    fn programs(&self) -> u64 {
        self.programs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Geometry = Geometry { blocks: 256, pages_per_block: 32, page_bytes: 512 };

    #[test]
    fn groups_and_capacities_are_those_of_the_sources() {
        assert_eq!(PART.group_pages(), 4);
        assert_eq!(Geometry { page_bytes: 2048, ..PART }.group_pages(), 16);
        assert_eq!(Geometry { page_bytes: 2048, pages_per_block: 8, ..PART }.group_pages(), 8);
        // 255 blocks of 8 groups with 3 pages: 6,120; a fifth and 8 blocks less.
        assert_eq!(PART.capacity(4), 6120 - 1224 - 256);
        assert!(DharaLike::new(PART, PART.capacity(4) + 1, 4).is_none());
    }

    #[test]
    fn pages_lie_in_the_journal_and_every_third_write_costs_a_page_more() {
        let mut device = DharaLike::new(PART, 3000, 4).unwrap();
        (0..3000).for_each(|page| device.write(page));
        assert_eq!(device.programs(), 4000);
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..50_000 {
            device.write(random.u32(0..3000));
            assert!(device.journal_pages() <= PART.capacity(4) + 8, "{}", device.journal_pages());
        }
        for (page, &place) in device.place.iter().enumerate() {
            assert_eq!(device.owner[place as usize], page as u32);
            let all = device.owner.len() as u32;
            let (at, length) = ((place + all - device.tail) % all, (device.head + all - device.tail) % all);
            assert!(at < length, "page {page} at {place} is not in the journal");
        }
        assert!(device.programs() > 50_000 * 4 / 3);
    }
}
