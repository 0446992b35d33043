//! The checker of a method's code: whole bytecodes, operands that lead somewhere, branches to starts of bytecodes.

use crate::error::{ImageError, Wrong};
use crate::format::{NONE, REFERENCE, TYPE_CLASS};
use crate::image::{Image, bytes, u8_at, u16_at, wrong};
use crate::opcode as op;
use crate::package::{ClassPlace, Method, MethodPlace, Package};

type Checked<T, E> = Result<T, ImageError<E>>;

/// Checks the code and the handlers of a method.
pub(crate) fn check_code<I: Image>(package: &Package, image: &mut I, method: &Method) -> Checked<(), I::Error> {
    let mut code = CodeCheck { package, image, method };
    let mut at = 0;
    let mut last = op::NOP;
    while at < u32::from(method.code_bytes) {
        last = u8_at(code.image, method.code + at)?;
        code.operands(last, at)?;
        at += code.length(at)?;
    }
    let ends =
        matches!(last, op::GOTO | op::TABLE_SWITCH | op::LOOKUP_SWITCH | op::RETURN_VALUE | op::RETURN | op::THROW);
    if at != u32::from(method.code_bytes) || !ends {
        return wrong(method.handlers_at(), Wrong::Ends);
    }
    (0..method.handlers).try_for_each(|number| code.handler(number))
}

/// A method that is being checked; positions count from its code's start.
struct CodeCheck<'a, I> {
    package: &'a Package,
    image: &'a mut I,
    method: &'a Method,
}

impl<I: Image> CodeCheck<'_, I> {
    /// Bytes of the bytecode at a position, a switch's branches included.
    fn length(&mut self, at: u32) -> Checked<u32, I::Error> {
        let place = self.method.code + at;
        let opcode = u8_at(self.image, place)?;
        let Some(fixed) = op::length(opcode) else { return wrong(place, Wrong::Opcode) };
        Ok(match opcode {
            op::TABLE_SWITCH => fixed + 2 * u32::from(u16_at(self.image, place + 7)?),
            op::LOOKUP_SWITCH => fixed + 6 * u32::from(u16_at(self.image, place + 3)?),
            _ => fixed,
        })
    }

    fn operands(&mut self, opcode: u8, at: u32) -> Checked<(), I::Error> {
        let place = self.method.code + at;
        if at + self.length(at)? > u32::from(self.method.code_bytes) {
            return wrong(place, Wrong::Ends);
        }
        match opcode {
            op::LOAD | op::STORE | op::INCREMENT | op::INCREMENT_SHORT => {
                let local = u8_at(self.image, place + 1)?;
                self.local(local, place)
            }
            op::LOAD_0..=op::LOAD_3 => self.local(opcode - op::LOAD_0, place),
            op::STORE_0..=op::STORE_3 => self.local(opcode - op::STORE_0, place),
            op::IF_ZERO..=op::GOTO | op::IF_NULL | op::IF_NOT_NULL => self.branch(at, place + 1),
            op::TABLE_SWITCH => self.table_switch(at),
            op::LOOKUP_SWITCH => self.lookup_switch(at),
            op::RETURN_VALUE | op::RETURN => self.returns(opcode, place),
            op::GET_STATIC..=0xDF => self.static_field(opcode, place),
            op::INVOKE_VIRTUAL if u8_at(self.image, place + 2)? == 0 => wrong(place, Wrong::Method),
            op::INVOKE_DIRECT | op::INVOKE_STATIC => self.call(opcode, place),
            op::INVOKE_INTERFACE => self.interface_call(place),
            _ => self.types(opcode, place),
        }
    }

    fn types(&mut self, opcode: u8, place: u32) -> Checked<(), I::Error> {
        match opcode {
            op::NEW | op::NEW_REFERENCE_ARRAY => {
                let [package, class] = bytes::<2, I>(self.image, place + 1)?;
                let found = self.class(ClassPlace { package, class }, place)?;
                if opcode == op::NEW && found.is_some_and(|class| class.is_interface() || class.is_abstract()) {
                    return wrong(place, Wrong::Class);
                }
                Ok(())
            }
            op::NEW_ARRAY if u8_at(self.image, place + 1)? >= REFERENCE => wrong(place, Wrong::Kind),
            op::CHECK_CAST | op::INSTANCE_OF => match bytes::<3, I>(self.image, place + 1)? {
                [REFERENCE | TYPE_CLASS, package, class] => {
                    self.class(ClassPlace { package, class }, place).map(|_| ())
                }
                [kind, 0, 0] if kind < REFERENCE => Ok(()),
                _ => wrong(place, Wrong::Kind),
            },
            _ => Ok(()),
        }
    }

    fn local(&self, local: u8, place: u32) -> Checked<(), I::Error> {
        if local < self.method.locals { Ok(()) } else { wrong(place, Wrong::Local) }
    }

    fn returns(&self, opcode: u8, place: u32) -> Checked<(), I::Error> {
        if (opcode == op::RETURN_VALUE) == self.method.has_value() { Ok(()) } else { wrong(place, Wrong::Method) }
    }

    fn class(&mut self, place: ClassPlace, at: u32) -> Checked<Option<crate::package::Class>, I::Error> {
        match place.package {
            0 => self.package.class(self.image, place.class).map(Some),
            import if import != NONE && import <= self.package.imports => Ok(None),
            _ => wrong(at, Wrong::Class),
        }
    }

    fn static_field(&mut self, opcode: u8, place: u32) -> Checked<(), I::Error> {
        let package = u8_at(self.image, place + 1)?;
        if package != 0 {
            return self.class(ClassPlace { package, class: 0 }, place).map(|_| ());
        }
        let slot = u16_at(self.image, place + 2)?;
        let kind = self.package.static_kind(self.image, slot)?;
        if kind.saturating_sub(1) != (opcode - op::GET_STATIC) & 3 {
            return wrong(place, Wrong::Static);
        }
        Ok(())
    }

    fn call(&mut self, opcode: u8, place: u32) -> Checked<(), I::Error> {
        let [package, low, high] = bytes::<3, I>(self.image, place + 1)?;
        let called = MethodPlace { package, method: u16::from_le_bytes([low, high]) };
        if package != 0 {
            return self.class(ClassPlace { package, class: 0 }, place).map(|_| ());
        }
        let method = self.package.method(self.image, called.method)?;
        if method.is_static() != (opcode == op::INVOKE_STATIC) || !method.is_static() && method.arguments == 0 {
            return wrong(place, Wrong::Method);
        }
        Ok(())
    }

    fn interface_call(&mut self, place: u32) -> Checked<(), I::Error> {
        let [package, class, method, arguments] = bytes::<4, I>(self.image, place + 1)?;
        let interface = self.class(ClassPlace { package, class }, place)?;
        if arguments == 0 || interface.is_some_and(|found| !found.is_interface() || method >= found.slots) {
            return wrong(place, Wrong::Method);
        }
        Ok(())
    }

    fn table_switch(&mut self, at: u32) -> Checked<(), I::Error> {
        let place = self.method.code + at;
        let count = u32::from(u16_at(self.image, place + 7)?);
        self.branch(at, place + 1)?;
        (0..count).try_for_each(|case| self.branch(at, place + 9 + 2 * case))
    }

    fn lookup_switch(&mut self, at: u32) -> Checked<(), I::Error> {
        let place = self.method.code + at;
        let count = u32::from(u16_at(self.image, place + 3)?);
        self.branch(at, place + 1)?;
        let mut before = None;
        for case in 0..count {
            let key = i32::from_le_bytes(bytes(self.image, place + 5 + 6 * case)?);
            if before.replace(key).is_some_and(|before| before >= key) {
                return wrong(place, Wrong::Count);
            }
            self.branch(at, place + 9 + 6 * case)?;
        }
        Ok(())
    }

    /// The branch whose distance is at a place of the image.
    fn branch(&mut self, at: u32, distance: u32) -> Checked<(), I::Error> {
        let target = i64::from(at) + i64::from(u16_at(self.image, distance)? as i16);
        match u32::try_from(target) {
            Ok(target) if self.starts(target)? => Ok(()),
            _ => wrong(distance, Wrong::Target),
        }
    }

    /// Whether a bytecode starts at a position.
    fn starts(&mut self, target: u32) -> Checked<bool, I::Error> {
        let mut at = 0;
        while at < target && at < u32::from(self.method.code_bytes) {
            at += self.length(at)?;
        }
        Ok(at == target && target < u32::from(self.method.code_bytes))
    }

    fn handler(&mut self, number: u8) -> Checked<(), I::Error> {
        let at = self.method.handlers_at();
        let handler = self.package.handler(self.image, self.method, number)?;
        let ends = handler.end == self.method.code_bytes || self.starts(u32::from(handler.end))?;
        let starts = self.starts(u32::from(handler.start))? && self.starts(u32::from(handler.target))?;
        if !starts || !ends || handler.start >= handler.end {
            return wrong(at, Wrong::Target);
        }
        match handler.class {
            Some(class) => self.class(class, at).map(|_| ()),
            None => Ok(()),
        }
    }
}
