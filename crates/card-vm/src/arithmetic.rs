//! Operations on ints.

use norn_card_package::opcode as op;

use crate::end::Exception;

/// Two ints to one; none for a bytecode that is no such operation.
#[inline]
pub(crate) fn binary(opcode: u8, left: i32, right: i32) -> Result<Option<i32>, Exception> {
    Ok(Some(match opcode {
        op::ADD => left.wrapping_add(right),
        op::SUBTRACT => left.wrapping_sub(right),
        op::MULTIPLY => left.wrapping_mul(right),
        op::DIVIDE | op::REMAINDER if right == 0 => return Err(Exception::Arithmetic),
        op::DIVIDE => left.wrapping_div(right),
        op::REMAINDER => left.wrapping_rem(right),
        op::SHIFT_LEFT => left.wrapping_shl(right as u32),
        op::SHIFT_RIGHT => left.wrapping_shr(right as u32),
        op::SHIFT_RIGHT_UNSIGNED => (left as u32).wrapping_shr(right as u32) as i32,
        op::AND => left & right,
        op::OR => left | right,
        op::EXCLUSIVE_OR => left ^ right,
        _ => return Ok(None),
    }))
}

/// For each bytecode that moves cells: how many it takes, and which of them it leaves, counted from the top.
pub(crate) fn shuffle(opcode: u8) -> Option<(u8, &'static [u8])> {
    Some(match opcode {
        op::POP => (1, &[]),
        op::POP2 => (2, &[]),
        op::DUP => (1, &[0, 0]),
        op::DUP_X1 => (2, &[0, 1, 0]),
        op::DUP_X2 => (3, &[0, 2, 1, 0]),
        op::DUP2 => (2, &[1, 0, 1, 0]),
        op::DUP2_X1 => (3, &[1, 0, 2, 1, 0]),
        op::DUP2_X2 => (4, &[1, 0, 3, 2, 1, 0]),
        op::SWAP => (2, &[0, 1]),
        _ => return None,
    })
}
