//! Every offset and length of a package image. Numbers are little-endian; positions count from the image's start.
//!
//! ```text
//! header 64 │ imports │ applets │ class table │ method table │ kinds of statics │ first values │ records, code │ known
//! ```

/// The first bytes of an image.
pub const MAGIC: [u8; 4] = *b"NCP1";
/// Bytes of the header.
pub const HEADER_BYTES: u32 = 64;
/// Where the length of the image is, three bytes.
pub const LENGTH: u32 = 4;
/// Where the package's flags are.
pub const FLAGS: u32 = 7;
/// Where the version is: major, minor.
pub const VERSION: u32 = 8;
/// Where the AID is: its length, then 16 bytes, those after the AID zero.
pub const AID: u32 = 10;
/// Bytes of an AID in an image.
pub const AID_BYTES: u32 = 17;
/// Where the number of imports is, one byte.
pub const IMPORTS: u32 = 27;
/// Where the number of applets is, one byte.
pub const APPLETS: u32 = 28;
/// Where the number of classes is, one byte.
pub const CLASSES: u32 = 29;
/// Where the number of methods is, two bytes.
pub const METHODS: u32 = 30;
/// Where the number of static fields is, two bytes.
pub const STATICS: u32 = 32;
/// Where the number of arrays is that static fields start with, two bytes.
pub const ARRAYS: u32 = 34;
/// Where the number of static fields is that do not start with zero or null, two bytes.
pub const STARTS: u32 = 36;
/// Where the position of the first values is, three bytes: the arrays, then the values.
pub const STARTS_AT: u32 = 38;
/// Where the position of what follows the first values is, three bytes.
pub const RECORDS_AT: u32 = 41;
/// Where the position is, three bytes, of what the virtual machine knows of the API: for each known class its number,
/// then for each known method its slot. Zero in a package without native methods.
pub const KNOWN_AT: u32 = 44;

/// The package has native methods: a virtual machine takes it for its API's alone.
pub const PACKAGE_NATIVE: u8 = 1;

/// Bytes of an import: an AID, major, minor.
pub const IMPORT_BYTES: u32 = AID_BYTES + 2;
/// Bytes of an applet: an AID, the class, the number of its method `install`.
pub const APPLET_BYTES: u32 = AID_BYTES + 3;
/// Bytes of a position in the tables of classes and methods.
pub const POSITION_BYTES: u32 = 3;
/// Bytes of a first value: static field, tag, value.
pub const START_BYTES: u32 = 7;
/// A first value that is an int.
pub const START_INT: u8 = 0;
/// A first value that is an array, by its number.
pub const START_ARRAY: u8 = 1;
/// Bytes of an array before its elements: kind, length.
pub const ARRAY_HEAD_BYTES: u32 = 3;

/// Bytes of a class record before its variable parts: flags, class above, numbers of fields, of entries of the method
/// table and of interfaces.
pub const CLASS_HEAD_BYTES: u32 = 6;
/// An interface.
pub const CLASS_INTERFACE: u8 = 1;
/// A class without instances of its own.
pub const CLASS_ABSTRACT: u8 = 2;
/// An interface below `javacard.framework.Shareable`, or a class that implements it.
pub const CLASS_SHAREABLE: u8 = 4;
/// Bytes of an entry of a class's method table: package, method.
pub const ENTRY_BYTES: u32 = 3;
/// Bytes of an interface in a class record before its slots: package, class, number of slots.
pub const INTERFACE_HEAD_BYTES: u32 = 3;

/// Bytes of a method before its code: flags, cells of arguments, local variables, operand stack, length of code,
/// handlers.
pub const METHOD_HEAD_BYTES: u32 = 7;
/// The virtual machine carries it out; its code is its number, two bytes.
pub const METHOD_NATIVE: u8 = 1;
/// It is called on no object.
pub const METHOD_STATIC: u8 = 2;
/// It returns a value.
pub const METHOD_VALUE: u8 = 4;
/// Bytes of a handler, after the code: start, end, target, class.
pub const HANDLER_BYTES: u32 = 8;

/// In place of a package: no class, no method, every exception.
pub const NONE: u8 = 0xFF;

/// `boolean` as a field or element.
pub const BOOLEAN: u8 = 0;
/// `byte`.
pub const BYTE: u8 = 1;
/// `short`.
pub const SHORT: u8 = 2;
/// `int`.
pub const INT: u8 = 3;
/// A reference.
pub const REFERENCE: u8 = 4;
/// In a type operand: a class. Kinds there are arrays of their elements.
pub const TYPE_CLASS: u8 = 5;

/// Bytes of a field or element of a kind; none for an unknown kind.
#[must_use]
#[inline(never)] // in the code once, not in twenty places
pub const fn width(kind: u8) -> Option<u32> {
    match kind {
        BOOLEAN | BYTE => Some(1),
        SHORT => Some(2),
        INT | REFERENCE => Some(4),
        _ => None,
    }
}

const _: () = assert!(KNOWN_AT + 3 <= HEADER_BYTES, "the header holds its numbers");
const _: () = assert!(AID + AID_BYTES == IMPORTS, "the AID is followed by the counts");
