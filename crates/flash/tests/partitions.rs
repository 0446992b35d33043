//! Partitions and tenants: bytes outside a range cannot be reached, and on NAND so is the page that another one loaded.
//!
//! Random calls, those with addresses outside among them, run on two tenants of one part and on two parts of their own:
//! every answer is the same, and so are the cells afterwards.

use core::cell::RefCell;

use norn_flash::{
    Address, Block, Column, EraseUnit, Nand, NandPartition, NandRangeError, NandTenant, Nor, NorPartition,
    NorRangeError, NorTenant, PageAddress, PartitionError, Piece, Tenancy,
};
use norn_flash_sim::{NandSim, NandSimError, NorSim, catalogue, nand_catalogue};

const UNITS: u16 = 9;
const UNIT_BYTES: u32 = 256;

fn nor() -> NorSim {
    NorSim::new(catalogue::test_part(UNITS, UNIT_BYTES))
}

fn nand() -> NandSim {
    NandSim::new(nand_catalogue::test_part(12, 4, 64))
}

#[test]
fn a_nor_partition_reaches_its_units_and_no_others() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut part = nor();
    let foreign: Vec<u8> = (0..u32::from(UNITS) * UNIT_BYTES).map(|at| at as u8).collect();
    part.poke(Address(0), &foreign);
    let mut partition = NorPartition::new(part, 3..6).unwrap();
    assert_eq!((partition.part().unit_count, partition.units()), (3, 3..6));
    let size = 3 * UNIT_BYTES;
    let (mut inside, mut outside) = (0, 0);
    for _ in 0..4000 {
        let len = random.usize(0..40);
        let address = if random.u8(0..8) == 0 { random.u32(..) } else { random.u32(0..2 * size) };
        let is_inside = u64::from(address) + len as u64 <= u64::from(size);
        let mut buffer = vec![0; len];
        let refused = Err(NorRangeError::Outside { address: Address(address) });
        let read = partition.read(Address(address), &mut buffer);
        let programmed = partition.program(Address(address), &vec![0; len]);
        let unit = random.u16(0..7);
        let erased = partition.erase(EraseUnit(unit));
        assert_eq!(erased.is_ok(), unit < 3);
        if is_inside {
            assert_eq!((read, programmed), (Ok(()), Ok(())));
            inside += 1;
        } else {
            assert_eq!((read, programmed), (refused.clone(), refused));
            outside += 1;
        }
    }
    assert!(inside > 500 && outside > 500);
    let cells = partition.into_device().peek(Address(0), foreign.len());
    let (before, behind) = (3 * UNIT_BYTES as usize, 6 * UNIT_BYTES as usize);
    assert_eq!((&cells[..before], &cells[behind..]), (&foreign[..before], &foreign[behind..]));
}

#[test]
fn ranges_that_are_none_or_overlap_are_refused() {
    let range = |start, end| PartitionError::Range { start, end, count: UNITS };
    assert_eq!(NorPartition::new(nor(), 3..3).unwrap_err(), range(3, 3));
    assert_eq!(NorPartition::new(nor(), 8..10).unwrap_err(), range(8, 10));
    #[expect(clippy::reversed_empty_ranges)]
    let reversed = NorPartition::new(nor(), 5..4).unwrap_err();
    assert_eq!(reversed, range(5, 4));

    let shared = RefCell::new(Tenancy::<_, 3>::new(nor()));
    let middle = NorTenant::new(&shared, 3..6).unwrap();
    for (start, end) in [(0, 4), (5, 9), (0, 9), (4, 5), (3, 6)] {
        assert_eq!(NorTenant::new(&shared, start..end).unwrap_err(), PartitionError::Overlap { start: 3, end: 6 });
    }
    let _first = NorTenant::new(&shared, 0..3).unwrap();
    let _last = NorTenant::new(&shared, 6..8).unwrap();
    assert_eq!(NorTenant::new(&shared, 8..9).unwrap_err(), PartitionError::TooManyTenants { max: 3 });
    drop(middle);
    assert_eq!(NorTenant::new(&shared, 2..6).unwrap_err(), PartitionError::Overlap { start: 0, end: 3 });
    assert_eq!(NorTenant::new(&shared, 3..6).unwrap().units(), 3..6);
}

/// A NAND call with its answer: what a client sees.
fn call<D: Nand>(device: &mut D, random: &mut fastrand::Rng) -> (String, bool, Vec<u8>) {
    let page = Block(random.u16(0..8)).page(random.u16(0..5));
    let column = Column(random.u16(0..66));
    let mut bytes = vec![0; random.usize(0..20)];
    let data: Vec<u8> = (0..4).map(|_| random.u8(..)).collect();
    let pieces = [Piece::new(Column(random.u16(0..60)), &data)];
    let kind = random.u8(0..16);
    let answer = match kind {
        0..=3 => device.load(page),
        4..=6 => device.seek(column),
        7..=10 => device.fetch(&mut bytes),
        11 | 12 => device.program(page, &pieces),
        13 => device.program_loaded(page, &pieces),
        14 => device.copy(page, Block(random.u16(0..8)).page(random.u16(0..5)), &pieces),
        _ => device.erase(page.block),
    };
    (format!("call {kind} on {page}, {column}"), answer.is_ok(), bytes)
}

#[test]
fn nand_tenants_see_what_they_would_see_alone() {
    let mut fetches = 0;
    for seed in 0..60 {
        let mut random = fastrand::Rng::with_seed(seed);
        let shared = RefCell::new(Tenancy::<_, 2>::new(nand()));
        let (first, second) = (2..7, 7..12);
        let mut tenants = [first.clone(), second.clone()].map(|blocks| NandTenant::new(&shared, blocks).unwrap());
        let mut alone = [first, second].map(|blocks| NandPartition::new(nand(), blocks).unwrap());
        for number in 0..600 {
            let tenant = random.usize(0..2);
            let mut same = random.clone();
            let (what, answered, bytes) = call(&mut tenants[tenant], &mut random);
            let (_, expected, model) = call(&mut alone[tenant], &mut same);
            assert_eq!((answered, bytes), (expected, model), "seed {seed}, call {number}: {what} of tenant {tenant}");
            fetches += u32::from(answered && what.starts_with("call 8"));
        }
        let cells = |device: &NandSim, block: u16| [0, 1, 2, 3].map(|page| device.peek(Block(block).page(page)));
        drop(tenants);
        let device = shared.into_inner().into_device();
        let alone = alone.map(NandPartition::into_device);
        for block in 0..12 {
            let model = &alone[usize::from(block >= 7)];
            assert_eq!(cells(&device, block), cells(model, block), "seed {seed}, block {block}");
            assert!(block >= 2 || device.programmed_pages() == 0 || !device.holds_pages(Block(block)));
        }
    }
    assert!(fetches > 100, "{fetches} fetches of one kind found a page");
}

/// Two handles of one part that know nothing of each other: what the contract forbids.
struct Naive<'a>(&'a RefCell<NandSim>);

impl Naive<'_> {
    fn load(&self, page: PageAddress) {
        self.0.borrow_mut().load(page).unwrap();
    }

    fn fetch(&self) -> [u8; 6] {
        let mut bytes = [0; 6];
        self.0.borrow_mut().fetch(&mut bytes).unwrap();
        bytes
    }
}

/// A part whose blocks 2 and 7 say whose they are.
fn labelled() -> NandSim {
    let mut part = nand();
    part.program(Block(2).page(0), &[Piece::new(Column(0), b"first first")]).unwrap();
    part.program(Block(7).page(0), &[Piece::new(Column(0), b"second second")]).unwrap();
    part
}

#[test]
fn a_naive_adapter_reads_anothers_page_and_a_tenant_does_not() {
    let part = RefCell::new(labelled());
    let (first, second) = (Naive(&part), Naive(&part));
    first.load(Block(2).page(0));
    second.load(Block(7).page(0));
    assert_eq!(&first.fetch(), b"second", "this is how a naive adapter goes wrong");

    let shared = RefCell::new(Tenancy::<_, 2>::new(labelled()));
    let mut first = NandTenant::new(&shared, 2..7).unwrap();
    let mut second = NandTenant::new(&shared, 7..12).unwrap();
    let fetch = |tenant: &mut NandTenant<'_, _>, expected: &[u8]| {
        let mut bytes = vec![0; expected.len()];
        tenant.fetch(&mut bytes).unwrap();
        assert_eq!(bytes, expected);
    };
    first.load(Block(0).page(0)).unwrap();
    fetch(&mut first, b"fir");
    second.load(Block(0).page(0)).unwrap();
    fetch(&mut second, b"sec");
    fetch(&mut first, b"st first"); // from where it was
    fetch(&mut second, b"ond");
    let loads = shared.borrow().device().counters().loads;
    fetch(&mut second, b" sec"); // nobody came between: no load
    assert_eq!(shared.borrow().device().counters().loads, loads);
    assert_eq!(loads, 4);

    second.erase(Block(0)).unwrap();
    assert_eq!(second.fetch(&mut [0]), Err(NandRangeError::NotLoaded));
    first.seek(Column(6)).unwrap_err(); // The position is after it, on a part that goes forwards only.
    first.load(Block(0).page(0)).unwrap();
    first.seek(Column(6)).unwrap();
    fetch(&mut first, b"first");
}

#[test]
fn a_loss_of_power_empties_the_register_for_all() {
    let shared = RefCell::new(Tenancy::<_, 2>::new(labelled()));
    let mut first = NandTenant::new(&shared, 2..7).unwrap();
    let second = NandTenant::new(&shared, 7..12).unwrap();
    first.load(Block(0).page(0)).unwrap();
    shared.borrow_mut().device_mut().power_on();
    drop(second);
    first.restart().unwrap();
    assert_eq!(first.fetch(&mut [0]), Err(NandRangeError::NotLoaded));
    assert_eq!(first.load(Block(5).page(0)), Err(NandRangeError::Outside { block: Block(5) }));
    let broken = NandRangeError::<NandSimError>::Outside { block: Block(u16::MAX) };
    assert_eq!(first.erase(Block(u16::MAX)), Err(broken));
}
