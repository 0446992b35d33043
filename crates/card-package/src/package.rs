//! A package's header, and its tables and records found by number.
//!
//! A [`Package`] is the header; the image is given to each call. What a call returns has been checked for what it says
//! by itself: positions are inside the image, kinds are known, identifiers have their length. That references lead to
//! what they should is [`check()`](crate::check())'s.

use crate::aid::{Aid, Version};
use crate::error::{ImageError, Wrong};
use crate::format::{
    AID, AID_BYTES, APPLET_BYTES, APPLETS, ARRAY_HEAD_BYTES, ARRAYS, CLASS_ABSTRACT, CLASS_HEAD_BYTES, CLASS_INTERFACE,
    CLASS_SHAREABLE, CLASSES, ENTRY_BYTES, FLAGS, HANDLER_BYTES, HEADER_BYTES, IMPORT_BYTES, IMPORTS,
    INTERFACE_HEAD_BYTES, KNOWN_AT, LENGTH, MAGIC, METHOD_HEAD_BYTES, METHOD_NATIVE, METHOD_STATIC, METHOD_VALUE,
    METHODS, NONE, PACKAGE_NATIVE, POSITION_BYTES, RECORDS_AT, REFERENCE, START_ARRAY, START_BYTES, START_INT, STARTS,
    STARTS_AT, STATICS, VERSION, width,
};
use crate::image::{Image, bytes, fill, u8_at, u16_at, u24_at, wrong};
use crate::known::{KNOWN_BYTES, KNOWN_CLASSES};

/// The header of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// Bytes of the image.
    pub length: u32,
    /// Whether it has native methods.
    pub has_natives: bool,
    /// Its identifier.
    pub aid: Aid,
    /// Its version.
    pub version: Version,
    /// How many packages it imports.
    pub imports: u8,
    /// How many applets it has.
    pub applets: u8,
    /// How many classes and interfaces.
    pub classes: u8,
    /// How many methods.
    pub methods: u16,
    /// How many static fields.
    pub statics: u16,
    /// How many arrays they start with.
    pub arrays: u16,
    /// How many of them start with something else than zero or null.
    pub starts: u16,
    pub(crate) starts_at: u32,
    pub(crate) records_at: u32,
    pub(crate) known_at: u32,
}

/// A package that is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import {
    /// Its identifier.
    pub aid: Aid,
    /// The version that was linked against.
    pub version: Version,
}

/// An applet that can be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applet {
    /// Its identifier.
    pub aid: Aid,
    /// Its class, in its own package.
    pub class: u8,
    /// Its method `install`, in its own package.
    pub install: u16,
}

/// A class: of the package itself (0), or of the import of a number less one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassPlace {
    /// The package.
    pub package: u8,
    /// The class's number there.
    pub class: u8,
}

/// A method: of the package itself (0), or of the import of a number less one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodPlace {
    /// The package.
    pub package: u8,
    /// The method's number there.
    pub method: u16,
}

/// A class record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Where the record is.
    pub at: u32,
    flags: u8,
    /// The class above; none for `java.lang.Object`.
    pub parent: Option<ClassPlace>,
    /// Fields of an instance, those of the classes above included.
    pub fields: u8,
    /// Slots of the method table; of an interface, its methods.
    pub slots: u8,
    /// Interfaces that it names, and those above them.
    pub interfaces: u8,
}

impl Class {
    /// Whether it is an interface.
    #[must_use]
    pub fn is_interface(&self) -> bool {
        self.flags & CLASS_INTERFACE != 0
    }

    /// Whether it has no instances of its own.
    #[must_use]
    pub fn is_abstract(&self) -> bool {
        self.flags & CLASS_ABSTRACT != 0
    }

    /// Whether it is an interface below `Shareable`, or implements one.
    #[must_use]
    pub fn is_shareable(&self) -> bool {
        self.flags & CLASS_SHAREABLE != 0
    }

    fn entries_at(&self) -> u32 {
        self.at + CLASS_HEAD_BYTES + u32::from(self.fields)
    }

    fn interfaces_at(&self) -> u32 {
        let entries = if self.is_interface() { 0 } else { u32::from(self.slots) };
        self.entries_at() + entries * ENTRY_BYTES
    }

    /// The first of the class's interfaces.
    #[must_use]
    pub fn first_interface(&self) -> u32 {
        self.interfaces_at()
    }
}

/// An interface of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceTable {
    /// The interface.
    pub interface: ClassPlace,
    /// Its methods; 0 where the record is an interface's own.
    pub methods: u8,
    at: u32,
}

impl InterfaceTable {
    /// Where the interface that follows it in the record is.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.at + INTERFACE_HEAD_BYTES + u32::from(self.methods)
    }

    /// The slot of the class's method table that a method of the interface has.
    ///
    /// # Errors
    ///
    /// [`Wrong::Method`] beyond its methods.
    pub fn slot<I: Image>(&self, image: &mut I, method: u8) -> Result<u8, ImageError<I::Error>> {
        if method >= self.methods {
            return wrong(self.at, Wrong::Method);
        }
        u8_at(image, self.at + INTERFACE_HEAD_BYTES + u32::from(method))
    }
}

/// A method without its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    flags: u8,
    /// Cells of its arguments, the object included.
    pub arguments: u8,
    /// Local variables, the arguments included.
    pub locals: u8,
    /// Cells of the operand stack at most.
    pub stack: u8,
    /// Where the code starts.
    pub code: u32,
    /// Bytes of the code.
    pub code_bytes: u16,
    /// Handlers of exceptions.
    pub handlers: u8,
}

impl Method {
    /// Whether the virtual machine carries it out.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self.flags & METHOD_NATIVE != 0
    }

    /// Whether it is called on no object.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.flags & METHOD_STATIC != 0
    }

    /// Whether it returns a value.
    #[must_use]
    pub fn has_value(&self) -> bool {
        self.flags & METHOD_VALUE != 0
    }

    /// Where the handlers start: after the code.
    #[must_use]
    pub fn handlers_at(&self) -> u32 {
        self.code + u32::from(self.code_bytes)
    }

    /// Where what follows the method starts.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.handlers_at() + u32::from(self.handlers) * HANDLER_BYTES
    }
}

/// A handler; positions count from the code's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    /// The first byte that it covers.
    pub start: u16,
    /// The byte after the last.
    pub end: u16,
    /// Where it starts.
    pub target: u16,
    /// What it catches; none for everything.
    pub class: Option<ClassPlace>,
}

/// An array that a static field starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayStart {
    /// The kind of its elements: a primitive one.
    pub kind: u8,
    /// Its elements.
    pub length: u16,
    /// Where they are, the least significant byte first.
    pub at: u32,
}

impl ArrayStart {
    /// Where the array that follows is.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.at + u32::from(self.length) * width(self.kind).unwrap_or(0)
    }
}

/// What a static field starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// An int.
    Int(i32),
    /// An array, by its number.
    Array(u16),
}

impl Package {
    /// Reads the header. Cost: 64 bytes of the image.
    ///
    /// # Errors
    ///
    /// If it is no package's, or says what no header says.
    pub fn open<I: Image>(image: &mut I) -> Result<Package, ImageError<I::Error>> {
        match bytes::<4, I>(image, 0) {
            Ok(MAGIC) => {}
            Err(ImageError::Read(error)) => return Err(ImageError::Read(error)),
            _ => return wrong(0, Wrong::NoPackage),
        }
        let [major, minor] = bytes::<2, I>(image, VERSION)?;
        let flags = u8_at(image, FLAGS)?;
        if flags & !PACKAGE_NATIVE != 0 {
            return wrong(FLAGS, Wrong::Flags);
        }
        let package = Package {
            length: u24_at(image, LENGTH)?,
            has_natives: flags & PACKAGE_NATIVE != 0,
            aid: aid_at(image, AID)?,
            version: Version { major, minor },
            imports: u8_at(image, IMPORTS)?,
            applets: u8_at(image, APPLETS)?,
            classes: u8_at(image, CLASSES)?,
            methods: u16_at(image, METHODS)?,
            statics: u16_at(image, STATICS)?,
            arrays: u16_at(image, ARRAYS)?,
            starts: u16_at(image, STARTS)?,
            starts_at: u24_at(image, STARTS_AT)?,
            records_at: u24_at(image, RECORDS_AT)?,
            known_at: u24_at(image, KNOWN_AT)?,
        };
        if package.imports > NONE - 2 || package.classes == NONE {
            return wrong(IMPORTS, Wrong::Count);
        }
        let ordered = package.starts_at <= package.records_at && package.records_at <= package.length;
        if !ordered || package.starts_at != package.kinds_at() + u32::from(package.statics) {
            return wrong(STARTS_AT, Wrong::Place);
        }
        let is_after = package.records_at <= package.known_at;
        let known_fits = is_after && package.known_at.saturating_add(KNOWN_BYTES) <= package.length;
        if if package.has_natives { !known_fits } else { package.known_at != 0 } {
            return wrong(KNOWN_AT, Wrong::Place);
        }
        Ok(package)
    }

    fn applets_at(&self) -> u32 {
        HEADER_BYTES + u32::from(self.imports) * IMPORT_BYTES
    }

    fn classes_at(&self) -> u32 {
        self.applets_at() + u32::from(self.applets) * APPLET_BYTES
    }

    fn methods_at(&self) -> u32 {
        self.classes_at() + u32::from(self.classes) * POSITION_BYTES
    }

    fn kinds_at(&self) -> u32 {
        self.methods_at() + u32::from(self.methods) * POSITION_BYTES
    }

    /// The number of a class of [`KNOWN_CLASSES`], by its place there; none where the package does not have it.
    ///
    /// # Errors
    ///
    /// [`Wrong::Place`] in a package that is not the API, or beyond the list.
    pub fn known_class<I: Image>(&self, image: &mut I, place: u8) -> Result<Option<u8>, ImageError<I::Error>> {
        if usize::from(place) >= KNOWN_CLASSES.len() {
            return wrong(KNOWN_AT, Wrong::Place);
        }
        self.known(image, place.into())
    }

    /// The slot of a method of [`KNOWN_METHODS`](crate::KNOWN_METHODS), by its place; none where the package does not have it.
    ///
    /// # Errors
    ///
    /// As [`Package::known_class`].
    pub fn known_slot<I: Image>(&self, image: &mut I, place: u8) -> Result<Option<u8>, ImageError<I::Error>> {
        self.known(image, KNOWN_CLASSES.len() as u32 + u32::from(place))
    }

    fn known<I: Image>(&self, image: &mut I, place: u32) -> Result<Option<u8>, ImageError<I::Error>> {
        if !self.has_natives || place >= KNOWN_BYTES {
            return wrong(KNOWN_AT, Wrong::Place);
        }
        Ok(Some(u8_at(image, self.known_at + place)?).filter(|number| *number != NONE))
    }

    /// An imported package, from 0 on.
    ///
    /// # Errors
    ///
    /// [`Wrong::Count`] beyond the last; [`Wrong::Aid`].
    pub fn import<I: Image>(&self, image: &mut I, number: u8) -> Result<Import, ImageError<I::Error>> {
        let at = HEADER_BYTES + u32::from(number) * IMPORT_BYTES;
        if number >= self.imports {
            return wrong(at, Wrong::Count);
        }
        let [major, minor] = bytes::<2, I>(image, at + AID_BYTES)?;
        Ok(Import { aid: aid_at(image, at)?, version: Version { major, minor } })
    }

    /// An applet, from 0 on.
    ///
    /// # Errors
    ///
    /// [`Wrong::Count`] beyond the last; [`Wrong::Aid`].
    pub fn applet<I: Image>(&self, image: &mut I, number: u8) -> Result<Applet, ImageError<I::Error>> {
        let at = self.applets_at() + u32::from(number) * APPLET_BYTES;
        if number >= self.applets {
            return wrong(at, Wrong::Count);
        }
        let aid = aid_at(image, at)?;
        Ok(Applet { aid, class: u8_at(image, at + AID_BYTES)?, install: u16_at(image, at + AID_BYTES + 1)? })
    }

    /// A class by its number. Cost: nine bytes of the image.
    ///
    /// # Errors
    ///
    /// [`Wrong::Class`] beyond the last; [`Wrong::Place`] and [`Wrong::Flags`] for a damaged record.
    pub fn class<I: Image>(&self, image: &mut I, number: u8) -> Result<Class, ImageError<I::Error>> {
        let entry = self.classes_at() + u32::from(number) * POSITION_BYTES;
        if number >= self.classes {
            return wrong(entry, Wrong::Class);
        }
        let at = self.record(u24_at(image, entry)?, CLASS_HEAD_BYTES, entry)?;
        let [flags, package, class, fields, slots, interfaces] = bytes::<6, I>(image, at)?;
        if flags & !(CLASS_INTERFACE | CLASS_ABSTRACT | CLASS_SHAREABLE) != 0 {
            return wrong(at, Wrong::Flags);
        }
        let parent = (package != NONE).then_some(ClassPlace { package, class });
        Ok(Class { at, flags, parent, fields, slots, interfaces })
    }

    /// The kind of a field of a class's instances.
    ///
    /// # Errors
    ///
    /// [`Wrong::Count`] beyond the last, [`Wrong::Kind`] for one that is not known.
    pub fn field_kind<I: Image>(&self, image: &mut I, class: &Class, slot: u8) -> Result<u8, ImageError<I::Error>> {
        let at = class.at + CLASS_HEAD_BYTES + u32::from(slot);
        if slot >= class.fields {
            return wrong(at, Wrong::Count);
        }
        kind_at(image, at)
    }

    /// The method in a slot of a class's method table; none where an abstract class leaves it open.
    ///
    /// # Errors
    ///
    /// [`Wrong::Method`] beyond the last slot, and for interfaces.
    pub fn entry<I: Image>(
        &self,
        image: &mut I,
        class: &Class,
        slot: u8,
    ) -> Result<Option<MethodPlace>, ImageError<I::Error>> {
        let at = class.entries_at() + u32::from(slot) * ENTRY_BYTES;
        if slot >= class.slots || class.is_interface() {
            return wrong(at, Wrong::Method);
        }
        let [package, low, high] = bytes::<3, I>(image, at)?;
        Ok((package != NONE).then_some(MethodPlace { package, method: u16::from_le_bytes([low, high]) }))
    }

    /// An interface of a class at a position: [`Class::first_interface`], then [`InterfaceTable::next`].
    ///
    /// # Errors
    ///
    /// If the image ends.
    pub fn interface<I: Image>(&self, image: &mut I, at: u32) -> Result<InterfaceTable, ImageError<I::Error>> {
        let at = self.record(at, INTERFACE_HEAD_BYTES, at)?;
        let [package, class, methods] = bytes::<3, I>(image, at)?;
        Ok(InterfaceTable { interface: ClassPlace { package, class }, methods, at })
    }

    /// A method by its number. Cost: ten bytes of the image.
    ///
    /// # Errors
    ///
    /// [`Wrong::Method`] beyond the last; [`Wrong::Place`], [`Wrong::Flags`] and [`Wrong::Count`] for a damaged one.
    pub fn method<I: Image>(&self, image: &mut I, number: u16) -> Result<Method, ImageError<I::Error>> {
        let entry = self.methods_at() + u32::from(number) * POSITION_BYTES;
        if number >= self.methods {
            return wrong(entry, Wrong::Method);
        }
        let at = self.record(u24_at(image, entry)?, METHOD_HEAD_BYTES, entry)?;
        let [flags, arguments, locals, stack, low, high, handlers] = bytes::<7, I>(image, at)?;
        let code_bytes = u16::from_le_bytes([low, high]);
        let method = Method { flags, arguments, locals, stack, code: at + METHOD_HEAD_BYTES, code_bytes, handlers };
        if flags & !(METHOD_NATIVE | METHOD_STATIC | METHOD_VALUE) != 0 {
            return wrong(at, Wrong::Flags);
        }
        if locals < arguments || code_bytes == 0 || code_bytes > i16::MAX as u16 {
            return wrong(at, Wrong::Count);
        }
        if method.end() > self.length {
            return wrong(at, Wrong::Place);
        }
        Ok(method)
    }

    /// The number of a native method.
    ///
    /// # Errors
    ///
    /// [`Wrong::Method`] for a method with code.
    pub fn native<I: Image>(&self, image: &mut I, method: &Method) -> Result<u16, ImageError<I::Error>> {
        if !method.is_native() || method.code_bytes != 2 {
            return wrong(method.code, Wrong::Method);
        }
        u16_at(image, method.code)
    }

    /// A handler of a method, in the order in which they are tried.
    ///
    /// # Errors
    ///
    /// [`Wrong::Count`] beyond the last.
    pub fn handler<I: Image>(
        &self,
        image: &mut I,
        method: &Method,
        number: u8,
    ) -> Result<Handler, ImageError<I::Error>> {
        let at = method.handlers_at() + u32::from(number) * HANDLER_BYTES;
        if number >= method.handlers {
            return wrong(at, Wrong::Count);
        }
        let [s0, s1, e0, e1, t0, t1, package, class] = bytes::<8, I>(image, at)?;
        Ok(Handler {
            start: u16::from_le_bytes([s0, s1]),
            end: u16::from_le_bytes([e0, e1]),
            target: u16::from_le_bytes([t0, t1]),
            class: (package != NONE).then_some(ClassPlace { package, class }),
        })
    }

    /// The kind of a static field.
    ///
    /// # Errors
    ///
    /// [`Wrong::Static`] beyond the last, [`Wrong::Kind`] for one that is not known.
    pub fn static_kind<I: Image>(&self, image: &mut I, slot: u16) -> Result<u8, ImageError<I::Error>> {
        let at = self.kinds_at() + u32::from(slot);
        if slot >= self.statics {
            return wrong(at, Wrong::Static);
        }
        kind_at(image, at)
    }

    /// Where the first of the arrays is that static fields start with.
    #[must_use]
    pub fn first_array(&self) -> u32 {
        self.starts_at
    }

    /// The array at a position: [`Package::first_array`], then [`ArrayStart::next`].
    ///
    /// # Errors
    ///
    /// [`Wrong::Kind`] for elements that are no primitives, [`Wrong::Place`] where it leaves its section.
    pub fn array<I: Image>(&self, image: &mut I, at: u32) -> Result<ArrayStart, ImageError<I::Error>> {
        let at = self.record(at, ARRAY_HEAD_BYTES, at)?;
        let [kind, low, high] = bytes::<3, I>(image, at)?;
        if kind >= REFERENCE {
            return wrong(at, Wrong::Kind);
        }
        let array = ArrayStart { kind, length: u16::from_le_bytes([low, high]), at: at + ARRAY_HEAD_BYTES };
        if array.next() > self.records_at {
            return wrong(at, Wrong::Place);
        }
        Ok(array)
    }

    /// Bytes of an array's elements, from a position that [`ArrayStart`] has.
    ///
    /// # Errors
    ///
    /// [`Wrong::Ends`] where the image ends before.
    pub fn read<I: Image>(&self, image: &mut I, at: u32, into: &mut [u8]) -> Result<(), ImageError<I::Error>> {
        fill(image, at, into)
    }

    /// A static field and what it starts with, by a number below [`Package::starts`].
    ///
    /// # Errors
    ///
    /// [`Wrong::Count`] beyond the last, [`Wrong::Kind`] for an unknown tag.
    pub fn start<I: Image>(&self, image: &mut I, number: u16) -> Result<(u16, Start), ImageError<I::Error>> {
        let bytes_of_all = u32::from(self.starts) * START_BYTES;
        let first = self.records_at.saturating_sub(bytes_of_all);
        let at = first + u32::from(number) * START_BYTES;
        if number >= self.starts {
            return wrong(at, Wrong::Count);
        }
        let [low, high, tag, v0, v1, v2, v3] = bytes::<7, I>(image, at)?;
        let start = match (tag, [v0, v1, v2, v3]) {
            (START_INT, value) => Start::Int(i32::from_le_bytes(value)),
            (START_ARRAY, [v0, v1, 0, 0]) => Start::Array(u16::from_le_bytes([v0, v1])),
            _ => return wrong(at, Wrong::Kind),
        };
        Ok((u16::from_le_bytes([low, high]), start))
    }

    /// Where the first values of static fields end, the arrays that come before them.
    pub(crate) fn arrays_end(&self) -> Option<u32> {
        self.records_at.checked_sub(u32::from(self.starts) * START_BYTES)
    }

    /// A position, if so many bytes from there on are within the image.
    fn record<E>(&self, at: u32, bytes: u32, named_at: u32) -> Result<u32, ImageError<E>> {
        if at < self.starts_at || at.saturating_add(bytes) > self.length {
            return wrong(named_at, Wrong::Place);
        }
        Ok(at)
    }
}

fn kind_at<I: Image>(image: &mut I, at: u32) -> Result<u8, ImageError<I::Error>> {
    let kind = u8_at(image, at)?;
    if width(kind).is_some() { Ok(kind) } else { wrong(at, Wrong::Kind) }
}

fn aid_at<I: Image>(image: &mut I, at: u32) -> Result<Aid, ImageError<I::Error>> {
    let [length, padded @ ..] = bytes::<17, I>(image, at)?;
    let padding_is_zero = padded.iter().skip(usize::from(length)).all(|byte| *byte == 0);
    let aid = padded.get(..usize::from(length)).and_then(Aid::new).filter(|_| padding_is_zero);
    aid.ok_or(ImageError::Wrong { at, what: Wrong::Aid })
}
