//! The `StackMapTable` attribute: the types of locals and stack at the targets of branches, as its compiler says.
//!
//! Nothing here is believed: the verifier checks each frame against every way that leads to it.

use super::bytes::Bytes;
use super::pool::Pool;
use crate::descriptor::ValueType;
use crate::refusal::Reason;

/// The type of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellType {
    /// Nothing that may be used.
    Unusable,
    /// An int.
    Int,
    /// The type of `null`, which fits every reference.
    Null,
    /// `this` in a constructor before that of the class above was called.
    UninitializedThis,
    /// What `new` at a position made, before its constructor was called.
    Uninitialized(u16),
    /// An object of a class, by its internal name, or an array, by its descriptor.
    Reference(String),
}

impl CellType {
    /// The type of a cell that holds a value of a field or parameter.
    #[must_use]
    pub fn of(value: &ValueType) -> CellType {
        match value {
            ValueType::Reference(name) => CellType::Reference(name.clone()),
            _ => CellType::Int,
        }
    }
}

/// Locals and operand stack at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The local variables; those after the last are unusable.
    pub locals: Vec<CellType>,
    /// The operand stack, its bottom first.
    pub stack: Vec<CellType>,
}

/// Reads the table: frames with their positions, ascending. `first` is the frame at the method's start.
pub(super) fn read(attribute: &[u8], pool: &Pool, first: &Frame) -> Result<Vec<(u16, Frame)>, Reason> {
    let mut reader = Reader { bytes: Bytes::new(attribute), pool };
    let mut frames: Vec<(u16, Frame)> = Vec::new();
    let count = reader.u16()?;
    for _ in 0..count {
        let (before, last) = match frames.last() {
            Some((at, frame)) => (Some(*at), frame),
            None => (None, first),
        };
        let (distance, frame) = reader.frame(last)?;
        let at = before.map_or(Some(distance), |before| before.checked_add(distance)?.checked_add(1));
        frames.push((at.ok_or_else(|| broken("a frame after the end of the code"))?, frame));
    }
    reader.bytes.end().map_err(Reason::Malformed)?;
    Ok(frames)
}

fn broken(what: &str) -> Reason {
    Reason::Malformed(format!("StackMapTable: {what}"))
}

struct Reader<'a> {
    bytes: Bytes<'a>,
    pool: &'a Pool,
}

impl Reader<'_> {
    /// A frame, and how far it is from the one before.
    fn frame(&mut self, last: &Frame) -> Result<(u16, Frame), Reason> {
        let tag = self.bytes.u8().map_err(Reason::Malformed)?;
        let distance = match tag {
            0..=63 => u16::from(tag),
            64..=127 => u16::from(tag - 64),
            247..=255 => self.u16()?,
            _ => return Err(broken(&format!("frame type {tag} is reserved"))),
        };
        let mut frame = Frame { locals: last.locals.clone(), stack: Vec::new() };
        match tag {
            64..=127 | 247 => frame.stack.push(self.cell()?),
            248..=250 => self.chop(&mut frame, usize::from(251 - tag))?,
            252..=254 => frame.locals.extend(self.cells(u16::from(tag - 251))?),
            255 => frame = self.full()?,
            _ => {}
        }
        Ok((distance, frame))
    }

    fn chop(&self, frame: &mut Frame, count: usize) -> Result<(), Reason> {
        let left = frame.locals.len().checked_sub(count).ok_or_else(|| broken("more locals chopped than there are"))?;
        frame.locals.truncate(left);
        Ok(())
    }

    fn full(&mut self) -> Result<Frame, Reason> {
        let count = self.u16()?;
        let locals = self.cells(count)?;
        let count = self.u16()?;
        Ok(Frame { locals, stack: self.cells(count)? })
    }

    fn cells(&mut self, count: u16) -> Result<Vec<CellType>, Reason> {
        (0..count).map(|_| self.cell()).collect()
    }

    fn cell(&mut self) -> Result<CellType, Reason> {
        Ok(match self.bytes.u8().map_err(Reason::Malformed)? {
            0 => CellType::Unusable,
            1 => CellType::Int,
            2 | 3 => return Err(lacking("floating point")),
            4 => return Err(lacking("long")),
            5 => CellType::Null,
            6 => CellType::UninitializedThis,
            7 => CellType::Reference(self.class()?),
            8 => CellType::Uninitialized(self.u16()?),
            tag => return Err(broken(&format!("cell type {tag} does not exist"))),
        })
    }

    fn class(&mut self) -> Result<String, Reason> {
        let entry = self.u16()?;
        Ok(self.pool.class(entry)?.to_owned())
    }

    fn u16(&mut self) -> Result<u16, Reason> {
        self.bytes.u16().map_err(Reason::Malformed)
    }
}

fn lacking(what: &str) -> Reason {
    Reason::NotOnCards { what: what.to_owned(), instead: "use int" }
}
