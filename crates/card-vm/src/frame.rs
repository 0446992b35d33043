//! Frames in the caller's cells.
//!
//! ```text
//!  … caller's stack │ arguments, other locals │ caller's owner and method, position, frame │ operand stack │ free …
//!                   ↑ locals                  ↑ link                                       ↑ bottom   top ↑
//! ```
//!
//! A call's arguments are the callee's first locals, where they are. Every access is checked against the frame. What
//! runs fast borrows the cells (`quick.rs`); `push` and `pop` are in the code once, for all other bytecodes.

use norn_card_package::Method;

/// Cells of a frame beside locals and operand stack.
pub(crate) const LINK: usize = 3;

/// The method that runs, and where its frame is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub package: u8,
    pub method: u16,
    /// On whose behalf it runs: an applet's instance, or the runtime.
    pub owner: u8,
    /// The bytecode that is carried out.
    pub position: u32,
    locals: u16,
    local_count: u8,
    stack_count: u8,
    top: u16,
}

/// The operand stack or a local variable would be left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfFrame;

/// The cells of a frame.
pub(crate) struct FrameCells<'a> {
    /// Local variables.
    pub locals: &'a mut [i32],
    /// The whole operand stack, free cells included.
    pub stack: &'a mut [i32],
    /// The first free cell of the operand stack.
    pub top: usize,
}

impl Frame {
    /// The frame below all: an operand stack of the arguments and a result.
    pub(crate) fn outermost(arguments: u8, owner: u8) -> Frame {
        Frame {
            package: 0,
            method: 0,
            owner,
            position: 0,
            locals: 0,
            local_count: 0,
            stack_count: arguments.max(1),
            top: LINK as u16,
        }
    }

    fn link(&self) -> usize {
        usize::from(self.locals) + usize::from(self.local_count)
    }

    fn bottom(&self) -> usize {
        self.link() + LINK
    }

    fn limit(&self) -> usize {
        self.bottom() + usize::from(self.stack_count)
    }

    pub(crate) fn is_outermost(&self) -> bool {
        self.locals == 0
    }

    #[inline(never)]
    pub(crate) fn push(&mut self, cells: &mut [i32], value: i32) -> Result<(), OutOfFrame> {
        let top = usize::from(self.top);
        match cells.get_mut(top) {
            Some(cell) if top < self.limit() => *cell = value,
            _ => return Err(OutOfFrame),
        }
        self.top += 1;
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn pop(&mut self, cells: &[i32]) -> Result<i32, OutOfFrame> {
        let top = usize::from(self.top);
        if top <= self.bottom() {
            return Err(OutOfFrame);
        }
        self.top -= 1;
        cells.get(top - 1).copied().ok_or(OutOfFrame)
    }

    /// The cell at a depth below the top; 1 is the topmost.
    #[inline]
    pub(crate) fn peek(&self, cells: &[i32], depth: u8) -> Result<i32, OutOfFrame> {
        let place = usize::from(self.top).checked_sub(usize::from(depth)).ok_or(OutOfFrame)?;
        if place < self.bottom() || depth == 0 {
            return Err(OutOfFrame);
        }
        cells.get(place).copied().ok_or(OutOfFrame)
    }

    /// The cells of the frame; none where there are fewer than it takes.
    #[inline]
    pub(crate) fn cells<'a>(&self, cells: &'a mut [i32]) -> Option<FrameCells<'a>> {
        let top = usize::from(self.top).checked_sub(self.bottom())?;
        let cells = cells.get_mut(usize::from(self.locals)..self.limit())?;
        let (locals, rest) = cells.split_at_mut_checked(usize::from(self.local_count))?;
        Some(FrameCells { locals, stack: rest.get_mut(LINK..)?, top })
    }

    /// Moves the end of the operand stack, as [`Frame::cells`] counts.
    #[inline]
    pub(crate) fn set_relative_top(&mut self, top: usize) {
        self.top = self.bottom() as u16 + top as u16;
    }

    /// Drops the arguments of a call, and returns them.
    pub(crate) fn arguments<'a>(&mut self, cells: &'a [i32], count: u8) -> Result<&'a [i32], OutOfFrame> {
        let end = usize::from(self.top);
        let start = end.checked_sub(usize::from(count)).filter(|start| *start >= self.bottom()).ok_or(OutOfFrame)?;
        self.top = start as u16;
        cells.get(start..end).ok_or(OutOfFrame)
    }

    /// Puts the arguments of a call where its frame will be, that of a native method which calls another: beyond the
    /// operand stack, too. False where there is no room.
    pub(crate) fn pass(&mut self, cells: &mut [i32], arguments: &[i32]) -> bool {
        let top = usize::from(self.top);
        match cells.get_mut(top..top + arguments.len()) {
            Some(free) if top + arguments.len() <= usize::from(u16::MAX) => free.copy_from_slice(arguments),
            _ => return false,
        }
        self.top += arguments.len() as u16;
        true
    }

    /// Empties the operand stack, as a handler has it.
    pub(crate) fn empty(&mut self) {
        self.top = self.bottom() as u16;
    }

    /// The frame of a method that this one calls; `None` where there is no room for it.
    pub(crate) fn call(
        &mut self,
        cells: &mut [i32],
        package: u8,
        number: u16,
        owner: u8,
        method: &Method,
    ) -> Result<Option<Frame>, OutOfFrame> {
        let end_of_arguments = usize::from(self.top);
        self.arguments(cells, method.arguments)?;
        let called = Frame {
            package,
            method: number,
            owner,
            position: method.code,
            locals: self.top,
            local_count: method.locals,
            stack_count: method.stack,
            top: 0,
        };
        if called.limit() > cells.len().min(usize::from(u16::MAX)) {
            return Ok(None);
        }
        let link = called.link();
        cells[end_of_arguments.min(link)..link].fill(0);
        cells[link] = i32::from(self.owner) << 24 | i32::from(self.package) << 16 | i32::from(self.method);
        cells[link + 1] = self.position as i32;
        cells[link + 2] = i32::from(self.locals) << 16 | i32::from(self.local_count) << 8 | i32::from(self.stack_count);
        Ok(Some(Frame { top: called.bottom() as u16, ..called }))
    }

    /// The caller's frame, its arguments dropped.
    pub(crate) fn caller(&self, cells: &[i32]) -> Option<Frame> {
        let [method, position, frame] = *cells.get(self.link()..)?.first_chunk::<LINK>()?;
        let [stack_count, local_count, low, high] = frame.to_le_bytes();
        Some(Frame {
            package: (method >> 16) as u8,
            method: method as u16,
            owner: (method >> 24) as u8,
            position: position as u32,
            locals: u16::from_le_bytes([low, high]),
            local_count,
            stack_count,
            top: self.locals,
        })
    }
}
