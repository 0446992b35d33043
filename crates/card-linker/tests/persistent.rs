//! Programs whose objects are on simulated flash return what the JDK says, also when the card is mounted again between
//! them; and a power cut at any operation of the flash leaves a transaction of Java's whole or undone.

use crate::javac;

use javac::program::{Program, VALUES, program};
use norn_card_vm::{End, Failure, Objects, Persistent, StaticsError, TransactionRefusal};
use norn_conformance::seeds;
use norn_flash_sim::{NorSim, Tear, catalogue};
use norn_object_heap::{AccessError, Config, Heap, StoreError};

type Flash = Heap<NorSim, 64>;
type Card = Persistent<Flash, 4>;

fn formatted(units: u16, unit_bytes: u32) -> Card {
    let device = NorSim::new(catalogue::test_part(units, unit_bytes));
    Persistent::mount(Flash::format(device, Config::default()).unwrap()).unwrap()
}

fn install(card: &mut Card, program: &Program) {
    card.install(0, &program.headers[0], &mut &program.lang.image[..]).unwrap();
    card.install(1, &program.headers[1], &mut &program.program.image[..]).unwrap();
}

fn mounted(device: NorSim) -> Card {
    Persistent::mount(Flash::mount(device).unwrap()).unwrap()
}

const EVERY: &str = include_str!("programs/Every.java");

#[test]
fn every_bytecode_does_on_flash_what_the_jdk_does() {
    let program = program(&[("programs/Every.java", EVERY)]);
    let expected = program.in_the_jdk(&["programs.Every"]);
    let mut card = formatted(64, 131_072);
    install(&mut card, &program);
    let count = program.compare(card, &expected, "on flash");
    assert!(count >= 2_000, "{count} results");
}

const ACCOUNTS: &str = "package programs; public class Accounts {
    private static byte runs; private static short last; private static Accounts first;
    private static final byte[] LIMITS = {100, 50, 25};
    int money; short moves; byte flags; boolean open; int[] history; byte[] note; Accounts next;

    public static int open(int a, int b) {
        Accounts one = new Accounts(); Accounts two = new Accounts();
        one.money = a; two.money = b; one.next = two; one.open = true;
        one.history = new int[4]; two.history = new int[4]; one.note = new byte[0]; two.note = new byte[3];
        first = one;
        return one.note.length + two.note.length + (one.note instanceof byte[] ? 100 : 0);
    }

    public static int move(int amount, int tag) {
        first.money -= amount;
        first.next.money += amount;
        first.history[first.moves & 3] = amount;
        first.moves++; first.next.moves--;
        first.flags = (byte) tag;
        first.open = !first.open;
        first.next.note[1] ^= tag;
        LIMITS[runs % 3]++;
        runs++; last = (short) amount;
        return first.money;
    }

    public static int sum(int a, int b) {
        int sum = runs * 31 + last;
        for (int limit : LIMITS) sum = sum * 31 + limit;
        for (Accounts at = first; at != null; at = at.next) {
            sum = ((sum * 31 + at.money) * 31 + at.moves) * 31 + at.flags + (at.open ? 7 : 0);
            for (int old : at.history) sum = sum * 31 + old;
            for (int mark : at.note) sum = sum * 31 + mark;
        }
        return sum;
    }

    public static int money(int a, int b) { return first.money + first.next.money; }

    public static int greedy(int a, int b) {
        first.money = 0;
        try { while (true) { first.history = new int[1000]; } } catch (SecurityException e) { return 77; }
    } }";

/// The package of accounts, and what its methods answer on a card. `Err` is a card that has lost its power.
struct Accounts(Program);

impl Accounts {
    fn new() -> Accounts {
        Accounts(program(&[("programs/Accounts.java", ACCOUNTS)]))
    }

    fn card(&self, units: u16) -> Card {
        let mut card = formatted(units, 2048);
        install(&mut card, &self.0);
        assert_eq!(self.call(&mut card, "open", [1000, 500]), Ok(103));
        card
    }

    fn call(&self, card: &mut Card, name: &str, arguments: [i32; 2]) -> Result<i32, ()> {
        let mut exceptions = if name == "greedy" { self.0.exceptions(card) } else { javac::heap::Exceptions::none() };
        let method = self.0.method("programs.Accounts", name);
        match self.0.run((card, &mut exceptions), &self.0.program.image, &mut [0; 256], method, &arguments) {
            Ok(End::Returned(Some(value))) => Ok(value),
            Ok(other) => panic!("{other:?}"),
            Err(_) => Err(()),
        }
    }

    /// Moves money, as one transaction.
    fn transfer(&self, card: &mut Card, amount: i32) -> Result<(), ()> {
        card.begin().map_err(|_| ())?;
        self.call(card, "move", [amount, amount ^ 5])?;
        card.commit().map_err(|_| ())
    }
}

#[test]
fn a_power_cut_leaves_a_transaction_whole_or_undone() {
    let accounts = Accounts::new();
    let run = seeds(0..1, "-p norn-card-linker --test suite persistent::a_power_cut").next().unwrap();
    let mut random = run.random();
    let mut card = accounts.card(8);
    let (mut cuts, mut whole, mut undone) = (0, 0, 0);
    for amount in 1..=6 {
        let before = accounts.call(&mut card, "sum", [0, 0]).unwrap();
        let device = card.into_heap().into_device();
        let mut done = mounted(device.clone());
        accounts.transfer(&mut done, amount).unwrap();
        let after = accounts.call(&mut done, "sum", [0, 0]).unwrap();
        assert_ne!(before, after);
        for operation in 0.. {
            let mut cut = mounted(device.clone());
            cut.heap().device_mut().cut_power_after(operation, Tear::draw(&mut random));
            if accounts.transfer(&mut cut, amount).is_ok() {
                assert!(operation > 10, "{operation} operations");
                break;
            }
            cuts += 1;
            let mut device = cut.into_heap().into_device();
            assert_eq!(device.refusals(), 0);
            device.power_on();
            let mut found = mounted(device);
            let sum = accounts.call(&mut found, "sum", [0, 0]).unwrap();
            assert!(sum == before || sum == after, "cut {operation} of transfer {amount}: {}", run.replay());
            assert_eq!(accounts.call(&mut found, "money", [0, 0]), Ok(1500), "{}", run.replay());
            whole += usize::from(sum == after);
            undone += usize::from(sum == before);
            // It goes on.
            if sum == before {
                accounts.transfer(&mut found, amount).unwrap();
                assert_eq!(accounts.call(&mut found, "sum", [0, 0]), Ok(after), "{}", run.replay());
            }
        }
        card = done;
    }
    assert!(cuts > 100 && whole > 0 && undone > 0, "{cuts} cuts, {whole} whole, {undone} undone");
}

#[test]
fn a_power_cut_leaves_static_fields_of_a_package_whole_or_absent() {
    let accounts = Accounts::new();
    let run = seeds(0..1, "-p norn-card-linker --test suite static_fields").next().unwrap();
    let mut random = run.random();
    let device = formatted(8, 2048).into_heap().into_device();
    for operation in 0.. {
        let mut card = mounted(device.clone());
        card.heap().device_mut().cut_power_after(operation, Tear::draw(&mut random));
        if card.install(1, &accounts.0.headers[1], &mut &accounts.0.program.image[..]).is_ok() {
            assert!(operation > 10, "{operation} operations");
            break;
        }
        let mut device = card.into_heap().into_device();
        device.power_on();
        let mut card = mounted(device);
        match card.install(1, &accounts.0.headers[1], &mut &accounts.0.program.image[..]) {
            Ok(()) | Err(StaticsError::Package(1)) => {}
            Err(other) => panic!("{other:?}, cut {operation}: {}", run.replay()),
        }
        // Whole either way: the array has its elements.
        assert_eq!(accounts.call(&mut card, "open", [1, 2]), Ok(103));
        let elements = accounts.call(&mut card, "sum", [0, 0]).unwrap();
        let mut other = formatted(8, 2048);
        install(&mut other, &accounts.0);
        accounts.call(&mut other, "open", [1, 2]).unwrap();
        assert_eq!(accounts.call(&mut other, "sum", [0, 0]), Ok(elements), "cut {operation}: {}", run.replay());
    }
}

#[test]
fn transactions_begin_and_end_as_a_card_has_them() {
    let accounts = Accounts::new();
    let mut card = accounts.card(8);
    let before = accounts.call(&mut card, "sum", [0, 0]).unwrap();
    assert_eq!(card.commit(), Err(TransactionRefusal::NotInProgress));
    assert_eq!(card.abort(), Err(TransactionRefusal::NotInProgress));
    card.begin().unwrap();
    assert_eq!(card.begin(), Err(TransactionRefusal::InProgress));
    accounts.call(&mut card, "move", [8, 3]).unwrap();
    assert_ne!(accounts.call(&mut card, "sum", [0, 0]), Ok(before));
    card.abort().unwrap();
    assert_eq!(accounts.call(&mut card, "sum", [0, 0]), Ok(before));
    // What a power cut leaves open is undone by the next mount.
    card.begin().unwrap();
    accounts.call(&mut card, "move", [8, 3]).unwrap();
    let mut card = mounted(card.into_heap().into_device());
    assert!(!card.in_transaction());
    assert_eq!(accounts.call(&mut card, "sum", [0, 0]), Ok(before));
}

#[test]
fn a_transaction_without_room_is_undone_at_once() {
    let accounts = Accounts::new();
    let mut card = accounts.card(8);
    let before = accounts.call(&mut card, "sum", [0, 0]).unwrap();
    card.begin().unwrap();
    let class = norn_card_vm::ClassId { package: 0, class: 0 };
    let failure = (0..1000).find_map(|_| card.create_array(3, class, 200).err());
    assert_eq!(failure, Some(Failure::TransactionFull));
    assert!(!card.in_transaction());
    assert_eq!(accounts.call(&mut card, "sum", [0, 0]), Ok(before));
    // Outside a transaction there is no room either, and what was changed before stays.
    assert_eq!(accounts.call(&mut card, "greedy", [0, 0]), Ok(77));
    assert_eq!(accounts.call(&mut card, "money", [0, 0]), Ok(500));
}

#[test]
fn wrong_references_and_packages_are_refused() {
    let accounts = Accounts::new();
    let mut card = accounts.card(8);
    for reference in VALUES.into_iter().filter(|reference| *reference >= 0) {
        assert!(card.form(reference).is_err(), "{reference}");
        assert!(card.field(reference, 0, 3).is_err() && card.element(reference, 0, 3).is_err(), "{reference}");
    }
    let image = &mut &accounts.0.program.image[..];
    assert_eq!(card.install(1, &accounts.0.headers[1], image), Err(StaticsError::Package(1)));
    assert_eq!(card.install(4, &accounts.0.headers[1], image), Err(StaticsError::Package(4)));
    card.begin().unwrap();
    assert_eq!(card.install(2, &accounts.0.headers[1], image), Err(StaticsError::TransactionOpen));
    card.abort().unwrap();
    assert!(card.static_field(2, 0, 1).is_err() && card.static_field(1, 255, 1).is_err());
    let mut device = card.into_heap().into_device();
    device.cut_power_after(0, Tear::draw(&mut fastrand::Rng::with_seed(1)));
    let mut card = mounted(device);
    let class = norn_card_vm::ClassId { package: 0, class: 0 };
    let refused = card.create_array(1, class, 3).unwrap_err();
    let Failure::Error(norn_card_vm::ObjectError::Heap(AccessError::Store(StoreError::Device(_)))) = refused else {
        panic!("{refused:?}");
    };
}
