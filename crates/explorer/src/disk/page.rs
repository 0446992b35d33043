//! Pages of a block device in pieces, decoded from the cells; each piece with the line of `docs/format/nand-ftl.md`
//! that describes it.
//!
//! Addresses count the bytes of all pages, each with its out-of-band area after its data.

use norn_flash::{Address, NandPart, PageAddress, PageNumber};
use norn_nand_ftl::inspection::{
    CheckpointHead, CheckpointItem, Field, Owner, PageContent, PageReader, PageTag, Usable,
};

use crate::anatomy::{Piece, counted, hexadecimal, times};

/// Most bytes of data that a piece prints.
const PRINTED_MAX: usize = 16;
/// The beginnings of lines of section 3.
const RUN: &str = "3:A **run**";
const ENTRY: &str = "3:An entry of the map";

/// Decodes the pages of a part.
#[derive(Clone, Copy, Debug)]
pub struct Pages {
    part: NandPart,
    reader: PageReader,
}

impl Pages {
    /// Of a part; `None` of one that can have no block device.
    pub fn of(part: &NandPart) -> Option<Pages> {
        Some(Pages { part: *part, reader: PageReader::new(part)? })
    }

    /// The address of a page's first byte.
    pub fn address(&self, page: PageAddress) -> Address {
        self.address_of_number(self.part.number_of(page))
    }

    fn address_of_number(&self, page: PageNumber) -> Address {
        Address(page.0 * u32::from(self.part.register_bytes()))
    }

    /// The page that an address is in, if the part has it.
    pub fn page_at(&self, address: Address) -> Option<PageAddress> {
        let number = address.0 / u32::from(self.part.register_bytes());
        (number < self.part.page_count()).then(|| self.part.page_at(PageNumber(number)))
    }

    /// What the cells of a page hold.
    pub fn content(&self, cells: &[u8]) -> PageContent {
        self.reader.decode(&mut cells.to_vec())
    }

    /// What the cells of a page say, in pieces in the order of their addresses.
    pub fn pieces(&self, page: PageAddress, cells: &[u8]) -> Vec<Piece> {
        let mut corrected = cells.to_vec();
        let PageContent::Whole(tag) = self.reader.decode(&mut corrected) else { return Vec::new() };
        let (start, data_bytes) = (self.address(page), self.part.page_bytes);
        let data = &corrected[..usize::from(data_bytes)];
        let mut pieces = Vec::new();
        let head = match tag.owner {
            Owner::Chunk(chunk) => self.reader.checkpoint_head(data).map(|head| (chunk, head)),
            _ => None,
        };
        match head {
            Some((chunk, head)) => self.add_checkpoint(start, (chunk, &head), data, &mut pieces),
            None => {
                let more = if data.len() > PRINTED_MAX { " …" } else { "" };
                let value = hexadecimal(&data[..data.len().min(PRINTED_MAX)]) + more;
                pieces.push(Piece::new((start, data_bytes.into()), "data", value, "1:check"));
            }
        }
        self.add_tag(start, &tag, &mut pieces);
        pieces
    }

    fn add_tag(&self, start: Address, tag: &PageTag, pieces: &mut Vec<Piece>) {
        let mut piece = |field, name: &str, value: String, line| {
            let columns = self.reader.columns_of(field);
            let place = (start.offset(columns.start.into()), columns.len() as u32);
            pieces.push(Piece::new(place, name, value, line));
        };
        piece(Field::Lba, "lba", owner_text(tag.owner), "1:lba");
        piece(Field::Sequence, "sequence", tag.sequence.to_string(), "1:sequence");
        piece(Field::Wear, "wear", format!("erases, modulo 256: {}", tag.wear), "1:wear");
        piece(Field::Check, "check", "CRC-32 of data, lba, sequence and wear".to_owned(), "1:check");
        for word in 0..self.reader.words() {
            piece(Field::Code(word), "code", format!("corrects a bit of word {word}"), "1:code");
        }
    }

    fn add_checkpoint(
        &self,
        start: Address,
        (chunk, head): (u32, &CheckpointHead),
        data: &[u8],
        pieces: &mut Vec<Piece>,
    ) {
        let piece =
            |at, bytes, name: &str, value: String, line| Piece::new((start.offset(at), bytes), name, value, line);
        pieces.extend([
            piece(0, 4, "format and version", "NFT2".to_owned(), "3:0..4"),
            piece(4, 4, "logical pages", head.logical_pages.to_string(), "3:4..8"),
            piece(8, 8, "since", head.since.to_string(), "3:8..16"),
            piece(16, 8, "as of", head.as_of.to_string(), "3:16..24"),
            self.leading_to(piece(24, 4, "suspect", String::new(), "3:24..28"), head.suspect),
            piece(28, 2, "runs", head.runs.to_string(), "3:28..30"),
            piece(30, 2, "trims", head.trims.to_string(), "3:30..32"),
        ]);
        for (at, next) in (32..).step_by(4).zip(head.open) {
            pieces.push(self.leading_to(piece(at, 4, "next page of an open block", String::new(), "3:32..48"), next));
        }
        self.reader.visit_checkpoint((chunk, head), data, |columns, item| {
            let place = (start.offset(columns.start.into()), columns.len() as u32);
            pieces.push(self.item(place, item));
        });
    }

    fn item(&self, place: (Address, u32), item: CheckpointItem) -> Piece {
        match item {
            CheckpointItem::Run(first, length) => {
                let value = format!("{} from {} on", counted(length as usize, "page"), self.page_text(first.0));
                self.leading(Piece::new(place, "run", value, RUN), first)
            }
            CheckpointItem::Program(page, owner) => {
                let owner = owner.map_or("does not count".to_owned(), owner_text);
                let value = format!("{}: {owner}", self.page_text(page.0));
                self.leading(Piece::new(place, "page of a run", value, RUN), page)
            }
            CheckpointItem::Trim(first, count) => {
                Piece::new(place, "trim", format!("{count} from logical page {} on", first.0), RUN)
            }
            CheckpointItem::Mapped(lba, page) => {
                let piece = Piece::new(place, format!("logical page {}", lba.0), "no contents", ENTRY);
                match page {
                    Some(page) => self.leading_to(piece, Some(page.0)),
                    None => piece,
                }
            }
            CheckpointItem::Erases(block, erases, usable) => {
                let bad = if usable == Usable::Bad { ", bad" } else { "" };
                Piece::new(place, block.to_string(), format!("erased {}{bad}", times(erases)), ENTRY)
            }
        }
    }

    /// A piece that names a page, or none.
    fn leading_to(&self, piece: Piece, page: Option<u32>) -> Piece {
        match page {
            None => Piece { value: "none".to_owned(), ..piece },
            Some(number) => self.leading(Piece { value: self.page_text(number), ..piece }, PageNumber(number)),
        }
    }

    fn leading(&self, piece: Piece, page: PageNumber) -> Piece {
        let to = (page.0 < self.part.page_count()).then(|| self.address_of_number(page));
        Piece { to, ..piece }
    }

    fn page_text(&self, number: u32) -> String {
        match number < self.part.page_count() {
            true => self.part.page_at(PageNumber(number)).to_string(),
            false => format!("number {number}, which no page has"),
        }
    }
}

/// Whose contents a page has, in words.
pub fn owner_text(owner: Owner) -> String {
    match owner {
        Owner::Logical(lba) => format!("logical page {}", lba.0),
        Owner::Chunk(chunk) => format!("chunk {chunk} of the checkpoint"),
        Owner::FormatBegun => "a format begins".to_owned(),
    }
}

/// What a page holds, in words.
pub fn content_text(content: PageContent) -> String {
    match content {
        PageContent::Whole(PageTag { owner, is_corrected: true, .. }) => {
            format!("{}, after correction", owner_text(owner))
        }
        PageContent::Whole(tag) => owner_text(tag.owner),
        PageContent::Erased => "erased".to_owned(),
        PageContent::Unknown => "torn, or not of a block device".to_owned(),
    }
}
