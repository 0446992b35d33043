//! The device as the rest of the crate sees it: words and aligned programs, behind a guard that halts after the first failure.

use norn_flash::{Address, EraseUnit, Guard, Nor, NorPart};

use crate::error::StoreError;

/// Largest program unit of a part, in bytes.
const PROGRAM_UNIT_BYTES_MAX: usize = 32;

/// Whether what is programmed anew is erased, or may hold part of it already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Erased,
    Started,
}

/// A device behind its guard.
#[derive(Clone, Debug)]
pub(crate) struct Medium<D> {
    guard: Guard<D>,
    part: NorPart,
}

impl<D: Nor> Medium<D> {
    /// A device that is not to be used yet.
    pub fn unused(device: D) -> Self {
        let part = device.part();
        Medium { guard: Guard::unstarted(device), part }
    }

    pub fn halt(&mut self) {
        self.guard.halt();
    }

    pub fn restart(&mut self) -> Result<(), D::Error> {
        self.guard.device_mut().restart()?;
        self.guard.resume();
        Ok(())
    }

    pub fn part(&self) -> NorPart {
        self.part
    }

    pub fn device(&self) -> &D {
        self.guard.device()
    }

    pub fn device_mut(&mut self) -> &mut D {
        self.guard.device_mut()
    }

    pub fn is_halted(&self) -> bool {
        self.guard.is_halted()
    }

    pub fn into_device(self) -> D {
        self.guard.into_device()
    }

    #[inline(never)]
    pub fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), StoreError<D::Error>> {
        Ok(self.guard.read(address, buffer)?)
    }

    pub fn read_word(&mut self, address: Address) -> Result<u32, StoreError<D::Error>> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    pub fn erase(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        Ok(self.guard.erase(unit)?)
    }

    /// Programs `bytes` at any alignment: whole program units directly, a part of one together with what is there.
    pub fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), StoreError<D::Error>> {
        let unit = u32::from(self.part.program_unit_bytes);
        // Program units are powers of two: masks take less code than divisions.
        let head = (address.0.wrapping_neg() & (unit - 1)).min(bytes.len() as u32) as usize;
        let body = (bytes.len() - head) & !(unit as usize - 1);
        let (head, rest) = bytes.split_at(head);
        let (body, tail) = rest.split_at(body);
        let body_at = address.offset(head.len() as u32);
        self.program_partial(address, head)?;
        if !body.is_empty() {
            self.guard.program(body_at, body)?;
        }
        self.program_partial(body_at.offset(body.len() as u32), tail)
    }

    /// Programs what is not erased in `bytes`, in pieces of a word of four bytes or of a program unit, whichever is larger; pieces
    /// that lie together by one call. Where a copy was started, pieces that are there already are left alone.
    pub fn program_new(&mut self, address: Address, bytes: &[u8], target: Target) -> Result<(), StoreError<D::Error>> {
        let piece_bytes = usize::from(self.part.program_unit_bytes).max(4);
        let (mut at, mut run) = (0, 0..0);
        while at < bytes.len() {
            let border = piece_bytes - ((address.0 as usize + at) & (piece_bytes - 1));
            let end = bytes.len().min(at + border);
            let piece = &bytes[at..end];
            let is_there = target == Target::Started && self.holds(address.offset(at as u32), piece)?;
            if !is_there && piece.iter().any(|&byte| byte != 0xFF) {
                run = if run.end == at { run.start..end } else { at..end };
            }
            if !run.is_empty() && (run.end < end || end == bytes.len()) {
                self.program(address.offset(run.start as u32), &bytes[run.clone()])?;
                run = end..end;
            }
            at = end;
        }
        Ok(())
    }

    /// Whether `piece`, of a program unit at most, stands at `address`.
    fn holds(&mut self, address: Address, piece: &[u8]) -> Result<bool, StoreError<D::Error>> {
        let mut there = [0; PROGRAM_UNIT_BYTES_MAX];
        self.read(address, &mut there[..piece.len()])?;
        Ok(there[..piece.len()] == *piece)
    }

    pub fn program_word(&mut self, address: Address, word: u32) -> Result<(), StoreError<D::Error>> {
        self.program(address, &word.to_le_bytes())
    }

    fn program_partial(&mut self, address: Address, bytes: &[u8]) -> Result<(), StoreError<D::Error>> {
        if bytes.is_empty() {
            return Ok(());
        }
        let unit = usize::from(self.part.program_unit_bytes);
        let into = address.0 as usize & (unit - 1);
        let start = Address(address.0 - into as u32);
        let mut buffer = [0; PROGRAM_UNIT_BYTES_MAX];
        self.read(start, &mut buffer[..unit])?;
        buffer[into..into + bytes.len()].copy_from_slice(bytes);
        Ok(self.guard.program(start, &buffer[..unit])?)
    }
}
