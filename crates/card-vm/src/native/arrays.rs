//! `Util`: ranges of arrays of bytes.

use norn_card_package::{Wrong, format, native_number};

use super::{Bytes, Natives, Step, numbers};
use crate::code::Code;
use crate::crypto::Crypto;
use crate::end::{Exception, Native, Trap};
use crate::heap::PersistentHeap;
use crate::objects::{Form, Objects};

numbers! {
    ARRAY_COPY = "javacard/framework/Util" "arrayCopy" "([BS[BSS)S";
    ARRAY_COPY_NON_ATOMIC = "javacard/framework/Util" "arrayCopyNonAtomic" "([BS[BSS)S";
    ARRAY_FILL_NON_ATOMIC = "javacard/framework/Util" "arrayFillNonAtomic" "([BSSB)S";
    ARRAY_COMPARE = "javacard/framework/Util" "arrayCompare" "([BS[BSS)B";
    MAKE_SHORT = "javacard/framework/Util" "makeShort" "(BB)S";
    GET_SHORT = "javacard/framework/Util" "getShort" "([BS)S";
    SET_SHORT = "javacard/framework/Util" "setShort" "([BSS)S";
    SET_AT_ONCE = "javacardx/framework/util/ArrayLogic" "setAtOnce" "(Ljava/lang/Object;SI)V";
}

/// Bytes that pass through RAM at once.
const CHUNK: usize = 32;

impl<H: PersistentHeap, C: Code, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize>
    Natives<'_, '_, H, C, K, PACKAGES, TRANSIENT>
{
    pub(super) fn of_arrays(
        &mut self,
        number: u16,
        [first, second, third, fourth, fifth]: [i32; 5],
    ) -> Step<Option<Native>, H, C> {
        let value = match number {
            ARRAY_COPY | ARRAY_COPY_NON_ATOMIC => {
                let from = self.bytes(first, second, fifth)?;
                let to = self.bytes(third, fourth, fifth)?;
                match number {
                    ARRAY_COPY => self.copy_whole(from, to)?,
                    _ => self.copy(from, to)?,
                }
                fourth + fifth
            }
            ARRAY_FILL_NON_ATOMIC => {
                let to = self.bytes(first, second, third)?;
                self.fill(to, fourth as u8)?;
                second + third
            }
            ARRAY_COMPARE => {
                let left = self.bytes(first, second, fifth)?;
                let right = self.bytes(third, fourth, fifth)?;
                self.compare(left, right)?
            }
            MAKE_SHORT => i32::from(i16::from_be_bytes([first as u8, second as u8])),
            GET_SHORT => {
                let from = self.bytes(first, second, 2)?;
                let (bytes, _) = self.chunk(from, 0)?;
                i32::from(i16::from_be_bytes(bytes))
            }
            SET_SHORT => {
                let to = self.bytes(first, second, 2)?;
                self.write(to, &(third as i16).to_be_bytes())?;
                second + 2
            }
            SET_AT_ONCE => {
                self.set_at_once(first, second, third)?;
                0
            }
            _ => return Ok(None),
        };
        // A short, as the end of an array of 32,767 bytes is.
        Ok(Some(Native::Returns(i32::from(value as i16))))
    }

    /// Copies a range, to flash all or nothing.
    fn copy_whole(&mut self, from: Bytes, to: Bytes) -> Step<(), H, C> {
        if self.memory.in_ram(to.array).map_err(Trap::objects)?.is_some() {
            return self.copy(from, to);
        }
        let is_in_ram = self.memory.in_ram(from.array).map_err(Trap::objects)?.is_some();
        let copied = match is_in_ram {
            true => self.memory.write_from_ram((from.array, from.first), (to.array, to.first), from.count),
            false => self.memory.copy_bytes((from.array, from.first), (to.array, to.first), from.count),
        };
        self.changed(copied)
    }

    /// Copies a range, each chunk at once.
    fn copy(&mut self, from: Bytes, to: Bytes) -> Step<(), H, C> {
        // In the order that keeps what is still to be read where the two overlap.
        let chunks = from.count.div_ceil(CHUNK as u16);
        let is_upwards = from.array != to.array || from.first >= to.first;
        for number in 0..chunks {
            let offset = CHUNK as u16 * if is_upwards { number } else { chunks - 1 - number };
            let (chunk, count) = self.chunk::<CHUNK>(from, offset)?;
            let part = Bytes { first: to.first + offset, ..to };
            self.write_at_once(part, &chunk[..count])?;
        }
        Ok(())
    }

    fn fill(&mut self, to: Bytes, value: u8) -> Step<(), H, C> {
        for offset in (0..to.count).step_by(CHUNK) {
            let count = usize::from(to.count - offset).min(CHUNK);
            self.write_at_once(Bytes { first: to.first + offset, ..to }, &[value; CHUNK][..count])?;
        }
        Ok(())
    }

    /// Writes bytes that stay, whatever becomes of an open transaction.
    fn write_at_once(&mut self, to: Bytes, bytes: &[u8]) -> Step<(), H, C> {
        let first = usize::from(to.first);
        if let Some(ram) = self.memory.in_ram(to.array).map_err(Trap::objects)? {
            if let Some(place) = ram.get_mut(first..first + bytes.len()) {
                place.copy_from_slice(bytes);
            }
            return Ok(());
        }
        let written = self.memory.write_bytes_outside(to.array, to.first, bytes);
        self.changed(written)
    }

    /// Sets an element of any array of numbers, which stays, whatever becomes of an open transaction.
    fn set_at_once(&mut self, array: i32, index: i32, value: i32) -> Step<(), H, C> {
        self.usable(array)?;
        let Form::Array { kind, length, .. } = self.memory.form(array).map_err(Trap::objects)? else {
            return Err(Trap::damaged(0, Wrong::Kind));
        };
        let Some(index) = u16::try_from(index).ok().filter(|index| *index < length) else {
            return Err(Trap::Exception(Exception::Bounds));
        };
        let set = match self.memory.in_ram(array).map_err(Trap::objects)?.is_some() {
            true => self.memory.set_element(array, index, kind, value),
            false => {
                let width = format::width(kind).unwrap_or(1) as usize;
                self.memory.write_bytes_outside(array, index, &value.to_le_bytes()[..width])
            }
        };
        self.changed(set)
    }

    /// -1, 0 or 1, by unsigned bytes; in a time that does not depend on them.
    fn compare(&mut self, left: Bytes, right: Bytes) -> Step<i32, H, C> {
        let mut found = 0;
        for offset in (0..left.count).step_by(CHUNK) {
            let (of_left, count) = self.chunk::<CHUNK>(left, offset)?;
            let (of_right, _) = self.chunk::<CHUNK>(right, offset)?;
            for (one, other) in of_left[..count].iter().zip(&of_right) {
                let difference = (i32::from(*one) - i32::from(*other)).signum();
                // The first difference counts: a factor of 0 once there is one.
                found += difference * (1 - found * found);
            }
        }
        Ok(found)
    }
}
