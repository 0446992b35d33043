//! Installations that fail, and the power that fails in one: what they have changed of other objects is as before.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::OnceLock;

use norn_card_crypto::Deterministic;
use norn_card_linker::{LinkedPackage, link};
use norn_card_vm::{AppletCard, Card, InstallError, Journaled, RustCrypto};
use norn_code_pager::Options;
use norn_conformance::seeds;
use norn_flash::NorPartition;
use norn_flash_sim::{NandSim, NorSim, Tear};

use crate::javac::sources;
use crate::{
    Device, Flash, Packages, TestCard, UNITS, aid, ask, config, cut_after, linked, mounted, new_card, objects, read,
    select, status, unmounted,
};

const KEEPER: [u8; 7] = [0xF0, 0, 0, 0, 0x20, 0, 1];
const NEWCOMER: [u8; 7] = [0xF0, 0, 0, 0, 0x20, 0, 2];
/// What the keeper has before an installation and after one.
const BEFORE: [u8; 9] = [0, 0, 2, 0, 5, 1, 2, 3, 1];
const AFTER: [u8; 9] = [3, 300_u16.to_be_bytes()[0], 300_u16.to_be_bytes()[1], 1, 0xF4, 1, 3, 0, 0];

fn package() -> &'static LinkedPackage {
    static PACKAGE: OnceLock<LinkedPackage> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let linked = linked();
        let texts = [
            ("pending/Keeper.java", include_str!("../programs/card/pending/Keeper.java")),
            ("pending/Newcomer.java", include_str!("../programs/card/pending/Newcomer.java")),
        ];
        let (_, classes) = sources(&texts, &[&linked.lang, &linked.main]);
        let applets: [(&[u8], &str); 2] = [(&KEEPER, "pending/Keeper"), (&NEWCOMER, "pending/Newcomer")];
        let exports = std::slice::from_ref(&linked.api.exports);
        link(&read(&classes), exports, &config(&KEEPER[..6], &applets)).unwrap_or_else(|error| panic!("{error}"))
    })
}

fn card_with_keeper() -> TestCard {
    let mut card = new_card();
    card.install_package(&package().image).unwrap();
    card.install_applet(aid(&KEEPER), aid(&KEEPER), &[]).unwrap();
    card
}

fn kept(card: &mut TestCard) -> Vec<u8> {
    assert_eq!(status(card, &select(&KEEPER)), 0x9000);
    ask(card, 1)
}

fn installed(card: &mut TestCard, mode: u8) -> Result<(), u16> {
    match card.install_applet(aid(&NEWCOMER), aid(&NEWCOMER), &[mode]) {
        Ok(()) => Ok(()),
        Err(InstallError::Refused(status)) => Err(status),
        Err(other) => panic!("{mode}: {other:?}"),
    }
}

#[test]
fn an_installation_counts_once_the_applet_is_registered() {
    let mut card = card_with_keeper();
    card.collect().unwrap();
    let count = objects(&mut card);
    // Left open or aborted, a transaction takes a registration within it back.
    for (mode, refusal) in [(1, 0x6A01), (2, 0x6F00), (4, 0x6F00), (5, 0x6F00), (7, 0x6F00)] {
        assert_eq!(installed(&mut card, mode), Err(refusal), "{mode}");
        assert_eq!(kept(&mut card), BEFORE, "{mode}");
        assert_eq!(status(&mut card, &select(&NEWCOMER)), 0x6D00, "by the keeper, which is still selected");
        card.reset().unwrap();
        assert_eq!(status(&mut card, &select(&NEWCOMER)), 0x6999, "{mode}");
        assert_eq!(kept(&mut card), BEFORE, "{mode}");
        card.collect().unwrap();
        assert_eq!(objects(&mut card), count, "{mode}");
    }
    for mode in [0, 3, 6] {
        let mut card = card_with_keeper();
        assert_eq!(installed(&mut card, mode), Ok(()), "{mode}");
        assert_eq!(kept(&mut card), AFTER, "{mode}");
        card.reset().unwrap();
        assert_eq!(kept(&mut card), AFTER, "{mode}");
        assert_eq!(status(&mut card, &select(&NEWCOMER)), 0x9000, "{mode}");
    }
}

/// Mounts a card again and again while the power fails at an operation of it.
fn mounted_in_the_end(device: NorSim, nand: &NandSim, random: &mut fastrand::Rng, cuts: &mut u64) -> TestCard {
    let device = Device(Rc::new(RefCell::new(device)));
    for _ in 0..3 {
        device.0.borrow_mut().power_on();
        device.0.borrow_mut().cut_power_after(random.u64(..40), Tear::draw(random));
        let [heap, journal] =
            [0..UNITS, UNITS..UNITS + 1].map(|units| NorPartition::new(device.clone(), units).unwrap());
        let packages = Packages::mount(nand.clone(), Options::default(), ()).unwrap();
        let Ok(heap) = Flash::mount(heap) else { continue };
        let Ok(heap) = Journaled::mount(heap, journal) else { continue };
        let whole: Result<TestCard, _> = AppletCard::mount(heap, packages, RustCrypto(Deterministic::new(1)), 200_000);
        *cuts += u64::from(whole.is_err());
    }
    let mut device = device.0.borrow().clone();
    device.power_on();
    mounted(device, nand.clone())
}

#[test]
fn a_power_cut_in_an_installation_leaves_nothing_of_it_or_all() {
    let run = seeds(0..1, "-p norn-card-linker --test card a_power_cut_in_an_installation").next().unwrap();
    let mut random = run.random();
    let (device, nand) = unmounted(card_with_keeper());
    let (mut cuts_of_mounts, mut undone, mut whole) = (0, 0, 0);
    for operation in 0.. {
        let mut card = mounted(device.clone(), nand.clone());
        cut_after(&mut card, operation, Tear::draw(&mut random));
        let done = card.install_applet(aid(&NEWCOMER), aid(&NEWCOMER), &[0]).is_ok();
        let (device, _) = unmounted(card);
        assert_eq!(device.refusals(), 0);
        if done {
            println!("{operation} cut points in an installation, {undone} undone, {cuts_of_mounts} cut again");
            assert!(operation > 50 && undone > 50 && whole > 0 && cuts_of_mounts > 10);
            return;
        }
        let mut card = mounted_in_the_end(device, &nand, &mut random, &mut cuts_of_mounts);
        let context = format!("cut {operation}, {}", run.replay());
        let selected = status(&mut card, &select(&NEWCOMER));
        let expected = match selected {
            0x6999 => BEFORE,
            0x9000 => AFTER,
            other => panic!("{context}: {other:04x}"),
        };
        undone += u32::from(selected == 0x6999);
        whole += u32::from(selected == 0x9000);
        assert_eq!(kept(&mut card), expected, "{context}");
        if selected == 0x6999 {
            assert_eq!(installed(&mut card, 0), Ok(()), "{context}");
            assert_eq!(kept(&mut card), AFTER, "{context}");
        }
    }
}
