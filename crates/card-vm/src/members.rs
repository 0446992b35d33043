//! Bytecodes on objects, arrays, fields and types.

use norn_card_package::{ClassPlace, Wrong, format, opcode as op};

use crate::code::Code;
use crate::end::{Exception, Trap};
use crate::machine::{Machine, Operands, Step};
use crate::objects::{ClassId, Form, Objects, Runtime};
use crate::types;

/// Elements of an array at most.
const LENGTH_MAX: i32 = i16::MAX as i32;

impl<O: Objects, C: Code, R: Runtime<O, C>> Machine<'_, O, C, R> {
    pub(crate) fn on_objects(&mut self, opcode: u8, operands: Operands) -> Step<(), O, C> {
        match opcode {
            op::GET_FIELD..op::PUT_FIELD => {
                let [slot, ..] = operands;
                let reference = self.reference()?;
                self.usable(reference)?;
                let value = self
                    .objects
                    .field(reference, slot, opcode - op::GET_FIELD + format::BYTE)
                    .map_err(Trap::objects)?;
                self.push(value)
            }
            op::PUT_FIELD..op::GET_STATIC => {
                let [slot, ..] = operands;
                let value = self.pop()?;
                let reference = self.reference()?;
                self.usable(reference)?;
                self.storable(opcode - op::PUT_FIELD + format::BYTE, value)?;
                self.objects
                    .set_field(reference, slot, opcode - op::PUT_FIELD + format::BYTE, value)
                    .map_err(Trap::failure)
            }
            op::GET_STATIC..op::PUT_STATIC => {
                let (package, slot) = self.static_place(operands)?;
                let value = self
                    .objects
                    .static_field(package, slot, opcode - op::GET_STATIC + format::BYTE)
                    .map_err(Trap::objects)?;
                self.push(value)
            }
            op::PUT_STATIC.. => {
                let (package, slot) = self.static_place(operands)?;
                let value = self.pop()?;
                self.storable(opcode - op::PUT_STATIC + format::BYTE, value)?;
                self.objects
                    .set_static_field(package, slot, opcode - op::PUT_STATIC + format::BYTE, value)
                    .map_err(Trap::failure)
            }
            op::LOAD_INT | op::LOAD_REFERENCE | op::LOAD_BYTE | op::LOAD_SHORT => {
                let (array, index, kind, _) = self.element_place(opcode)?;
                let value = self.objects.element(array, index, kind).map_err(Trap::objects)?;
                self.push(value)
            }
            op::STORE_INT | op::STORE_REFERENCE | op::STORE_BYTE | op::STORE_SHORT => self.store_element(opcode),
            op::ARRAY_LENGTH => {
                let reference = self.reference()?;
                self.usable(reference)?;
                match self.objects.form(reference).map_err(Trap::objects)? {
                    Form::Array { length, .. } => self.push(i32::from(length)),
                    Form::Object(_) => self.damaged(Wrong::Kind),
                }
            }
            op::NEW => self.create(operands),
            op::NEW_ARRAY => {
                let [kind, ..] = operands;
                self.create_array(kind, ClassId { package: 0, class: 0 })
            }
            op::NEW_REFERENCE_ARRAY => {
                let [package, class, ..] = operands;
                let class = types::class_id(self.code, self.frame.package, ClassPlace { package, class })?;
                self.create_array(format::REFERENCE, class)
            }
            op::CHECK_CAST => {
                let reference = self.pop()?;
                if reference != 0 && !self.is_of_named_type(reference, operands)? {
                    return Err(Trap::Exception(Exception::ClassCast));
                }
                self.push(reference)
            }
            op::INSTANCE_OF => {
                let reference = self.pop()?;
                let is = reference != 0 && self.is_of_named_type(reference, operands)?;
                self.push(i32::from(is))
            }
            _ => self.damaged(Wrong::Opcode),
        }
    }

    /// A reference from the stack that is not null.
    fn reference(&mut self) -> Step<i32, O, C> {
        match self.pop()? {
            0 => Err(Trap::Exception(Exception::Null)),
            reference => Ok(reference),
        }
    }

    fn static_place(&mut self, [package, low, high, _]: Operands) -> Step<(u8, u16), O, C> {
        Ok((types::package(self.code, self.frame.package, package)?, u16::from_le_bytes([low, high])))
    }

    /// The array and index on the stack, what its elements are, and their class; kinds are those of the bytecode.
    fn element_place(&mut self, opcode: u8) -> Step<(i32, u16, u8, ClassId), O, C> {
        let index = self.pop()?;
        let array = self.reference()?;
        self.usable(array)?;
        let form = self.objects.form(array).map_err(Trap::objects)?;
        let Form::Array { kind, class, length } = form else { return self.damaged(Wrong::Kind) };
        let fits = match opcode {
            op::LOAD_BYTE | op::STORE_BYTE => kind == format::BYTE || kind == format::BOOLEAN,
            op::LOAD_SHORT | op::STORE_SHORT => kind == format::SHORT,
            op::LOAD_INT | op::STORE_INT => kind == format::INT,
            _ => kind == format::REFERENCE,
        };
        if !fits {
            return self.damaged(Wrong::Kind);
        }
        match u16::try_from(index) {
            Ok(index) if index < length => Ok((array, index, kind, class)),
            _ => Err(Trap::Exception(Exception::Bounds)),
        }
    }

    fn store_element(&mut self, opcode: u8) -> Step<(), O, C> {
        let value = self.pop()?;
        let (array, index, kind, class) = self.element_place(opcode)?;
        if opcode == op::STORE_REFERENCE && value != 0 {
            self.storable(format::REFERENCE, value)?;
            let stored = self.objects.form(value).map_err(Trap::objects)?;
            if !types::is_of(self.code, stored, format::TYPE_CLASS, class)? {
                return Err(Trap::Exception(Exception::ArrayStore));
            }
        }
        self.objects.set_element(array, index, kind, value).map_err(Trap::failure)
    }

    fn create(&mut self, [package, class, ..]: Operands) -> Step<(), O, C> {
        let id = types::class_id(self.code, self.frame.package, ClassPlace { package, class })?;
        let class = types::record(self.code, id)?;
        let mut kinds = [0; 255];
        let Some((header, image)) = self.code.package(id.package) else { return self.damaged(Wrong::Class) };
        for (slot, kind) in (0..class.fields).zip(&mut kinds) {
            *kind = header.field_kind(image, &class, slot)?;
        }
        if class.is_interface() || class.is_abstract() {
            return self.damaged(Wrong::Class);
        }
        let kinds = &kinds[..usize::from(class.fields)];
        let reference = self.objects.create(id, kinds).map_err(Trap::failure)?;
        self.push(reference)
    }

    fn create_array(&mut self, kind: u8, class: ClassId) -> Step<(), O, C> {
        let length = self.pop()?;
        if length < 0 {
            return Err(Trap::Exception(Exception::NegativeSize));
        }
        if length > LENGTH_MAX {
            return Err(Trap::Exception(Exception::NoRoom));
        }
        let reference = self.objects.create_array(kind, class, length as u16).map_err(Trap::failure)?;
        self.push(reference)
    }

    fn is_of_named_type(&mut self, reference: i32, [kind, package, class, _]: Operands) -> Step<bool, O, C> {
        let class = types::class_id(self.code, self.frame.package, ClassPlace { package, class })?;
        self.castable(reference, kind, class)?;
        let form = self.objects.form(reference).map_err(Trap::objects)?;
        Ok(types::is_of(self.code, form, kind, class)?)
    }
}
