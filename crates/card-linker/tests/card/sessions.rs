//! A session of each example applet, from the installation of its package to the deletion, with a power cut at each
//! operation, and more while the card recovers: the card is as before or after the command that was cut.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::OnceLock;

use norn_card_crypto::{Curve, Deterministic};
use norn_card_linker::{LinkedPackage, link};
use norn_card_vm::{AppletCard, Card, Journaled, RustCrypto};
use norn_code_pager::Options;
use norn_conformance::{Run, seeds};
use norn_flash::{Collected, NorPartition};
use norn_flash_sim::{NandSim, NorSim, Tear};
use norn_object_heap::SectorPtr;

use sha2::{Digest, Sha256};

use crate::javac::{Build, applet};
use crate::{
    Device, Flash, PURSE, Packages, TestCard, UNITS, aid, config, linked, mounted, new_card, objects, read, select,
    send, unmounted,
};

const LOYALTY: [u8; 7] = [0xF0, 0, 0, 0, 3, 0, 1];
const SIGNER: [u8; 7] = [0xF0, 0, 0, 0, 4, 0, 1];
const TAG: [u8; 7] = [0xD2, 0x76, 0, 0, 0x85, 1, 1];
const RIGHT: [u8; 9] = [0x80, 0x20, 0, 0, 4, 1, 2, 3, 4];
const WRONG: [u8; 9] = [0x80, 0x20, 0, 0, 4, 9, 9, 9, 9];

struct Examples {
    loyalty: LinkedPackage,
    signer: LinkedPackage,
    tag: LinkedPackage,
}

fn examples() -> &'static Examples {
    static EXAMPLES: OnceLock<Examples> = OnceLock::new();
    EXAMPLES.get_or_init(|| {
        let common = linked();
        let (purse, _) = applet("purse", Build::Release(8), &common.lang, &[&common.main]);
        let linked = |name: &str, instance: &[u8; 7], class: &str, imports: &[&LinkedPackage]| {
            let paths = [common.main.as_path(), purse.as_path()];
            let classes = read(&applet(name, Build::Release(8), &common.lang, &paths).1);
            let exports: Vec<_> = imports.iter().map(|package| package.exports.clone()).collect();
            link(
                &classes,
                &exports,
                &config(&instance[..instance.len() - if name == "tag" { 2 } else { 1 }], &[(instance, class)]),
            )
            .unwrap_or_else(|error| panic!("{error}"))
        };
        Examples {
            loyalty: linked("loyalty", &LOYALTY, "loyalty/Loyalty", &[&common.api, &common.purse]),
            signer: linked("signer", &SIGNER, "signer/Signer", &[&common.api]),
            tag: linked("tag", &TAG, "tag/Tag", &[&common.api]),
        }
    })
}

/// What is done to a card.
enum Step {
    Package(&'static LinkedPackage),
    Install(&'static [u8], Vec<u8>),
    /// A command and its status word.
    Command(Vec<u8>, u16),
    /// Of an applet, or of a package.
    Delete(&'static [u8]),
    Reset,
}

/// Does it; false where the power fails.
fn does(card: &mut TestCard, step: &Step) -> bool {
    match step {
        Step::Package(package) => card.install_package(&package.image).is_ok(),
        Step::Install(name, parameters) => card.install_applet(aid(name), aid(name), parameters).is_ok(),
        Step::Delete(name) => card.delete(aid(name)).is_ok(),
        Step::Reset => card.reset().is_ok(),
        Step::Command(command, expected) => match send(card, command) {
            Ok((_, status)) => {
                assert_eq!(status, *expected, "{command:02X?}");
                true
            }
            Err(_) => false,
        },
    }
}

/// What a reader sees of a card that has been reset.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    packages: Vec<bool>,
    /// Answers of applets, in the order of the session.
    answers: Vec<(Vec<u8>, u16)>,
    /// Objects after a collection.
    objects: usize,
    /// Tries that a PIN has, for each applet that has one.
    tries: Vec<u16>,
}

/// A session: steps, and how its state is seen.
struct Session {
    steps: Vec<Step>,
    see: fn(&mut TestCard, &mut Seen),
}

fn see(card: &mut TestCard, session: &Session) -> Seen {
    card.collect().unwrap();
    let objects = objects(card);
    let packages = (0..8).map(|number| card.is_installed(number)).collect();
    let mut seen = Seen { packages, answers: Vec::new(), objects, tries: Vec::new() };
    (session.see)(card, &mut seen);
    let mut audited = Collected::<SectorPtr>::default();
    card.heap().heap().audit(&mut audited).unwrap();
    assert!(audited.violations.is_empty(), "{:?}", audited.violations);
    seen
}

/// Selects an applet; whether it is there.
fn is_there(card: &mut TestCard, name: &[u8], seen: &mut Seen) -> bool {
    card.reset().unwrap();
    let answer = send(card, &select(name)).unwrap();
    let is_there = answer.1 == 0x9000;
    seen.answers.push(answer);
    is_there
}

fn see_tries(card: &mut TestCard, seen: &mut Seen) {
    // One of them is gone by the question.
    let left = match send(card, &WRONG).unwrap().1 {
        0x6983 => 0,
        status => (status & 0xF) + 1,
    };
    seen.tries.push(left);
}

fn see_shop(card: &mut TestCard, seen: &mut Seen) {
    if is_there(card, &PURSE, seen) {
        seen.answers.push(send(card, &[0x80, 0x50, 0, 0, 4]).unwrap());
        see_tries(card, seen);
    }
    if is_there(card, &LOYALTY, seen) {
        seen.answers.push(send(card, &[0x80, 0x10, 0, 0, 2]).unwrap());
    }
}

fn shop() -> Session {
    let command = |bytes: &[u8]| Step::Command(bytes.to_vec(), 0x9000);
    let steps = vec![
        Step::Package(&linked().purse),
        Step::Install(&PURSE, vec![1, 2, 3, 4]),
        Step::Package(&examples().loyalty),
        Step::Install(&LOYALTY, PURSE.to_vec()),
        command(&select(&PURSE)),
        Step::Command(WRONG.to_vec(), 0x63C2),
        command(&RIGHT),
        command(&[0x80, 0x30, 0, 0, 2, 0, 100]),
        command(&[0x80, 0x40, 0, 0, 2, 0, 7]),
        command(&[0x80, 0x40, 0, 0, 2, 0, 8]),
        command(&select(&LOYALTY)),
        command(&[0x80, 0x10, 0, 0, 2]),
        command(&[0x80, 0x20, 0, 0, 2, 0, 1]),
        command(&select(&PURSE)),
        Step::Command(WRONG.to_vec(), 0x63C2),
        Step::Reset,
        Step::Delete(&LOYALTY),
        Step::Delete(&LOYALTY[..6]),
        Step::Delete(&PURSE),
        Step::Delete(&PURSE[..6]),
    ];
    Session { steps, see: see_shop }
}

fn see_signer(card: &mut TestCard, seen: &mut Seen) {
    if !is_there(card, &SIGNER, seen) {
        return;
    }
    see_tries(card, seen);
    let (key, status) = send(card, &[0x80, 0x50, 0, 0, 0]).unwrap();
    // Which key is drawn depends on how often the power has failed; it signs.
    seen.answers.push((Vec::new(), status));
    if status == 0x9000 {
        assert_eq!(send(card, &RIGHT).unwrap().1, 0x9000);
        let (signature, status) = send(card, &[0x80, 0x60, 0, 0, 3, 1, 2, 3, 0]).unwrap();
        assert_eq!(status, 0x9000);
        assert!(Curve::P256.verify(&key, &Sha256::digest([1, 2, 3]), &signature));
    }
}

fn signer() -> Session {
    let command = |bytes: &[u8]| Step::Command(bytes.to_vec(), 0x9000);
    let steps = vec![
        Step::Package(&examples().signer),
        Step::Install(&SIGNER, vec![1, 2, 3, 4]),
        command(&select(&SIGNER)),
        Step::Command(WRONG.to_vec(), 0x63C2),
        command(&RIGHT),
        command(&[0x80, 0x40, 0, 0, 0]),
        command(&[0x80, 0x60, 0, 0, 3, 1, 2, 3, 0]),
        command(&[0x80, 0x40, 0, 0, 0]),
        Step::Reset,
        Step::Delete(&SIGNER),
        Step::Delete(&SIGNER[..6]),
    ];
    Session { steps, see: see_signer }
}

fn see_tag(card: &mut TestCard, seen: &mut Seen) {
    if is_there(card, &TAG, seen) {
        for command in [&[0x00, 0xA4, 0x00, 0x0C, 2, 0xE1, 0x04][..], &[0x00, 0xB0, 0, 0, 12]] {
            seen.answers.push(send(card, command).unwrap());
        }
    }
}

fn tag() -> Session {
    let command = |bytes: &[u8]| Step::Command(bytes.to_vec(), 0x9000);
    let steps = vec![
        Step::Package(&examples().tag),
        Step::Install(&TAG, vec![0xD1, 0x01, 0x01, 0x55, 0x00]),
        command(&select(&TAG)),
        command(&[0x00, 0xA4, 0x00, 0x0C, 2, 0xE1, 0x04]),
        command(&[0x00, 0xD6, 0, 0, 8, 0, 6, 1, 2, 3, 4, 5, 6]),
        command(&[0x00, 0xB0, 0, 0, 8]),
        command(&[0x00, 0xD6, 0, 2, 4, 9, 8, 7, 6]),
        Step::Reset,
        Step::Delete(&TAG),
        Step::Delete(&TAG[..5]),
    ];
    Session { steps, see: see_tag }
}

/// Mounts a card; the power fails again meanwhile, up to twice.
fn recovered(device: NorSim, nand: &NandSim, random: &mut fastrand::Rng, again: &mut u64) -> TestCard {
    let device = Device(Rc::new(RefCell::new(device)));
    for _ in 0..2 {
        device.0.borrow_mut().power_on();
        device.0.borrow_mut().cut_power_after(random.u64(..30), Tear::draw(random));
        let [heap, journal] =
            [0..UNITS, UNITS..UNITS + 1].map(|units| NorPartition::new(device.clone(), units).unwrap());
        let packages = Packages::mount(nand.clone(), Options::default(), ()).unwrap();
        let whole = Flash::mount(heap).is_ok_and(|heap| {
            Journaled::mount(heap, journal).is_ok_and(|heap| {
                let crypto = RustCrypto(Deterministic::new(1));
                AppletCard::<_, Packages, _, 8, 4096, 256>::mount(heap, packages, crypto, 200_000).is_ok()
            })
        });
        *again += u64::from(!whole);
    }
    let mut device = device.0.borrow().clone();
    device.power_on();
    mounted(device, nand.clone())
}

/// A part of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Nor,
    Nand,
}

/// A card whose power is off, as one has it now.
fn copied(card: &mut TestCard) -> TestCard {
    let device = card.heap().heap().device_mut().device_mut().0.borrow().clone();
    let nand = card.packages().with_device(|part| part.clone());
    mounted(device, nand)
}

/// Cuts the power at every operation of one part; how many cuts and cuts of recoveries.
fn cut(session: &Session, part: Part, run: &Run) -> (u64, u64) {
    let mut random = run.random();
    let (device, nand) = unmounted(new_card());
    // What is seen after each step.
    let mut card = mounted(device.clone(), nand.clone());
    let mut states = vec![see(&mut copied(&mut card), session)];
    for step in &session.steps {
        assert!(does(&mut card, step));
        states.push(see(&mut copied(&mut card), session));
    }
    let (mut cuts, mut again) = (0, 0);
    for operation in 0.. {
        let mut card = mounted(device.clone(), nand.clone());
        let tear = Tear::draw(&mut random);
        match part {
            Part::Nor => crate::cut_after(&mut card, operation, tear),
            Part::Nand => card.packages().with_device(|part| part.cut_power_after(operation, tear)),
        }
        let done = session.steps.iter().take_while(|step| does(&mut card, step)).count();
        let (device, mut nand) = unmounted(card);
        assert_eq!((device.refusals(), nand.refusals()), (0, 0));
        if done == session.steps.len() {
            return (cuts, again);
        }
        cuts += 1;
        nand.power_on();
        let mut card = recovered(device, &nand, &mut random, &mut again);
        let mut seen = see(&mut card, session);
        let context = format!("cut {operation} of {part:?} in step {done}, {}", run.replay());
        let (before, after) = (&states[done], &states[done + 1]);
        for (number, tries) in seen.tries.iter_mut().enumerate() {
            let of = |state: &Seen| state.tries.get(number).copied();
            let most = of(before).max(of(after)).unwrap();
            assert!(*tries <= most && *tries + 1 >= of(before).unwrap_or(most), "{context}: {tries} tries");
        }
        let is = |state: &Seen| Seen { tries: Vec::new(), ..state.clone() };
        seen.tries.clear();
        assert!(seen == is(before) || seen == is(after), "{context}: {seen:?}, not {before:?} or {after:?}");
    }
    unreachable!("operations do not end")
}

/// Sessions cut at every operation.
fn cut_sessions(run: &Run) {
    for (name, session) in [("purse and loyalty", shop()), ("signer", signer()), ("tag", tag())] {
        let (nor, again) = cut(&session, Part::Nor, run);
        let (nand, _) = cut(&session, Part::Nand, run);
        println!("{name}: {nor} cut points of the NOR part, {again} cuts in the recovery, {nand} of the NAND part");
        assert!(nor > 300 && again > 50 && nand > 10, "{nor}, {again} and {nand} cuts");
    }
}

#[test]
fn sessions_survive_a_power_cut_at_every_operation() {
    let run = seeds(0..1, "-p norn-card-linker --test card sessions_survive_a_power_cut_at_every").next().unwrap();
    cut_sessions(&run);
}

#[test]
#[ignore = "minutes"]
fn sessions_survive_power_cuts_of_many_shapes() {
    for run in seeds(1..13, "-p norn-card-linker --test card sessions_survive_power_cuts_of_many -- --ignored") {
        cut_sessions(&run);
    }
}
