//! Objects in memory, as a card's heap will keep them, and a runtime whose exceptions are made when they are thrown.

use std::collections::BTreeMap;
use std::fmt::Debug;

use norn_card_linker::ExportTable;
use norn_card_package::{Package, Start, format};
use norn_card_vm::{
    ClassId, Code, CodeError, Exception, Failure, Form, Native, NativeCall, Objects, RUNTIME, Runtime, Standing, Stop,
    TEMPORARY_END,
};

/// A reference, slot or element that leads nowhere, as damaged code may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing;

/// An object or array, with its kinds and values.
struct Object {
    form: Form,
    kinds: Vec<u8>,
    values: Vec<i32>,
}

/// Objects by reference, above those of temporary objects, and static fields by package.
#[derive(Default)]
pub struct Heap {
    objects: Vec<Object>,
    statics: BTreeMap<(u8, u16), (u8, i32)>,
}

fn narrowed(kind: u8, value: i32) -> i32 {
    match kind {
        format::BOOLEAN => value & 1,
        format::BYTE => i32::from(value as i8),
        format::SHORT => i32::from(value as i16),
        _ => value,
    }
}

impl Heap {
    /// Gives a package its static fields, with what they start with.
    pub fn install(&mut self, number: u8, package: &Package, image: &[u8]) {
        let source = &mut &*image;
        let class = ClassId { package: 0, class: 0 };
        let mut arrays = Vec::new();
        let mut at = package.first_array();
        for _ in 0..package.arrays {
            let array = package.array(source, at).unwrap();
            let reference = self.create_array(array.kind, class, array.length).unwrap();
            let width = format::width(array.kind).unwrap() as usize;
            let elements = image[array.at as usize..array.next() as usize].chunks(width);
            for (index, bytes) in elements.enumerate() {
                let mut whole = [0; 4];
                whole[..width].copy_from_slice(bytes);
                self.set_element(reference, index as u16, array.kind, i32::from_le_bytes(whole)).unwrap();
            }
            arrays.push(reference);
            at = array.next();
        }
        for slot in 0..package.statics {
            self.statics.insert((number, slot), (package.static_kind(source, slot).unwrap(), 0));
        }
        for place in 0..package.starts {
            let (slot, start) = package.start(source, place).unwrap();
            let value = match start {
                Start::Int(value) => value,
                Start::Array(array) => arrays[usize::from(array)],
            };
            self.set_static_field(number, slot, format::INT, value).unwrap();
        }
    }

    fn object(&mut self, reference: i32) -> Result<&mut Object, Missing> {
        let place = usize::try_from(reference).ok().and_then(|number| number.checked_sub(TEMPORARY_END as usize));
        place.and_then(|place| self.objects.get_mut(place)).ok_or(Missing)
    }

    fn keep(&mut self, form: Form, kinds: Vec<u8>) -> i32 {
        let values = vec![0; kinds.len()];
        self.objects.push(Object { form, kinds, values });
        TEMPORARY_END + self.objects.len() as i32 - 1
    }

    fn get(&mut self, reference: i32, index: usize) -> Result<i32, Missing> {
        self.object(reference)?.values.get(index).copied().ok_or(Missing)
    }

    fn set(&mut self, reference: i32, index: usize, value: i32) -> Result<(), Failure<Missing>> {
        let object = self.object(reference).map_err(Failure::Error)?;
        let place = object.values.get_mut(index).ok_or(Failure::Error(Missing))?;
        *place = narrowed(object.kinds[index], value);
        Ok(())
    }
}

impl Objects for Heap {
    type Error = Missing;

    fn create(&mut self, class: ClassId, kinds: &[u8]) -> Result<i32, Failure<Missing>> {
        if self.objects.len() > 100_000 {
            return Err(Failure::NoRoom);
        }
        Ok(self.keep(Form::Object(class), kinds.to_vec()))
    }

    fn create_array(&mut self, kind: u8, class: ClassId, length: u16) -> Result<i32, Failure<Missing>> {
        // Damaged loops would make millions of them.
        if self.objects.len() > 100_000 || length > 10_000 {
            return Err(Failure::NoRoom);
        }
        Ok(self.keep(Form::Array { kind, class, length }, vec![kind; usize::from(length)]))
    }

    fn form(&mut self, reference: i32) -> Result<Form, Missing> {
        Ok(self.object(reference)?.form)
    }

    fn standing(&mut self, reference: i32) -> Result<Standing, Missing> {
        self.object(reference)?;
        Ok(Standing { owner: RUNTIME, is_global: false, needs_selection: false })
    }

    fn set_owner(&mut self, _: u8) {}

    fn field(&mut self, reference: i32, slot: u8, _: u8) -> Result<i32, Missing> {
        self.get(reference, usize::from(slot))
    }

    fn set_field(&mut self, reference: i32, slot: u8, _: u8, value: i32) -> Result<(), Failure<Missing>> {
        self.set(reference, usize::from(slot), value)
    }

    fn element(&mut self, reference: i32, index: u16, _: u8) -> Result<i32, Missing> {
        self.get(reference, usize::from(index))
    }

    fn set_element(&mut self, reference: i32, index: u16, _: u8, value: i32) -> Result<(), Failure<Missing>> {
        self.set(reference, usize::from(index), value)
    }

    fn static_field(&mut self, package: u8, slot: u16, _: u8) -> Result<i32, Missing> {
        self.statics.get(&(package, slot)).map(|(_, value)| *value).ok_or(Missing)
    }

    fn set_static_field(&mut self, package: u8, slot: u16, _: u8, value: i32) -> Result<(), Failure<Missing>> {
        let (kind, field) = self.statics.get_mut(&(package, slot)).ok_or(Failure::Error(Missing))?;
        *field = narrowed(*kind, value);
        Ok(())
    }
}

/// Exceptions of the package 0, which is `java.lang`: an object for each, made beforehand.
pub struct Exceptions([i32; 9]);

impl Exceptions {
    /// For programs that throw none: null, which no handler takes.
    pub fn none() -> Exceptions {
        Exceptions([0; 9])
    }

    pub fn prepare<O: Objects<Error: Debug>>(exports: &ExportTable, objects: &mut O) -> Exceptions {
        let names = [
            "ArithmeticException",
            "ArrayIndexOutOfBoundsException",
            "ArrayStoreException",
            "ClassCastException",
            "NegativeArraySizeException",
            "NullPointerException",
            "SecurityException",
            "SecurityException",
            "SecurityException",
        ];
        Exceptions(names.map(|name| {
            let is_named = |shape: &str| shape.strip_prefix("java/lang/") == Some(name);
            let class = exports.classes.iter().find(|class| is_named(&class.shape.name)).unwrap();
            objects.create(ClassId { package: 0, class: class.number }, &[]).unwrap()
        }))
    }
}

impl<O: Objects, C: Code> Runtime<O, C> for Exceptions {
    fn exception(&mut self, _: &mut O, exception: Exception) -> Result<i32, O::Error> {
        Ok(self.0[exception as usize])
    }

    fn native(&mut self, call: NativeCall<'_, O, C>) -> Result<Native, Stop<O::Error, CodeError<C>>> {
        panic!("native method {} in a package that may not have any", call.number)
    }

    fn may_call(&mut self, _: &mut O, _: &mut C, _: u8) -> Result<bool, Stop<O::Error, CodeError<C>>> {
        Ok(true)
    }

    fn context(&self, _: &O, _: u8) -> u8 {
        0
    }

    fn is_selected(&self, _: &O, _: u8) -> bool {
        true
    }
}
