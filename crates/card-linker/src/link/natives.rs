//! Native methods: those of the API, by number, and no other.

use norn_card_package::native_number;

use crate::class_file::ClassFile;
use crate::refusal::{Reason, Refusal};

/// Whether a package may have native methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Natives {
    /// It may not: it is not the API.
    Refused,
    /// It may have those that the virtual machine carries out.
    OfTheApi,
}

/// Refuses native methods that the virtual machine does not have, and all outside the API.
pub(super) fn check(class: &ClassFile, natives: Natives) -> Result<(), Refusal> {
    let shape = &class.shape;
    for method in shape.methods.iter().filter(|method| method.flags.is_native()) {
        let known = native_number(&shape.name, &method.name, &method.descriptor).is_some();
        if natives == Natives::Refused || !known {
            let what = "native methods but those of its API".to_owned();
            let reason = Reason::NotOnCards { what, instead: "write the method in Java" };
            return Err(Refusal::of_member(&shape.name, format!("{}{}", method.name, method.descriptor), reason));
        }
    }
    Ok(())
}
