//! What flash holds, found while mounting after a power cut of any kind: the steps 1 to 4 of [mounting](crate::mount).

use norn_flash::{Block, Nand, PageNumber};

use super::found::{CheckpointPage, SEQUENCE_GAP, Written, is_original};
use super::log::Log;
use super::memory::Memory;
use super::memory::blocks::{BlockState, Flag};
use super::memory::journal::Event;
use super::pages::Pages;
use crate::checkpoint::Continuation;
use crate::error::{MountError, MountRefusal, Outcome, memory_too_small, mount_error};
use crate::format::{CHUNK_BASE, Content, FORMAT_BEGUN, FORMAT_VERSION, Header, checkpoint_version};
use crate::layout::{Layout, logical_pages_limit};

/// How often the newest page of the checkpoint is looked for, should it read differently each time.
const BASE_ATTEMPTS: u32 = 64;

/// What flash holds.
#[derive(Debug)]
pub(crate) struct Replayed<D, M> {
    /// No block of it is free or open.
    pub log: Log<D, M>,
    pub next: Continuation,
    pub checkpoint: Found,
    /// The newest page of the checkpoint.
    pub base: Written,
    /// A page that does not count yet: the newest of all, or the one that the checkpoint names so.
    pub suspect: Option<Written>,
}

/// The checkpoint on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Its newest page was whole before others were programmed.
    Older,
    /// Its newest page is the newest of all, and the suspect. Its trims, which are in the journal, do not count yet.
    Newest,
    /// A page of it is missing: the map is from all pages of the part.
    Missing,
}

/// The newest page of the checkpoint, and how old it is.
#[derive(Clone, Copy, Debug)]
struct Base {
    page: CheckpointPage,
    /// The newest page that is whole.
    newest: u64,
    /// The newest page that says the same: the page itself, a copy of it, or what was programmed when its block failed.
    again: Written,
    /// The newest such page before that one.
    before: Written,
}

/// Reads what flash holds.
pub(crate) fn replay<D, M>(pages: Pages<D, M>) -> Result<Replayed<D, M>, MountError<D::Error>>
where
    D: Nand,
    M: AsRef<[u8]> + AsMut<[u8]>,
{
    let mut pages = pages;
    pages.medium.restart().map_err(mount_error)?;
    find_blocks(&mut pages).map_err(mount_error)?;
    let base = load_base(&mut pages)?;
    let pages = with_logical_pages(pages, base.page.header.logical_pages)?;
    let part = pages.layout().part;
    let mut replay = Replay { pages, base, newest: base.newest, held: None, next: base.continuation() };
    let checkpoint = replay.make_map().map_err(mount_error)?;
    let Replay { pages, newest, held, next, .. } = replay;
    let is_mark = |block| pages.memory.has(block, Flag::Formatting) && pages.memory.state(block) != BlockState::Bad;
    if part.blocks().any(is_mark) {
        return Err(MountError::NotFormatted);
    }
    // A page that was whole once in this mount has a lower number than all that follow, if it is whole again or not.
    let highest = part.blocks().map(|block| pages.memory.opened(block)).fold(newest, u64::max);
    let log = Log::new(pages, highest + SEQUENCE_GAP);
    Ok(Replayed { log, next, checkpoint, base: base.page.written, suspect: held })
}

/// Finds out when each block was opened (step 1).
fn find_blocks<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(pages: &mut Pages<D, M>) -> Outcome<(), D> {
    let part = pages.layout().part;
    for block in part.blocks() {
        // If a page cannot be read, the next pages also show when the block was opened, or a little later.
        for page in 0..part.pages_per_block {
            match pages.load(block.page(page))? {
                Content::Page { tag, .. } => {
                    pages.memory.set_opened(block, tag.sequence);
                    pages.memory.set_erases(block, u32::from(tag.wear));
                    pages.memory.clear(block, Flag::Torn);
                    if tag.lba == FORMAT_BEGUN {
                        pages.memory.set(block, Flag::Formatting);
                    }
                    break;
                }
                Content::Blank => break,
                Content::Garbage => pages.memory.set(block, Flag::Torn),
            }
        }
    }
    Ok(())
}

/// Loads the newest page of the checkpoint (step 2).
fn load_base<D, M>(pages: &mut Pages<D, M>) -> Result<Base, MountError<D::Error>>
where
    D: Nand,
    M: AsRef<[u8]> + AsMut<[u8]>,
{
    for _ in 0..BASE_ATTEMPTS {
        let base = find_base(pages)?;
        let page = base.page.written.page;
        if let Some(page) = pages.load_checkpoint(page).map_err(mount_error)? {
            return Ok(Base { page, ..base });
        }
    }
    Err(MountError::NotFormatted)
}

/// Finds a page of the checkpoint that was not copied, in the newest block that has one, and from there the newest.
fn find_base<D, M>(pages: &mut Pages<D, M>) -> Result<Base, MountError<D::Error>>
where
    D: Nand,
    M: AsRef<[u8]> + AsMut<[u8]>,
{
    let (mut before, mut found) = (u64::MAX, None);
    while let Some(block) = newest_block_before(&pages.memory, before) {
        before = pages.memory.opened(block);
        look_for_base(pages, block, 0, &mut found)?;
        if found.is_some_and(|found: Base| is_original(&found.page.written, &found.page.header)) {
            break;
        }
    }
    let first = found.ok_or(MountError::NotFormatted)?;
    for block in pages.layout().part.blocks() {
        if let Some(from) = first.page.tail_of(&pages.memory, block) {
            look_for_base(pages, block, from, &mut found)?;
        }
    }
    Ok(found.unwrap_or(first))
}

fn newest_block_before<M: AsRef<[u8]> + AsMut<[u8]>>(memory: &Memory<M>, sequence: u64) -> Option<Block> {
    let earlier = |block: &Block| (1..sequence).contains(&memory.opened(*block));
    memory.layout().part.blocks().filter(earlier).max_by_key(|&block| memory.opened(block))
}

/// Looks for a better page of the checkpoint in a block, from a page on.
fn look_for_base<D, M>(
    pages: &mut Pages<D, M>,
    block: Block,
    from: u16,
    found: &mut Option<Base>,
) -> Result<(), MountError<D::Error>>
where
    D: Nand,
    M: AsRef<[u8]> + AsMut<[u8]>,
{
    let mut newest = found.map_or(0, |found| found.newest);
    for page in from..pages.layout().part.pages_per_block {
        let page = block.page(page);
        let tag = match pages.load(page).map_err(mount_error)? {
            Content::Page { tag, .. } => tag,
            Content::Blank => break,
            Content::Garbage => continue,
        };
        newest = newest.max(tag.sequence);
        if tag.lba < CHUNK_BASE {
            continue;
        }
        match (Header::decode(pages.memory.data()), checkpoint_version(pages.memory.data())) {
            (Some(header), _) if !pages.has_chunk(tag, &header) => {}
            (Some(header), _) => {
                let page = CheckpointPage { written: Written { page, tag }, header };
                match found {
                    Some(found) if page.says_the_same_as(&found.page) => found.add(page),
                    Some(found) if page.header.as_of <= found.page.header.as_of => {}
                    _ => *found = Some(Base { page, newest, again: page.written, before: page.written }),
                }
            }
            (None, Some(version)) if version != FORMAT_VERSION => {
                let (found, known) = (u32::from(version), u32::from(FORMAT_VERSION));
                return Err(MountError::OtherVersion { found, known });
            }
            (None, _) => {}
        }
    }
    if let Some(found) = found {
        found.newest = found.newest.max(newest);
    }
    Ok(())
}

/// Continues with the number of logical pages that was found.
fn with_logical_pages<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>>(
    pages: Pages<D, M>,
    logical_pages: u32,
) -> Result<Pages<D, M>, MountError<D::Error>> {
    let part = pages.layout().part;
    let max = logical_pages_limit(&part);
    if logical_pages > max {
        return Err(MountError::Refused(MountRefusal::TooLarge { logical_pages, max }));
    }
    let Pages { medium, memory } = pages;
    let layout = Layout::new(part, logical_pages);
    let given = memory.len();
    let memory = memory.with_layout(layout).ok_or(memory_too_small(layout.memory_bytes(), given))?;
    Ok(Pages::new(medium, memory))
}

impl Base {
    /// Whether it is the newest page of all, so that what it says is not certain: its program may have been cut.
    fn is_newest(&self) -> bool {
        self.again.tag.sequence == self.newest && is_original(&self.again, &self.page.header)
    }

    /// The newest page that says what it says, and whose program has not been cut.
    fn certain(&self) -> Written {
        if self.again.tag.sequence == self.newest { self.before } else { self.again }
    }

    /// Takes account of a page that says the same: the one that was programmed first stays its page.
    fn add(&mut self, page: CheckpointPage) {
        let sequence = page.written.tag.sequence;
        if sequence > self.again.tag.sequence {
            (self.before, self.again) = (self.again, page.written);
        } else if sequence > self.before.tag.sequence || self.before == self.again {
            self.before = page.written;
        }
        if sequence < self.page.written.tag.sequence {
            self.page = page;
        }
    }

    fn chunk(&self) -> u32 {
        self.page.written.tag.lba - CHUNK_BASE
    }

    /// Whether the suspect that it names is the page that it replaced: nobody needs that one if the base is certain.
    fn names_what_it_replaced(&self, named: Option<Written>) -> bool {
        self.page.header.suspect.is_some() && named.is_some_and(|named| named.tag.lba == self.page.written.tag.lba)
    }

    /// The next page replaces it.
    fn continuation(&self) -> Continuation {
        Continuation { chunk: self.chunk(), since: self.page.header.since }
    }
}

/// How much of a page of the checkpoint is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Take {
    /// What it says of the map where nothing newer is known.
    Map,
    /// And of blocks.
    State,
    /// And its journal, which the next page is to have.
    Journal,
    /// And its journal; but nothing that it says of trims.
    JournalWithoutTrims,
}

/// Where the page with the chunk of the base stands that precedes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The base replaces it: it is newer than all other pages of the checkpoint.
    Replaced,
    /// The others have followed it.
    RoundBefore,
}

/// Pages of a known number, and their newest page of the checkpoint.
struct Replay<D, M> {
    pages: Pages<D, M>,
    base: Base,
    /// The highest number of a page that is whole.
    newest: u64,
    /// The newest page so far, which does not count yet.
    held: Option<Written>,
    next: Continuation,
}

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>> Replay<D, M> {
    fn memory(&mut self) -> &mut Memory<M> {
        &mut self.pages.memory
    }

    /// Makes the map from the checkpoint and its tail, or else from all pages. The base is in the buffer.
    fn make_map(&mut self) -> Outcome<Found, D> {
        let found = match self.replay_checkpoint(self.base_take())? {
            Some(found) => found,
            None => self.replay_again()?,
        };
        self.memory().settle_map();
        if let Some(held) = self.held {
            self.drop_stale_entry(held)?;
        }
        self.drop_overwritten_entries();
        self.memory().recount();
        self.memory().count_blocks();
        Ok(found)
    }

    fn base_take(&self) -> Take {
        let used = self.pages.memory.buffered_journal_bytes(&self.base.page.header);
        match self.base.is_newest() {
            true => Take::JournalWithoutTrims,
            false if 2 * used < self.pages.layout().journal_bytes => Take::Journal,
            false => Take::State,
        }
    }

    /// The tail had more pages than the journal, or a page is missing: leaves the base as it is, or does without it.
    fn replay_again(&mut self) -> Outcome<Found, D> {
        self.forget();
        if self.pages.load_checkpoint(self.base.page.written.page)?.is_some()
            && let Some(found) = self.replay_checkpoint(Take::State)?
        {
            return Ok(found);
        }
        self.forget();
        self.scan()
    }

    fn forget(&mut self) {
        self.memory().forget_map();
        self.memory().clear_journal();
        (self.held, self.next) = (None, self.base.continuation());
    }

    /// Takes the base, the tail and the other pages of the checkpoint (steps 3 and 4). `None` if one is missing.
    fn replay_checkpoint(&mut self, take: Take) -> Outcome<Option<Found>, D> {
        let base = self.base;
        if self.take(&base.page, take).is_none() || self.replay_tail(take)?.is_none() {
            return Ok(None);
        }
        let is_newest = take == Take::JournalWithoutTrims && self.held.is_none();
        if !is_newest && self.count(base.certain())?.is_none() {
            return Ok(None);
        }
        if take == Take::State {
            let chunk = (base.chunk() + 1) % self.pages.layout().chunks();
            self.next = Continuation { chunk, since: base.page.header.as_of };
        }
        if let Some(named) = base.page.header.suspect {
            self.hold_named(named)?;
        } else if is_newest {
            self.held = Some(base.again);
        }
        let mut copy = self.held.take_if(|held| held.tag.lba >= CHUNK_BASE);
        if !is_newest && base.names_what_it_replaced(copy) {
            copy = None;
        }
        if is_newest {
            self.take_before_base(Order::Replaced)?;
        }
        let whole = self.take_older(copy)?.is_some();
        if is_newest {
            self.take_before_base(Order::RoundBefore)?;
            self.keep_suspect()?;
        } else {
            self.keep_attempts();
        }
        Ok(whole.then_some(if is_newest { Found::Newest } else { Found::Older }))
    }

    /// Takes what the buffered page of the checkpoint says. `None` if its journal does not fit it.
    fn take(&mut self, page: &CheckpointPage, take: Take) -> Option<()> {
        let layout = *self.pages.layout();
        let chunk = page.written.tag.lba.checked_sub(CHUNK_BASE).filter(|&chunk| chunk < layout.chunks())?;
        let trims = take != Take::JournalWithoutTrims;
        let is_kept = matches!(take, Take::Journal | Take::JournalWithoutTrims);
        let set = |memory: &mut Memory<M>, index, page: Option<_>| {
            if memory.is_unknown(index) && (page.is_some() || trims) {
                memory.set_entry(index, page);
            }
        };
        // The page before one that does not count yet remains live.
        if trims {
            set(self.memory(), layout.index_of_chunk(chunk), Some(layout.part.number_of(page.written.page)));
        }
        let mut fits = true;
        self.memory().visit_buffered_journal(&page.header, |memory, event| match event {
            Event::Program { page, index } => {
                let index = (index < layout.entries()).then_some(index);
                if let Some(index) = index {
                    set(memory, index, Some(page));
                }
                fits &= !is_kept || memory.note_program(page, index.unwrap_or(u32::MAX));
            }
            Event::Trim { first, count } => {
                let end = first.saturating_add(count).min(layout.logical_pages);
                (first..end).for_each(|index| set(memory, index, None));
                fits &= !is_kept || memory.note_trim(first, end.saturating_sub(first));
            }
        })?;
        for (number, index) in (0..).zip(layout.entries_of_chunk(chunk)) {
            let entry = self.memory().buffered_entry(number);
            set(self.memory(), index, entry);
        }
        if take != Take::Map {
            self.memory().blocks_from_buffer(chunk);
        }
        fits.then_some(())
    }

    /// Makes the map name the newest version of each page that was programmed later than the base says, except the
    /// newest of all. `None` if they are more than a journal has.
    fn replay_tail(&mut self, take: Take) -> Outcome<Option<()>, D> {
        let part = self.pages.layout().part;
        let base = self.base.page;
        for block in part.blocks() {
            let Some(from) = base.tail_of(&self.pages.memory, block) else { continue };
            for page in from..part.pages_per_block {
                let page = block.page(page);
                let tag = match self.pages.load(page)? {
                    Content::Page { tag, .. } => tag,
                    Content::Blank => break,
                    Content::Garbage => continue,
                };
                if tag.sequence <= base.header.as_of || page == base.written.page {
                    continue;
                }
                self.newest = self.newest.max(tag.sequence);
                let is_checkpoint = tag.lba >= CHUNK_BASE;
                let header = Header::decode(self.pages.memory.data()).filter(|_| is_checkpoint);
                if header.is_some_and(|header| header.as_of > base.header.as_of) {
                    // It was not whole a moment ago: its program was cut, and it never counts.
                    continue;
                }
                if take == Take::JournalWithoutTrims && tag.sequence == self.base.again.tag.sequence {
                    // The page that is written next replaces it, too.
                    continue;
                }
                // After a page that names a suspect, there are attempts to program that again, until another page
                // follows.
                if base.header.suspect.is_none() && self.hold(Written { page, tag })?.is_none() {
                    return Ok(None);
                }
            }
        }
        match self.held {
            Some(held) if held.tag.sequence < base.written.tag.sequence => {
                self.held = None;
                self.count(held)
            }
            _ => Ok(Some(())),
        }
    }

    /// Holds a page back if it is the newest so far; the other one counts.
    fn hold(&mut self, page: Written) -> Outcome<Option<()>, D> {
        match self.held {
            Some(held) if held.tag.sequence > page.tag.sequence => self.count(page),
            held => {
                self.held = Some(page);
                held.map_or(Ok(Some(())), |held| self.count(held))
            }
        }
    }

    /// Makes the map name a page of the tail, unless another of the tail is newer. `None` if the journal has no room.
    fn count(&mut self, written: Written) -> Outcome<Option<()>, D> {
        let Written { page, tag } = written;
        let layout = *self.pages.layout();
        let Some(index) = layout.index_of(tag.lba) else { return Ok(Some(())) };
        let current = self.memory().page(index);
        let is_recent = current.is_some_and(|current| self.pages.memory.journaled(current) == Some(index));
        let number = layout.part.number_of(page);
        if is_recent && self.pages.sequence_at(index)?.is_some_and(|current| current > tag.sequence) {
            // A gap would make two runs of one.
            return Ok(self.memory().note_program(number, u32::MAX).then_some(()));
        }
        self.memory().set_entry(index, Some(number));
        Ok(self.memory().note_program(number, index).then_some(()))
    }

    /// Holds back the page that the base names as one that does not count yet.
    fn hold_named(&mut self, number: PageNumber) -> Outcome<(), D> {
        let part = self.pages.layout().part;
        if number.0 >= part.page_count() {
            return Ok(());
        }
        let page = part.page_at(number);
        if let Content::Page { tag, .. } = self.pages.load(page)? {
            self.held = Some(Written { page, tag });
        }
        Ok(())
    }

    /// Takes the other pages of the checkpoint, from the newest on. `None` if one is missing. Should the newest page of
    /// all be a `copy` of one, or of the base, it counts if that one has been erased. Else it is the suspect: the erase
    /// of the other may have begun, so that it reads differently later.
    fn take_older(&mut self, copy: Option<Written>) -> Outcome<Option<()>, D> {
        let layout = *self.pages.layout();
        let (mut chunk, mut since) = (self.base.chunk(), self.base.page.header.since);
        self.held = self.held.or(copy.filter(|copy| copy.tag.lba == CHUNK_BASE + chunk));
        for _ in 1..layout.chunks() {
            chunk = (chunk + layout.chunks() - 1) % layout.chunks();
            let copy = copy.filter(|copy| copy.tag.lba == CHUNK_BASE + chunk);
            let mut found = self.load_chunk(chunk, since)?;
            if let (None, Some(copy)) = (found, copy) {
                self.count(copy)?;
                found = self.load_chunk(chunk, since)?;
            } else {
                self.held = self.held.or(copy);
            }
            let Some(page) = found else { return Ok(None) };
            if self.take(&page, Take::State).is_none() {
                return Ok(None);
            }
            since = page.header.since;
        }
        Ok(Some(()))
    }

    /// Takes the page before a base that may not be whole at the next mount, which would take it then: what the base
    /// alone says is trimmed is as this page says. `order` says which page that is.
    fn take_before_base(&mut self, order: Order) -> Outcome<(), D> {
        let (layout, base) = (*self.pages.layout(), self.base);
        let Some(number) = self.memory().page(layout.index_of_chunk(base.chunk())) else { return Ok(()) };
        let Some(page) = self.pages.load_checkpoint(layout.part.page_at(number))? else { return Ok(()) };
        let is_replaced = page.header.since == base.page.header.since;
        if page.written.tag.lba == base.page.written.tag.lba && is_replaced == (order == Order::Replaced) {
            // One that cannot be taken is not the base of a later mount.
            let _ = self.take(&page, Take::Map);
        }
        Ok(())
    }

    /// Keeps the block of the suspect that the page names which the base replaces or follows. Should the base fade, the
    /// suspect does not count yet.
    fn keep_suspect(&mut self) -> Outcome<(), D> {
        let (layout, chunk, since) = (*self.pages.layout(), self.base.chunk(), self.base.page.header.since);
        for before in [chunk, (chunk + layout.chunks() - 1) % layout.chunks()] {
            let Some(number) = self.memory().page(layout.index_of_chunk(before)) else { continue };
            let Some(page) = self.pages.load_checkpoint(layout.part.page_at(number))? else { continue };
            let is_before = since == if before == chunk { page.header.since } else { page.header.as_of };
            if let Some(suspect) = page.header.suspect.filter(|page| is_before && page.0 < layout.part.page_count()) {
                self.memory().set(layout.part.page_at(suspect).block, Flag::Locked);
            }
        }
        Ok(())
    }

    /// Keeps the blocks that a mount opened which was cut. Its last page of the checkpoint may read as whole at a later
    /// mount, though it does not now: it has what is in these blocks.
    fn keep_attempts(&mut self) {
        let base = self.base.page;
        for block in self.pages.layout().part.blocks() {
            if base.header.suspect.is_some() && self.pages.memory.opened(block) > base.written.tag.sequence {
                self.memory().set(block, Flag::Locked);
            }
        }
    }

    /// Loads the page of the checkpoint with a chunk, which takes account of programs up to `as_of`.
    fn load_chunk(&mut self, chunk: u32, as_of: u64) -> Outcome<Option<CheckpointPage>, D> {
        let layout = *self.pages.layout();
        let Some(number) = self.memory().page(layout.index_of_chunk(chunk)) else { return Ok(None) };
        let page = self.pages.load_checkpoint(layout.part.page_at(number))?;
        Ok(page.filter(|page| {
            let header = page.header;
            let is_chunk = page.written.tag.lba == CHUNK_BASE + chunk;
            is_chunk && header.as_of == as_of && header.logical_pages == layout.logical_pages
        }))
    }

    /// Makes the map from all pages that are whole. The journal remains empty, and no page of the checkpoint counts.
    fn scan(&mut self) -> Outcome<Found, D> {
        let layout = *self.pages.layout();
        for block in layout.part.blocks() {
            for page in 0..layout.part.pages_per_block {
                let page = block.page(page);
                let tag = match self.pages.load(page)? {
                    Content::Page { tag, .. } => tag,
                    Content::Blank => break,
                    Content::Garbage => continue,
                };
                self.newest = self.newest.max(tag.sequence);
                if tag.lba < layout.logical_pages {
                    self.hold_scanned(Written { page, tag })?;
                }
            }
            if self.pages.medium.is_marked_bad(block)? {
                self.memory().set_state(block, BlockState::Bad);
            }
        }
        if let Some(held) = self.held.take_if(|held| held.tag.sequence < self.newest) {
            self.count_scanned(held)?;
        }
        Ok(Found::Missing)
    }

    /// Holds a page back if it is the newest of logical pages so far; the other one counts.
    fn hold_scanned(&mut self, page: Written) -> Outcome<(), D> {
        match self.held {
            Some(held) if held.tag.sequence > page.tag.sequence => self.count_scanned(page),
            held => {
                self.held = Some(page);
                held.map_or(Ok(()), |held| self.count_scanned(held))
            }
        }
    }

    /// Makes the map name a page if it is the newest of its logical page.
    fn count_scanned(&mut self, Written { page, tag }: Written) -> Outcome<(), D> {
        if self.pages.sequence_at(tag.lba)?.is_none_or(|current| current < tag.sequence) {
            let number = self.pages.layout().part.number_of(page);
            self.memory().set_entry(tag.lba, Some(number));
        }
        Ok(())
    }

    /// Drops entries of pages that the journal has with another entry: trims that do not count yet made room for these.
    fn drop_overwritten_entries(&mut self) {
        for index in 0..self.pages.layout().entries() {
            let page = self.memory().page(index);
            let journaled = page.and_then(|page| self.pages.memory.journaled(page));
            if journaled.is_some_and(|journaled| journaled != index) {
                self.memory().set_entry(index, None);
            }
        }
    }

    /// Drops the entry of a page that does not count yet if the page that it names is another's by now, or an attempt
    /// to program it again.
    fn drop_stale_entry(&mut self, held: Written) -> Outcome<(), D> {
        let Some(index) = self.pages.layout().index_of(held.tag.lba) else { return Ok(()) };
        let is_data = held.tag.lba < CHUNK_BASE;
        let is_stale = |found: Option<u64>| found.is_none_or(|found| is_data && found > held.tag.sequence);
        if self.memory().page(index).is_some() && is_stale(self.pages.sequence_at(index)?) {
            self.memory().set_entry(index, None);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
