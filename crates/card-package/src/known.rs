//! Classes and methods of the API that the virtual machine itself makes objects of, throws and calls.
//!
//! The image of the API says which of its numbers they have, in the order of these lists. New ones are appended.

/// Internal names of the classes.
pub const KNOWN_CLASSES: [&str; 26] = [
    "java/lang/Object",
    "java/lang/ArithmeticException",
    "java/lang/ArrayIndexOutOfBoundsException",
    "java/lang/ArrayStoreException",
    "java/lang/ClassCastException",
    "java/lang/NegativeArraySizeException",
    "java/lang/NullPointerException",
    "java/lang/SecurityException",
    "javacard/framework/CardRuntimeException",
    "javacard/framework/CardException",
    "javacard/framework/APDUException",
    "javacard/framework/ISOException",
    "javacard/framework/PINException",
    "javacard/framework/SystemException",
    "javacard/framework/TransactionException",
    "javacard/framework/UserException",
    "javacard/security/CryptoException",
    "javacardx/framework/util/UtilException",
    "javacardx/framework/tlv/TLVException",
    "javacard/framework/AID",
    "javacard/framework/APDU",
    "javacard/framework/AppletEvent",
    "javacard/framework/MultiSelectable",
    "javacard/framework/Shareable",
    "javacardx/apdu/ExtendedLength",
    "javacard/framework/Applet",
];

/// Class, name and descriptor of the methods that the virtual machine calls by slot, or by number in an interface.
pub const KNOWN_METHODS: [(&str, &str, &str); 7] = [
    ("javacard/framework/Applet", "process", "(Ljavacard/framework/APDU;)V"),
    ("javacard/framework/Applet", "select", "()Z"),
    ("javacard/framework/Applet", "deselect", "()V"),
    (
        "javacard/framework/Applet",
        "getShareableInterfaceObject",
        "(Ljavacard/framework/AID;B)Ljavacard/framework/Shareable;",
    ),
    ("javacard/framework/MultiSelectable", "select", "(Z)Z"),
    ("javacard/framework/MultiSelectable", "deselect", "(Z)V"),
    ("javacard/framework/AppletEvent", "uninstall", "()V"),
];

/// Bytes of both lists in an image.
pub(crate) const KNOWN_BYTES: u32 = (KNOWN_CLASSES.len() + KNOWN_METHODS.len()) as u32;

/// The place of a class in [`KNOWN_CLASSES`].
#[must_use]
pub const fn known_class(name: &str) -> Option<u8> {
    let mut place = 0;
    while place < KNOWN_CLASSES.len() {
        if is_same(KNOWN_CLASSES[place], name) {
            return Some(place as u8);
        }
        place += 1;
    }
    None
}

/// The place of a method in [`KNOWN_METHODS`].
#[must_use]
pub const fn known_method(class: &str, name: &str, descriptor: &str) -> Option<u8> {
    match place(&KNOWN_METHODS, class, name, descriptor) {
        Some(place) => Some(place as u8),
        None => None,
    }
}

/// The place of a method in a list, while a constant is made as well.
pub(crate) const fn place(list: &[(&str, &str, &str)], class: &str, name: &str, descriptor: &str) -> Option<usize> {
    let mut place = 0;
    while place < list.len() {
        let (of_class, of_name, of_descriptor) = list[place];
        if is_same(of_class, class) && is_same(of_name, name) && is_same(of_descriptor, descriptor) {
            return Some(place);
        }
        place += 1;
    }
    None
}

const fn is_same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while at < left.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}
