//! An applet that is selected on several channels at once: which of its methods are called, when its transient arrays
//! are cleared, and when it is deleted.

use std::sync::OnceLock;

use norn_card_linker::{LinkedPackage, link};
use norn_card_vm::{Card, InstallError};

use crate::javac::sources;
use crate::{TestCard, aid, config, linked, new_card, read, select, send, status};

const ONE: [u8; 7] = [0xF0, 0, 0, 0, 10, 0, 1];
const OTHER: [u8; 7] = [0xF0, 0, 0, 0, 10, 0, 2];

/// The applet's package, linked once for all tests.
fn many() -> &'static LinkedPackage {
    static MANY: OnceLock<LinkedPackage> = OnceLock::new();
    MANY.get_or_init(|| {
        let linked = linked();
        let texts = [("many/Many.java", include_str!("../programs/card/many/Many.java"))];
        let (_, classes) = sources(&texts, &[&linked.lang, &linked.main]);
        let many = config(&ONE[..6], &[(&ONE, "many/Many")]);
        let many = link(&read(&classes), std::slice::from_ref(&linked.api.exports), &many);
        many.unwrap_or_else(|error| panic!("{error}"))
    })
}

/// A card with two instances.
fn card() -> TestCard {
    let mut card = new_card();
    card.install_package(&many().image).unwrap();
    for instance in [ONE, OTHER] {
        card.install_applet(aid(&ONE), aid(&instance), &[]).unwrap();
    }
    card
}

/// Calls since the last question (`select`, `deselect`, `select(boolean)` with its argument, `deselect(boolean)` with
/// its argument), the channel, questions since the arrays were cleared, and applets that were uninstalled.
fn calls(card: &mut TestCard, channel: u8) -> [u8; 9] {
    let (answer, status) = send(card, &[0x80 | channel, 0, 0, 0, 9]).unwrap();
    assert_eq!(status, 0x9000);
    answer.try_into().unwrap()
}

fn select_on(card: &mut TestCard, channel: u8, name: &[u8]) -> u16 {
    let mut command = select(name);
    command[0] |= channel;
    status(card, &command)
}

fn close(card: &mut TestCard, channel: u8) {
    assert_eq!(status(card, &[0, 0x70, 0x80, channel]), 0x9000);
}

#[test]
fn a_multiselectable_applet_is_told_of_each_channel() {
    let mut card = card();
    assert_eq!(select_on(&mut card, 0, &ONE), 0x9000);
    assert_eq!(calls(&mut card, 0), [1, 0, 0, 0, 0, 0, 0, 0, 0]);
    // The same applet on a second channel, and another of its package on a third.
    assert_eq!(select_on(&mut card, 1, &ONE), 0x9000);
    assert_eq!(calls(&mut card, 1), [0, 0, 1, 1, 0, 0, 1, 1, 0]);
    assert_eq!(select_on(&mut card, 2, &OTHER), 0x9000);
    assert_eq!(calls(&mut card, 2), [0, 0, 1, 0, 0, 0, 2, 0, 0]);
    close(&mut card, 1);
    assert_eq!(calls(&mut card, 0), [0, 0, 0, 0, 1, 1, 0, 2, 0], "deselected on one of two");
    assert_eq!(select_on(&mut card, 0, &OTHER), 0x9000);
    assert_eq!(calls(&mut card, 0), [0, 0, 1, 1, 0, 0, 0, 1, 0]);
    assert_eq!(select_on(&mut card, 0, &ONE), 0x9000);
    // Its own array was kept while the other applet of the package was active alone.
    assert_eq!(calls(&mut card, 0), [0, 0, 1, 0, 1, 0, 0, 3, 0]);
    assert_eq!(card.delete(aid(&OTHER)), Err(InstallError::InUse), "active on another channel");
    close(&mut card, 2);
    card.delete(aid(&OTHER)).unwrap();
    assert_eq!(calls(&mut card, 0), [0, 0, 0, 0, 0, 0, 0, 4, 1], "uninstall was called");
}

#[test]
fn the_last_deselection_of_a_package_clears_and_a_reset_calls_nobody() {
    let mut card = card();
    assert_eq!(select_on(&mut card, 1, &ONE), 0x9000);
    for asked in [0, 1] {
        assert_eq!(calls(&mut card, 1)[7], asked);
    }
    close(&mut card, 1);
    assert_eq!(select_on(&mut card, 1, &ONE), 0x9000);
    assert_eq!(calls(&mut card, 1), [1, 1, 0, 0, 0, 0, 1, 0, 0]);
    card.reset().unwrap();
    assert_eq!(select_on(&mut card, 0, &ONE), 0x9000);
    assert_eq!(calls(&mut card, 0), [1, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn an_applet_that_refuses_its_selection_leaves_none_selected() {
    let mut card = card();
    for how in [1, 2] {
        assert_eq!(select_on(&mut card, 0, &ONE), 0x9000);
        assert_eq!(status(&mut card, &[0x80, 1, how, 0]), 0x9000);
        assert_eq!(select_on(&mut card, 0, &ONE), 0x6999);
        assert_eq!(status(&mut card, &[0x80, 0, 0, 0, 9]), 0x6999);
        assert_eq!(select_on(&mut card, 0, &[1, 2, 3, 4, 5]), 0x6999);
    }
}
