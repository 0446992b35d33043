//! The error-correcting code of a cache page, stored after the page, so that correction needs no other bytes.
//!
//! [`Crc32c`] is one code for both ends: 32 bits whose syndrome is another for each single flipped bit, which is
//! corrected, and is no correctable one for two, three or four of them. (The polynomial's distance is 6 up to 655
//! bytes.) More than four flipped bits are taken for one with a probability of about the number of bits in the page
//! over 2³². A part whose maker asks for one corrected bit in each of several code words a page may have two in a cache
//! page that lies across two of them: these are noticed. Cost: four bits of the page a step, by a table of 16 words; a
//! correction looks at each bit once.

/// A code over the bytes of a cache page.
pub trait Code {
    /// Bytes of the code, at most 4.
    const BYTES: usize;

    /// The code of `page`, in its first [`BYTES`](Self::BYTES).
    fn encode(page: &[u8]) -> [u8; 4];

    /// Corrects `page` and says how many of its bits were wrong, those of its code included.
    ///
    /// # Errors
    /// If more are wrong than the code corrects; `page` is then as it was.
    fn correct(page: &mut [u8], code: [u8; 4]) -> Result<u32, Uncorrectable>;
}

/// More bits are wrong than the code corrects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncorrectable;

/// No code: the part or its driver corrects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncoded;

impl Code for Uncoded {
    const BYTES: usize = 0;

    fn encode(_page: &[u8]) -> [u8; 4] {
        [0; 4]
    }

    fn correct(_page: &mut [u8], _code: [u8; 4]) -> Result<u32, Uncorrectable> {
        Ok(0)
    }
}

/// Four bytes that correct one wrong bit and notice up to four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crc32c;

/// The polynomial 0x1EDC6F41, bit-reversed.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// Four steps of the register at once, by its low four bits.
const TABLE: [u32; 16] = {
    let mut table = [0; 16];
    let mut index = 0;
    while index < 16 {
        let mut register = index as u32;
        let mut bit = 0;
        while bit < 4 {
            register = step(register);
            bit += 1;
        }
        table[index] = register;
        index += 1;
    }
    table
};

/// One step of the register without input.
const fn step(register: u32) -> u32 {
    (register >> 1) ^ (POLYNOMIAL & (register & 1).wrapping_neg())
}

/// A CRC-32C that is taken piece by piece, with ones at either end so that neither zeros nor ones are a whole page.
#[derive(Clone, Copy)]
pub(crate) struct Check(u32);

impl Default for Check {
    /// That of no bytes.
    fn default() -> Self {
        Check(u32::MAX)
    }
}

impl Check {
    /// Adds the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        let mut register = self.0;
        for &byte in bytes {
            register ^= u32::from(byte);
            register = (register >> 4) ^ TABLE[register as usize & 15];
            register = (register >> 4) ^ TABLE[register as usize & 15];
        }
        self.0 = register;
    }

    /// The checksum of all bytes so far.
    pub fn value(self) -> u32 {
        !self.0
    }
}

/// The checksum of these bytes.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    let mut check = Check::default();
    check.add(bytes);
    check.value()
}

impl Code for Crc32c {
    const BYTES: usize = 4;

    fn encode(page: &[u8]) -> [u8; 4] {
        crc32c(page).to_le_bytes()
    }

    fn correct(page: &mut [u8], code: [u8; 4]) -> Result<u32, Uncorrectable> {
        let syndrome = crc32c(page) ^ u32::from_le_bytes(code);
        if syndrome == 0 {
            return Ok(0);
        }
        if syndrome.is_power_of_two() {
            return Ok(1); // The wrong bit is in the code.
        }
        // What one wrong bit leaves, starting from the last bit of the page.
        let mut single = 1;
        for bit in (0..8 * page.len()).rev() {
            single = step(single);
            if single == syndrome {
                page[bit / 8] ^= 1 << (bit % 8);
                return Ok(1);
            }
        }
        Err(Uncorrectable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn syndrome_of(bits: &[usize], bytes: usize) -> u32 {
        let mut page = [0u8; 512];
        let before = crc32c(&page[..bytes]);
        bits.iter().for_each(|bit| page[bit / 8] ^= 1 << (bit % 8));
        crc32c(&page[..bytes]) ^ before
    }

    #[test]
    fn the_polynomial_is_castagnolis() {
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
    }

    #[test]
    fn every_single_bit_is_corrected() {
        let page: [u8; 64] = core::array::from_fn(|at| (at * 37) as u8);
        let code = Crc32c::encode(&page);
        assert_eq!(Crc32c::correct(&mut page.clone(), code), Ok(0));
        for bit in 0..8 * 68 {
            let (mut wrong, mut wrong_code) = (page, code);
            match wrong.get_mut(bit / 8) {
                Some(byte) => *byte ^= 1 << (bit % 8),
                None => wrong_code[bit / 8 - 64] ^= 1 << (bit % 8),
            }
            assert_eq!((Crc32c::correct(&mut wrong, wrong_code), wrong), (Ok(1), page), "bit {bit}");
        }
    }

    /// Distance 6: no two different sets of one or two bits have one syndrome, and none of three bits has that of one.
    #[test]
    fn two_to_four_wrong_bits_are_noticed() {
        extern crate std;
        use std::collections::HashSet;
        let bits = 8 * 64 + 32;
        let single = |bit: usize| if bit < 512 { syndrome_of(&[bit], 64) } else { 1 << (bit - 512) };
        let singles: std::vec::Vec<u32> = (0..bits).map(single).collect();
        let mut seen: HashSet<u32> = singles.iter().copied().collect();
        assert_eq!(seen.len(), bits);
        for (number, one) in singles.iter().enumerate() {
            for other in &singles[..number] {
                let pair = one ^ other;
                // Of pairs all different: four bits are never zero. No pair is a single: three are never zero.
                assert!(seen.insert(pair), "two sets of at most two bits with syndrome {pair:#x}");
            }
        }
        // With its leading term the polynomial has an even number of terms, and so has each of its multiples: five are
        // never zero, so that four are never one.
        assert_eq!((POLYNOMIAL.count_ones() + 1) % 2, 0);
    }

    #[test]
    fn pages_that_are_all_zeros_or_ones_are_not_whole() {
        for fill in [0u8, 0xFF] {
            assert_eq!(Crc32c::correct(&mut [fill; 64], [fill; 4]), Err(Uncorrectable));
        }
    }
}
