//! Applets on a card whose objects are on simulated flash, driven by APDUs, with power cuts.

mod algorithms;
mod arrays;
mod channels;
mod costs;
mod damaged_images;
mod every_algorithm;
mod factories;
mod firewall;
mod given;
#[path = "../javac/mod.rs"]
mod javac;
mod keys;
mod pending;
mod pins;
mod power_cuts;
mod published_rsa;
mod resets;
mod rsa;
mod sessions;
mod splits;
mod values;

use std::cell::RefCell;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::OnceLock;

use javac::{Build, Compiled, applet, card_api, java_lang, sources};
use norn_card_crypto::Deterministic;
use norn_card_linker::{Aid, ClassFile, LinkConfig, LinkedPackage, Natives, Version, link};
use norn_card_vm::{AppletCard, Card, InstallError, Journaled, NandPackages, PersistentHeap, RustCrypto};
use norn_code_pager::Options;
use norn_code_pager::policy::Clock;
use norn_conformance::seeds;
use norn_flash::{Address, EraseUnit, Nor, NorPart, NorPartition};
use norn_flash_sim::{NandSim, NorSim, Tear, catalogue, nand_catalogue};
use norn_object_heap::{Config, Heap};

/// A part that heap and journal share, so that one cut is both's.
#[derive(Clone)]
struct Device(Rc<RefCell<NorSim>>);

impl Nor for Device {
    type Error = <NorSim as Nor>::Error;

    fn part(&self) -> NorPart {
        self.0.borrow().part()
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        self.0.borrow_mut().read(address, buffer)
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0.borrow_mut().program(address, bytes)
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
        self.0.borrow_mut().erase(unit)
    }
}

/// Erase units of the heap; the journal has the one after them.
const UNITS: u16 = 16;

type Flash = Heap<NorPartition<Device>, 64>;
type Packages = NandPackages<NandSim, Clock<16>, 8, 16, 64, 512>;
type TestCard = AppletCard<Journaled<Flash, NorPartition<Device>>, Packages, RustCrypto<Deterministic>, 8, 4096, 256>;

const API: [u8; 5] = [0xF0, 0, 0, 0, 1];
const PURSE: [u8; 7] = [0xF0, 0, 0, 0, 2, 0, 1];
const SERVER: [u8; 7] = [0xF0, 0, 0, 0, 3, 0, 1];
const CLIENT: [u8; 7] = [0xF0, 0, 0, 0, 4, 0, 1];
const PIN: [u8; 4] = [1, 2, 3, 4];

fn aid(bytes: &[u8]) -> Aid {
    Aid::new(bytes).unwrap()
}

fn config(name: &[u8], applets: &[(&[u8], &str)]) -> LinkConfig {
    LinkConfig {
        aid: aid(name),
        version: Version { major: 1, minor: 0 },
        applets: applets.iter().map(|(name, class)| (aid(name), (*class).to_owned())).collect(),
        requires: Vec::new(),
        natives: Natives::Refused,
        previous: None,
    }
}

fn read(classes: &[Compiled]) -> Vec<ClassFile> {
    classes.iter().map(Compiled::read).collect()
}

/// The API and the purse, linked once for all tests.
struct Linked {
    lang: std::path::PathBuf,
    main: std::path::PathBuf,
    api: LinkedPackage,
    purse: LinkedPackage,
}

fn linked() -> &'static Linked {
    static LINKED: OnceLock<Linked> = OnceLock::new();
    LINKED.get_or_init(|| {
        let (lang, mut classes) = java_lang();
        let (main, rest) = card_api(&lang);
        classes.extend(rest);
        let api = LinkConfig { natives: Natives::OfTheApi, ..config(&API, &[]) };
        let api = link(&read(&classes), &[], &api).unwrap_or_else(|error| panic!("{error}"));
        let classes = read(&applet("purse", Build::Release(8), &lang, &[&main]).1);
        let purse = config(&PURSE[..6], &[(&PURSE, "purse/Purse")]);
        let purse =
            link(&classes, std::slice::from_ref(&api.exports), &purse).unwrap_or_else(|error| panic!("{error}"));
        Linked { lang, main, api, purse }
    })
}

/// Packages of an applet that shares an object, and of one that uses it.
fn sharing() -> &'static [LinkedPackage; 2] {
    static SHARING: OnceLock<[LinkedPackage; 2]> = OnceLock::new();
    SHARING.get_or_init(|| {
        let linked = linked();
        let texts = [
            ("server/Counter.java", include_str!("../programs/card/server/Counter.java")),
            ("server/Server.java", include_str!("../programs/card/server/Server.java")),
        ];
        let (room, classes) = sources(&texts, &[&linked.lang, &linked.main]);
        let exports = [linked.api.exports.clone()];
        let server = config(&SERVER[..6], &[(&SERVER, "server/Server")]);
        let server = link(&read(&classes), &exports, &server).unwrap_or_else(|error| panic!("{error}"));
        let texts = [("client/Client.java", include_str!("../programs/card/client/Client.java"))];
        let (_, classes) = sources(&texts, &[&linked.lang, &linked.main, &room]);
        let exports = [linked.api.exports.clone(), server.exports.clone()];
        let client = config(&CLIENT[..6], &[(&CLIENT, "client/Client")]);
        let client = link(&read(&classes), &exports, &client).unwrap_or_else(|error| panic!("{error}"));
        [server, client]
    })
}

fn sharing_card() -> TestCard {
    let mut card = new_card();
    for package in sharing() {
        card.install_package(&package.image).unwrap();
    }
    for applet in [SERVER, CLIENT] {
        card.install_applet(aid(&applet), aid(&applet), &[]).unwrap();
    }
    card
}

/// The answer of the client to an instruction.
fn ask(card: &mut TestCard, instruction: u8) -> Vec<u8> {
    let (data, status) = send(card, &[0x80, instruction, 0, 0, 0]).unwrap();
    assert_eq!(status, 0x9000, "{instruction:02x}");
    data
}

fn parts(device: NorSim) -> [NorPartition<Device>; 2] {
    let device = Device(Rc::new(RefCell::new(device)));
    [0..UNITS, UNITS..UNITS + 1].map(|units| NorPartition::new(device.clone(), units).unwrap())
}

fn mounted(device: NorSim, nand: NandSim) -> TestCard {
    let [heap, journal] = parts(device);
    let heap = Journaled::mount(Flash::mount(heap).unwrap(), journal).unwrap();
    let packages = Packages::mount(nand, Options::default(), ()).unwrap();
    AppletCard::mount(heap, packages, RustCrypto(Deterministic::new(1)), 200_000).unwrap()
}

/// The part and the packages of a card whose power is cut.
fn unmounted(card: TestCard) -> (NorSim, NandSim) {
    let (heap, packages) = card.into_parts();
    let (_, journal) = heap.into_parts();
    let device = journal.into_device().0.borrow().clone();
    (device, packages.into_parts().0)
}

/// A card with the API.
fn new_card() -> TestCard {
    let [heap, journal] = parts(NorSim::new(catalogue::test_part(UNITS + 1, 4096)));
    let heap = Flash::format(heap, Config::default()).unwrap();
    let heap = Journaled::mount(heap, journal).unwrap();
    let nand = NandSim::new(nand_catalogue::test_part(64, 16, 512));
    let packages = Packages::mount(nand, Options::default(), ()).unwrap();
    let mut card: TestCard = AppletCard::mount(heap, packages, RustCrypto(Deterministic::new(1)), 200_000).unwrap();
    card.install_package(&linked().api.image).unwrap();
    card
}

/// Cuts the power of a card at an operation from now on.
fn cut_after(card: &mut TestCard, operation: u64, tear: Tear) {
    card.heap().heap().device_mut().device_mut().0.borrow_mut().cut_power_after(operation, tear);
}

fn card_with_purse() -> TestCard {
    let mut card = new_card();
    card.install_package(&linked().purse.image).unwrap();
    card.install_applet(aid(&PURSE), aid(&PURSE), &PIN).unwrap();
    card
}

/// Sends a command; data and status word.
fn send<C: Card<Error: Debug>>(card: &mut C, command: &[u8]) -> Result<(Vec<u8>, u16), C::Error> {
    let mut response = [0; 300];
    let length = card.process(command, &mut response)?;
    let (data, status) = response[..length].split_last_chunk::<2>().unwrap();
    Ok((data.to_vec(), u16::from_be_bytes(*status)))
}

fn select(name: &[u8]) -> Vec<u8> {
    [&[0x00, 0xA4, 0x04, 0x00, name.len() as u8][..], name].concat()
}

fn status<C: Card<Error: Debug>>(card: &mut C, command: &[u8]) -> u16 {
    send(card, command).unwrap().1
}

const VERIFY: [u8; 9] = [0x80, 0x20, 0, 0, 4, 1, 2, 3, 4];
const WRONG: [u8; 9] = [0x80, 0x20, 0, 0, 4, 1, 2, 3, 5];
const BALANCE: [u8; 5] = [0x80, 0x50, 0, 0, 4];

fn amount(instruction: u8, amount: u16) -> [u8; 7] {
    let [high, low] = amount.to_be_bytes();
    [0x80, instruction, 0, 0, 2, high, low]
}

fn credit(of: u16) -> [u8; 7] {
    amount(0x30, of)
}

fn debit(of: u16) -> [u8; 7] {
    amount(0x40, of)
}

#[test]
fn a_purse_is_installed_selected_and_used() {
    let mut card = card_with_purse();
    assert_eq!(status(&mut card, &BALANCE), 0x6999);
    assert_eq!(send(&mut card, &select(&PURSE)).unwrap(), (vec![], 0x9000));
    assert_eq!(send(&mut card, &BALANCE).unwrap(), (vec![0, 0, 0, 0], 0x9000));
    assert_eq!(status(&mut card, &credit(100)), 0x6982);
    assert_eq!(status(&mut card, &WRONG), 0x63C2);
    assert_eq!(status(&mut card, &VERIFY), 0x9000);
    assert_eq!(status(&mut card, &credit(500)), 0x9000);
    assert_eq!(status(&mut card, &debit(120)), 0x9000);
    assert_eq!(status(&mut card, &debit(1000)), 0x6985);
    assert_eq!(send(&mut card, &BALANCE).unwrap(), (vec![1, 124, 0, 1], 0x9000));
    assert_eq!(status(&mut card, &[0x80, 0x99, 0, 0]), 0x6D00);
    assert_eq!(status(&mut card, &[0x90, 0x50, 0, 0]), 0x6E00);
    // Power goes and comes: nothing is selected, the PIN has to be shown again, the money is there.
    let (device, nand) = unmounted(card);
    let mut card = mounted(device, nand);
    assert_eq!(status(&mut card, &select(&PURSE[..5])), 0x9000);
    assert_eq!(status(&mut card, &debit(1)), 0x6982);
    assert_eq!(send(&mut card, &BALANCE).unwrap(), (vec![1, 124, 0, 1], 0x9000));
    for left in [0x63C2, 0x63C1, 0x63C0, 0x63C0] {
        assert_eq!(status(&mut card, &WRONG), left);
    }
    assert_eq!(status(&mut card, &VERIFY), 0x63C0);
    card.reset().unwrap();
    assert_eq!(status(&mut card, &select(&PURSE)), 0x6999);
}

#[test]
fn packages_and_applets_are_installed_and_deleted_once() {
    let mut card = card_with_purse();
    let purse = &linked().purse.image;
    let package = aid(&PURSE[..6]);
    assert_eq!(card.install_package(purse), Err(InstallError::Exists(package)));
    assert_eq!(card.install_applet(aid(&PURSE), aid(&PURSE), &PIN), Err(InstallError::Exists(aid(&PURSE))));
    assert_eq!(card.install_applet(package, aid(&PURSE), &PIN), Err(InstallError::Missing(package)));
    assert_eq!(card.delete(package), Err(InstallError::InUse));
    assert_eq!(card.delete(aid(&API)), Err(InstallError::InUse));
    assert_eq!(status(&mut card, &select(&PURSE)), 0x9000);
    assert_eq!(card.delete(aid(&PURSE)), Err(InstallError::InUse));
    card.reset().unwrap();
    // A second instance with a PIN of its own.
    let other = aid(&[&PURSE[..], &[2]].concat());
    card.install_applet(aid(&PURSE), other, &[9, 9, 9, 9]).unwrap();
    assert_eq!(status(&mut card, &select(other.as_bytes())), 0x9000);
    assert_eq!(status(&mut card, &VERIFY), 0x63C2);
    card.reset().unwrap();
    card.delete(other).unwrap();
    card.delete(aid(&PURSE)).unwrap();
    assert_eq!(card.delete(aid(&PURSE)), Err(InstallError::Missing(aid(&PURSE))));
    card.delete(package).unwrap();
    card.delete(aid(&API)).unwrap();
    assert_eq!(status(&mut card, &select(&PURSE)), 0x6999);
    assert_eq!(card.install_package(purse), Err(InstallError::Import(aid(&API))));
    assert_eq!(card.install_package(&purse[..20]), Err(InstallError::Image));
    card.install_package(&linked().api.image).unwrap();
    card.install_package(purse).unwrap();
    let long = [7; 120];
    assert_eq!(card.install_applet(aid(&PURSE), aid(&PURSE), &long), Err(InstallError::TooLong(3)));
    // A PIN of nine bytes is one too many: `install` throws.
    assert_eq!(card.install_applet(aid(&PURSE), aid(&PURSE), &[1; 9]), Err(InstallError::Refused(0x6F00)));
    card.install_applet(aid(&PURSE), aid(&PURSE), &PIN).unwrap();
    assert_eq!(status(&mut card, &select(&PURSE)), 0x9000);
}

#[test]
fn nothing_is_lost_by_many_installations() {
    let mut card = card_with_purse();
    card.collect().unwrap();
    let before = objects(&mut card);
    let other = aid(&[&PURSE[..], &[2]].concat());
    for _ in 0..200 {
        card.install_applet(aid(&PURSE), other, &[9, 9, 9, 9]).unwrap();
        card.delete(other).unwrap();
    }
    assert_eq!(objects(&mut card), before);
    assert_eq!(card.collect().unwrap(), 0);
}

/// How many objects and arrays there are.
fn objects(card: &mut TestCard) -> usize {
    let (mut count, mut after) = (0, None);
    while let Some(object) = card.heap().heap().next_object(after).unwrap() {
        (count, after) = (count + 1, Some(object));
    }
    count
}

#[test]
fn contexts_are_kept_apart_and_shared_objects_are_called_across() {
    let mut card = sharing_card();
    assert_eq!(status(&mut card, &select(&CLIENT)), 0x9000);
    assert_eq!(ask(&mut card, 1), [0, 5]);
    assert_eq!(ask(&mut card, 1), [0, 10]);
    assert_eq!(ask(&mut card, 2), [127], "what of another context is refused");
    assert_eq!(ask(&mut card, 3), [31], "what temporary objects are kept");
    assert_eq!(ask(&mut card, 0x0C), CLIENT, "the previous context");
    // The server's array that deselection clears may be used while it is selected alone.
    assert_eq!(ask(&mut card, 0x0D), [0, 77]);
    assert_eq!(ask(&mut card, 0x0B), [7, 1, 1, 0, 1, 5, 1, 1, 0, 0, 3, 0, 1]);
}

#[test]
fn transient_arrays_are_cleared_when_they_should_be() {
    let mut card = sharing_card();
    assert_eq!(status(&mut card, &select(&CLIENT)), 0x9000);
    assert_eq!(ask(&mut card, 4), [0, 0, 0, 0, 0, 1, 2, 0, 5]);
    assert_eq!(ask(&mut card, 4), [1, 1, 1, 1, 1, 1, 2, 0, 5]);
    // The server's array was filled by its constructor, and is cleared once it was selected and is no more.
    assert_eq!(status(&mut card, &select(&SERVER)), 0x9000);
    assert_eq!(ask(&mut card, 0), [0, 9]);
    assert_eq!(ask(&mut card, 0), [0, 10]);
    assert_eq!(status(&mut card, &select(&CLIENT)), 0x9000);
    assert_eq!(ask(&mut card, 4), [2, 0, 0, 1, 1, 1, 2, 0, 5]);
    assert_eq!(ask(&mut card, 0x11), [0, 5], "a transaction that deselect left open");
    assert_eq!(status(&mut card, &select(&SERVER)), 0x9000);
    assert_eq!(ask(&mut card, 0), [0, 0]);
    card.reset().unwrap();
    assert_eq!(status(&mut card, &select(&CLIENT)), 0x9000);
    assert_eq!(ask(&mut card, 4), [0, 0, 0, 0, 0, 1, 2, 0, 5]);
    let (device, nand) = unmounted(card);
    let mut card = mounted(device, nand);
    assert_eq!(status(&mut card, &select(&CLIENT)), 0x9000);
    assert_eq!(ask(&mut card, 4), [0, 0, 0, 0, 0, 1, 2, 0, 5]);
}

#[test]
fn transactions_and_failures_end_as_the_specification_says() {
    let mut card = sharing_card();
    assert_eq!(status(&mut card, &select(&CLIENT)), 0x9000);
    assert_eq!(ask(&mut card, 5), [0, 1, 1, 2, 0, 5, 0, 6]);
    for (instruction, expected) in
        [(6, 0x6A81), (8, 0x6F00), (9, 0x6F00), (0x0A, 0x6A82), (0x13, 0x6F00), (0x14, 0x6F00), (0x77, 0x6D00)]
    {
        assert_eq!(send(&mut card, &[0x80, instruction, 0, 0, 0]).unwrap(), (vec![], expected), "{instruction:02x}");
    }
    // Each count of the endless loop was kept, what the failed transactions did was not.
    let [high, low] = ask(&mut card, 0x11)[..] else { panic!("two bytes") };
    assert!(u16::from_be_bytes([high, low]) > 1000);
    assert_eq!(ask(&mut card, 7), [1, 1, 4, 0]);
    assert_eq!(ask(&mut card, 0x10), [1, 1, 2, 1, 4, 1, 1, 1]);
    assert_eq!(ask(&mut card, 0x12), [0, 0, 0, 68, 255, 1, 200, 69, 3, 3, 68]);
}

#[test]
fn objects_that_nothing_reaches_are_deleted_on_request() {
    let mut card = sharing_card();
    assert_eq!(status(&mut card, &select(&CLIENT)), 0x9000);
    ask(&mut card, 0x0E);
    let before = objects(&mut card);
    for _ in 0..50 {
        ask(&mut card, 0x0E);
        ask(&mut card, 0x12);
    }
    assert_eq!(objects(&mut card), before);
    // Transient arrays are traced, and their room comes back.
    assert_eq!(ask(&mut card, 4)[4], 0);
    ask(&mut card, 0x0E);
    assert_eq!(ask(&mut card, 4)[4], 1);
}

#[test]
fn long_commands_and_answers_stream_through_the_buffer() {
    let mut card = sharing_card();
    assert_eq!(status(&mut card, &select(&CLIENT)), 0x9000);
    for length in [0, 1, 5, 255, 256, 300, 1000, 5000] {
        let data: Vec<u8> = (0..length).map(|at| at as u8).collect();
        let head = [0x80, 0x0F, 0, 0];
        let command = match length {
            0 => [&head[..], &[0]].concat(),
            1..256 => [&head[..], &[length as u8], &data, &[0]].concat(),
            _ => [&head[..], &[0], &(length as u16).to_be_bytes()[..], &data, &[0, 0]].concat(),
        };
        let mut response = vec![0; 33_000];
        let sent = card.process(&command, &mut response).unwrap();
        assert_eq!(response[..sent], [&data[..], &[0x90, 0]].concat(), "{length}");
        assert_eq!(ask(&mut card, 0x0E), [0x80]);
    }
    // Lengths that are wrong, and an extended command for an applet that takes none.
    for wrong in
        [&[][..], &[0x80], &[0x80, 1, 2], &[0x80, 1, 2, 3, 0, 0], &[0x80, 1, 2, 3, 4, 5], &[0x80, 1, 2, 3, 0, 0, 0, 1]]
    {
        assert_eq!(send(&mut card, wrong).unwrap(), (vec![], 0x6700), "{wrong:02x?}");
    }
    assert_eq!(status(&mut card, &select(&SERVER)), 0x9000);
    assert_eq!(status(&mut card, &[0x80, 1, 0, 0, 0, 1, 0]), 0x6700);
    // An answer that the reader has no room for.
    assert_eq!(status(&mut card, &select(&CLIENT)), 0x9000);
    let mut small = [0; 5];
    let sent = card.process(&[&[0x80, 0x0F, 0, 0, 20][..], &[1; 20], &[0]].concat(), &mut small).unwrap();
    assert_eq!(small[..sent], [0x6F, 0]);
}

#[test]
fn arrays_that_all_contexts_may_use_last_as_long_as_the_call() {
    let mut card = sharing_card();
    assert_eq!(status(&mut card, &select(&CLIENT)), 0x9000);
    let first = ask(&mut card, 0x15);
    // Five of seven types are there, and two say ILLEGAL_VALUE; the array of the server's own is not the client's.
    assert_eq!(first[..11], [0, 0, 3, 0x12, 0x34, 1, 63, 5 + 2 * 16, 2, 2, 0x33]);
    assert!(first[11] > 5, "{} arrays", first[11]);
    let others = ask(&mut card, 4);
    for _ in 0..5 {
        assert_eq!(ask(&mut card, 0x15), first, "nothing is left of a call");
    }
    let again = ask(&mut card, 4);
    assert_eq!((again[0], again[2]), (others[0] + 1, others[2] + 1), "transient arrays beside them");
}

#[test]
fn room_for_changes_is_answered_and_static_fields_are_undone() {
    let mut card = sharing_card();
    assert_eq!(status(&mut card, &select(&CLIENT)), 0x9000);
    for _ in 0..3 {
        let free = card.heap().free_bytes().min(32_767) as u16;
        let answer = ask(&mut card, 0x16);
        assert_eq!(answer[..3], [7, 0, 1]);
        assert_eq!(answer[3..], free.to_be_bytes());
    }
}

#[test]
fn chained_commands_are_calls_of_their_own_and_know_what_the_reader_expects() {
    let mut card = sharing_card();
    assert_eq!(status(&mut card, &select(&CLIENT)), 0x9000);
    let cases: [(&[u8], [u8; 4]); 5] = [
        (&[0x90, 0x17, 0, 0, 1, 0, 0], [1, 0, 1, 0]),
        (&[0x90, 0x17, 0, 0, 0], [1, 0, 1, 0]),
        (&[0x80, 0x17, 0, 0, 7], [0, 7, 0, 0]),
        (&[0x80, 0x17, 0, 0, 0, 0, 0], [0x7F, 0xFF, 0, 0]),
        (&[0x80, 0x17, 0, 0, 0, 1, 2], [1, 2, 0, 0]),
    ];
    for (count, (command, expected)) in (1..).zip(cases) {
        let (answer, status) = send(&mut card, command).unwrap();
        assert_eq!((&answer[..], status), (&[&expected[..], &[count]].concat()[..], 0x9000), "{command:02x?}");
    }
}

#[test]
fn channels_are_opened_and_closed() {
    let mut card = sharing_card();
    let manage = |p1, p2| [0, 0x70, p1, p2, 1];
    assert_eq!(status(&mut card, &[0x01, 0xA0, 0, 0]), 0x6881);
    assert_eq!(status(&mut card, &[0x40, 0xA0, 0, 0]), 0x6881);
    assert_eq!(send(&mut card, &manage(0, 0)).unwrap(), (vec![1], 0x9000));
    assert_eq!(send(&mut card, &manage(0, 3)).unwrap(), (vec![], 0x9000));
    assert_eq!(send(&mut card, &manage(0, 0)).unwrap(), (vec![2], 0x9000));
    assert_eq!(status(&mut card, &manage(0, 0)), 0x6A81);
    let on = |channel: u8, mut command: Vec<u8>| {
        command[0] |= channel;
        command
    };
    assert_eq!(status(&mut card, &on(1, select(&CLIENT))), 0x9000);
    // Not multiselectable: its context is selected once.
    assert_eq!(status(&mut card, &on(2, select(&CLIENT))), 0x6985);
    assert_eq!(status(&mut card, &select(&SERVER)), 0x9000);
    assert_eq!(send(&mut card, &[0x81, 0x11, 0, 0, 0]).unwrap(), (vec![0, 5], 0x9000));
    assert_eq!(send(&mut card, &[0x80, 0x11, 0, 0, 0]).unwrap(), (vec![0, 9], 0x9000));
    // The server is active on the basic channel and not multiselectable: the client may not have its object.
    assert_eq!(status(&mut card, &[0x81, 0x01, 0, 0, 0]), 0x6F00);
    assert_eq!(card.delete(aid(&CLIENT)), Err(InstallError::InUse));
    assert_eq!(status(&mut card, &manage(0x80, 1)), 0x9000);
    assert_eq!(status(&mut card, &manage(0x80, 1)), 0x6881);
    assert_eq!(status(&mut card, &manage(0x80, 0)), 0x6881);
    assert_eq!(status(&mut card, &manage(0x40, 0)), 0x6A86);
    assert_eq!(status(&mut card, &[0x81, 0x11, 0, 0, 0]), 0x6881);
    card.delete(aid(&CLIENT)).unwrap();
}

#[test]
fn any_bytes_as_commands_are_answered_and_lose_nothing() {
    let mut card = sharing_card();
    card.install_package(&linked().purse.image).unwrap();
    card.install_applet(aid(&PURSE), aid(&PURSE), &PIN).unwrap();
    for command in [&select(&PURSE)[..], &VERIFY, &credit(500), &debit(100)] {
        assert_eq!(status(&mut card, command), 0x9000);
    }
    let run = seeds(0..1, "-p norn-card-linker --test card any_bytes").next().unwrap();
    let mut random = run.random();
    let known =
        [select(&PURSE), select(&CLIENT), select(&SERVER), BALANCE.to_vec(), VERIFY.to_vec(), vec![0, 0x70, 0, 0, 1]];
    let mut done = 0;
    for _ in 0..2_000 {
        let mut command = known[random.usize(0..known.len())].clone();
        match random.u8(0..6) {
            0 => command = vec![0x80 | random.u8(0..4), random.u8(0..0x18), 0, 0, random.u8(..)],
            1 => {
                command = vec![0; random.usize(0..300)];
                random.fill(&mut command);
            }
            2 => command.truncate(random.usize(0..=command.len())),
            3 => command.extend(&[random.u8(..); 4][..random.usize(0..5)]),
            4 => command[0] |= random.u8(0..4),
            _ => {
                let at = random.usize(0..command.len());
                command[at] ^= 1 << random.u8(0..8);
            }
        }
        // Not the endless programs, which take their whole limit, nor money: a debit has no PIN here.
        if command.get(1).is_some_and(|instruction| [0x08, 0x14, 0x20, 0x30, 0x40].contains(instruction)) {
            continue;
        }
        let mut response = vec![0; random.usize(2..400)];
        let length = card.process(&command, &mut response).unwrap();
        assert!((2..=response.len()).contains(&length), "{command:02x?}, {}", run.replay());
        done += u32::from(response[length - 2..length] == [0x90, 0]);
        if random.u32(0..200) == 0 {
            card.reset().unwrap();
        }
    }
    assert!(done > 150, "{done} commands were carried out");
    card.reset().unwrap();
    assert_eq!(status(&mut card, &select(&PURSE)), 0x9000);
    assert_eq!(send(&mut card, &BALANCE).unwrap(), (vec![1, 144, 0, 1], 0x9000));
}
