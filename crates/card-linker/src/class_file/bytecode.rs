//! Bytecode as operations: short and wide forms of one operation are the same here.
//!
//! Positions are bytes from the start of a method's code. Every target of a branch is a position within the code;
//! whether an operation starts there is the verifier's question.

use super::bytes::Bytes;
use crate::refusal::Reason;

/// What a local variable or a cell of the operand stack is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An `int`, also for `boolean`, `byte` and `short`.
    Int,
    /// A reference.
    Reference,
}

/// What an array operation takes its element for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `byte` or `boolean`: the bytecode is the same.
    Byte,
    /// `short`.
    Short,
    /// `int`.
    Int,
    /// A reference.
    Reference,
}

/// Operations that only move cells of the operand stack.
#[expect(missing_docs, reason = "each is the bytecode of its name")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    Pop,
    Pop2,
    Dup,
    DupX1,
    DupX2,
    Dup2,
    Dup2X1,
    Dup2X2,
    Swap,
}

/// Operations on two ints that leave one.
#[expect(missing_docs, reason = "each is the bytecode of its name")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    And,
    Or,
    ExclusiveOr,
}

/// What a conditional branch compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// An int with zero.
    Zero,
    /// Two ints.
    Ints,
    /// Two references.
    References,
    /// A reference with null.
    Null,
}

/// When a conditional branch is taken.
#[expect(missing_docs, reason = "each is the comparison of its name")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    GreaterOrEqual,
    Greater,
    LessOrEqual,
}

/// The four bytecodes on fields.
#[expect(missing_docs, reason = "each is the bytecode of its name")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldAccess {
    GetStatic,
    PutStatic,
    GetField,
    PutField,
}

/// The four bytecodes that call methods.
#[expect(missing_docs, reason = "each is the bytecode of its name")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invocation {
    Virtual,
    Special,
    Static,
    Interface,
}

/// `tableswitch` and `lookupswitch`: keys with the positions that they lead to, ascending by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The position for any other key.
    pub default: u16,
    /// The others.
    pub cases: Vec<(i32, u16)>,
}

/// One bytecode with its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `nop`.
    Nop,
    /// `aconst_null`.
    Null,
    /// `iconst_<i>`, `bipush`, `sipush`.
    Constant(i32),
    /// `ldc`, `ldc_w`: an entry of the constant pool.
    LoadConstant(u16),
    /// `iload`, `aload`: a local variable.
    Load(Kind, u16),
    /// `istore`, `astore`: a local variable.
    Store(Kind, u16),
    /// `baload`, `saload`, `iaload`, `aaload`.
    ArrayLoad(Element),
    /// `bastore`, `sastore`, `iastore`, `aastore`.
    ArrayStore(Element),
    /// Moves cells of the operand stack.
    Shuffle(Shuffle),
    /// Two ints to one.
    Binary(Binary),
    /// `ineg`.
    Negate,
    /// `i2b`.
    ToByte,
    /// `i2s`.
    ToShort,
    /// `iinc`: a local variable and what is added.
    Increment(u16, i16),
    /// A conditional branch.
    Branch(Operands, Comparison, u16),
    /// `goto`, `goto_w`.
    Goto(u16),
    /// `tableswitch`, `lookupswitch`.
    Switch(Switch),
    /// `ireturn`, `areturn`, `return`.
    Return(Option<Kind>),
    /// A field by its entry of the constant pool.
    Field(FieldAccess, u16),
    /// A method by its entry of the constant pool.
    Invoke(Invocation, u16),
    /// `new`.
    New(u16),
    /// `newarray` by the class file's code: 4 boolean, 8 byte, 9 short, 10 int.
    NewArray(u8),
    /// `anewarray`: the element's entry of the constant pool.
    NewReferenceArray(u16),
    /// `arraylength`.
    ArrayLength,
    /// `athrow`.
    Throw,
    /// `checkcast`.
    CheckCast(u16),
    /// `instanceof`.
    InstanceOf(u16),
}

impl Operation {
    /// Whether the next operation in the code is never reached from this one.
    #[must_use]
    pub fn ends_flow(&self) -> bool {
        matches!(self, Operation::Goto(_) | Operation::Switch(_) | Operation::Return(_) | Operation::Throw)
    }
}

/// Reads the operations of a method, each with its position.
///
/// # Errors
///
/// The position of the bytecode at fault with the reason: [`Reason::NotOnCards`] for bytecodes that a card lacks,
/// [`Reason::Malformed`] otherwise.
pub(super) fn decode(code: &[u8]) -> Result<Vec<(u16, Operation)>, (u16, Reason)> {
    let mut bytes = Bytes::new(code);
    let mut operations = Vec::new();
    while !bytes.is_at_end() {
        // The reader refuses code of more than 65,535 bytes.
        let at = bytes.position() as u16;
        let operation = Decoder { bytes: &mut bytes, at, length: code.len() }.operation();
        operations.push((at, operation.map_err(|reason| (at, reason))?));
    }
    Ok(operations)
}

/// One bytecode that is being read.
struct Decoder<'a, 'b> {
    bytes: &'a mut Bytes<'b>,
    /// Where the bytecode starts.
    at: u16,
    /// Bytes of the method's code.
    length: usize,
}

/// A result of reading a number, as a refusal.
fn whole<T>(read: Result<T, String>) -> Result<T, Reason> {
    read.map_err(Reason::Malformed)
}

impl Decoder<'_, '_> {
    fn operation(&mut self) -> Result<Operation, Reason> {
        let code = whole(self.bytes.u8())?;
        Ok(match code {
            0x00..=0x35 => self.load(code)?,
            0x36..=0x56 => self.store(code)?,
            0x57..=0x5F => Operation::Shuffle(SHUFFLES[usize::from(code - 0x57)]),
            0x60..=0x84 => self.arithmetic(code)?,
            0x91 => Operation::ToByte,
            0x93 => Operation::ToShort,
            0x99..=0xB1 | 0xC6..=0xC8 => self.control(code)?,
            0xB2..=0xC1 => self.object(code)?,
            0xC4 => self.wide()?,
            _ => return Err(lacking(code)),
        })
    }

    /// Constants, local variables and elements to the stack.
    fn load(&mut self, code: u8) -> Result<Operation, Reason> {
        Ok(match code {
            0x00 => Operation::Nop,
            0x01 => Operation::Null,
            0x02..=0x08 => Operation::Constant(i32::from(code) - 3),
            0x10 => Operation::Constant(i32::from(self.u8()? as i8)),
            0x11 => Operation::Constant(i32::from(self.u16()? as i16)),
            0x12 => Operation::LoadConstant(u16::from(self.u8()?)),
            0x13 => Operation::LoadConstant(self.u16()?),
            0x15 => Operation::Load(Kind::Int, u16::from(self.u8()?)),
            0x19 => Operation::Load(Kind::Reference, u16::from(self.u8()?)),
            0x1A..=0x1D => Operation::Load(Kind::Int, u16::from(code - 0x1A)),
            0x2A..=0x2D => Operation::Load(Kind::Reference, u16::from(code - 0x2A)),
            0x2E => Operation::ArrayLoad(Element::Int),
            0x32 => Operation::ArrayLoad(Element::Reference),
            0x33 => Operation::ArrayLoad(Element::Byte),
            0x35 => Operation::ArrayLoad(Element::Short),
            _ => return Err(lacking(code)),
        })
    }

    /// From the stack to local variables and elements.
    fn store(&mut self, code: u8) -> Result<Operation, Reason> {
        Ok(match code {
            0x36 => Operation::Store(Kind::Int, u16::from(self.u8()?)),
            0x3A => Operation::Store(Kind::Reference, u16::from(self.u8()?)),
            0x3B..=0x3E => Operation::Store(Kind::Int, u16::from(code - 0x3B)),
            0x4B..=0x4E => Operation::Store(Kind::Reference, u16::from(code - 0x4B)),
            0x4F => Operation::ArrayStore(Element::Int),
            0x53 => Operation::ArrayStore(Element::Reference),
            0x54 => Operation::ArrayStore(Element::Byte),
            0x56 => Operation::ArrayStore(Element::Short),
            _ => return Err(lacking(code)),
        })
    }

    fn arithmetic(&mut self, code: u8) -> Result<Operation, Reason> {
        Ok(match code {
            0x60 => Operation::Binary(Binary::Add),
            0x64 => Operation::Binary(Binary::Subtract),
            0x68 => Operation::Binary(Binary::Multiply),
            0x6C => Operation::Binary(Binary::Divide),
            0x70 => Operation::Binary(Binary::Remainder),
            0x74 => Operation::Negate,
            0x78 => Operation::Binary(Binary::ShiftLeft),
            0x7A => Operation::Binary(Binary::ShiftRight),
            0x7C => Operation::Binary(Binary::ShiftRightUnsigned),
            0x7E => Operation::Binary(Binary::And),
            0x80 => Operation::Binary(Binary::Or),
            0x82 => Operation::Binary(Binary::ExclusiveOr),
            0x84 => Operation::Increment(u16::from(self.u8()?), i16::from(self.u8()? as i8)),
            _ => return Err(lacking(code)),
        })
    }

    /// Branches, switches and returns.
    fn control(&mut self, code: u8) -> Result<Operation, Reason> {
        Ok(match code {
            0x99..=0x9E => self.branch(Operands::Zero, code - 0x99)?,
            0x9F..=0xA4 => self.branch(Operands::Ints, code - 0x9F)?,
            0xA5..=0xA6 => self.branch(Operands::References, code - 0xA5)?,
            0xC6..=0xC7 => self.branch(Operands::Null, code - 0xC6)?,
            0xA7 => Operation::Goto(self.short_target()?),
            0xC8 => Operation::Goto(self.target()?),
            0xAA => Operation::Switch(self.table_switch()?),
            0xAB => Operation::Switch(self.lookup_switch()?),
            0xAC => Operation::Return(Some(Kind::Int)),
            0xB0 => Operation::Return(Some(Kind::Reference)),
            0xB1 => Operation::Return(None),
            _ => return Err(lacking(code)),
        })
    }

    /// Fields, methods, objects and arrays.
    fn object(&mut self, code: u8) -> Result<Operation, Reason> {
        Ok(match code {
            0xB2 => Operation::Field(FieldAccess::GetStatic, self.u16()?),
            0xB3 => Operation::Field(FieldAccess::PutStatic, self.u16()?),
            0xB4 => Operation::Field(FieldAccess::GetField, self.u16()?),
            0xB5 => Operation::Field(FieldAccess::PutField, self.u16()?),
            0xB6 => Operation::Invoke(Invocation::Virtual, self.u16()?),
            0xB7 => Operation::Invoke(Invocation::Special, self.u16()?),
            0xB8 => Operation::Invoke(Invocation::Static, self.u16()?),
            0xB9 => self.invoke_interface()?,
            0xBB => Operation::New(self.u16()?),
            0xBC => self.new_array()?,
            0xBD => Operation::NewReferenceArray(self.u16()?),
            0xBE => Operation::ArrayLength,
            0xBF => Operation::Throw,
            0xC0 => Operation::CheckCast(self.u16()?),
            0xC1 => Operation::InstanceOf(self.u16()?),
            _ => return Err(lacking(code)),
        })
    }

    /// The operand after `wide`.
    fn wide(&mut self) -> Result<Operation, Reason> {
        let code = self.u8()?;
        let local = self.u16()?;
        Ok(match code {
            0x15 => Operation::Load(Kind::Int, local),
            0x19 => Operation::Load(Kind::Reference, local),
            0x36 => Operation::Store(Kind::Int, local),
            0x3A => Operation::Store(Kind::Reference, local),
            0x84 => Operation::Increment(local, self.u16()? as i16),
            0x16..=0x18 | 0x37..=0x39 | 0xA9 => return Err(lacking(code)),
            _ => return Err(Reason::Malformed(format!("bytecode 0x{code:02x} has no wide form"))),
        })
    }

    /// The count of arguments repeats what the descriptor says; the verifier reads the descriptor.
    fn invoke_interface(&mut self) -> Result<Operation, Reason> {
        let entry = self.u16()?;
        let (count, zero) = (self.u8()?, self.u8()?);
        if count == 0 || zero != 0 {
            return Err(Reason::Malformed("the operands of invokeinterface".to_owned()));
        }
        Ok(Operation::Invoke(Invocation::Interface, entry))
    }

    fn new_array(&mut self) -> Result<Operation, Reason> {
        match self.u8()? {
            code @ (4 | 8..=10) => Ok(Operation::NewArray(code)),
            5 => Err(Reason::NotOnCards { what: "char".to_owned(), instead: "use byte[] or short[]" }),
            6 | 7 => Err(lacking(0x62)),
            11 => Err(lacking(0x61)),
            code => Err(Reason::Malformed(format!("newarray of element type {code}"))),
        }
    }

    fn branch(&mut self, operands: Operands, comparison: u8) -> Result<Operation, Reason> {
        Ok(Operation::Branch(operands, COMPARISONS[usize::from(comparison)], self.short_target()?))
    }

    fn table_switch(&mut self) -> Result<Switch, Reason> {
        let default = self.padded_target()?;
        let (low, high) = (self.i32()?, self.i32()?);
        let mut cases = Vec::new();
        // The end of the code ends this where `high` is absurd.
        for key in low..=high {
            cases.push((key, self.target()?));
        }
        if cases.is_empty() {
            return Err(Reason::Malformed("tableswitch without a key".to_owned()));
        }
        Ok(Switch { default, cases })
    }

    fn lookup_switch(&mut self) -> Result<Switch, Reason> {
        let default = self.padded_target()?;
        let count = self.i32()?;
        let mut cases: Vec<(i32, u16)> = Vec::new();
        for _ in 0..count {
            let key = self.i32()?;
            if cases.last().is_some_and(|(last, _)| *last >= key) {
                return Err(Reason::Malformed("lookupswitch whose keys do not ascend".to_owned()));
            }
            cases.push((key, self.target()?));
        }
        if count < 0 {
            return Err(Reason::Malformed(format!("lookupswitch of {count} keys")));
        }
        Ok(Switch { default, cases })
    }

    /// A target after the bytes that bring it to a position divisible by four.
    fn padded_target(&mut self) -> Result<u16, Reason> {
        let padding = self.bytes.position().next_multiple_of(4) - self.bytes.position();
        whole(self.bytes.take(padding))?;
        self.target()
    }

    fn short_target(&mut self) -> Result<u16, Reason> {
        let distance = self.u16()? as i16;
        self.position(i64::from(distance))
    }

    fn target(&mut self) -> Result<u16, Reason> {
        let distance = self.i32()?;
        self.position(i64::from(distance))
    }

    fn position(&self, distance: i64) -> Result<u16, Reason> {
        let target = i64::from(self.at) + distance;
        let inside = usize::try_from(target).ok().filter(|target| *target < self.length);
        inside.map(|target| target as u16).ok_or_else(|| {
            Reason::Unverifiable(format!("the branch at {} leads to {target}, outside the code", self.at))
        })
    }

    fn u8(&mut self) -> Result<u8, Reason> {
        whole(self.bytes.u8())
    }

    fn u16(&mut self) -> Result<u16, Reason> {
        whole(self.bytes.u16())
    }

    fn i32(&mut self) -> Result<i32, Reason> {
        whole(self.bytes.i32())
    }
}

const SHUFFLES: [Shuffle; 9] = [
    Shuffle::Pop,
    Shuffle::Pop2,
    Shuffle::Dup,
    Shuffle::DupX1,
    Shuffle::DupX2,
    Shuffle::Dup2,
    Shuffle::Dup2X1,
    Shuffle::Dup2X2,
    Shuffle::Swap,
];

const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::GreaterOrEqual,
    Comparison::Greater,
    Comparison::LessOrEqual,
];

/// What a bytecode that decodes to no operation is for, and what to write instead.
fn lacking(code: u8) -> Reason {
    let (what, instead) = match code {
        0x0B..=0x0F | 0x17 | 0x18 | 0x22..=0x29 | 0x30 | 0x31 | 0x38 | 0x39 | 0x43..=0x4A | 0x51 | 0x52 => FLOATING,
        0x62 | 0x63 | 0x66 | 0x67 | 0x6A | 0x6B | 0x6E | 0x6F | 0x72 | 0x73 | 0x76 | 0x77 => FLOATING,
        0x86 | 0x87 | 0x89 | 0x8A | 0x8B..=0x90 | 0x95..=0x98 | 0xAE | 0xAF => FLOATING,
        0x09 | 0x0A | 0x14 | 0x16 | 0x1E..=0x21 | 0x2F | 0x37 | 0x3F..=0x42 | 0x50 => LONG,
        0x61 | 0x65 | 0x69 | 0x6D | 0x71 | 0x75 | 0x79 | 0x7B | 0x7D | 0x7F | 0x81 | 0x83 => LONG,
        0x85 | 0x88 | 0x94 | 0xAD => LONG,
        0x34 | 0x55 | 0x92 => ("char", "use byte or short"),
        0xA8 | 0xA9 | 0xC9 => ("subroutines (jsr, ret)", "compile with javac --release 8 or later"),
        0xBA => (
            "invokedynamic: string concatenation, lambdas, records and switches over patterns",
            "use byte arrays, named classes and switches over ints",
        ),
        0xC2 | 0xC3 => ("threads, so no synchronized", "leave it out: one command runs at a time"),
        0xC5 => ("arrays of arrays", "use one array and compute the index"),
        _ => return Reason::Malformed(format!("there is no bytecode 0x{code:02x}")),
    };
    Reason::NotOnCards { what: what.to_owned(), instead }
}

const FLOATING: (&str, &str) = ("floating point", "count in the smallest unit in an int");
const LONG: (&str, &str) = ("long", "use int, or an array of bytes");
