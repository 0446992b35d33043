//! The bytes of an image file in memory. As a sparse file has holes where nothing was written, pages of zeros are left
//! out: an image of an empty part of 1 GB takes some kilobytes.
//!
//! ```text
//! packed: 0  bytes of the file, 8
//!         8  for each page that is not all zeros, in order: its number 4 · its 4096 bytes, after the file's end zeros
//! ```
//!
//! Values are little-endian.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::ops::Range;

const PAGE_BYTES: usize = 4096;
const ZEROS: [u8; PAGE_BYTES] = [0; PAGE_BYTES];
const LENGTH_BYTES: usize = 8;
const NUMBER_BYTES: usize = 4;

/// The bytes of an image file.
#[derive(Clone, Debug, Default)]
pub struct ImageBytes {
    length: u64,
    /// Those that were written, by their numbers.
    pages: BTreeMap<u32, Box<[u8]>>,
}

impl ImageBytes {
    /// So many zeros.
    pub(crate) fn zeros(length: u64) -> ImageBytes {
        ImageBytes { length, pages: BTreeMap::new() }
    }

    /// How many bytes there are.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The first bytes, at most so many.
    pub fn head(&self, bytes: usize) -> Vec<u8> {
        let mut head = vec![0; self.length.min(bytes as u64) as usize];
        self.read_at(0, &mut head).expect("the file has them");
        head
    }

    /// Where `len` bytes from `at` on are: the pages, the bytes of each, and those of the `len` that they are.
    fn places(&self, at: u64, len: usize) -> Option<impl Iterator<Item = (u32, Range<usize>, Range<usize>)> + use<>> {
        let end = at.checked_add(len as u64).filter(|&end| end <= self.length)?;
        let page_bytes = PAGE_BYTES as u64;
        Some((at / page_bytes..end.div_ceil(page_bytes)).map(move |page| {
            let (start, stop) = (at.max(page * page_bytes), end.min((page + 1) * page_bytes));
            let [in_page, of_all] = [page * page_bytes, at].map(|base| (start - base) as usize..(stop - base) as usize);
            (page as u32, in_page, of_all)
        }))
    }

    pub(crate) fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        for (page, in_page, of_all) in self.places(at, buffer.len()).ok_or(ErrorKind::UnexpectedEof)? {
            match self.pages.get(&page) {
                Some(bytes) => buffer[of_all].copy_from_slice(&bytes[in_page]),
                None => buffer[of_all].fill(0),
            }
        }
        Ok(())
    }

    pub(crate) fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        for (page, in_page, of_all) in self.places(at, bytes.len()).ok_or(ErrorKind::WriteZero)? {
            let bytes = &bytes[of_all];
            if !self.pages.contains_key(&page) && *bytes == ZEROS[..bytes.len()] {
                continue;
            }
            self.pages.entry(page).or_insert_with(|| vec![0; PAGE_BYTES].into())[in_page].copy_from_slice(bytes);
        }
        Ok(())
    }

    /// The pages that are not all zeros.
    fn written(&self) -> impl Iterator<Item = (&u32, &Box<[u8]>)> {
        self.pages.iter().filter(|(_, page)| ***page != ZEROS[..])
    }

    /// All of them, without the pages that are all zeros, in a form for [`from_packed`](Self::from_packed).
    pub fn to_packed(&self) -> Vec<u8> {
        let mut packed = self.length.to_le_bytes().to_vec();
        for (number, page) in self.written() {
            packed.extend_from_slice(&number.to_le_bytes());
            packed.extend_from_slice(page);
        }
        packed
    }

    /// What was packed.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn from_packed(packed: &[u8]) -> Result<ImageBytes, &'static str> {
        let (length, records) = packed.split_first_chunk::<LENGTH_BYTES>().ok_or("the packed image has no length")?;
        let mut image = ImageBytes::zeros(u64::from_le_bytes(*length));
        let page_count = image.length.div_ceil(PAGE_BYTES as u64);
        for record in records.chunks(NUMBER_BYTES + PAGE_BYTES) {
            let (number, page) = record.split_first_chunk::<NUMBER_BYTES>().ok_or("the packed image is cut off")?;
            let number = u32::from_le_bytes(*number);
            match (page.len() == PAGE_BYTES, u64::from(number) < page_count) {
                (true, true) => drop(image.pages.insert(number, page.into())),
                (true, false) => return Err("the packed image has a page after its end"),
                (false, _) => return Err("the packed image is cut off"),
            }
        }
        Ok(image)
    }
}

impl PartialEq for ImageBytes {
    fn eq(&self, other: &ImageBytes) -> bool {
        self.length == other.length && self.written().eq(other.written())
    }
}

impl Eq for ImageBytes {}

impl From<&[u8]> for ImageBytes {
    fn from(bytes: &[u8]) -> ImageBytes {
        let mut image = ImageBytes::zeros(bytes.len() as u64);
        for (at, page) in (0..).step_by(PAGE_BYTES).zip(bytes.chunks(PAGE_BYTES)) {
            image.write_at(at, page).expect("the image is as long");
        }
        image
    }
}

impl From<&ImageBytes> for Vec<u8> {
    fn from(image: &ImageBytes) -> Vec<u8> {
        image.head(image.length as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NandSim, nand_catalogue};

    #[test]
    fn pages_of_zeros_are_left_out_and_nothing_is_lost() {
        let mut bytes = vec![0; 5 * PAGE_BYTES + 100];
        bytes[PAGE_BYTES - 1..PAGE_BYTES + 1].copy_from_slice(b"ab");
        bytes[5 * PAGE_BYTES + 99] = b'z';
        let image = ImageBytes::from(&*bytes);
        assert_eq!(image.to_packed().len(), LENGTH_BYTES + 3 * (NUMBER_BYTES + PAGE_BYTES));
        let again = ImageBytes::from_packed(&image.to_packed()).unwrap();
        assert_eq!((Vec::from(&image), Vec::from(&again)), (bytes.clone(), bytes.clone()));
        assert_eq!((again.head(2), again.head(1 << 20).len()), (vec![0; 2], bytes.len()));
        let mut two = [0; 2];
        again.read_at(PAGE_BYTES as u64 - 1, &mut two).unwrap();
        assert_eq!(&two, b"ab");
        assert!(again.read_at(bytes.len() as u64 - 1, &mut two).is_err(), "beyond the end");
    }

    /// A page of such a part was opened by decompressing all of it.
    #[test]
    fn an_empty_part_of_a_gigabyte_takes_kilobytes() {
        let part = NandSim::new(nand_catalogue::by_name("k9k8g08").unwrap());
        let image = part.image_bytes();
        assert_eq!(image.length(), 2_215_645_184);
        assert!(image.to_packed().len() < 20_000, "{}", image.to_packed().len());
        let again = NandSim::from_image_bytes(ImageBytes::from_packed(&image.to_packed()).unwrap()).unwrap();
        assert_eq!(again.spec(), part.spec());
    }

    #[test]
    fn what_is_no_packed_image_is_refused() {
        let packed = ImageBytes::from(&[1; PAGE_BYTES + 1][..]).to_packed();
        assert!(ImageBytes::from_packed(&packed[..7]).is_err() && ImageBytes::from_packed(&packed[..11]).is_err());
        assert!(ImageBytes::from_packed(&packed[..packed.len() - 1]).is_err());
        let mut beyond = packed.clone();
        beyond[LENGTH_BYTES] = 2;
        assert_eq!(ImageBytes::from_packed(&beyond), Err("the packed image has a page after its end"));
        assert!(ImageBytes::from_packed(&packed).is_ok());
    }
}
