//! Every bytecode and rule of section 6.2.8 of the Runtime Environment Specification 3.0.5, a row each: one applet
//! tries them on objects of its own, of another applet of its package, of another package, and of the runtime.
//!
//! Rules that no Java program can reach have no row: the API has no object of the runtime's with fields that an applet
//! may name.

use std::sync::OnceLock;

use norn_card_linker::{LinkedPackage, link};
use norn_card_vm::Card;

use crate::javac::sources;
use crate::{TestCard, aid, config, linked, mounted, new_card, read, select, send, status, unmounted};

const KEEPER: [u8; 7] = [0xF0, 0, 0, 0, 8, 0, 1];
const SIBLING: [u8; 7] = [0xF0, 0, 0, 0, 9, 0, 1];
const GUEST: [u8; 7] = [0xF0, 0, 0, 0, 9, 0, 2];

/// Packages of an applet that gives its objects away, and of one that tries to use them.
fn packages() -> &'static [LinkedPackage; 2] {
    static PACKAGES: OnceLock<[LinkedPackage; 2]> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let linked = linked();
        let texts = [
            ("keep/Box.java", include_str!("../programs/card/keep/Box.java")),
            ("keep/Bystander.java", include_str!("../programs/card/keep/Bystander.java")),
            ("keep/Gate.java", include_str!("../programs/card/keep/Gate.java")),
            ("keep/Keeper.java", include_str!("../programs/card/keep/Keeper.java")),
            ("keep/Oops.java", include_str!("../programs/card/keep/Oops.java")),
            ("keep/Plain.java", include_str!("../programs/card/keep/Plain.java")),
        ];
        let (room, classes) = sources(&texts, &[&linked.lang, &linked.main]);
        let exports = [linked.api.exports.clone()];
        let keep = config(&KEEPER[..6], &[(&KEEPER, "keep/Keeper")]);
        let keep = link(&read(&classes), &exports, &keep).unwrap_or_else(|error| panic!("{error}"));
        let texts = [("guest/Guest.java", include_str!("../programs/card/guest/Guest.java"))];
        let (_, classes) = sources(&texts, &[&linked.lang, &linked.main, &room]);
        let exports = [linked.api.exports.clone(), keep.exports.clone()];
        let guest = config(&GUEST[..6], &[(&GUEST, "guest/Guest")]);
        let guest = link(&read(&classes), &exports, &guest).unwrap_or_else(|error| panic!("{error}"));
        [keep, guest]
    })
}

fn card() -> TestCard {
    let mut card = new_card();
    for package in packages() {
        card.install_package(&package.image).unwrap();
    }
    for (applet, instance) in [(KEEPER, KEEPER), (GUEST, SIBLING), (GUEST, GUEST)] {
        card.install_applet(aid(&applet), aid(&instance), &[]).unwrap();
    }
    // What RAM remembers of the installation is no part of the outcome.
    let (device, nand) = unmounted(card);
    mounted(device, nand)
}

/// How an operation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It is carried out.
    Done,
    /// `SecurityException`.
    Refused,
    /// `ClassCastException`.
    Cast,
    /// `instanceof` says no.
    No,
    /// The exception reaches its handler.
    Thrown,
    /// `SystemException`.
    System,
}

use Outcome::{Cast, Done, No, Refused, System, Thrown};

fn outcome(card: &mut TestCard, channel: u8, operation: u8, subject: u8) -> Outcome {
    let (answer, status) = send(card, &[0x80 | channel, 0, operation, subject, 1]).unwrap();
    assert_eq!(status, 0x9000, "operation {operation:02x} on {subject}");
    match answer[..] {
        [1] => Done,
        [2] => Refused,
        [3] => Cast,
        [4] => No,
        [5] => Thrown,
        [6] => System,
        _ => panic!("{answer:?}"),
    }
}

/// Tries rows of operations on columns of objects; all that differ are reported at once.
fn try_rows<const SUBJECTS: usize>(subjects: [u8; SUBJECTS], rows: &[(u8, &str, [Outcome; SUBJECTS])]) {
    let mut card = card();
    assert_eq!(status(&mut card, &select(&GUEST)), 0x9000);
    let mut wrong = Vec::new();
    for (operation, name, expected) in rows {
        for (subject, expected) in subjects.iter().zip(expected) {
            let found = outcome(&mut card, 0, *operation, *subject);
            if found != *expected {
                wrong.push(format!("{name}, object {subject}: {found:?} where {expected:?} is right"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn fields_and_methods_of_objects_are_their_contexts() {
    // Own, of a sibling in the same package, of another package.
    let own_alone = [Done, Done, Refused];
    try_rows(
        [0, 1, 2],
        &[
            (0x01, "getfield, boolean", own_alone),
            (0x02, "getfield, byte", own_alone),
            (0x03, "getfield, short", own_alone),
            (0x04, "getfield, int", own_alone),
            (0x05, "getfield, reference", own_alone),
            (0x06, "putfield, boolean", own_alone),
            (0x07, "putfield, byte", own_alone),
            (0x08, "putfield, short", own_alone),
            (0x09, "putfield, int", own_alone),
            (0x0A, "putfield, reference", own_alone),
            (0x0B, "invokevirtual", own_alone),
            (0x0C, "invokeinterface, not shared", own_alone),
            (0x0E, "comparison of references", [Done, Done, Done]),
            (0x60, "athrow", [Thrown, Thrown, Refused]),
        ],
    );
}

#[test]
fn elements_and_lengths_of_arrays_are_their_contexts() {
    // Own, a sibling's, another package's: on flash, cleared by a reset, cleared by deselection.
    let own_alone = [Done, Done, Refused, Refused, Refused];
    try_rows(
        [0, 1, 2, 3, 4],
        &[
            (0x20, "baload, boolean", own_alone),
            (0x21, "bastore, boolean", own_alone),
            (0x22, "arraylength of boolean[]", own_alone),
            (0x23, "baload", own_alone),
            (0x24, "bastore", own_alone),
            (0x25, "arraylength of byte[]", own_alone),
            (0x26, "saload", own_alone),
            (0x27, "sastore", own_alone),
            (0x28, "arraylength of short[]", own_alone),
            (0x2C, "aaload", own_alone),
            (0x2D, "aastore", own_alone),
            (0x2E, "arraylength of Object[]", own_alone),
            (0x2F, "instanceof Object[]", own_alone),
        ],
    );
    let own_alone = [Done, Done, Refused];
    try_rows(
        [0, 1, 2],
        &[(0x29, "iaload", own_alone), (0x2A, "iastore", own_alone), (0x2B, "arraylength of int[]", own_alone)],
    );
    // The APDU buffer is global.
    try_rows([5], &[(0x23, "baload", [Done]), (0x24, "bastore", [Done]), (0x25, "arraylength", [Done])]);
}

#[test]
fn global_arrays_and_temporary_objects_are_kept_nowhere() {
    // Own, a sibling's, another package's; the APDU's buffer, the APDU, the runtime's exception; an AID of the runtime.
    let lasting = [Done, Done, Done, Refused, Refused, Refused, Done];
    try_rows(
        [0, 1, 2, 5, 6, 7, 8],
        &[
            (0x40, "putfield", lasting),
            (0x41, "putstatic", lasting),
            (0x42, "aastore on flash", lasting),
            (0x43, "aastore in RAM", lasting),
            (0x44, "astore", [Done; 7]),
        ],
    );
}

#[test]
fn types_of_objects_are_seen_by_their_contexts_and_through_shared_interfaces() {
    // Objects: own Box, sibling's, foreign; own applet (implements Gate), sibling's, foreign; own byte[], foreign.
    try_rows(
        [0, 1, 2, 12, 13, 10, 11, 9],
        &[
            (0x50, "instanceof class", [Done, Done, Refused, No, No, Refused, No, Refused]),
            (0x51, "checkcast class", [Done, Done, Refused, Cast, Cast, Refused, Cast, Refused]),
            (0x52, "instanceof interface", [Done, Done, Refused, No, No, Refused, No, Refused]),
            (0x53, "checkcast interface", [Done, Done, Refused, Cast, Cast, Refused, Cast, Refused]),
            // An object without shared interfaces stays hidden; of one with them, these are seen.
            (0x54, "instanceof shared", [No, No, Refused, Done, Done, Done, No, Refused]),
            (0x55, "checkcast shared", [Cast, Cast, Refused, Done, Done, Done, Cast, Refused]),
            (0x56, "instanceof other shared", [No, No, Refused, No, No, No, No, Refused]),
            (0x57, "checkcast other shared", [Cast, Cast, Refused, Cast, Cast, Cast, Cast, Refused]),
            (0x58, "instanceof byte[]", [No, No, Refused, No, No, Refused, Done, Refused]),
            (0x59, "checkcast byte[]", [Cast, Cast, Refused, Cast, Cast, Refused, Done, Refused]),
            (0x5A, "instanceof Applet", [No, No, Refused, Done, Done, Refused, No, Refused]),
            (0x5B, "checkcast Applet", [Cast, Cast, Refused, Done, Done, Refused, Cast, Refused]),
            (0x5C, "invokevirtual of Object", [Done, Done, Refused, Done, Done, Refused, Done, Refused]),
        ],
    );
    // The APDU's buffer, the APDU, the runtime's exception, an AID of the runtime.
    try_rows(
        [5, 6, 7, 8],
        &[
            (0x54, "instanceof shared", [No, No, No, No]),
            (0x58, "instanceof byte[]", [Done, No, No, No]),
            (0x59, "checkcast byte[]", [Done, Cast, Cast, Cast]),
            (0x5C, "invokevirtual of Object", [Done, Done, Done, Done]),
            (0x5D, "instanceof AID", [No, No, No, Done]),
            (0x5E, "checkcast APDU", [Cast, Done, Cast, Cast]),
            (0x5F, "checkcast CardRuntimeException", [Cast, Cast, Done, Cast]),
        ],
    );
}

#[test]
fn calls_across_contexts_change_what_may_be_used() {
    try_rows(
        [2],
        &[
            (0x61, "athrow of the runtime's exception", [Done]),
            (0x62, "athrow of what another context has thrown", [Refused]),
            (0x63, "invokevirtual of another package's applet", [Refused]),
            (0x64, "invokeinterface, shared", [Done]),
            (0x65, "invokeinterface, not shared", [Refused]),
            (0x66, "the callee has no right to its caller's array", [Refused]),
            (0x67, "the callee may use the APDU's buffer", [Done]),
            (0x68, "the callee's array that deselection clears, while another is selected", [Refused]),
            (0x69, "such an array made then", [System]),
            (0x6A, "the caller's such array, called back", [Done]),
            (0x6B, "a sibling's such array, whose package is selected", [Done]),
            (0x6C, "invokevirtual and invokestatic of the runtime", [Done]),
            (0x6D, "getstatic and putstatic", [Done]),
        ],
    );
}

#[test]
fn native_methods_use_what_their_caller_may_use() {
    // Own, a sibling's, another package's: on flash, cleared by a reset, cleared by deselection; the APDU's buffer.
    let allowed = [Done, Done, Refused, Refused, Refused, Done];
    try_rows(
        [0, 1, 2, 3, 4, 5],
        &[
            (0x70, "arrayCopy from", allowed),
            (0x71, "arrayCopy to", allowed),
            (0x72, "arrayCopyNonAtomic to", allowed),
            (0x73, "arrayFillNonAtomic", allowed),
            (0x74, "arrayCompare", allowed),
            (0x75, "getShort", allowed),
            (0x76, "setShort", allowed),
            (0x77, "AID.getBytes", allowed),
            (0x78, "AID.equals", allowed),
            (0x79, "AID.partialEquals", allowed),
            (0x7A, "AID.getPartialBytes", allowed),
            (0x7B, "lookupAID", allowed),
            (0x7C, "generateData", allowed),
            (0x7D, "AID.equals of an object", allowed),
            (0x7E, "isTransient", [Done; 6]),
        ],
    );
}

#[test]
fn an_applet_that_is_active_on_another_channel_alone_is_not_called() {
    let mut card = card();
    assert_eq!(status(&mut card, &select(&GUEST)), 0x9000);
    assert_eq!(outcome(&mut card, 0, 0x64, 2), Done);
    assert_eq!(send(&mut card, &[0, 0x70, 0, 0, 1]).unwrap(), (vec![1], 0x9000));
    let mut on_other = select(&KEEPER);
    on_other[0] = 1;
    assert_eq!(status(&mut card, &on_other), 0x9000);
    // The keeper is not multiselectable: not even by a reference that the guest has kept.
    assert_eq!(outcome(&mut card, 0, 0x64, 2), Refused);
    assert_eq!(status(&mut card, &[0, 0x70, 0x80, 1]), 0x9000);
    assert_eq!(outcome(&mut card, 0, 0x64, 2), Done);
}
