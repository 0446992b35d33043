//! A class file made from arbitrary bytes: refused, or linked into an image that the card's checker takes.

use std::sync::OnceLock;

use norn_card_linker::{Aid, ClassFile, LinkConfig, Natives, Version, World, link, verify};
use norn_card_package::check;

/// Reads, verifies and links a class.
///
/// # Panics
/// If a reader or the verifier panics, or an image that was linked is none.
pub fn try_class(bytes: &[u8]) {
    let Ok(class) = ClassFile::read(bytes, "Fuzzed.class") else { return };
    let object = object();
    let mut world = World::default();
    if world.add(object.shape.clone()).is_err() || world.add(class.shape.clone()).is_err() {
        return;
    }
    let is_taken = verify(&class, &world).is_ok();
    let config = LinkConfig {
        aid: Aid::new(&[1; 5]).unwrap(),
        version: Version { major: 1, minor: 0 },
        applets: Vec::new(),
        requires: Vec::new(),
        natives: Natives::Refused,
        previous: None,
    };
    if let Ok(linked) = link(&[object.clone(), class], &[], &config) {
        assert!(is_taken, "linked, and not verified");
        assert!(check(&mut &linked.image[..]).is_ok());
    }
}

/// `java.lang.Object`, from which every class descends.
fn object() -> &'static ClassFile {
    static OBJECT: OnceLock<ClassFile> = OnceLock::new();
    OBJECT.get_or_init(|| {
        let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52, 0, 6];
        for text in ["java/lang/Object", "<init>", "()V", "Code"] {
            bytes.extend([1, 0, text.len() as u8]);
            bytes.extend(text.bytes());
        }
        // A class by the first text; public, no superclass, interfaces or fields.
        bytes.extend([7, 0, 1, 0, 0x21, 0, 5, 0, 0, 0, 0, 0, 0]);
        // A public constructor of one bytecode, `return`.
        bytes.extend([0, 1, 0, 1, 0, 2, 0, 3, 0, 1, 0, 4, 0, 0, 0, 13, 0, 0, 0, 1, 0, 0, 0, 1, 0xB1, 0, 0, 0, 0]);
        bytes.extend([0, 0]);
        ClassFile::read(&bytes, "Object.class").unwrap()
    })
}
