//! Classes across packages: what is below what, and which code a slot leads to.

use norn_card_package::{Class, ClassPlace, Image, ImageError, MethodPlace, Wrong, format};

use crate::calls::Callee;
use crate::code::Code;
use crate::objects::{ClassId, Form};

type Read<T, C> = Result<T, ImageError<<<C as Code>::Image as Image>::Error>>;

fn damaged<T, C: Code>(at: u32, what: Wrong) -> Read<T, C> {
    Err(ImageError::Wrong { at, what })
}

/// The card's number of a package that an image of `from` names.
pub(crate) fn package<C: Code>(code: &C, from: u8, named: u8) -> Read<u8, C> {
    let found = match named {
        0 => Some(from),
        import => code.import(from, import - 1),
    };
    found.map_or_else(|| damaged::<u8, C>(0, Wrong::Class), Ok)
}

/// The class that an image of a package names.
pub(crate) fn class_id<C: Code>(code: &C, from: u8, place: ClassPlace) -> Read<ClassId, C> {
    Ok(ClassId { package: package(code, from, place.package)?, class: place.class })
}

/// A class's record.
pub(crate) fn record<C: Code>(code: &mut C, class: ClassId) -> Read<Class, C> {
    match code.package(class.package) {
        Some((package, image)) => package.class(image, class.class),
        None => damaged::<Class, C>(0, Wrong::Class),
    }
}

/// Steps up a line of classes before it is taken for a circle: packages and classes are bytes.
const LINE_MAX: u32 = 1 << 16;

/// Whether a class is another, below it, or implements it.
pub(crate) fn is_below<C: Code>(code: &mut C, class: ClassId, of: ClassId) -> Read<bool, C> {
    let mut above = class;
    for _ in 0..LINE_MAX {
        if above == of || interface_slot(code, above, of, None)?.is_some() {
            return Ok(true);
        }
        match record(code, above)?.parent {
            Some(parent) => above = class_id(code, above.package, parent)?,
            // An interface is below `Object`, too.
            None => {
                let (package, class) = code.object_class();
                return Ok(ClassId { package, class } == of);
            }
        }
    }
    damaged::<bool, C>(0, Wrong::Class)
}

/// The slot of an interface's method in a class that names the interface itself, or one below it; 0 without a method.
fn interface_slot<C: Code>(
    code: &mut C,
    class: ClassId,
    interface: ClassId,
    method: Option<u8>,
) -> Read<Option<u8>, C> {
    let found = record(code, class)?;
    let mut at = found.first_interface();
    for _ in 0..found.interfaces {
        let Some((package, image)) = code.package(class.package) else { return damaged::<_, C>(at, Wrong::Class) };
        let table = package.interface(image, at)?;
        if class_id(code, class.package, table.interface)? == interface {
            let Some(method) = method else { return Ok(Some(0)) };
            let Some((_, image)) = code.package(class.package) else { return damaged::<_, C>(at, Wrong::Class) };
            return table.slot(image, method).map(Some);
        }
        at = table.next();
    }
    Ok(None)
}

/// The slot of an interface's method in a class; none where neither it nor a class above implements the interface.
fn slot_through<C: Code>(code: &mut C, class: ClassId, interface: ClassId, method: u8) -> Read<Option<u8>, C> {
    let mut above = class;
    for _ in 0..LINE_MAX {
        if let Some(slot) = interface_slot(code, above, interface, Some(method))? {
            return Ok(Some(slot));
        }
        match record(code, above)?.parent {
            Some(parent) => above = class_id(code, above.package, parent)?,
            None => return Ok(None),
        }
    }
    damaged::<_, C>(0, Wrong::Class)
}

/// The package and number of what a call leads to; none where the class does not implement the interface.
pub(crate) fn code_of<C: Code>(code: &mut C, callee: Callee) -> Read<Option<(u8, u16)>, C> {
    let class = callee.class();
    let slot = match callee.interface() {
        None => Some(callee.number()),
        Some(interface) => slot_through(code, class, interface, callee.number())?,
    };
    slot.map(|slot| entry(code, class, slot)).transpose()
}

/// The package and number of the code in a slot of a class.
pub(crate) fn entry<C: Code>(code: &mut C, class: ClassId, slot: u8) -> Read<(u8, u16), C> {
    let found = record(code, class)?;
    let Some((header, image)) = code.package(class.package) else { return damaged::<_, C>(0, Wrong::Class) };
    match header.entry(image, &found, slot)? {
        Some(MethodPlace { package: named, method }) => Ok((package(code, class.package, named)?, method)),
        None => damaged::<_, C>(found.at, Wrong::Method),
    }
}

/// The class whose method table an object has: an array's is that of `Object`.
pub(crate) fn class_of<C: Code>(code: &C, form: Form) -> ClassId {
    match form {
        Form::Object(class) => class,
        Form::Array { .. } => {
            let (package, class) = code.object_class();
            ClassId { package, class }
        }
    }
}

/// Whether an object is of the type that `checkcast` and `instanceof` name.
pub(crate) fn is_of<C: Code>(code: &mut C, form: Form, kind: u8, class: ClassId) -> Read<bool, C> {
    match (form, kind) {
        (Form::Object(of), format::TYPE_CLASS) => is_below(code, of, class),
        (Form::Array { .. }, format::TYPE_CLASS) => Ok(class_of(code, form) == class),
        (Form::Array { kind: format::REFERENCE, class: of, .. }, format::REFERENCE) => is_below(code, of, class),
        (Form::Array { kind: of, .. }, _) => Ok(of == kind && kind != format::REFERENCE),
        (Form::Object(_), _) => Ok(false),
    }
}
