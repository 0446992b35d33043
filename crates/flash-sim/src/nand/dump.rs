//! Dumps of a whole part, and images that are only read.

use std::io;
use std::path::Path;

use norn_flash::{Nand, PageAddress};

use super::{Access, NandImage, NandSim, NandSimError, NandSpec, PageCells};
use crate::error::ImageError;
use crate::image_bytes::ImageBytes;
use crate::tear::Tear;

impl NandSim {
    /// The part of which an image file has these bytes, in memory.
    ///
    /// # Errors
    /// Names what is wrong with the bytes.
    pub fn from_image_bytes(bytes: ImageBytes) -> Result<Self, ImageError> {
        Ok(Self::of(NandImage::of_bytes(bytes)?))
    }

    /// The part in an image file, which stays as it is, whatever the part does: what is programmed is kept in memory.
    /// The file need not be writable.
    ///
    /// # Errors
    /// As [`open_image`](Self::open_image).
    pub fn read_image(path: &Path) -> Result<Self, ImageError> {
        Self::opened(path, Access::Read)
    }

    /// A part in memory whose cells hold `bytes`, a dump of a whole part: page after page, each with its out-of-band
    /// area. A block whose maker's mark is there is bad. Pages up to the last one of a block that is not erased may not
    /// be programmed.
    ///
    /// # Panics
    /// If `spec` describes no possible part, or `bytes` is not as long as the part with its out-of-band areas.
    pub fn from_cells(spec: NandSpec, bytes: &[u8]) -> Self {
        let mut sim = Self::new(spec);
        let part = sim.spec.part;
        assert_eq!(bytes.len() as u64, sim.spec.dump_bytes(), "a dump of the whole part");
        for (page, cells) in sim.pages().zip(bytes.chunks_exact(part.register_bytes().into())) {
            if cells.iter().any(|&byte| byte != 0xFF) {
                sim.cells_mut(page.block).state.next_page = page.page + 1;
                let put = sim.put(page, PageCells::programmed(cells.to_vec(), Tear::Complete));
                put.expect("a part in memory takes every page");
            }
        }
        sim.freeze_counters();
        for block in part.blocks() {
            let is_bad = sim.holds_pages(block) && sim.is_marked_bad(block) == Ok(true);
            sim.cells_mut(block).state.marked_bad = is_bad;
        }
        sim.thaw_counters();
        sim
    }

    /// Writes the part as it is to a new image file, which appears when it is complete. The file does not follow it.
    ///
    /// # Errors
    /// If the file exists or cannot be made, or an image file that this part is read from cannot be read.
    pub fn save_image(&self, path: &Path) -> Result<(), ImageError> {
        let mut image = NandImage::begin(path, &self.spec)?;
        self.save_to(&image).map_err(|source| ImageError::Io { path: path.to_owned(), source })?;
        image.publish()
    }

    /// The bytes of the image file that [`save_image`](Self::save_image) would write.
    ///
    /// # Panics
    /// If an image file that this part is read from cannot be read.
    pub fn image_bytes(&self) -> ImageBytes {
        let image = NandImage::begin_in_memory(&self.spec).expect("memory takes every byte");
        self.save_to(&image).and_then(|()| image.into_bytes()).expect("the image file can be read")
    }

    fn save_to(&self, image: &NandImage) -> io::Result<()> {
        for block in self.spec.part.blocks() {
            for page in self.cells(block).programmed() {
                let cells = self.page_cells(block.page(page)).map_err(|error| match error {
                    NandSimError::Image(kind) => kind.into(),
                    error => io::Error::other(error),
                })?;
                cells.map_or(Ok(()), |cells| image.save_page(block.page(page), &cells))?;
            }
            image.save_block(block.0, self.cells(block))?;
        }
        image.save_state(&self.instrument.state())
    }

    /// Every page of the part.
    pub fn pages(&self) -> impl Iterator<Item = PageAddress> + use<> {
        let part = self.spec.part;
        part.blocks().flat_map(move |block| (0..part.pages_per_block).map(move |page| block.page(page)))
    }
}

#[cfg(test)]
mod tests {
    use norn_flash::{Block, Column, Piece};

    use super::*;
    use crate::nand_catalogue;

    #[test]
    fn the_bytes_of_an_image_are_those_of_the_file() {
        let mut part = NandSim::new(nand_catalogue::test_part(8, 4, 256));
        part.mark_bad(&[Block(2)]);
        part.program(Block(3).page(0), &[Piece { column: Column(0), bytes: b"page" }]).unwrap();
        part.cut_power_after(0, Tear::Unstable(3));
        part.program(Block(3).page(1), &[Piece { column: Column(0), bytes: b"torn" }]).unwrap_err();
        part.power_on();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("part.img");
        part.save_image(&path).unwrap();
        let file = std::fs::read(&path).unwrap();
        assert!(Vec::from(&part.image_bytes()) == file);
        let again = NandSim::from_image_bytes(ImageBytes::from(&*file)).unwrap();
        assert!(part.pages().all(|page| part.peek(page) == again.peek(page)));
        assert_eq!((again.operations(), again.counters()), (part.operations(), part.counters()));
        // A part that is read from bytes has pages there.
        assert!(again.image_bytes() == part.image_bytes());
    }

    #[test]
    fn a_dump_keeps_pages_and_bad_blocks() {
        let mut part = NandSim::new(nand_catalogue::test_part(8, 4, 256));
        part.mark_bad(&[Block(2), Block(5)]);
        part.program(Block(3).page(1), &[Piece { column: Column(0), bytes: b"page" }]).unwrap();
        let dump: Vec<u8> = part.pages().flat_map(|page| part.peek(page)).collect();
        let mut again = NandSim::from_cells(part.spec().clone(), &dump);
        assert!(part.pages().all(|page| part.peek(page) == again.peek(page)));
        let bad = |part: &mut NandSim| (0..8).filter(|&block| part.is_marked_bad(Block(block)).unwrap()).collect();
        let blocks: Vec<u16> = bad(&mut again);
        assert_eq!(blocks, [2, 5]);
        assert_eq!(again.erase(Block(2)), Err(NandSimError::MarkedBad { block: Block(2) }));
        let (page, next_page) = (Block(3).page(1), 2);
        assert_eq!(again.program(page, &[]), Err(NandSimError::OutOfOrder { page, next_page }));
    }
}
