//! The loop: one bytecode after the other, calls and exceptions without recursion.
//!
//! 1. What is on stack and local variables alone is carried out by `quick.rs`, as far as that goes.
//! 2. The opcode at the frame's position is read from the window; `next` is what follows it.
//! 3. It is carried out on the frame. It leads to `next`, to a branch, into a callee's frame, or back to the caller's.
//! 4. A trap that is an exception looks for a handler: in the method that runs, then in each caller at its call.

use core::mem::size_of;

use norn_card_package::{ClassPlace, ImageError, Method, Wrong, opcode as op};

use crate::arithmetic::shuffle;
use crate::code::{Code, CodeError, Window};
use crate::end::{End, Exception, Native, Stop, Trap};
use crate::frame::{Frame, OutOfFrame};
use crate::objects::{NativeCall, Objects, RUNTIME, Runtime};
use crate::types;

/// Bytes of RAM that a machine takes at most beside what it borrows, on a machine of 64 bits.
pub const MACHINE_BYTES_MAX: usize = 208;

/// What a step leads to if not to the next bytecode.
pub(crate) type Step<T, O, C> = Result<T, Trap<<O as Objects>::Error, CodeError<C>>>;

/// An interpreter over objects `O`, code `C` and a runtime `R`.
#[derive(Debug)]
pub struct Machine<'a, O, C, R> {
    pub(crate) objects: &'a mut O,
    pub(crate) code: &'a mut C,
    pub(crate) runtime: &'a mut R,
    pub(crate) cells: &'a mut [i32],
    pub(crate) frame: Frame,
    pub(crate) window: Window,
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
            window: Window::empty(),
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
        let mut step = self.enter(package, method, Some(count), owner);
        loop {
            match step {
                Ok(()) if self.frame.is_outermost() => return Ok(End::Returned(self.frame.pop(self.cells).ok())),
                Ok(()) => {}
                Err(Trap::Stop(stop)) => return Err(stop),
                Err(Trap::Exception(exception)) => {
                    let thrown = self.runtime.exception(self.objects, exception).map_err(Stop::Objects)?;
                    if !self.unwind(thrown)? {
                        return Ok(End::Thrown(thrown));
                    }
                }
                Err(Trap::Throw(thrown)) => {
                    if !self.unwind(thrown)? {
                        return Ok(End::Thrown(thrown));
                    }
                }
            }
            self.run_quickly();
            step = self.step();
        }
    }

    /// Carries out a bytecode that is not on stack and local variables alone, or says why one that is cannot be.
    fn step(&mut self) -> Step<(), O, C> {
        if self.left == 0 {
            return Err(Trap::Stop(Stop::Limit));
        }
        if self.window.is_short(self.frame.package, self.frame.position) {
            self.window.refill(self.code, self.frame.package, self.frame.position)?;
            return Ok(());
        }
        self.left -= 1;
        let [opcode] = self.operands::<1>(0)?;
        let Some(length) = op::length(opcode) else { return self.damaged(Wrong::Opcode) };
        self.next = self.frame.position + length;
        self.code.executes(self.frame.package, self.frame.position, opcode);
        self.carry_out(opcode)
    }

    fn carry_out(&mut self, opcode: u8) -> Step<(), O, C> {
        match opcode {
            op::PUSH_INT => {
                let int = i32::from_le_bytes(self.operands(1)?);
                self.push(int)?;
            }
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
            op::TABLE_SWITCH => return self.table_switch(),
            op::LOOKUP_SWITCH => return self.lookup_switch(),
            op::RETURN | op::RETURN_VALUE => return self.return_from(opcode),
            op::INVOKE_VIRTUAL..=op::INVOKE_INTERFACE => return self.invoke(opcode),
            op::THROW => {
                let thrown = self.pop()?;
                if thrown == 0 {
                    return Err(Trap::Exception(Exception::Null));
                }
                self.throwable(thrown)?;
                return Err(Trap::Throw(thrown));
            }
            op::IF_NULL | op::IF_NOT_NULL => return self.damaged(Wrong::Local),
            _ => self.on_objects(opcode)?,
        }
        self.frame.position = self.next;
        Ok(())
    }

    /// `N` bytes after the opcode's place.
    #[inline]
    pub(crate) fn operands<const N: usize>(&mut self, offset: u32) -> Step<[u8; N], O, C> {
        let at = self.frame.position.saturating_add(offset);
        Ok(self.window.bytes(self.code, self.frame.package, at)?)
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

    /// Where a branch leads that is at an offset from the opcode.
    fn target(&mut self, offset: u32) -> Step<u32, O, C> {
        let distance = i16::from_le_bytes(self.operands(offset)?);
        Ok(self.frame.position.wrapping_add_signed(i32::from(distance)))
    }

    fn table_switch(&mut self) -> Step<(), O, C> {
        let key = self.pop()?;
        let least = i32::from_le_bytes(self.operands(3)?);
        let count = u16::from_le_bytes(self.operands(7)?);
        let place = i64::from(key) - i64::from(least);
        let offset = if (0..i64::from(count)).contains(&place) { 9 + 2 * place as u32 } else { 1 };
        self.frame.position = self.target(offset)?;
        Ok(())
    }

    /// Halves the keys until one is left.
    fn lookup_switch(&mut self) -> Step<(), O, C> {
        let key = self.pop()?;
        let (mut low, mut high) = (0, u32::from(u16::from_le_bytes(self.operands(3)?)));
        while low < high {
            let middle = low.midpoint(high);
            let found = i32::from_le_bytes(self.operands(5 + 6 * middle)?);
            if found == key {
                self.frame.position = self.target(9 + 6 * middle)?;
                return Ok(());
            }
            (low, high) = if found < key { (middle + 1, high) } else { (low, middle) };
        }
        self.frame.position = self.target(1)?;
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

    fn invoke(&mut self, opcode: u8) -> Step<(), O, C> {
        let (package, method, arguments, owner) = match opcode {
            op::INVOKE_VIRTUAL => {
                let [slot, arguments] = self.operands(1)?;
                let reference = self.receiver(arguments)?;
                let owner = self.callable(reference, None)?;
                let form = self.objects.form(reference).map_err(Trap::objects)?;
                let (package, method) = types::entry(self.code, types::class_of(self.code, form), slot)?;
                (package, method, Some(arguments), owner)
            }
            op::INVOKE_INTERFACE => {
                let [package, class, method, arguments] = self.operands(1)?;
                let reference = self.receiver(arguments)?;
                let interface = types::class_id(self.code, self.frame.package, ClassPlace { package, class })?;
                let owner = self.callable(reference, Some(interface))?;
                let form = self.objects.form(reference).map_err(Trap::objects)?;
                let (package, method) = self.through_interface(form, interface, method)?;
                (package, method, Some(arguments), owner)
            }
            _ => {
                let [package, low, high] = self.operands(1)?;
                let package = types::package(self.code, self.frame.package, package)?;
                let method = u16::from_le_bytes([low, high]);
                if opcode == op::INVOKE_DIRECT {
                    let found = self.header(package, method)?;
                    self.receiver(found.arguments)?;
                }
                (package, method, None, self.frame.owner)
            }
        };
        self.enter(package, method, arguments, owner)
    }

    /// The object that a call is on, below its other arguments.
    fn receiver(&mut self, arguments: u8) -> Step<i32, O, C> {
        let reference = self.frame.peek(self.cells, arguments);
        match self.inside(reference)? {
            0 => Err(Trap::Exception(Exception::Null)),
            reference => Ok(reference),
        }
    }

    fn header(&mut self, package: u8, method: u16) -> Step<Method, O, C> {
        match self.code.package(package) {
            Some((header, image)) => Ok(header.method(image, method)?),
            None => self.damaged(Wrong::Method),
        }
    }

    /// Goes to a method's first bytecode, or carries it out where it is native. A call by slot says how many arguments
    /// it has.
    fn enter(&mut self, package: u8, number: u16, arguments: Option<u8>, owner: u8) -> Step<(), O, C> {
        let method = self.header(package, number)?;
        if arguments.is_some_and(|arguments| arguments != method.arguments) {
            return self.damaged(Wrong::Method);
        }
        if method.is_native() {
            return self.call_native(package, &method);
        }
        self.call((package, number), owner, &method)
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

    fn call_native(&mut self, package: u8, method: &Method) -> Step<(), O, C> {
        let number = match self.code.package(package) {
            Some((header, image)) if header.has_natives => header.native(image, method)?,
            _ => return self.damaged(Wrong::Native),
        };
        let (mut frame, previous) = (self.frame, self.previous_owner());
        let Ok(arguments) = frame.arguments(self.cells, method.arguments) else { return self.damaged(Wrong::Local) };
        let (owner, objects, code) = (frame.owner, &mut *self.objects, &mut *self.code);
        let call = NativeCall { objects, code, number, owner, previous, arguments };
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
                let called = self.header(calls.package, calls.method)?;
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
    fn handler(&mut self, at: u32, class: crate::objects::ClassId) -> Result<Option<u32>, ImageError<CodeError<C>>> {
        let (package, number) = (self.frame.package, self.frame.method);
        let missing = ImageError::Wrong { at, what: Wrong::Method };
        let (header, image) = self.code.package(package).ok_or(missing)?;
        let method = header.method(image, number)?;
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
