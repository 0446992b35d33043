//! What calls cost at most, for any history of the list (`docs/design/ordered-index.md` derives it).
//!
//! The idea: a search moves to higher low keys only, so that it follows a pointer for each object, and one for each
//! level where it ends; following one probes a column of a turnstile. Every other reading is of fields of fixed
//! lengths. A change takes a bounded number of steps, of a bounded number of searches, objects written and blocks
//! moved.
//!
//! Bytes are counted as they are asked of the device: again when they are read or programmed again. Program units of
//! more than 4 bytes are read and programmed as a whole for each field in them, of which the least has two bytes; a
//! bit alone counts for four here.

use norn_flash::Nor;

use crate::fat_list::format::{CELLS_OFFSET, FILLING_BYTES, IDENTITY_BYTES};
use crate::fat_list::layout::{ALIGNMENT_MAX, Layout};
use crate::fat_list::list::FatListOf;
use crate::fat_list::mount::TRIES;
use crate::fat_list::ring::{DROPS_MAX, drop_max};
use crate::fat_list::room::{PROPAGATION_MAX, RECLAIMS_MAX, SHIFTS_MAX};
use crate::fat_list::widths::Widths;

/// What one call may cost at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallBound {
    /// Blocks erased.
    pub erases: u32,
    /// Bytes programmed.
    pub programmed_bytes: u64,
    /// Bytes read.
    pub read_bytes: u64,
}

/// Bytes of a block's head.
const HEAD_BYTES: u64 = CELLS_OFFSET as u64;
/// Bytes of a record's length.
const LENGTH_BYTES: u64 = 2;
/// Bytes of a stamp.
const STAMP_BYTES: u64 = 2;

/// Words that a bisection of `entries` entries reads at most.
fn bisection(entries: u64) -> u64 {
    u64::from(entries.checked_ilog2().map_or(0, |power| power + 1))
}

impl<D: Nor, W: Widths> FatListOf<D, W> {
    fn costs(&self) -> Costs<'_> {
        let (key_bytes, value_bytes) = (self.widths().key_bytes() as u64, self.widths().value_bytes() as u64);
        let (slots, varies) = (u64::from(self.layout().settings.slots), W::VARIES);
        // Where values vary, a record has a length, too; a walk reads the lengths of those before it.
        let length_bytes = if varies { LENGTH_BYTES } else { 0 };
        let walk = length_bytes * (slots + 1);
        Costs { layout: self.layout(), key_bytes, entry_bytes: key_bytes + value_bytes + length_bytes, walk }
    }

    /// What one change of a list of `objects` objects costs at most: `insert`, `update`, `remove`, `reclaim_step` or
    /// `stop`.
    pub fn call_bound(&self, objects: u32) -> CallBound {
        self.in_units(self.call_cost(objects))
    }

    fn call_cost(&self, objects: u32) -> CallBound {
        let merging = self.moves_to_merge();
        let moves = (self.moves_with_cells() + merging).max(self.moves_of_removal());
        let (bound, costs) = (self.change_bound(objects, moves), self.costs());
        // What merging itself writes is as much as a move.
        CallBound {
            programmed_bytes: bound.programmed_bytes + costs.block_programmed(),
            read_bytes: bound.read_bytes + (merging + 1) * costs.merging_read(objects),
            ..bound
        }
    }

    /// The same, for an `insert` or `update` of a list that has a cell that is free or dead: no neighbours are merged.
    pub fn bound_with_cells(&self, objects: u32) -> CallBound {
        self.in_units(self.change_bound(objects, self.moves_with_cells()))
    }

    /// The same, for the first change after a [`reclaim_step`](crate::OrderedIndex::reclaim_step) that found nothing to
    /// do, `insert_in_ring` included: one block is moved at most.
    ///
    /// A batch has no such bound. [`apply`](crate::FatList::apply) makes its changes in one call, between which no step
    /// ahead of need is taken, so that each of them may move as many blocks as [`call_bound`](Self::call_bound) says,
    /// and the call as many as [`batch_bound`](Self::batch_bound). Where a deadline counts, keep batches short, or make
    /// changes one by one that need not happen together, with steps before each.
    ///
    /// ```
    /// # use norn_flash_sim::{NorSim, catalogue};
    /// # use norn_ordered_index::{FatList, Settings};
    /// # let part = NorSim::new(catalogue::k8c1215etm());
    /// let list: FatList<_, 4, 2> = FatList::format(part, Settings::paper_2011()).unwrap();
    /// assert_eq!(list.paced_bound(1_000).erases, 1);
    /// assert_eq!(list.batch_bound(1_000, 3).erases, 4 * list.call_bound(1_000).erases);
    /// ```
    pub fn paced_bound(&self, objects: u32) -> CallBound {
        let bound = self.change_bound(objects, 1);
        self.in_units(CallBound { programmed_bytes: bound.programmed_bytes + self.drop_programmed(), ..bound })
    }

    /// What is asked of a part whose program units are larger than fields.
    fn in_units(&self, bound: CallBound) -> CallBound {
        let unit = u64::from(self.device().part().program_unit_bytes);
        if unit <= ALIGNMENT_MAX as u64 {
            return bound;
        }
        let programmed_bytes = bound.programmed_bytes * (unit / 2);
        CallBound { programmed_bytes, read_bytes: bound.read_bytes + programmed_bytes, ..bound }
    }

    /// Blocks that are reclaimed for cells, the one in which all pools are that lack room, and the object's own.
    fn moves_with_cells(&self) -> u64 {
        u64::from(RECLAIMS_MAX) + 1 + 1
    }

    /// A key that is removed may leave an object to take out: each pool before it may need a move of its block.
    fn moves_of_removal(&self) -> u64 {
        u64::from(RECLAIMS_MAX) + u64::from(self.layout().settings.levels)
    }

    /// Moves that give the first of two neighbours slots, and each pool before the second one room.
    fn moves_to_merge(&self) -> u64 {
        u64::from(self.layout().settings.levels) + 1
    }

    /// What a change costs that moves `moves` blocks.
    fn change_bound(&self, objects: u32, moves: u64) -> CallBound {
        let costs = self.costs();
        let levels = u64::from(self.layout().settings.levels);
        // Objects rewritten for their pools, and the two of a split; a mark, a slot, and a bit of each slot.
        let objects_written = 2 * levels + 2;
        let own = u64::from(self.layout().slot_bytes) + (2 + costs.slots()) * ALIGNMENT_MAX as u64;
        // A step of the call's loop makes room by one of these, or is the last one of the call or of an object taken
        // out after it.
        let steps = moves + objects_written + 2;
        CallBound {
            erases: moves as u32,
            programmed_bytes: moves * costs.block_programmed()
                + objects_written * (costs.object_written() + 4 * levels)
                + own,
            read_bytes: moves * costs.reclamation_read(objects) + steps * costs.step_read(objects),
        }
    }

    /// Bytes programmed to take first objects out of a ring: two flags of each, and the head's pointers.
    fn drop_programmed(&self) -> u64 {
        let flags = 2 * ALIGNMENT_MAX as u64 * u64::from(drop_max(self.layout()));
        flags + 4 * u64::from(self.layout().settings.levels)
    }

    /// What a batch of `changes` changes costs at most in a list of `objects` objects, and what its completion adds to
    /// a mount after a cut: its cell, and for it and for each change a call, which may merge neighbours.
    pub fn batch_bound(&self, objects: u32, changes: u32) -> CallBound {
        let (costs, call, calls) = (self.costs(), self.call_cost(objects + changes), u64::from(changes) + 1);
        let slot = costs.slots() * (ALIGNMENT_MAX as u64 + costs.slot_record());
        self.in_units(CallBound {
            erases: call.erases * (changes + 1),
            programmed_bytes: calls * call.programmed_bytes + costs.object_written() + slot,
            read_bytes: calls * (call.read_bytes + costs.census_read() + costs.object_copied() + costs.search(objects)),
        })
    }

    /// What one [`insert_in_ring`](crate::FatList::insert_in_ring) into a list of `objects` objects costs at most: an
    /// insertion, and up to three times first objects taken out, for which the head's block may be moved; or where the
    /// key belongs into the first object, a removal, and the bits of further keys of it.
    pub fn ring_bound(&self, objects: u32) -> CallBound {
        let (drops, call, moved) = (u64::from(DROPS_MAX), self.call_cost(objects), self.costs().block_moved());
        let (costs, levels) = (self.costs(), u64::from(self.layout().settings.levels));
        // Objects that go are followed to on each level, and found, doomed, passed and buried on the lowest one.
        let object = (6 + levels) * costs.hop() + costs.survey_read() + costs.header() + 4 * ALIGNMENT_MAX as u64;
        let gone = (u64::from(drop_max(self.layout())) + levels) * (object + costs.pointer_read());
        self.in_units(CallBound {
            erases: 2 * call.erases + u32::from(DROPS_MAX),
            programmed_bytes: 2 * call.programmed_bytes
                + costs.slots() * ALIGNMENT_MAX as u64
                + drops * (moved.programmed_bytes + self.drop_programmed()),
            read_bytes: 2 * call.read_bytes
                + costs.slots()
                    * (2 * costs.search(objects) + 4 * (costs.survey_read() + costs.keys_read() + costs.walk))
                + costs.census_read()
                + drops * (costs.step_read(objects) + moved.read_bytes + gone),
        })
    }

    /// What moving one block programs, erases and reads at most.
    pub fn move_bound(&self) -> CallBound {
        self.in_units(self.costs().block_moved())
    }

    /// Bytes that [`get`](crate::OrderedIndex::get) reads at most in a list of `objects` objects.
    pub fn get_bound(&self, objects: u32) -> u64 {
        let costs = self.costs();
        // A key of ones is read again, to distinguish it from an erased slot.
        costs.search(objects)
            + costs.bitmap_read()
            + costs.slots() * (costs.key_bytes + costs.slot_record())
            + costs.slot_record()
            + costs.walk
    }

    /// Bytes that a step of a range reads at most, `first` and `last` included: every object but the head has keys, so
    /// that the next key is in the current object or in its neighbour. The keys of both are read when they are entered,
    /// and once more those of the object that has the next key, to find it.
    pub fn step_bound(&self, objects: u32) -> u64 {
        let costs = self.costs();
        2 * costs.search(objects)
            + 2 * (costs.hop() + costs.survey_read() + costs.keys_read())
            + costs.hop()
            + STAMP_BYTES
            + costs.key_bytes
            + costs.keys_read()
            + costs.slot_record()
            + costs.walk
    }

    /// Bytes that [`len`](crate::OrderedIndex::len) reads at most: a pointer, a column and a bitmap for each object.
    pub fn len_bound(&self, objects: u32) -> u64 {
        let costs = self.costs();
        let head = costs.hop() + Costs::pool_read(self.layout().head_section().into());
        head + u64::from(objects) * (costs.hop() + costs.survey_read())
    }

    /// Bytes that [`stats`](crate::OrderedIndex::stats) reads at most: those of [`len`](Self::len_bound), two words of
    /// each block's head, and a stamp of each cell.
    pub fn stats_bound(&self, objects: u32) -> u64 {
        let costs = self.costs();
        self.len_bound(objects) + u64::from(self.layout().unit_count) * 8 + costs.cells() * STAMP_BYTES
    }

    /// Bytes that a mount after a [`stop`](Self::stop) reads at most.
    pub fn boot_bound(&self, objects: u32) -> u64 {
        let costs = self.costs();
        let units = u64::from(self.layout().unit_count) + 1;
        let looks = (TRIES as u64 + costs.cells()) * (STAMP_BYTES + costs.key_bytes);
        let blocks = u64::from(self.layout().settings.turnstile_blocks);
        // Void, the marks, and whether the head's block is being moved.
        units * IDENTITY_BYTES as u64
            + 4
            + looks
            + costs.search(objects)
            + 8
            + HEAD_BYTES
            + blocks * FILLING_BYTES as u64
    }

    /// What a mount after a power cut costs at most: what a boot reads, every block's head, a word of each cell, all
    /// slots and a walk; a move is completed or an outlived block erased, then a structural change, then an object
    /// without keys is taken out.
    pub fn recovery_bound(&self, objects: u32) -> CallBound {
        let costs = self.costs();
        let (call, moved, units) = (self.call_cost(objects), costs.block_moved(), u64::from(self.layout().unit_count));
        // Where values vary, each log is read to its end, and of one each bit cleared, which closes it.
        let log = if costs.walk > 0 { costs.survey_read() + 2 * u64::from(self.layout().cell_bytes) } else { 0 };
        let closing = if costs.walk > 0 { costs.slots() * ALIGNMENT_MAX as u64 } else { 0 };
        let object = costs.header() + costs.survey_read() + 2 * (costs.keys_read() + costs.entries_read()) + log;
        // Objects that a ring was dropping are found once more, and followed on each level.
        let levels = u64::from(self.layout().settings.levels);
        let walk = (4 + levels) * costs.hop() + costs.survey_read() + costs.keys_read();
        self.in_units(CallBound {
            erases: moved.erases + call.erases,
            programmed_bytes: moved.programmed_bytes + call.programmed_bytes + closing,
            read_bytes: self.boot_bound(objects)
                + closing
                + moved.read_bytes
                + call.read_bytes
                + units * (5 * HEAD_BYTES + 2 * 4)
                + 3 * costs.cells() * STAMP_BYTES
                + u64::from(objects) * (object + walk),
        })
    }
}

/// What the bounds are made of, in bytes.
struct Costs<'a> {
    layout: &'a Layout,
    key_bytes: u64,
    /// Bytes of a key and its value, and of their length where values vary.
    entry_bytes: u64,
    /// The lengths of all records of an object, where values vary.
    walk: u64,
}

impl Costs<'_> {
    fn cells_per_block(&self) -> u64 {
        u64::from(self.layout.cells_per_block)
    }

    fn cells(&self) -> u64 {
        u64::from(self.layout.unit_count) * self.cells_per_block()
    }

    fn slots(&self) -> u64 {
        u64::from(self.layout.settings.slots)
    }

    fn slot_record(&self) -> u64 {
        self.entry_bytes + 2
    }

    fn bitmap_read(&self) -> u64 {
        self.slots().div_ceil(8)
    }

    fn header(&self) -> u64 {
        STAMP_BYTES + self.key_bytes + 10
    }

    /// The bitmap, and the border of the slots by bisection, or the lengths.
    fn survey_read(&self) -> u64 {
        let border = if self.walk > 0 { self.walk } else { bisection(self.slots()) * self.slot_record() };
        self.bitmap_read() + border
    }

    /// The keys of an object, in the order of its slots.
    fn keys_read(&self) -> u64 {
        self.slots() * self.key_bytes + self.walk
    }

    /// The keys and values of an object, in the order of its slots.
    fn entries_read(&self) -> u64 {
        self.slots() * self.slot_record() + self.walk
    }

    /// An object written: all of its cell and five flags.
    fn object_written(&self) -> u64 {
        u64::from(self.layout.cell_bytes) + 5 * ALIGNMENT_MAX as u64
    }

    /// Finding the latest pointer of a level in a pool of `entries` entries: the pool's border, then its entries from
    /// there back.
    fn pool_read(entries: u64) -> u64 {
        4 * (bisection(entries) + entries)
    }

    /// A pointer of an object, and the stamps and low keys of its column.
    fn hop(&self) -> u64 {
        let column = u64::from(self.layout.settings.turnstile_blocks) * (STAMP_BYTES + self.key_bytes);
        Self::pool_read(self.layout.settings.pool.into()) + column
    }

    /// The objects of a block, each written with all of its pointers.
    fn block_programmed(&self) -> u64 {
        let levels = u64::from(self.layout.settings.levels);
        self.cells_per_block() * (self.object_written() + 4 * levels) + HEAD_BYTES
    }

    /// Moving one block.
    fn block_moved(&self) -> CallBound {
        let blocks = u64::from(self.layout.settings.turnstile_blocks);
        CallBound {
            erases: 1,
            programmed_bytes: self.cells_per_block() * self.object_written() + HEAD_BYTES,
            read_bytes: 4 * (blocks + 1) + self.cells_per_block() * self.object_copied(),
        }
    }

    fn search(&self, objects: u32) -> u64 {
        let levels = u64::from(self.layout.settings.levels);
        (u64::from(objects) + levels) * self.hop() + levels * Self::pool_read(self.layout.head_section().into())
    }

    fn pool_entries(&self) -> u64 {
        u64::from(self.layout.head_section()).max(self.layout.settings.pool.into())
    }

    fn pointer_read(&self) -> u64 {
        Self::pool_read(self.pool_entries())
    }

    /// An object that is rewritten: what is read of the old one, and a flag of program units read for each that is set.
    fn object_copied(&self) -> u64 {
        let levels = u64::from(self.layout.settings.levels);
        let flags = 5 * ALIGNMENT_MAX as u64;
        2 * STAMP_BYTES
            + self.header()
            + levels * self.pointer_read()
            + self.survey_read()
            + self.entries_read()
            + flags
    }

    /// The pools on a path, each with its stamp.
    fn pools_read(&self) -> u64 {
        u64::from(self.layout.settings.levels) * (STAMP_BYTES + 4 * bisection(self.pool_entries()))
    }

    /// Counting cells, with two words of each block's head.
    fn census_read(&self) -> u64 {
        u64::from(self.layout.unit_count) * 8 + self.cells() * STAMP_BYTES
    }

    /// Counting cells, a walk to objects with one key, and moving a block of which some objects are shifted.
    fn reclamation_read(&self, objects: u32) -> u64 {
        let walk = u64::from(objects) * (self.hop() + self.survey_read() + self.pools_read())
            + Self::pool_read(self.pool_entries());
        let shifts_max = u64::from(SHIFTS_MAX);
        let surveys = self.cells_per_block() * (self.survey_read() + STAMP_BYTES + self.key_bytes);
        2 * self.census_read() + walk + surveys + shifts_max * self.shift_read(objects) + self.block_moved().read_bytes
    }

    /// A walk to sparse neighbours, and as many objects shifted as a block has cells.
    fn merging_read(&self, objects: u32) -> u64 {
        let walk = u64::from(objects) * (self.hop() + self.survey_read()) + Self::pool_read(self.pool_entries());
        walk + self.search(objects) + self.cells_per_block() * self.shift_read(objects)
    }

    /// An object with few keys shifted into the one before it.
    fn shift_read(&self, objects: u32) -> u64 {
        3 * self.search(objects) + self.hop() + self.pools_read() + 4 * self.survey_read() + 2 * self.object_copied()
    }

    /// A step of a change: the object of the key, the pools on the way and those before a starved one, on both counts
    /// of levels; the cells counted, two free ones; two objects written and settled.
    fn step_read(&self, objects: u32) -> u64 {
        let levels = u64::from(self.layout.settings.levels);
        let searches = 5 + 2 * PROPAGATION_MAX as u64;
        let blank = u64::from(self.layout.cell_bytes);
        let free_cells =
            self.census_read() + 2 * (self.census_read() + 2 * self.cells_per_block() * STAMP_BYTES + blank);
        // A pool is looked at for each number of levels that may fit.
        let pools = (searches + 4 + levels) * (self.pools_read() + STAMP_BYTES + self.key_bytes);
        let written = 2 * (2 * self.object_copied() + levels * 6 * (STAMP_BYTES + self.pointer_read()));
        let keys = self.slots() * ((self.slots() + 5) * self.key_bytes + 4 * self.walk) + 5 * self.walk;
        searches * self.search(objects) + free_cells + pools + written + keys + 4 * self.survey_read() + 64
    }
}
