//! Pages and blocks: where the next page goes, moving live pages, formatting and mounting.
//!
//! Pages are written one after the other. When a block is full:
//! 1. while there are blocks that were not begun since formatting, other than the last one, begin the next of these;
//! 2. else take a block without live pages, erase it, and begin it;
//! 3. move the live pages of the block that has the fewest there: now that one has none.
//!
//! A page is live while a node in it is reached from the root. A path is always written as a whole, so that a page
//! whose leaf is not live has no live node, unless it is of a split of several levels, which is marked.
//!
//! Mounting looks for the newest whole page with a root. The block in which it is will be filled further; no other
//! block is taken for erased, but those that were not begun since formatting.
//!
//! Invariant: outside of step 3 there is a block without live pages besides the one that is being filled.

use norn_flash::{Address, EraseUnit, Nor, Reprogramming};

use super::format::{
    FORMAT_VERSION, HEADER_BYTES, HEIGHT_MAX, IDENTITY_BYTES, Identity, ROOT, SCATTERED, capacity, page_codes,
};
use super::medium::{Medium, PROGRAM_UNIT_BYTES_MAX};
use super::nodes::{MuTree, Outcome};
use super::tree::{Page, Path};
use norn_ordered_index::{IndexError, IndexStats, MountError, Reclaimed};

/// Pages of a block that moves leave free, for those that power cuts spoil.
const MARGIN: u32 = 4;

/// The newest page with a root that a search has found.
struct Newest {
    page: u32,
    sequence: u32,
    height: u8,
}

impl<D: Nor, const K: usize, const V: usize, const PAGE: usize, const LOG: usize> MuTree<D, K, V, PAGE, LOG> {
    fn pages_per_unit(&self) -> u32 {
        self.medium.part().unit_size_bytes / PAGE as u32
    }

    pub(crate) fn page_count(&self) -> u32 {
        self.pages_per_unit() * u32::from(self.medium.part().unit_count)
    }

    pub(crate) fn page_address(&self, page: u32) -> Address {
        let (unit, index) = (page / self.pages_per_unit(), page % self.pages_per_unit());
        Address(unit * self.medium.part().unit_size_bytes + index * PAGE as u32)
    }

    pub(crate) fn has_page(&self, page: u32) -> bool {
        page < self.page_count() && !page.is_multiple_of(self.pages_per_unit())
    }

    fn unit_of(&self, page: u32) -> u16 {
        (page / self.pages_per_unit()) as u16
    }

    fn first_page(&self, unit: u16) -> u32 {
        u32::from(unit) * self.pages_per_unit() + 1
    }

    /// The pages of a unit that can be written.
    fn pages_of(&self, unit: u16) -> core::ops::Range<u32> {
        self.first_page(unit)..self.first_page(unit) + self.pages_per_unit() - 1
    }

    /// The unit that is being filled; `next` is after its end when it is full.
    fn current(&self) -> u16 {
        self.unit_of(self.next - 1)
    }

    fn pages_left(&self) -> u32 {
        self.pages_of(self.current()).end - self.next
    }

    /// Writes the next page: its sequence number first.
    pub(crate) fn write_page(&mut self, mut page: Page<PAGE>, height: u8, flags: u8) -> Outcome<(), D> {
        if self.pages_left() == 0 {
            return Err(self.damage(self.next - 1, "a block without room for a page"));
        }
        self.sequence += 1;
        page.bytes[..4].copy_from_slice(&self.sequence.to_le_bytes());
        (page.bytes[4], page.bytes[5]) = (height, flags);
        let codes = page_codes(&page.bytes[..Self::BODY]);
        page.bytes[6..10].copy_from_slice(&codes);
        let address = self.page_address(self.next);
        self.next += 1;
        self.medium.program(address, &page.bytes[..4])?;
        // Runs of ones between the nodes need not be programmed.
        let mut at = 4;
        while at < PAGE {
            let is_blank = |piece: &[u8]| piece.iter().all(|&byte| byte == 0xFF);
            let run = page.bytes[at..].chunks(4).take_while(|piece| !is_blank(piece)).count() * 4;
            let end = (at + run).min(PAGE);
            self.medium.program(address.offset(at as u32), &page.bytes[at..end])?;
            at = end + page.bytes[end..].chunks(4).take_while(|piece| is_blank(piece)).count() * 4;
        }
        Ok(())
    }

    // Blocks.

    fn erase_count(&mut self, unit: u16) -> Outcome<u32, D> {
        let mut bytes = [0; IDENTITY_BYTES];
        let start = self.medium.part().start_of(EraseUnit(unit));
        self.medium.read(start, &mut bytes)?;
        Ok(Identity::decode(&bytes).and_then(Result::ok).map_or(0, |identity| identity.erase_count))
    }

    fn identify(&mut self, unit: u16, erase_count: u32) -> Outcome<(), D> {
        let part = *self.medium.part();
        let identity = Identity {
            key_bytes: K as u8,
            value_bytes: V as u8,
            page_bytes: PAGE as u16,
            unit_count: part.unit_count,
            unit_size_bytes: part.unit_size_bytes,
            erase_count,
            taken: self.taken,
        };
        self.medium.program(part.start_of(EraseUnit(unit)), &identity.encode())
    }

    /// Makes room so that `count` pages can be written.
    pub(crate) fn make_room(&mut self, count: u32) -> Outcome<(), D> {
        for _ in 0..self.medium.part().unit_count {
            if self.pages_left() >= count {
                return Ok(());
            }
            self.advance()?;
        }
        Err(IndexError::Full)
    }

    /// Begins another block, and moves there what is live in the block with the fewest live pages (steps 1 to 3).
    fn advance(&mut self) -> Outcome<(), D> {
        let unit_count = self.medium.part().unit_count;
        if self.taken + 1 < unit_count {
            self.begin_fresh();
            return Ok(());
        }
        let target = if self.taken < unit_count { self.taken } else { self.unit_without_live_pages()? };
        let room = self.pages_per_unit() - 1 - MARGIN;
        let victim = self.victim(target, room)?.ok_or(IndexError::Full)?;
        if self.taken < unit_count {
            self.begin_fresh();
        } else {
            let erase_count = self.erase_count(target)?.saturating_add(1);
            self.medium.erase(EraseUnit(target))?;
            self.identify(target, erase_count)?;
            self.next = self.first_page(target);
        }
        self.empty(victim)
    }

    fn begin_fresh(&mut self) {
        self.next = self.first_page(self.taken);
        self.taken += 1;
    }

    fn unit_without_live_pages(&mut self) -> Outcome<u16, D> {
        let unit_count = self.medium.part().unit_count;
        for step in 1..unit_count {
            let unit = (self.current() + step) % unit_count;
            if self.cost_of(unit, 0)?.is_some() {
                return Ok(unit);
            }
        }
        Err(IndexError::Full)
    }

    /// The unit other than `target` with the fewest pages to write, at most `room`.
    fn victim(&mut self, target: u16, room: u32) -> Outcome<Option<u16>, D> {
        let (mut best, mut limit) = (None, room);
        for unit in (0..self.medium.part().unit_count).filter(|&unit| unit != target) {
            if let Some(cost) = self.cost_of(unit, limit)? {
                best = Some(unit);
                match cost.checked_sub(1) {
                    Some(less) => limit = less,
                    None => break,
                }
            }
        }
        Ok(best)
    }

    /// Pages to write to move what is live in a unit, if that is at most `limit`.
    fn cost_of(&mut self, unit: u16, limit: u32) -> Outcome<Option<u32>, D> {
        let mut cost = 0;
        for page in self.pages_of(unit) {
            cost += self.live_nodes(page)?;
            if cost > limit {
                return Ok(None);
            }
        }
        Ok(Some(cost))
    }

    /// Bounds the paths to write to move a page: live nodes that are not on the path of one below.
    fn live_nodes(&mut self, page: u32) -> Outcome<u32, D> {
        let mut head = [0; 6];
        self.medium.read(self.page_address(page), &mut head)?;
        if head[..4] == [0xFF; 4] {
            return Ok(0);
        }
        let levels = if head[5] & SCATTERED == 0 { 1 } else { self.height };
        let mut nodes = 0;
        for level in 0..levels {
            nodes += u32::from(self.is_live(page, level)?);
        }
        Ok(nodes)
    }

    /// Whether the node of `level` in `page` is reached from the root.
    fn is_live(&mut self, page: u32, level: u8) -> Outcome<bool, D> {
        let count = match self.count(page, level) {
            Err(IndexError::Corrupted) => return Ok(false),
            count => count?,
        };
        if page == self.root && level == 0 && count == 0 {
            return Ok(true);
        }
        if count == 0 || level >= self.height {
            return Ok(false);
        }
        let key = self.key(page, level, 0)?;
        let mut path = Path::default();
        self.trace(&mut path, self.height - 1, self.root, Some(&key))?;
        Ok(path[usize::from(level)].page == page)
    }

    /// Moves every live page of a unit to where the next page goes.
    fn empty(&mut self, unit: u16) -> Outcome<(), D> {
        for page in self.pages_of(unit) {
            for level in 0..self.height {
                let mut flags = [0];
                self.medium.read(self.page_address(page).offset(5), &mut flags)?;
                if level > 0 && flags[0] & SCATTERED == 0 {
                    break;
                }
                if self.is_live(page, level)? {
                    if self.pages_left() == 0 {
                        return Err(IndexError::Full);
                    }
                    self.move_node(page, level)?;
                }
            }
        }
        Ok(())
    }

    fn move_node(&mut self, page: u32, level: u8) -> Outcome<(), D> {
        // The only leaf there is may have had no keys when it was written.
        let key = if self.count(page, level)? == 0 { [0; K] } else { self.key(page, level, 0)? };
        self.move_path(&key)
    }

    pub(crate) fn survey(&mut self) -> Outcome<IndexStats, D> {
        let (keys, _) = self.tally()?;
        let mut stats = IndexStats { keys, erases_min: u32::MAX, ..IndexStats::default() };
        for unit in 0..self.medium.part().unit_count {
            let erases = self.erase_count(unit)?;
            (stats.erases_min, stats.erases_max) = (stats.erases_min.min(erases), stats.erases_max.max(erases));
            for page in self.pages_of(unit) {
                let is_erased = self.medium.read_u32(self.page_address(page))? == u32::MAX;
                match (is_erased, self.live_nodes(page)?) {
                    (true, _) => stats.free += 1,
                    (false, 0) => stats.dead += 1,
                    (false, _) => stats.live += 1,
                }
            }
        }
        Ok(stats)
    }

    pub(crate) fn reclaim_ahead(&mut self) -> Outcome<Reclaimed, D> {
        if self.pages_left() * 4 > self.pages_per_unit() {
            return Ok(Reclaimed::Nothing);
        }
        self.advance()?;
        Ok(Reclaimed::Block)
    }

    /// The device.
    pub fn device(&self) -> &D {
        self.medium.device()
    }

    /// Gives the device back.
    pub fn into_device(self) -> D {
        self.medium.into_device()
    }

    // Formatting and mounting.

    /// Lays out an empty tree. What the part held is lost, except the erase counts of blocks of a tree.
    ///
    /// # Errors
    /// When the part or the widths cannot be used, or the device fails.
    pub fn format(device: D) -> Result<Self, MountError<D::Error>> {
        let mut tree = Self::unmounted(device)?;
        match tree.lay_out() {
            Ok(()) => Ok(tree),
            Err(error) => Err(error.in_mount(tree.medium.corruption())),
        }
    }

    fn lay_out(&mut self) -> Outcome<(), D> {
        let units = self.medium.part().unit_count;
        for unit in 0..units {
            let start = self.medium.part().start_of(EraseUnit(unit));
            self.medium.program(start, &[0; 4])?;
        }
        for unit in (0..units).rev() {
            let erase_count = self.voided_erase_count(unit)?;
            self.medium.erase(EraseUnit(unit))?;
            self.identify(unit, erase_count)?;
        }
        self.begin_fresh();
        self.write_empty()
    }

    /// The erases of a unit after one more, whose identity lacks its first bytes.
    fn voided_erase_count(&mut self, unit: u16) -> Outcome<u32, D> {
        let mut bytes = [0; IDENTITY_BYTES];
        let start = self.medium.part().start_of(EraseUnit(unit));
        self.medium.read(start, &mut bytes)?;
        bytes[..4].copy_from_slice(&super::format::MAGIC);
        let known = Identity::decode(&bytes).and_then(Result::ok);
        Ok(known.map_or(0, |identity| identity.erase_count.saturating_add(1)))
    }

    /// Mounts what the device holds.
    ///
    /// Cost: the identity of each block twice, its last page, and as many words as its number of pages has binary
    /// digits; after a cut, moves of pages may have to be completed.
    ///
    /// # Errors
    /// Names what is wrong with the image or the part; see [`MountError`].
    pub fn mount(device: D) -> Result<Self, MountError<D::Error>> {
        let mut tree = Self::unmounted(device)?;
        tree.read_identities()?;
        match tree.start() {
            Ok(true) => Ok(tree),
            Ok(false) => Err(MountError::NotFormatted),
            Err(error) => Err(error.in_mount(tree.medium.corruption())),
        }
    }

    /// Finds the root, and completes moves that were cut. Whether there is a root.
    fn start(&mut self) -> Outcome<bool, D> {
        let mut newest = None;
        for unit in 0..self.medium.part().unit_count {
            self.look_for_newest(unit, &mut newest)?;
        }
        let Some(newest) = newest else {
            return Ok(false);
        };
        (self.root, self.height) = (newest.page, newest.height);
        self.next = self.written_end(self.unit_of(newest.page))?;
        self.complete_moves()?;
        Ok(true)
    }

    fn unmounted(device: D) -> Result<Self, MountError<D::Error>> {
        let medium = Medium::new(device);
        let part = *medium.part();
        part.validate().map_err(MountError::Part)?;
        let program_unit = usize::from(part.program_unit_bytes);
        if program_unit > PROGRAM_UNIT_BYTES_MAX || part.reprogramming != Reprogramming::Unlimited {
            return Err(MountError::Unsuitable(
                "a tree takes words of up to 4 bytes that can be programmed repeatedly",
            ));
        }
        if !PAGE.is_multiple_of(4)
            || !LOG.is_multiple_of(4)
            || LOG > PAGE / 2
            || PAGE > 4096
            || !part.unit_size_bytes.is_multiple_of(PAGE as u32)
        {
            return Err(MountError::Unsuitable(
                "pages are of up to 4,096 bytes, half of them for a log, and fill an erase unit",
            ));
        }
        if part.unit_count < 3 || part.unit_size_bytes / (PAGE as u32) < 2 * MARGIN {
            return Err(MountError::Unsuitable("a tree takes three erase units of eight pages at least"));
        }
        if K == 0
            || K + V > 128
            || PAGE < IDENTITY_BYTES
            || capacity(Self::BODY, 1, 2, K, V) < 2
            || capacity(Self::BODY, 0, 2, K, V) < 2
        {
            return Err(MountError::Unsuitable("keys and values are too long for the page"));
        }
        Ok(MuTree { medium, root: 1, height: 1, sequence: 0, next: 1, taken: 0 })
    }

    fn read_identities(&mut self) -> Result<(), MountError<D::Error>> {
        let part = *self.medium.part();
        let mut known = 0;
        for unit in 0..part.unit_count {
            let mut bytes = [0; IDENTITY_BYTES];
            self.medium.read(part.start_of(EraseUnit(unit)), &mut bytes).map_err(|error| error.in_mount(None))?;
            if bytes[..4] == [0; 4] {
                return Err(MountError::NotFormatted);
            }
            let Some(identity) = Identity::decode(&bytes) else { continue };
            let identity = identity.map_err(|found| MountError::OtherVersion {
                found: u32::from(found),
                known: u32::from(FORMAT_VERSION),
            })?;
            let facts = [
                ("bytes in a key", u32::from(identity.key_bytes), K as u32),
                ("bytes in a value", identity.value_bytes.into(), V as u32),
                ("bytes in a page", identity.page_bytes.into(), PAGE as u32),
                ("erase units", identity.unit_count.into(), part.unit_count.into()),
                ("bytes in an erase unit", identity.unit_size_bytes, part.unit_size_bytes),
            ];
            if let Some((what, image, expected)) = facts.into_iter().find(|(_, image, expected)| image != expected) {
                return Err(MountError::WrongGeometry { what, image, expected });
            }
            self.taken = self.taken.max(identity.taken.min(part.unit_count));
            known += 1;
        }
        if known + 1 < part.unit_count { Err(MountError::NotFormatted) } else { Ok(()) }
    }

    /// Whether a unit has a whole identity.
    fn is_begun(&mut self, unit: u16) -> Outcome<bool, D> {
        let mut bytes = [0; IDENTITY_BYTES];
        let start = self.medium.part().start_of(EraseUnit(unit));
        self.medium.read(start, &mut bytes)?;
        Ok(matches!(Identity::decode(&bytes), Some(Ok(_))))
    }

    /// The page after the last one of a unit that has been written.
    fn written_end(&mut self, unit: u16) -> Outcome<u32, D> {
        let (mut written, mut erased) = (self.first_page(unit), self.pages_of(unit).end);
        while written < erased {
            let middle = written + (erased - written) / 2;
            match self.medium.read_u32(self.page_address(middle))? {
                u32::MAX => erased = middle,
                _ => written = middle + 1,
            }
        }
        Ok(written)
    }

    fn look_for_newest(&mut self, unit: u16, newest: &mut Option<Newest>) -> Outcome<(), D> {
        let end = self.written_end(unit)?;
        if end > self.first_page(unit) {
            self.taken = self.taken.max(unit + 1);
        }
        if !self.is_begun(unit)? {
            // Its erase was cut: nothing in it is live, and if that was a format's, it has what the format took away.
            return Ok(());
        }
        for page in (self.first_page(unit)..end).rev() {
            let mut bytes = [0; PAGE];
            self.medium.read(self.page_address(page), &mut bytes)?;
            let sequence = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            if bytes[6..10] != page_codes(&bytes[..Self::BODY]) || !(1..=HEIGHT_MAX).contains(&bytes[4]) {
                continue;
            }
            self.sequence = self.sequence.max(sequence);
            if bytes[5] & ROOT != 0 {
                if newest.as_ref().is_none_or(|newest| sequence > newest.sequence) {
                    *newest = Some(Newest { page, sequence, height: bytes[4] });
                }
                break;
            }
        }
        Ok(())
    }

    /// Continues moving pages if a cut left no block without live ones.
    fn complete_moves(&mut self) -> Outcome<(), D> {
        if self.taken < self.medium.part().unit_count {
            return Ok(());
        }
        match self.unit_without_live_pages() {
            Err(IndexError::Full) => {}
            found => return found.map(|_| ()),
        }
        match self.victim(self.current(), self.pages_left())? {
            Some(victim) => self.empty(victim),
            None => Ok(()),
        }
    }
}

const _: () = assert!(HEADER_BYTES.is_multiple_of(4));

#[cfg(test)]
mod tests {
    //! Moves that a cut interrupts are completed by the next mount, however few pages they leave: there is a block
    //! without live pages again, and the call can be made.

    extern crate std;

    use std::format;
    use std::vec::Vec;

    use norn_flash::Reprogramming;
    use norn_flash_sim::{NorSim, Tear, catalogue};

    use super::*;
    use norn_ordered_index::OrderedIndex;

    type Tree = MuTree<NorSim, 2, 3, 256>;

    fn update<D: Nor>(tree: &mut MuTree<D, 2, 3, 256>, key: [u8; 2], round: u16) -> Outcome<(), D> {
        tree.update(&key, &[round as u8, (round >> 8) as u8, 0])
    }

    /// A tree with the given number of keys, or as many as fit, and its keys.
    fn filled(most: usize, random: &mut fastrand::Rng) -> (Tree, Vec<[u8; 2]>) {
        let spec = catalogue::limited_test_part(6, 4096, 2, Reprogramming::Unlimited);
        let (mut tree, mut keys) = (Tree::format(NorSim::new(spec)).unwrap(), Vec::new());
        while keys.len() < most {
            let key = random.u16(..).to_be_bytes();
            match tree.insert(&key, &[0; 3]) {
                Ok(()) => keys.push(key),
                Err(IndexError::KeyExists) => {}
                Err(error) => {
                    assert_eq!(error, IndexError::Full);
                    break;
                }
            }
        }
        (tree, keys)
    }

    /// Operations between two cuts of an update.
    const STRIDE: u64 = 11;

    /// Cuts an update at some of its operations; how many cuts there were.
    fn cut_everywhere(tree: &Tree, key: [u8; 2], round: u16, random: &mut fastrand::Rng) -> u32 {
        let mut cuts = 0;
        for cut in (random.u64(0..STRIDE)..).step_by(STRIDE as usize) {
            let mut device = tree.device().clone();
            device.cut_power_after(cut, Tear::draw(random));
            let mut victim = Tree { medium: Medium::new(device), ..*tree };
            if update(&mut victim, key, round).is_ok() {
                return cuts;
            }
            let mut device = victim.into_device();
            device.power_on();
            let mut tree = Tree::mount(device).unwrap();
            cuts += 1;
            let context = format!("cut at {cut} of round {round}");
            assert!(tree.unit_without_live_pages().is_ok(), "moves go on {context}");
            update(&mut tree, key, round).unwrap_or_else(|error| panic!("{error} {context}"));
        }
        cuts
    }

    #[test]
    fn cut_moves_of_a_nearly_full_tree_are_completed() {
        let (mut moves, mut cuts, mut least) = (0, 0, u32::MAX);
        for seed in 0..16 {
            let mut random = fastrand::Rng::with_seed(seed);
            let (mut tree, keys) = filled(random.usize(600..1500), &mut random);
            for round in 0..400 {
                let (key, mut trial) = (*random.choice(&keys).unwrap(), tree.clone());
                let erases = trial.device().counters().erases;
                match update(&mut trial, key, round) {
                    Err(IndexError::Full) => break,
                    outcome => outcome.unwrap(),
                }
                if trial.device().counters().erases > erases {
                    least = least.min(trial.pages_left());
                    assert!(
                        least + 1 >= MARGIN,
                        "moves leave the margin, of which the update takes a page: {least} left"
                    );
                    if trial.pages_left() < MARGIN {
                        cuts += cut_everywhere(&tree, key, round, &mut random);
                        moves += 1;
                    }
                }
                tree = trial;
            }
        }
        std::println!("{cuts} cuts of {moves} updates that moved pages; at least {least} pages were left behind one");
        assert!(moves > 10 && least < MARGIN, "{moves} moves; {least} pages left");
    }
}
