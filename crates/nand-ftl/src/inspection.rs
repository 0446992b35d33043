//! What tools show of a part: pages decoded from bytes of any contents; what flash has of a device before a mount; and
//! of a device what each block is used for, and which pages count.

use core::ops::Range;

use norn_flash::{Block, Nand, NandPart, PageAddress, PageNumber};

use crate::checkpoint::Checkpoint;
use crate::counts::PageCounts;
use crate::error::{FtlError, MountError};
use crate::format::{
    CHECKED_TAG_BYTES, CHUNK_BASE, Codec, Content, FORMAT_BEGUN, HEADER_BYTES, Header, RUN_LENGTH_BYTES, Register,
    STREAMS, TABLE_BAD, TABLE_ENTRY_BYTES, TAG_BYTES,
};
use crate::ftl::Ftl;
use crate::ground::found::Written;
use crate::ground::memory::blocks::BlockState;
use crate::ground::replay::{Found, Replayed, replay};
use crate::layout::{Layout, Lba};
use crate::mount::unmounted;
use crate::recycle::Recycler;

/// Whose contents a page has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A logical page's.
    Logical(Lba),
    /// The checkpoint's: a chunk, by its number.
    Chunk(u32),
    /// It says that the part was being formatted.
    FormatBegun,
}

impl Owner {
    fn of(lba: u32) -> Self {
        match lba {
            FORMAT_BEGUN => Owner::FormatBegun,
            CHUNK_BASE.. => Owner::Chunk(lba - CHUNK_BASE),
            _ => Owner::Logical(Lba(lba)),
        }
    }
}

/// What the out-of-band area of a whole page says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTag {
    /// Whose contents it has.
    pub owner: Owner,
    /// Its place in the order of all programs.
    pub sequence: u64,
    /// The last eight bits of its block's count of erases.
    pub wear: u8,
    /// Whether bits of its data were wrong, and were corrected.
    pub is_corrected: bool,
}

/// What the bytes of a page are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageContent {
    /// A page whose codes are right.
    Whole(PageTag),
    /// Ones, except for a few bits.
    Erased,
    /// Anything else: torn, damaged or of another format.
    Unknown,
}

/// A field of the out-of-band area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Whose contents the page has.
    Lba,
    /// Its place in the order of all programs.
    Sequence,
    /// The wear of its block.
    Wear,
    /// The CRC-32.
    Check,
    /// The code of the word of this number.
    Code(u16),
}

/// What a page of the checkpoint says before its journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointHead {
    /// Logical pages of the device.
    pub logical_pages: u32,
    /// The journal has what was programmed after this program, and
    pub since: u64,
    /// up to this one.
    pub as_of: u64,
    /// The number of a page that does not count before it is programmed again.
    pub suspect: Option<u32>,
    /// The numbers of the next pages of open blocks.
    pub open: [Option<u32>; STREAMS],
    /// Runs of the journal.
    pub runs: u16,
    /// Trims of the journal.
    pub trims: u16,
}

/// A number in the journal or among the entries of a page of the checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointItem {
    /// The head of a run: its first page, and of how many pages it is.
    Run(PageNumber, u16),
    /// Of a page of a run: whose contents it has, if it counts.
    Program(PageNumber, Option<Owner>),
    /// Logical pages from one on, and how many, have no contents.
    Trim(Lba, u32),
    /// The page of a logical page, if it has one.
    Mapped(Lba, Option<PageNumber>),
    /// A block's erases, and whether it is usable.
    Erases(Block, u32, Usable),
}

/// Whether a block may be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usable {
    /// It may.
    Good,
    /// It has gone bad, or its maker marked it.
    Bad,
}

/// Decodes the pages of a part, whatever they hold.
#[derive(Clone, Copy, Debug)]
pub struct PageReader {
    part: NandPart,
    codec: Codec,
}

impl PageReader {
    /// For a part; `None` if its out-of-band area is too small for a block device.
    pub fn new(part: &NandPart) -> Option<Self> {
        Some(PageReader { part: *part, codec: Codec::new(part)? })
    }

    /// Corrects the data of a page with its out-of-band area, and says what it is.
    ///
    /// # Panics
    /// If `page` is shorter.
    pub fn decode(&self, page: &mut [u8]) -> PageContent {
        match self.codec.decode(page) {
            Content::Page { tag, register } => PageContent::Whole(PageTag {
                owner: Owner::of(tag.lba),
                sequence: tag.sequence,
                wear: tag.wear,
                is_corrected: register == Register::Corrected,
            }),
            Content::Blank => PageContent::Erased,
            Content::Garbage => PageContent::Unknown,
        }
    }

    /// Code words of a page.
    pub fn words(&self) -> u16 {
        self.codec.words() as u16
    }

    /// The columns of a field, from its first to its last one; the mark of bad blocks may be between them. No columns
    /// of a code word that a page does not have.
    pub fn columns_of(&self, field: Field) -> Range<u16> {
        let (word, from, bytes) = match field {
            Field::Lba => (0, 0, 3),
            Field::Sequence => (0, 3, 5),
            Field::Wear => (0, 8, 1),
            Field::Check => (0, CHECKED_TAG_BYTES, TAG_BYTES - CHECKED_TAG_BYTES),
            Field::Code(word) => (usize::from(word), Codec::code_at(word.into()), 2),
        };
        if word >= self.codec.words() {
            return 0..0;
        }
        let mut columns = self.codec.columns(word).skip(from).take(bytes);
        let first = columns.next().unwrap_or_default();
        first as u16..columns.last().unwrap_or(first) as u16 + 1
    }

    /// What the data of a page of the checkpoint says before its journal; `None` if it is none of this version.
    pub fn checkpoint_head(&self, data: &[u8]) -> Option<CheckpointHead> {
        let Header { logical_pages, since, as_of, suspect, open, runs, trims } = Header::decode(data)?;
        let suspect = suspect.map(|page| page.0);
        Some(CheckpointHead {
            logical_pages,
            since,
            as_of,
            suspect,
            open: open.map(|page| page.map(|page| page.0)),
            runs,
            trims,
        })
    }

    /// Calls `visit` with what is in the journal and the entries of a page of the checkpoint, each with its columns.
    /// What leaves its room is left out.
    pub fn visit_checkpoint(
        &self,
        (chunk, head): (u32, &CheckpointHead),
        data: &[u8],
        mut visit: impl FnMut(Range<u16>, CheckpointItem),
    ) {
        let layout = Layout::new(self.part, head.logical_pages);
        self.visit_journal(&layout, head, data, &mut visit);
        let number = |at: usize, bytes: usize| number(data, at, bytes);
        let (mut at, width) = (layout.chunk_at(), layout.width);
        for index in layout.entries_of_chunk(chunk) {
            let Some(page) = number(at, width) else { return };
            let page = Some(PageNumber(page)).filter(|page| page.0 < self.part.page_count());
            visit(at as u16..(at + width) as u16, CheckpointItem::Mapped(Lba(index), page));
            at += width;
        }
        for block in layout.blocks_of_chunk(chunk) {
            let Some(entry) = number(at, TABLE_ENTRY_BYTES) else { return };
            let usable = if entry & TABLE_BAD == 0 { Usable::Good } else { Usable::Bad };
            let item = CheckpointItem::Erases(block, entry & !TABLE_BAD, usable);
            visit(at as u16..(at + TABLE_ENTRY_BYTES) as u16, item);
            at += TABLE_ENTRY_BYTES;
        }
    }

    fn visit_journal(
        &self,
        layout: &Layout,
        head: &CheckpointHead,
        data: &[u8],
        visit: &mut impl FnMut(Range<u16>, CheckpointItem),
    ) {
        let (mut at, width, end) = (HEADER_BYTES, layout.width, layout.chunk_at());
        let number = |at: usize, bytes: usize| number(&data[..end], at, bytes);
        for _ in 0..head.runs {
            let (Some(first), Some(length)) = (number(at, width), number(at + width, RUN_LENGTH_BYTES)) else { return };
            let bytes = width + RUN_LENGTH_BYTES;
            visit(at as u16..(at + bytes) as u16, CheckpointItem::Run(PageNumber(first), length as u16));
            at += bytes;
            for page in first..first.saturating_add(length) {
                let Some(index) = number(at, width) else { return };
                let owner = (index < layout.entries()).then(|| Owner::of(layout.lba_of(index)));
                visit(at as u16..(at + width) as u16, CheckpointItem::Program(PageNumber(page), owner));
                at += width;
            }
        }
        for _ in 0..head.trims {
            let (Some(first), Some(count)) = (number(at, width), number(at + width, width)) else { return };
            visit(at as u16..(at + 2 * width) as u16, CheckpointItem::Trim(Lba(first), count));
            at += 2 * width;
        }
    }
}

/// A little-endian number of up to four bytes, if it is there.
fn number(data: &[u8], at: usize, bytes: usize) -> Option<u32> {
    let found = data.get(at..at + bytes)?;
    Some(found.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
}

/// A device as flash has it before a mount, which would program and erase: for those who look at an image.
///
/// Each logical page is where the format says that its contents are. The newest page of all, and a suspect, are taken
/// for the contents that they have: a mount programs them again before they count.
#[derive(Clone, Debug)]
pub struct OnFlash<D, M> {
    ftl: Ftl<D, M>,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> OnFlash<D, M> {
    /// Reads what flash has. Nothing is programmed or erased. Cost: the loads of a [mount](Ftl::mount).
    ///
    /// # Errors
    /// As [`Ftl::mount`].
    pub fn read(device: D, memory: M) -> Result<Self, MountError<D::Error>> {
        let Replayed { log, next, checkpoint, base, suspect } = replay(unmounted(device, memory, 0)?)?;
        let mut checkpoint_of_log = Checkpoint::new(log, next);
        checkpoint_of_log.repeat_trims();
        let mut name = |Written { page, tag }: Written| {
            if let Some(index) = checkpoint_of_log.log().layout().index_of(tag.lba) {
                checkpoint_of_log.log_mut().name(index, page);
            }
        };
        suspect.into_iter().for_each(&mut name);
        if checkpoint == Found::Newest {
            // The page of the checkpoint that it replaces may be the suspect.
            name(base);
        }
        Ok(OnFlash { ftl: Ftl::new(Recycler::new(checkpoint_of_log)) })
    }

    /// The device, to be asked where its pages are. No block of it is free or open: which ones are, a mount decides.
    pub fn device(&self) -> &Ftl<D, M> {
        &self.ftl
    }

    /// The pages of blocks that are not bad: all, those that count, and as free those that read as erased. A simulated
    /// device knows which blocks are erased: `is_erased` says so. Cost: a load for each page of the other blocks that
    /// does not count.
    ///
    /// # Errors
    /// [`FtlError::Device`].
    pub fn page_counts(&mut self, is_erased: impl Fn(&D, Block) -> bool) -> Result<PageCounts, FtlError<D::Error>> {
        let (part, mut counts) = (self.ftl.layout().part, self.ftl.page_counts());
        for block in part.blocks() {
            if self.ftl.block_use(block) == BlockUse::Bad {
                continue;
            }
            if is_erased(self.ftl.device(), block) {
                counts.free += u32::from(part.pages_per_block);
                continue;
            }
            for page in (0..part.pages_per_block).map(|page| block.page(page)) {
                let is_free = !self.ftl.is_live(page) && self.ftl.log_mut().load(page)? == Content::Blank;
                counts.free += u32::from(is_free);
            }
        }
        Ok(counts)
    }
}

/// What a device uses a block for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockUse {
    /// It was programmed, or is not known to be erased.
    Used,
    /// It is erased.
    Free,
    /// Pages are appended to it: this is the next one.
    Open(u16),
    /// It is not programmed or erased again.
    Bad,
}

/// For tools and tests.
impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Ftl<D, M> {
    /// What a block is used for.
    ///
    /// # Panics
    /// If the part has no such block.
    pub fn block_use(&self, block: Block) -> BlockUse {
        match self.memory().state(block) {
            BlockState::Used => BlockUse::Used,
            BlockState::Free => BlockUse::Free,
            BlockState::Bad => BlockUse::Bad,
            BlockState::Open => {
                let open = self.log().open().into_iter().flatten().find(|open| open.block == block);
                open.map_or(BlockUse::Used, |open| BlockUse::Open(open.next))
            }
        }
    }

    /// Pages of a block that count.
    ///
    /// # Panics
    /// If the part has no such block.
    pub fn live_pages(&self, block: Block) -> u16 {
        self.memory().live(block)
    }

    /// Whether a page counts: the map names it, for a logical page or for a chunk of the checkpoint.
    ///
    /// # Panics
    /// If the part has no such page.
    pub fn is_live(&self, page: PageAddress) -> bool {
        self.memory().is_live(self.layout().part.number_of(page))
    }

    /// The pages of the chunks of the checkpoint, in order.
    pub fn checkpoint_pages(&self) -> impl Iterator<Item = Option<PageAddress>> + '_ {
        let layout = self.layout();
        let page = move |chunk| self.memory().page(layout.index_of_chunk(chunk));
        (0..layout.chunks()).map(move |chunk| page(chunk).map(|page| layout.part.page_at(page)))
    }
}

#[cfg(test)]
mod tests {
    use norn_flash_sim::nand_catalogue::test_part;
    use norn_flash_sim::{NandSim, Tear};
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::FtlConfig;

    type Device = Ftl<NandSim, Vec<u8>>;

    const CUT_PAGES: u32 = 56;

    fn memory(part: &NandPart) -> Vec<u8> {
        vec![0; Device::memory_bytes(part, CUT_PAGES)]
    }

    /// What the cells of a page hold, and their data after correction.
    fn decoded(part: &NandSim, page: PageAddress) -> (PageContent, Vec<u8>) {
        let reader = PageReader::new(&part.part()).unwrap();
        let mut bytes = part.peek(page);
        let content = reader.decode(&mut bytes);
        bytes.truncate(part.part().page_bytes.into());
        (content, bytes)
    }

    /// The newest page of a logical page, among all that can be read.
    fn newest(part: &NandSim, lba: Lba) -> Option<PageAddress> {
        let sequence = |page: &PageAddress| match decoded(part, *page).0 {
            PageContent::Whole(tag) if tag.owner == Owner::Logical(lba) => Some(tag.sequence),
            _ => None,
        };
        part.pages().filter_map(|page| Some((sequence(&page)?, page))).max().map(|(_, page)| page)
    }

    /// What flash has agrees with the cells, and with what a mount reads. Returns how many logical pages the mount
    /// moves.
    fn check_flash(part: &NandSim, what: &str) -> usize {
        let mut flash = OnFlash::read(part.clone(), memory(&part.part())).unwrap();
        let mut mounted = Device::mount(part.clone(), memory(&part.part())).unwrap();
        let counts = flash.page_counts(|part, block| !part.holds_pages(block)).unwrap();
        assert_eq!(flash.page_counts(|_, _| false).unwrap(), counts, "{what}");
        assert_eq!(flash.device().device().operations(), part.operations(), "{what}: a look programs nothing");
        let (mut moved, mut live) = (0, 0);
        for lba in (0..CUT_PAGES).map(Lba) {
            let (page, mut wanted) = (flash.device().page_of(lba).unwrap(), vec![1; 256]);
            mounted.read(lba, &mut wanted).unwrap();
            let found = page.map_or_else(
                || vec![0; 256],
                |page| {
                    let (content, data) = decoded(part, page);
                    let is_its = matches!(content, PageContent::Whole(tag) if tag.owner == Owner::Logical(lba));
                    assert!(is_its && flash.device().is_live(page), "{what}: {lba:?} in {page}: {content:?}");
                    data
                },
            );
            assert!(found == wanted, "{what}: {lba:?} in {page:?}");
            moved += usize::from(page != mounted.page_of(lba).unwrap());
            live += u32::from(page.is_some());
        }
        let reader = PageReader::new(&part.part()).unwrap();
        // Which page of the checkpoint a page is, and up to which program.
        let checkpoint_page = |page| match decoded(part, page) {
            (PageContent::Whole(PageTag { owner: Owner::Chunk(chunk), .. }), data) => {
                reader.checkpoint_head(&data).map(|head| (head.as_of, chunk))
            }
            _ => None,
        };
        let newest = part.pages().filter_map(checkpoint_page).max();
        let mut named = Vec::new();
        for (chunk, page) in (0..).zip(flash.device().checkpoint_pages()) {
            let found = page.and_then(checkpoint_page);
            assert_eq!(found.map(|(_, chunk)| chunk), Some(chunk), "{what}: in {page:?}");
            named.extend(found);
            live += 1;
        }
        assert_eq!(named.into_iter().max(), newest, "{what}: the newest page of the checkpoint counts");
        let erased = part.pages().filter(|&page| decoded(part, page).0 == PageContent::Erased).count() as u32;
        assert_eq!((counts.live, counts.free, counts.total), (live, erased, part.part().page_count()), "{what}");
        moved
    }

    /// An image showed its pages where a mount would put them.
    #[test]
    fn what_flash_has_is_what_its_pages_say_whatever_a_mount_makes_of_it() {
        let part = test_part(20, 8, 256);
        let config = FtlConfig { logical_pages: CUT_PAGES };
        let whole = Device::format(NandSim::new(part.clone()), memory(&part.part), config).unwrap();
        let (mut moved, mut trimmed) = (0, 0);
        for seed in 0..40 {
            let (mut random, has_trims) = (fastrand::Rng::with_seed(seed), seed % 2 == 0);
            let mut ftl = whole.clone();
            let shapes = Tear::allowed(seed);
            // The unstable shape reads as one thing here and as another there.
            let tear = shapes[[0, 1, 2, 3, 4, 6, 7, 9, 10][random.usize(0..9)]];
            ftl.device_mut().cut_power_after(random.u64(50..900), tear);
            loop {
                let lba = Lba(random.u32(0..CUT_PAGES));
                let done = match random.u8(0..8) {
                    0 if has_trims => ftl.trim(lba, 1),
                    1 if has_trims => ftl.flush(),
                    _ => ftl.write(lba, &[random.u8(1..); 256]),
                };
                if done.is_err() {
                    break;
                }
            }
            let mut sim = ftl.into_device();
            sim.power_on();
            moved += check_flash(&sim, &std::format!("seed {seed}, {tear:?}"));
            let flash = OnFlash::read(sim.clone(), memory(&part.part)).unwrap();
            for lba in (0..CUT_PAGES).map(Lba) {
                let (page, newest) = (flash.device().page_of(lba).unwrap(), newest(&sim, lba));
                assert!(page == newest || page.is_none() && has_trims, "seed {seed}: {lba:?} in {page:?}, {newest:?}");
                trimmed += usize::from(page != newest);
            }
            // Cuts of the mount, one after the other.
            for cut in 0..3 {
                sim.cut_power_after(random.u64(0..6), tear);
                let _ = Ftl::mount(&mut sim, memory(&part.part));
                sim.power_on();
                moved += check_flash(&sim, &std::format!("seed {seed}, {tear:?}, cut {cut} of a mount"));
            }
        }
        assert!(moved > 200 && trimmed > 20, "{moved} pages moved, {trimmed} trimmed");
    }

    /// What the pages on flash say agrees with the map in memory, and the checkpoint on flash with both.
    #[test]
    fn pages_are_what_the_map_says() {
        let (part, logical_pages) = (test_part(24, 8, 256), 90);
        let reader = PageReader::new(&part.part).unwrap();
        let memory = vec![0; Ftl::<NandSim, Vec<u8>>::memory_bytes(&part.part, logical_pages)];
        let mut ftl = Ftl::format(NandSim::new(part), memory, FtlConfig { logical_pages }).unwrap();
        let mut random = fastrand::Rng::with_seed(5);
        for number in 0..600 {
            ftl.write(Lba(random.u32(0..60)), &[number as u8; 256]).unwrap();
        }
        ftl.trim(Lba(3), 2).unwrap();
        ftl.flush().unwrap();
        let (mut live, mut items, mut free) = (0, 0, 0);
        for page in ftl.device().pages() {
            let mut bytes = ftl.device().peek(page);
            let content = reader.decode(&mut bytes);
            if let BlockUse::Open(next) = ftl.block_use(page.block) {
                assert_eq!(content == PageContent::Erased, page.page >= next, "{page}");
            }
            free += u32::from(ftl.block_use(page.block) == BlockUse::Free);
            let PageContent::Whole(tag) = content else {
                assert!(!ftl.is_live(page), "{page}");
                continue;
            };
            let lba = reader.columns_of(Field::Lba);
            assert_eq!(lba.len(), 3);
            let named = number(&bytes, lba.start.into(), 3).map(Owner::of);
            assert_eq!(named, Some(tag.owner), "{page}");
            let place = match tag.owner {
                Owner::Logical(lba) => ftl.page_of(lba).unwrap(),
                Owner::Chunk(chunk) => ftl.checkpoint_pages().nth(chunk as usize).unwrap(),
                Owner::FormatBegun => None,
            };
            assert_eq!(place == Some(page), ftl.is_live(page), "{page}: {tag:?}");
            live += u32::from(place == Some(page));
            let Owner::Chunk(chunk) = tag.owner else { continue };
            let head = reader.checkpoint_head(&bytes).unwrap();
            assert_eq!(head.logical_pages, logical_pages);
            let (mut programs, mut trims) = (0, 0);
            reader.visit_checkpoint((chunk, &head), &bytes, |columns, item| {
                items += 1;
                assert!(!columns.is_empty() && columns.end <= 256, "{columns:?}");
                match item {
                    CheckpointItem::Run(_, length) => programs += u32::from(length),
                    CheckpointItem::Program(..) => programs -= 1,
                    CheckpointItem::Trim(first, count) => {
                        trims += 1;
                        assert_eq!((first, count), (Lba(3), 2));
                    }
                    CheckpointItem::Mapped(lba, Some(_)) => assert!(lba.0 < 60, "{lba:?}"),
                    CheckpointItem::Mapped(_, None) => {}
                    CheckpointItem::Erases(block, erases, usable) => {
                        assert!(
                            usable == Usable::Good
                                && erases <= ftl.erase_counts().nth(block.0.into()).flatten().unwrap()
                        );
                    }
                }
            });
            assert_eq!((programs, trims), (0, u32::from(head.trims)), "{page}");
        }
        assert_eq!(live, ftl.page_counts().live);
        assert!(items > 200 && free > 0, "{items} items, {free} free pages");
        let counted: u32 = (0..24).map(|block| u32::from(ftl.live_pages(Block(block)))).sum();
        assert_eq!(counted, live);
    }

    #[test]
    fn bytes_of_anything_are_decoded() {
        let part = test_part(24, 8, 256).part;
        let reader = PageReader::new(&part).unwrap();
        let mut random = fastrand::Rng::with_seed(6);
        let (mut runs, mut programs, mut trims, mut mapped, mut erases) = (0, 0, 0, 0, 0);
        for _ in 0..2000 {
            let mut bytes = vec![0xFF; part.register_bytes().into()];
            let from = random.usize(0..bytes.len());
            random.fill(&mut bytes[from..]);
            bytes[..4].copy_from_slice(b"NFT2");
            // Other sequence numbers make no head.
            let as_of = random.u64(..1 << 40);
            bytes[8..16].copy_from_slice(&random.u64(..=as_of).to_le_bytes());
            bytes[16..24].copy_from_slice(&as_of.to_le_bytes());
            if random.bool() {
                bytes[4..8].copy_from_slice(&random.u32(..200).to_le_bytes());
            }
            // Of random numbers, the first run leaves no room for others, or for trims.
            if random.bool() {
                bytes[28..30].copy_from_slice(&random.u16(..3).to_le_bytes());
                let length = HEADER_BYTES + Layout::new(part, 100).width;
                bytes[length..length + 2].copy_from_slice(&random.u16(..9).to_le_bytes());
            }
            let head = reader.checkpoint_head(&bytes).unwrap();
            reader.visit_checkpoint((random.u32(0..40), &head), &bytes, |columns, item| {
                assert!(!columns.is_empty() && columns.end <= 256, "{columns:?}");
                *match item {
                    CheckpointItem::Run(..) => &mut runs,
                    CheckpointItem::Program(..) => &mut programs,
                    CheckpointItem::Trim(..) => &mut trims,
                    CheckpointItem::Mapped(..) => &mut mapped,
                    CheckpointItem::Erases(..) => &mut erases,
                } += 1;
            });
        }
        let visits: [u32; 5] = [runs, programs, trims, mapped, erases];
        assert!(visits.iter().all(|&visits| visits > 100), "{visits:?}");
        assert_eq!(reader.columns_of(Field::Code(reader.words())), 0..0);
    }
}
