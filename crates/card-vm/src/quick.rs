//! Bytecodes on operand stack and local variables, without leaving the window and the frame.
//!
//! 1. The frame's cells and the window's bytes are borrowed once for many bytecodes.
//! 2. A bytecode that is known here is carried out, if the window has it whole and nothing of it leaves the frame.
//! 3. Anything else is left as it is, for [`Machine::step`]: the other bytecodes, divisions by zero, what would leave
//!    the frame, and the end of the window.

use norn_card_package::opcode as op;

use crate::arithmetic::binary;
use crate::code::{Code, LONGEST};
use crate::frame::FrameCells;
use crate::machine::Machine;
use crate::objects::{Objects, Runtime};

impl<O: Objects, C: Code, R: Runtime<O, C>> Machine<'_, O, C, R> {
    /// Carries out what it can; the frame's position is then at the first bytecode that it cannot.
    pub(crate) fn run_quickly(&mut self) {
        let Some(window) = self.windows.of(self.frame.package) else { return };
        let Some(FrameCells { locals, stack, top }) = self.frame.cells(self.cells) else { return };
        let mut state = Quick { locals, stack, top };
        let mut offset = self.frame.position.wrapping_sub(window.start) as usize;
        let mut left = self.left;
        while left != 0 {
            let Some(bytes) = window.bytes.get(offset..).and_then(<[u8]>::first_chunk::<LONGEST>) else { break };
            let Some(forward) = state.carry_out(bytes) else { break };
            left -= 1;
            self.code.executes(self.frame.package, window.start.wrapping_add(offset as u32), bytes[0]);
            offset = offset.wrapping_add_signed(forward);
        }
        self.left = left;
        let position = window.start.wrapping_add(offset as u32);
        let top = state.top;
        self.frame.set_relative_top(top);
        self.frame.position = position;
    }
}

/// The opcode that pushes 0.
const ZERO: i32 = op::CONSTANT_M1 as i32 + 1;
const _: () = assert!(op::CONSTANT_5 == 0x08 && op::LOAD_3 == 0x1D && op::STORE_3 == 0x3E, "opcodes listed below");
const _: () = assert!(op::IF_ZERO == 0x99 && op::IF_INTS == 0x9F && op::IF_SAME == 0xA5, "opcodes listed below");

/// The cells of a frame, and where its operand stack ends.
struct Quick<'a> {
    locals: &'a mut [i32],
    stack: &'a mut [i32],
    top: usize,
}

impl Quick<'_> {
    /// How far it is to the next bytecode; none where this one is not carried out, and nothing is changed.
    #[inline(always)]
    fn carry_out(&mut self, [opcode, first, second, third, _]: &[u8; LONGEST]) -> Option<isize> {
        let opcode = *opcode;
        match opcode {
            op::NOP => Some(1),
            op::NULL => self.push(0, 1),
            // Ranges are compared one after the other, single opcodes are jumped to: so they are listed.
            0x02 | 0x03 | 0x04 | 0x05 | 0x06 | 0x07 | 0x08 => self.push(i32::from(opcode) - ZERO, 1),
            op::PUSH_BYTE => self.push(i32::from(*first as i8), 2),
            op::PUSH_SHORT => self.push(i32::from(i16::from_le_bytes([*first, *second])), 3),
            0x1A | 0x1B | 0x1C | 0x1D => self.load(opcode - op::LOAD_0, 1),
            op::LOAD => self.load(*first, 2),
            0x3B | 0x3C | 0x3D | 0x3E => self.store(opcode - op::STORE_0, 1),
            op::STORE => self.store(*first, 2),
            op::INCREMENT => self.increment(*first, i32::from(*second as i8), 3),
            op::INCREMENT_SHORT => self.increment(*first, i32::from(i16::from_le_bytes([*second, *third])), 4),
            op::POP => {
                self.topmost()?;
                self.top -= 1;
                Some(1)
            }
            op::DUP => {
                let value = *self.topmost()?;
                self.push(value, 1)
            }
            op::NEGATE => self.unary(i32::wrapping_neg),
            op::TO_BYTE => self.unary(|value| i32::from(value as i8)),
            op::TO_SHORT => self.unary(|value| i32::from(value as i16)),
            op::ADD => self.binary(i32::wrapping_add),
            op::SUBTRACT => self.binary(i32::wrapping_sub),
            op::AND => self.binary(|left, right| left & right),
            op::MULTIPLY
            | op::DIVIDE
            | op::REMAINDER
            | op::SHIFT_LEFT
            | op::SHIFT_RIGHT
            | op::SHIFT_RIGHT_UNSIGNED
            | op::OR
            | op::EXCLUSIVE_OR => {
                let [left, right] = self.two()?;
                let value = binary(opcode, left, right).ok()??;
                self.binary(|_, _| value)
            }
            op::GOTO => Some(distance(*first, *second)),
            0x99 | op::IF_NULL => self.if_one(|value| value == 0, [*first, *second]),
            0x9A | op::IF_NOT_NULL => self.if_one(|value| value != 0, [*first, *second]),
            0x9B => self.if_one(|value| value < 0, [*first, *second]),
            0x9C => self.if_one(|value| value >= 0, [*first, *second]),
            0x9D => self.if_one(|value| value > 0, [*first, *second]),
            0x9E => self.if_one(|value| value <= 0, [*first, *second]),
            0x9F | op::IF_SAME => self.if_two(|left, right| left == right, [*first, *second]),
            0xA0 | op::IF_NOT_SAME => self.if_two(|left, right| left != right, [*first, *second]),
            0xA1 => self.if_two(|left, right| left < right, [*first, *second]),
            0xA2 => self.if_two(|left, right| left >= right, [*first, *second]),
            0xA3 => self.if_two(|left, right| left > right, [*first, *second]),
            0xA4 => self.if_two(|left, right| left <= right, [*first, *second]),
            _ => None,
        }
    }

    #[inline(always)]
    fn push(&mut self, value: i32, length: isize) -> Option<isize> {
        *self.stack.get_mut(self.top)? = value;
        self.top += 1;
        Some(length)
    }

    /// Below the stack's first cell there is none: the place wraps round.
    #[inline(always)]
    fn topmost(&mut self) -> Option<&mut i32> {
        self.stack.get_mut(self.top.wrapping_sub(1))
    }

    #[inline(always)]
    fn two(&self) -> Option<[i32; 2]> {
        let right = *self.stack.get(self.top.wrapping_sub(1))?;
        Some([*self.stack.get(self.top.wrapping_sub(2))?, right])
    }

    #[inline(always)]
    fn load(&mut self, local: u8, length: isize) -> Option<isize> {
        let value = *self.locals.get(usize::from(local))?;
        self.push(value, length)
    }

    #[inline(always)]
    fn store(&mut self, local: u8, length: isize) -> Option<isize> {
        let value = *self.topmost()?;
        *self.locals.get_mut(usize::from(local))? = value;
        self.top -= 1;
        Some(length)
    }

    #[inline(always)]
    fn increment(&mut self, local: u8, amount: i32, length: isize) -> Option<isize> {
        let cell = self.locals.get_mut(usize::from(local))?;
        *cell = cell.wrapping_add(amount);
        Some(length)
    }

    #[inline(always)]
    fn unary(&mut self, apply: impl FnOnce(i32) -> i32) -> Option<isize> {
        let cell = self.topmost()?;
        *cell = apply(*cell);
        Some(1)
    }

    #[inline(always)]
    fn binary(&mut self, apply: impl FnOnce(i32, i32) -> i32) -> Option<isize> {
        let right = *self.topmost()?;
        let left = self.stack.get_mut(self.top.wrapping_sub(2))?;
        *left = apply(*left, right);
        self.top -= 1;
        Some(1)
    }

    #[inline(always)]
    fn if_one(&mut self, holds: impl FnOnce(i32) -> bool, [low, high]: [u8; 2]) -> Option<isize> {
        let value = *self.topmost()?;
        self.top -= 1;
        Some(if holds(value) { distance(low, high) } else { 3 })
    }

    #[inline(always)]
    fn if_two(&mut self, holds: impl FnOnce(i32, i32) -> bool, [low, high]: [u8; 2]) -> Option<isize> {
        let [left, right] = self.two()?;
        self.top -= 2;
        Some(if holds(left, right) { distance(low, high) } else { 3 })
    }
}

#[inline(always)]
fn distance(low: u8, high: u8) -> isize {
    isize::from(i16::from_le_bytes([low, high]))
}
