//! Bytecodes of an image. Those that a class file has too keep its numbers; locals are one byte, branches two.
//!
//! Ints and references share `LOAD`, `STORE` and `RETURN_VALUE`, since a cell holds either. Branches count from the
//! bytecode that has them.

/// Does nothing.
pub const NOP: u8 = 0x00;
/// Null.
pub const NULL: u8 = 0x01;
/// The int -1; the six that follow are 0 to 5.
pub const CONSTANT_M1: u8 = 0x02;
/// The int 5.
pub const CONSTANT_5: u8 = 0x08;
/// An int of one byte.
pub const PUSH_BYTE: u8 = 0x10;
/// An int of two bytes.
pub const PUSH_SHORT: u8 = 0x11;
/// An int of four bytes.
pub const PUSH_INT: u8 = 0x12;
/// A local variable.
pub const LOAD: u8 = 0x15;
/// Local variable 0; the three that follow are 1 to 3.
pub const LOAD_0: u8 = 0x1A;
/// Local variable 3.
pub const LOAD_3: u8 = 0x1D;
/// An element of an `int[]`.
pub const LOAD_INT: u8 = 0x2E;
/// An element of an array of references.
pub const LOAD_REFERENCE: u8 = 0x32;
/// An element of a `byte[]` or `boolean[]`.
pub const LOAD_BYTE: u8 = 0x33;
/// An element of a `short[]`.
pub const LOAD_SHORT: u8 = 0x35;
/// To a local variable.
pub const STORE: u8 = 0x36;
/// To local variable 0; the three that follow are 1 to 3.
pub const STORE_0: u8 = 0x3B;
/// To local variable 3.
pub const STORE_3: u8 = 0x3E;
/// To an element of an `int[]`.
pub const STORE_INT: u8 = 0x4F;
/// To an element of an array of references.
pub const STORE_REFERENCE: u8 = 0x53;
/// To an element of a `byte[]` or `boolean[]`.
pub const STORE_BYTE: u8 = 0x54;
/// To an element of a `short[]`.
pub const STORE_SHORT: u8 = 0x56;
/// Drops a cell.
pub const POP: u8 = 0x57;
/// Drops two.
pub const POP2: u8 = 0x58;
/// Doubles a cell.
pub const DUP: u8 = 0x59;
/// Doubles a cell, the copy below the next.
pub const DUP_X1: u8 = 0x5A;
/// Doubles a cell, the copy below the next two.
pub const DUP_X2: u8 = 0x5B;
/// Doubles two cells.
pub const DUP2: u8 = 0x5C;
/// Doubles two cells, the copies below the next.
pub const DUP2_X1: u8 = 0x5D;
/// Doubles two cells, the copies below the next two.
pub const DUP2_X2: u8 = 0x5E;
/// Exchanges two cells.
pub const SWAP: u8 = 0x5F;
/// Adds.
pub const ADD: u8 = 0x60;
/// Subtracts.
pub const SUBTRACT: u8 = 0x64;
/// Multiplies.
pub const MULTIPLY: u8 = 0x68;
/// Divides, towards zero.
pub const DIVIDE: u8 = 0x6C;
/// The remainder, with the dividend's sign.
pub const REMAINDER: u8 = 0x70;
/// Negates.
pub const NEGATE: u8 = 0x74;
/// Shifts left, by the count's lowest five bits.
pub const SHIFT_LEFT: u8 = 0x78;
/// Shifts right with the sign.
pub const SHIFT_RIGHT: u8 = 0x7A;
/// Shifts right with zeros.
pub const SHIFT_RIGHT_UNSIGNED: u8 = 0x7C;
/// And.
pub const AND: u8 = 0x7E;
/// Or.
pub const OR: u8 = 0x80;
/// Exclusive or.
pub const EXCLUSIVE_OR: u8 = 0x82;
/// Adds a signed byte to a local variable.
pub const INCREMENT: u8 = 0x84;
/// Adds a signed short to a local variable.
pub const INCREMENT_SHORT: u8 = 0x85;
/// The lowest byte with its sign.
pub const TO_BYTE: u8 = 0x91;
/// The lowest two bytes with their sign.
pub const TO_SHORT: u8 = 0x93;
/// Branches on an int beside zero: =, ≠, <, ≥, >, ≤.
pub const IF_ZERO: u8 = 0x99;
/// Branches on two ints, in the same order.
pub const IF_INTS: u8 = 0x9F;
/// Branches where two references are the same.
pub const IF_SAME: u8 = 0xA5;
/// Branches where they are not.
pub const IF_NOT_SAME: u8 = 0xA6;
/// Branches.
pub const GOTO: u8 = 0xA7;
/// Default, least key (four bytes), count (two), then a branch for each key.
pub const TABLE_SWITCH: u8 = 0xAA;
/// Default, count (two bytes), then keys (four bytes, ascending) with branches.
pub const LOOKUP_SWITCH: u8 = 0xAB;
/// Returns a cell.
pub const RETURN_VALUE: u8 = 0xAC;
/// Returns nothing.
pub const RETURN: u8 = 0xB1;
/// Calls by slot of the object's class: slot, cells of arguments.
pub const INVOKE_VIRTUAL: u8 = 0xB6;
/// Calls a method on an object, whatever its class: package, method.
pub const INVOKE_DIRECT: u8 = 0xB7;
/// Calls a static method: package, method.
pub const INVOKE_STATIC: u8 = 0xB8;
/// Calls through an interface: package, class, the interface's method, cells of arguments.
pub const INVOKE_INTERFACE: u8 = 0xB9;
/// An object: package, class.
pub const NEW: u8 = 0xBB;
/// An array of a primitive kind.
pub const NEW_ARRAY: u8 = 0xBC;
/// An array of references: package, class.
pub const NEW_REFERENCE_ARRAY: u8 = 0xBD;
/// The number of elements.
pub const ARRAY_LENGTH: u8 = 0xBE;
/// Throws.
pub const THROW: u8 = 0xBF;
/// Lets null and what is of a type pass: kind, package, class.
pub const CHECK_CAST: u8 = 0xC0;
/// Whether it is not null and of a type: kind, package, class.
pub const INSTANCE_OF: u8 = 0xC1;
/// Branches on null.
pub const IF_NULL: u8 = 0xC6;
/// Branches on a reference that is not null.
pub const IF_NOT_NULL: u8 = 0xC7;
/// A field of one byte: its slot. Those that follow: short, int, reference.
pub const GET_FIELD: u8 = 0xD0;
/// To a field: its slot.
pub const PUT_FIELD: u8 = 0xD4;
/// A static field: package, two bytes of slot.
pub const GET_STATIC: u8 = 0xD8;
/// To a static field.
pub const PUT_STATIC: u8 = 0xDC;

/// [`length()`] of each byte, 0 for what is no bytecode: an interpreter looks it up for each bytecode.
const LENGTHS: [u8; 256] = {
    let mut lengths = [0; 256];
    let mut opcode = 0;
    while opcode < 256 {
        if let Some(length) = length_of(opcode as u8) {
            lengths[opcode] = length as u8;
        }
        opcode += 1;
    }
    lengths
};

/// Bytes of a bytecode with its operands; none for a byte that is no bytecode. Switches: without their branches.
#[inline]
#[must_use]
pub const fn length(opcode: u8) -> Option<u32> {
    match LENGTHS[opcode as usize] {
        0 => None,
        length => Some(length as u32),
    }
}

const fn length_of(opcode: u8) -> Option<u32> {
    Some(match opcode {
        NOP..=CONSTANT_5 | LOAD_0..=LOAD_3 | STORE_0..=STORE_3 | POP..=SWAP => 1,
        LOAD_INT | LOAD_REFERENCE | LOAD_BYTE | LOAD_SHORT | STORE_INT | STORE_REFERENCE | STORE_BYTE | STORE_SHORT => {
            1
        }
        ADD | SUBTRACT | MULTIPLY | DIVIDE | REMAINDER | NEGATE | SHIFT_LEFT | SHIFT_RIGHT | SHIFT_RIGHT_UNSIGNED => 1,
        AND | OR | EXCLUSIVE_OR | TO_BYTE | TO_SHORT | RETURN_VALUE | RETURN | ARRAY_LENGTH | THROW => 1,
        PUSH_BYTE | LOAD | STORE | NEW_ARRAY | GET_FIELD..=0xD7 => 2,
        PUSH_SHORT
        | INCREMENT
        | IF_ZERO..=GOTO
        | IF_NULL
        | IF_NOT_NULL
        | INVOKE_VIRTUAL
        | NEW
        | NEW_REFERENCE_ARRAY => 3,
        INVOKE_DIRECT | INVOKE_STATIC | CHECK_CAST | INSTANCE_OF | INCREMENT_SHORT | GET_STATIC..=0xDF => 4,
        PUSH_INT | INVOKE_INTERFACE | LOOKUP_SWITCH => 5,
        TABLE_SWITCH => 9,
        _ => return None,
    })
}
