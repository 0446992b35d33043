//! The `Code` attribute of a method: operations, handlers, frames and lines.

use noak::reader::cpool::{ConstantPool, Index, Utf8};

use super::bytecode::{self, Operation};
use super::bytes::Bytes;
use super::pool::{Pool, decoded};
use super::stack_map::{self, Frame};
use crate::refusal::Reason;

/// A handler of exceptions.
#[derive(Clone, Debug)]
pub struct Handler {
    /// The first position that it covers.
    pub start: u16,
    /// The position after the last that it covers; it may be the code's length.
    pub end: u16,
    /// Where it starts.
    pub target: u16,
    /// The class that it catches by its entry of the constant pool; none for everything (`finally`).
    pub catches: Option<u16>,
}

/// The code of a method.
#[derive(Clone, Debug)]
pub struct Code {
    /// Cells of the operand stack at most.
    pub max_stack: u16,
    /// Local variables, the parameters included.
    pub max_locals: u16,
    /// Bytes of the class file's code.
    pub length: u16,
    /// The operations with their positions, ascending.
    pub operations: Vec<(u16, Operation)>,
    /// The handlers; the first that fits is taken.
    pub handlers: Vec<Handler>,
    /// Frames with their positions, ascending.
    pub frames: Vec<(u16, Frame)>,
    lines: Vec<(u16, u16)>,
}

impl Code {
    /// The line of the source that a position belongs to.
    #[must_use]
    pub fn line(&self, position: u16) -> Option<u16> {
        line(&self.lines, position)
    }

    /// The index of the operation that starts at a position.
    #[must_use]
    pub fn operation_at(&self, position: u16) -> Option<usize> {
        self.operations.binary_search_by_key(&position, |(at, _)| *at).ok()
    }
}

/// Reads the attribute; `first` is the frame at the method's start.
///
/// # Errors
///
/// The reason, and the line where it is known.
pub(super) fn read(
    attribute: &[u8],
    names: &ConstantPool<'_>,
    pool: &Pool,
    first: &Frame,
) -> Result<Code, (Option<u16>, Reason)> {
    let parts = Parts::read(attribute, names).map_err(|reason| (None, reason))?;
    let lines = parts.lines().map_err(|what| (None, Reason::Malformed(what)))?;
    let operations = bytecode::decode(parts.code).map_err(|(at, reason)| (line(&lines, at), reason))?;
    let frames = match parts.stack_map {
        Some(table) => stack_map::read(table, pool, first).map_err(|reason| (None, reason))?,
        None => Vec::new(),
    };
    Ok(Code {
        max_stack: parts.max_stack,
        max_locals: parts.max_locals,
        length: parts.code.len() as u16,
        operations,
        handlers: parts.handlers,
        frames,
        lines,
    })
}

fn line(lines: &[(u16, u16)], position: u16) -> Option<u16> {
    let before = lines.iter().filter(|(start, _)| *start <= position);
    before.max_by_key(|(start, _)| *start).map(|(_, line)| *line)
}

/// The attribute's parts, unread.
struct Parts<'a> {
    max_stack: u16,
    max_locals: u16,
    code: &'a [u8],
    handlers: Vec<Handler>,
    stack_map: Option<&'a [u8]>,
    /// There may be several tables of lines.
    line_tables: Vec<&'a [u8]>,
}

impl<'a> Parts<'a> {
    fn read(attribute: &'a [u8], names: &ConstantPool<'_>) -> Result<Parts<'a>, Reason> {
        let mut bytes = Bytes::new(attribute);
        let mut parts = Parts::before_attributes(&mut bytes).map_err(Reason::Malformed)?;
        let count = bytes.u16().map_err(Reason::Malformed)?;
        for _ in 0..count {
            let (name, content) = named_attribute(&mut bytes).map_err(Reason::Malformed)?;
            let name: &Utf8<'_> = decoded(Index::new(name).and_then(|name| names.get(name)))?;
            match name.content.as_bytes() {
                b"StackMapTable" if parts.stack_map.is_some() => {
                    return Err(Reason::Malformed("two StackMapTables".to_owned()));
                }
                b"StackMapTable" => parts.stack_map = Some(content),
                b"LineNumberTable" => parts.line_tables.push(content),
                _ => {}
            }
        }
        bytes.end().map_err(Reason::Malformed)?;
        Ok(parts)
    }

    fn before_attributes(bytes: &mut Bytes<'a>) -> Result<Parts<'a>, String> {
        let (max_stack, max_locals) = (bytes.u16()?, bytes.u16()?);
        let length = bytes.i32()?;
        let length = usize::try_from(length).ok().filter(|length| (1..=65_535).contains(length));
        let code = bytes.take(length.ok_or("a method's code has 1 to 65535 bytes")?)?;
        let mut handlers = Vec::new();
        for _ in 0..bytes.u16()? {
            handlers.push(handler(bytes)?);
        }
        Ok(Parts { max_stack, max_locals, code, handlers, stack_map: None, line_tables: Vec::new() })
    }

    fn lines(&self) -> Result<Vec<(u16, u16)>, String> {
        let mut lines = Vec::new();
        for table in &self.line_tables {
            let mut bytes = Bytes::new(table);
            for _ in 0..bytes.u16()? {
                lines.push((bytes.u16()?, bytes.u16()?));
            }
        }
        Ok(lines)
    }
}

fn handler(bytes: &mut Bytes<'_>) -> Result<Handler, String> {
    let (start, end, target) = (bytes.u16()?, bytes.u16()?, bytes.u16()?);
    let catches = Some(bytes.u16()?).filter(|entry| *entry != 0);
    Ok(Handler { start, end, target, catches })
}

/// An attribute's name, as its entry of the constant pool, and its content.
fn named_attribute<'a>(bytes: &mut Bytes<'a>) -> Result<(u16, &'a [u8]), String> {
    let name = bytes.u16()?;
    let length = usize::try_from(bytes.i32()?).map_err(|_| "an attribute of more than 2 GiB")?;
    Ok((name, bytes.take(length)?))
}
