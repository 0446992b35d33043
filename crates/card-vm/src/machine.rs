//! The loop: one bytecode after the other, calls and exceptions without recursion.
//!
//! 1. What is on stack and local variables alone is carried out by `quick.rs`, as far as that goes.
//! 2. The opcode at the frame's position is read from the window; `next` is what follows it.
//! 3. It is carried out on the frame. It leads to `next`, to a branch, into a callee's frame, or back to the caller's.
//! 4. A trap that is an exception looks for a handler: in the method that runs, then in each caller at its call.

use core::mem::size_of;

use norn_card_package::{ClassPlace, ImageError, Method, Wrong, opcode as op};

use crate::arithmetic::shuffle;
use crate::calls::{Callee, Calls, Head};
use crate::code::{Code, CodeError, LONGEST, Windows};
use crate::end::{End, Exception, Native, Stop, Trap};
use crate::frame::{Frame, OutOfFrame};
use crate::objects::{ClassId, NativeCall, Objects, RUNTIME, Runtime};
use crate::types;

/// Bytes of RAM that a machine takes at most beside what it borrows, on a machine of 64 bits.
pub const MACHINE_BYTES_MAX: usize = 512;

/// What a step leads to if not to the next bytecode.
pub(crate) type Step<T, O, C> = Result<T, Trap<<O as Objects>::Error, CodeError<C>>>;

/// The bytes after an opcode.
pub(crate) type Operands = [u8; LONGEST - 1];

/// An interpreter over objects `O`, code `C` and a runtime `R`.
#[derive(Debug)]
pub struct Machine<'a, O, C, R> {
    pub(crate) objects: &'a mut O,
    pub(crate) code: &'a mut C,
    pub(crate) runtime: &'a mut R,
    pub(crate) cells: &'a mut [i32],
    pub(crate) frame: Frame,
    pub(crate) windows: Windows,
    calls: Calls,
    /// The bytecode after the one that is carried out.
    next: u32,
    pub(crate) left: u32,
}

const _: () = assert!(size_of::<Machine<'_, (), (), ()>>() <= MACHINE_BYTES_MAX, "the machine is as small as stated");

impl<'a, O: Objects, C: Code, R: Runtime<O, C>> Machine<'a, O, C, R> {
    /// A machine that carries out at most `bytecodes` of them in all runs. `cells` hold frames and operand stacks.
    pub fn new(objects: &'a mut O, code: &'a mut C, runtime: &'a mut R, cells: &'a mut [i32], bytecodes: u32) -> Self {
        Machine {
            objects,
            code,
            runtime,
            cells,
            frame: Frame::outermost(0, RUNTIME),
            windows: Windows::empty(),
            calls: Calls::new(),
            next: 0,
            left: bytecodes,
        }
    }

    /// How many bytecodes it may still carry out.
    #[must_use]
    pub fn bytecodes_left(&self) -> u32 {
        self.left
    }

    /// Runs a method on somebody's behalf, by the card's number of its package and its own there, to its end.
    /// `arguments` start with the object, where it is called on one.
    ///
    /// # Errors
    ///
    /// If the program was stopped: what it changed is there.
    pub fn run(
        &mut self,
        owner: u8,
        (package, method): (u8, u16),
        arguments: &[i32],
    ) -> Result<End, Stop<O::Error, CodeError<C>>> {
        let Ok(count) = u8::try_from(arguments.len()) else { return Err(Stop::Stack) };
        self.frame = Frame::outermost(count, owner);
        self.objects.set_owner(owner);
        for argument in arguments {
            self.frame.push(self.cells, *argument).map_err(|OutOfFrame| Stop::Stack)?;
        }
        let mut trap = self.enter(package, method, Some(count), owner).err();
        loop {
            let thrown = match trap {
                None => None,
                Some(Trap::Stop(stop)) => return Err(stop),
                Some(Trap::Exception(exception)) => {
                    Some(self.runtime.exception(self.objects, exception).map_err(Stop::Objects)?)
                }
                Some(Trap::Throw(thrown)) => Some(thrown),
            };
            if let Some(thrown) = thrown
                && !self.unwind(thrown)?
            {
                return Ok(End::Thrown(thrown));
            }
            trap = loop {
                if self.frame.is_outermost() {
                    return Ok(End::Returned(self.frame.pop(self.cells).ok()));
                }
                self.run_quickly();
                // A step that leads on moves no result about.
                if let Err(trap) = self.step() {
                    break Some(trap);
                }
            };
        }
    }

    /// Carries out a bytecode that is not on stack and local variables alone, or says why one that is cannot be.
    fn step(&mut self) -> Step<(), O, C> {
        if self.left == 0 {
            return Err(Trap::Stop(Stop::Limit));
        }
        let Some([opcode, operands @ ..]) = self.windows.bytes(self.frame.package, self.frame.position) else {
            self.windows.turn_to(self.code, self.frame.package, self.frame.position)?;
            return Ok(());
        };
        self.left -= 1;
        let Some(length) = op::length(opcode) else { return self.damaged(Wrong::Opcode) };
        self.next = self.frame.position + length;
        self.code.executes(self.frame.package, self.frame.position, opcode);
        self.carry_out(opcode, operands)
    }

    fn carry_out(&mut self, opcode: u8, operands: Operands) -> Step<(), O, C> {
        match opcode {
            op::PUSH_INT => self.push(i32::from_le_bytes(operands))?,
            op::POP2..=op::SWAP => self.shuffle(opcode)?,
            // They are carried out by now, unless they divide by zero or leave the frame.
            op::NOP..=op::LOAD_3 | op::STORE..=op::STORE_3 | op::POP | op::ADD..=op::GOTO => {
                let is_by_zero = matches!(opcode, op::DIVIDE | op::REMAINDER) && self.pop()? == 0;
                return if is_by_zero {
                    Err(Trap::Exception(Exception::Arithmetic))
                } else {
                    self.damaged(Wrong::Local)
                };
            }
            op::TABLE_SWITCH => return self.table_switch(operands),
            op::LOOKUP_SWITCH => return self.lookup_switch(operands),
            op::RETURN | op::RETURN_VALUE => return self.return_from(opcode),
            op::INVOKE_VIRTUAL..=op::INVOKE_INTERFACE => return self.invoke(opcode, operands),
            op::THROW => {
                let thrown = self.pop()?;
                if thrown == 0 {
                    return Err(Trap::Exception(Exception::Null));
                }
                self.throwable(thrown)?;
                return Err(Trap::Throw(thrown));
            }
            op::IF_NULL | op::IF_NOT_NULL => return self.damaged(Wrong::Local),
            _ => self.on_objects(opcode, operands)?,
        }
        self.frame.position = self.next;
        Ok(())
    }

    /// Bytes at an offset from the opcode's place: those of a switch.
    fn read(&mut self, offset: u32) -> Step<[u8; LONGEST], O, C> {
        let at = self.frame.position.saturating_add(offset);
        if self.windows.bytes(self.frame.package, at).is_none() {
            self.windows.turn_to(self.code, self.frame.package, at)?;
        }
        Ok(self.windows.bytes(self.frame.package, at).unwrap_or_default())
    }

    pub(crate) fn damaged<T>(&self, what: Wrong) -> Step<T, O, C> {
        Err(Trap::damaged(self.frame.position, what))
    }

    /// What leaves the frame is damage: the linker has proved depths and locals.
    #[inline]
    fn inside<T>(&self, found: Result<T, OutOfFrame>) -> Step<T, O, C> {
        match found {
            Ok(found) => Ok(found),
            Err(OutOfFrame) => self.damaged(Wrong::Local),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, value: i32) -> Step<(), O, C> {
        let pushed = self.frame.push(self.cells, value);
        self.inside(pushed)
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Step<i32, O, C> {
        let popped = self.frame.pop(self.cells);
        self.inside(popped)
    }

    fn shuffle(&mut self, opcode: u8) -> Step<(), O, C> {
        let Some((taken, left)) = shuffle(opcode) else { return self.damaged(Wrong::Opcode) };
        let mut cells = [0; 4];
        for cell in cells.iter_mut().take(usize::from(taken)) {
            *cell = self.pop()?;
        }
        left.iter().try_for_each(|from| self.push(cells[usize::from(*from)]))
    }

    /// Goes to where a switch's branch leads.
    fn branch(&mut self, low: u8, high: u8) {
        self.frame.position = self.frame.position.wrapping_add_signed(i16::from_le_bytes([low, high]).into());
    }

    fn table_switch(&mut self, [low, high, ..]: Operands) -> Step<(), O, C> {
        let key = self.pop()?;
        let [l0, l1, l2, l3, c0] = self.read(3)?;
        let [c1, ..] = self.read(8)?;
        // Keys below the least one wrap round, and are beyond the count.
        let place = key.wrapping_sub(i32::from_le_bytes([l0, l1, l2, l3])) as u32;
        if place >= u32::from(u16::from_le_bytes([c0, c1])) {
            self.branch(low, high);
            return Ok(());
        }
        let [low, high, ..] = self.read(9 + 2 * place)?;
        self.branch(low, high);
        Ok(())
    }

    /// Halves the keys until one is left.
    fn lookup_switch(&mut self, [otherwise_low, otherwise_high, c0, c1]: Operands) -> Step<(), O, C> {
        let key = self.pop()?;
        let (mut low, mut high) = (0, u32::from(u16::from_le_bytes([c0, c1])));
        while low < high {
            let middle = low.midpoint(high);
            let [k0, k1, k2, k3, to_low] = self.read(5 + 6 * middle)?;
            let found = i32::from_le_bytes([k0, k1, k2, k3]);
            if found == key {
                let [to_high, ..] = self.read(10 + 6 * middle)?;
                self.branch(to_low, to_high);
                return Ok(());
            }
            (low, high) = if found < key { (middle + 1, high) } else { (low, middle) };
        }
        self.branch(otherwise_low, otherwise_high);
        Ok(())
    }

    fn return_from(&mut self, opcode: u8) -> Step<(), O, C> {
        let value = if opcode == op::RETURN_VALUE { Some(self.pop()?) } else { None };
        let Some(caller) = self.frame.caller(self.cells) else { return self.damaged(Wrong::Local) };
        self.return_to(caller);
        value.map_or(Ok(()), |value| self.push(value))
    }

    /// Goes on in a caller's frame, on behalf of whom it ran.
    fn return_to(&mut self, caller: Frame) {
        if caller.owner != self.frame.owner {
            self.objects.set_owner(caller.owner);
        }
        self.frame = caller;
    }

    fn invoke(&mut self, opcode: u8, operands: Operands) -> Step<(), O, C> {
        match opcode {
            op::INVOKE_VIRTUAL => {
                let [slot, arguments, ..] = operands;
                let reference = self.receiver(arguments)?;
                let owner = self.callable(reference, None)?;
                let class = self.class_of(reference)?;
                self.enter_callee(Callee::in_slot(class, slot), arguments, owner)
            }
            op::INVOKE_INTERFACE => {
                let [package, class, method, arguments] = operands;
                let reference = self.receiver(arguments)?;
                let interface = types::class_id(self.code, self.frame.package, ClassPlace { package, class })?;
                let owner = self.callable(reference, Some(interface))?;
                let class = self.class_of(reference)?;
                self.enter_callee(Callee::through(interface, class, method), arguments, owner)
            }
            _ => {
                let [package, low, high, _] = operands;
                let package = types::package(self.code, self.frame.package, package)?;
                let method = u16::from_le_bytes([low, high]);
                if opcode == op::INVOKE_DIRECT {
                    let found = self.head(package, method)?;
                    self.receiver(found.method.arguments)?;
                }
                self.enter(package, method, None, self.frame.owner)
            }
        }
    }

    /// The class whose method table an object has.
    fn class_of(&mut self, reference: i32) -> Step<ClassId, O, C> {
        let form = self.objects.form(reference).map_err(Trap::objects)?;
        Ok(types::class_of(self.code, form))
    }

    /// Enters what a call by slot or through an interface leads to.
    fn enter_callee(&mut self, callee: Callee, arguments: u8, owner: u8) -> Step<(), O, C> {
        let (package, method) = match self.calls.entry(callee) {
            Some(known) => known,
            None => {
                let Some(found) = types::code_of(self.code, callee)? else {
                    return Err(Trap::Exception(Exception::ClassCast));
                };
                self.calls.keep_entry(callee, found);
                found
            }
        };
        self.enter(package, method, Some(arguments), owner)
    }

    /// The object that a call is on, below its other arguments.
    fn receiver(&mut self, arguments: u8) -> Step<i32, O, C> {
        let reference = self.frame.peek(self.cells, arguments);
        match self.inside(reference)? {
            0 => Err(Trap::Exception(Exception::Null)),
            reference => Ok(reference),
        }
    }

    fn head(&mut self, package: u8, method: u16) -> Result<Head, ImageError<CodeError<C>>> {
        match self.calls.head((package, method)) {
            Some(known) => Ok(*known),
            None => self.read_head(package, method),
        }
    }

    #[cold]
    #[inline(never)]
    fn read_head(&mut self, package: u8, number: u16) -> Result<Head, ImageError<CodeError<C>>> {
        let wrong = |what| ImageError::Wrong { at: self.frame.position, what };
        let Some((header, image)) = self.code.package(package) else { return Err(wrong(Wrong::Method)) };
        let method = header.method(image, number)?;
        let native = match method.is_native() {
            false => 0,
            true if header.has_natives => header.native(image, &method)?,
            true => return Err(wrong(Wrong::Native)),
        };
        let head = Head { method, native };
        self.calls.keep_head((package, number), head);
        Ok(head)
    }

    /// Goes to a method's first bytecode, or carries it out where it is native. A call by slot says how many arguments
    /// it has.
    fn enter(&mut self, package: u8, number: u16, arguments: Option<u8>, owner: u8) -> Step<(), O, C> {
        let head = self.head(package, number)?;
        if arguments.is_some_and(|arguments| arguments != head.method.arguments) {
            return self.damaged(Wrong::Method);
        }
        if head.method.is_native() {
            return self.call_native(&head);
        }
        self.call((package, number), owner, &head.method)
    }

    /// Puts the frame of a method with code above the one that runs.
    fn call(&mut self, (package, number): (u8, u16), owner: u8, method: &Method) -> Step<(), O, C> {
        let here = self.frame.position;
        if !self.frame.is_outermost() {
            self.frame.position = self.next;
        }
        match self.frame.call(self.cells, package, number, owner, method) {
            Ok(Some(frame)) => {
                if owner != self.frame.owner {
                    self.objects.set_owner(owner);
                }
                self.frame = frame;
            }
            Ok(None) => return Err(Trap::Stop(Stop::Stack)),
            Err(OutOfFrame) => return Err(Trap::damaged(here, Wrong::Local)),
        }
        Ok(())
    }

    fn call_native(&mut self, Head { method, native: number }: &Head) -> Step<(), O, C> {
        let (mut frame, previous) = (self.frame, self.previous_owner());
        let Ok(arguments) = frame.arguments(self.cells, method.arguments) else { return self.damaged(Wrong::Local) };
        let (owner, objects, code) = (frame.owner, &mut *self.objects, &mut *self.code);
        let call = NativeCall { objects, code, number: *number, owner, previous, arguments };
        let end = self.runtime.native(call).map_err(Trap::Stop)?;
        // Handlers are looked for at the call, whose position the frame still has.
        self.frame = frame;
        match end {
            Native::Throws(thrown) => Err(Trap::Throw(thrown)),
            Native::Exception(exception) => Err(Trap::Exception(exception)),
            Native::Calls(calls) => {
                if !self.frame.pass(self.cells, &calls.arguments) {
                    return Err(Trap::Stop(Stop::Stack));
                }
                let Head { method: called, .. } = self.head(calls.package, calls.method)?;
                if called.is_native() || usize::from(called.arguments) != calls.arguments.len() {
                    return self.damaged(Wrong::Method);
                }
                self.call((calls.package, calls.method), calls.owner, &called)
            }
            Native::Returns(value) => {
                if method.has_value() {
                    self.push(value)?;
                }
                self.frame.position = self.next;
                Ok(())
            }
        }
    }

    /// On whose behalf the code ran before the last call across the firewall.
    fn previous_owner(&self) -> u8 {
        let mut frame = self.frame;
        while frame.owner == self.frame.owner && !frame.is_outermost() {
            let Some(caller) = frame.caller(self.cells) else { break };
            frame = caller;
        }
        frame.owner
    }

    /// Goes to the handler of an object that is thrown; false where there is none.
    fn unwind(&mut self, thrown: i32) -> Result<bool, Stop<O::Error, CodeError<C>>> {
        let form = self.objects.form(thrown).map_err(Stop::Objects)?;
        let class = types::class_of(self.code, form);
        let mut at = self.frame.position;
        while !self.frame.is_outermost() {
            if let Some(target) = self.handler(at, class).map_err(Stop::Image)? {
                self.frame.position = target;
                self.frame.empty();
                if self.frame.push(self.cells, thrown).is_err() {
                    return Err(Stop::Image(ImageError::Wrong { at: target, what: Wrong::Local }));
                }
                return Ok(true);
            }
            let Some(caller) = self.frame.caller(self.cells) else { return Err(Stop::Stack) };
            self.return_to(caller);
            // The position is after the call; the call itself is what a handler covers.
            at = self.frame.position.saturating_sub(1);
        }
        Ok(false)
    }

    /// Where the handler of a class is in the method that runs, for a bytecode at a position.
    fn handler(&mut self, at: u32, class: ClassId) -> Result<Option<u32>, ImageError<CodeError<C>>> {
        let (package, number) = (self.frame.package, self.frame.method);
        let Head { method, .. } = self.head(package, number)?;
        let offset = at.wrapping_sub(method.code);
        for place in 0..method.handlers {
            let Some((header, image)) = self.code.package(package) else { break };
            let handler = header.handler(image, &method, place)?;
            if !(u32::from(handler.start)..u32::from(handler.end)).contains(&offset) {
                continue;
            }
            let catches = match handler.class {
                None => true,
                Some(caught) => {
                    let caught = types::class_id(self.code, package, caught)?;
                    types::is_below(self.code, class, caught)?
                }
            };
            if catches {
                return Ok(Some(method.code + u32::from(handler.target)));
            }
        }
        Ok(None)
    }
}
