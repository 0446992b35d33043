//! What tools show: blocks decoded from their bytes hold just the entries that the list has, levels are shown as they
//! are linked, and no bytes lead the decoder out of a block.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow, RangeInclusive};

use norn_flash::{EraseUnit, NorPart, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::fat_list::format::CellState;
use norn_ordered_index::fat_list::inspection::{Linked, PoolEntry, RawBlock, Role, SlotState};
use norn_ordered_index::{AtMost, ByteFatList, FatListOf, RunTimeWidths, Settings, Varying, VaryingList};

const SETTINGS: Settings = Settings { turnstile_blocks: 4, levels: 3, slots: 6, keys: 3, pool: 8 };
const KEYS: u16 = 60;

fn part(program_unit_bytes: u8) -> NorSim {
    NorSim::new(catalogue::limited_test_part(12, 1024, program_unit_bytes, Reprogramming::Unlimited))
}

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

/// The entries in the cells that count of blocks that do, and how many blocks were spare.
fn decoded(part: &NorPart, cells: &[u8]) -> (Entries, usize) {
    let unit_bytes = part.unit_size_bytes as usize;
    let block =
        |unit: u16| RawBlock::new(part, EraseUnit(unit), &cells[usize::from(unit) * unit_bytes..][..unit_bytes]);
    let (mut entries, mut spare) = (Entries::new(), 0);
    for unit in 0..part.unit_count {
        let raw = block(unit);
        assert_eq!(raw.turnstile().unwrap().0, (unit / 4) as u8);
        assert_eq!(
            raw.turnstile().unwrap().1.map(|unit| unit.0).collect::<Vec<_>>(),
            (unit / 4 * 4..unit / 4 * 4 + 4).collect::<Vec<_>>()
        );
        spare += usize::from(raw.role() == Role::Spare);
        let is_moved = (0..part.unit_count).any(|other| block(other).holds_cells_of(&raw));
        if !matches!(raw.role(), Role::InUse(_)) || is_moved {
            continue;
        }
        for cell in raw.cells().filter(|cell| matches!(cell.state(), CellState::Live(_))) {
            for slot in cell.slots() {
                let end = slot.at.0 + slot.bytes;
                assert!(cell.address <= slot.at && end <= cell.address.0 + cell.size_bytes(), "{slot:?}");
                if slot.state == SlotState::Counts {
                    assert!(cell.low_key() <= slot.key, "{slot:?} of {cell:?}");
                    assert_eq!(entries.insert(slot.key.to_vec(), slot.value.to_vec()), None, "{slot:?}");
                }
            }
        }
    }
    (entries, spare)
}

/// The objects of a level from one of a key on, and where the pointers of each lead.
fn level<W: RunTimeWidths>(list: &mut FatListOf<NorSim, W>, level: u8, key: Option<&[u8]>) -> Vec<Linked<W::Key>> {
    let mut objects = Vec::new();
    list.visit_level(level, key, |object| {
        objects.push(object);
        ControlFlow::Continue(())
    })
    .unwrap();
    objects
}

fn compare<W: RunTimeWidths>(list: &mut FatListOf<NorSim, W>, model: &Entries) {
    let sim = list.device().clone();
    assert_eq!(decoded(&sim.spec().part, &sim.cells()), (model.clone(), 3));
    let all: Vec<_> = (0..SETTINGS.levels).map(|number| level(list, number, None)).collect();
    for (number, objects) in (0..).zip(&all) {
        assert!(
            objects[0].low.is_none() && objects[1..].iter().all(|object| object.low.is_some()),
            "the head is first"
        );
        assert!(objects.is_sorted_by(|one, next| one.low < next.low && next.level >= number));
        let linked = all[0].iter().filter(|object| object.level >= number).map(|object| object.address);
        assert!(linked.eq(objects.iter().map(|object| object.address)), "level {number}");
        for pair in objects.windows(2) {
            assert_eq!(
                (pair[0].pointer.turnstile, pair[0].pointer.index),
                ((pair[1].unit.0 / 4) as u8, pair[1].number)
            );
        }
    }
    // From a key on: the object that would have it comes first.
    let key = (KEYS / 2).to_be_bytes();
    let [first, second, ..] = &level(list, 0, Some(&key))[..] else { panic!("few objects") };
    assert!(first.low.unwrap().as_ref() <= &key[..] && second.low.unwrap().as_ref() > &key[..]);
    let mut seen = 0;
    list.visit_level(0, Some(&key), |_| {
        seen += 1;
        ControlFlow::Break(())
    })
    .unwrap();
    assert_eq!(seen, 1);
}

/// A change of the list and of its model.
fn change(random: &mut fastrand::Rng, model: &Entries, length: usize) -> (Vec<u8>, Option<Vec<u8>>) {
    let key = random.u16(..KEYS).to_be_bytes().to_vec();
    let is_removal = model.contains_key(&key) && random.u8(..4) == 0;
    let value = (0..length).map(|_| random.u8(..)).collect();
    (key, (!is_removal).then_some(value))
}

/// Changes a list as often as `rounds` says, by values of these lengths, and compares it with a model. Returns the
/// model.
fn changed<W: RunTimeWidths>(
    list: &mut FatListOf<NorSim, W>,
    put: impl Fn(&mut FatListOf<NorSim, W>, &[u8], &[u8]),
    mut random: fastrand::Rng,
    (rounds, lengths): (usize, RangeInclusive<usize>),
) -> Entries {
    let mut model = Entries::new();
    for round in 0..rounds {
        let length = random.usize(lengths.clone());
        match change(&mut random, &model, length) {
            (key, Some(value)) => {
                put(list, &key, &value);
                model.insert(key, value);
            }
            (key, None) => {
                list.remove(&key).unwrap();
                model.remove(&key);
            }
        }
        if round % 100 == 99 {
            compare(list, &model);
        }
    }
    model
}

#[test]
fn fixed_entries_are_decoded_and_levels_shown_as_they_are_linked() {
    for unit in [1, 2, 4, 8] {
        let widths = AtMost { key_bytes: 2, value_bytes: 3 };
        let mut list: ByteFatList<_, 4, 4> = ByteFatList::format(part(unit), widths, SETTINGS).unwrap();
        let put = |list: &mut ByteFatList<_, 4, 4>, key: &[u8], value: &[u8]| list.put(key, value).unwrap();
        let model = changed(&mut list, put, fastrand::Rng::with_seed(u64::from(unit)), (1500, 3..=3));
        list.stop().unwrap();
        let (sim, mut counts) = (list.into_device(), Vec::new());
        let cells = sim.cells();
        for unit in 0..12 {
            let raw = RawBlock::new(&sim.spec().part, EraseUnit(unit), &cells[usize::from(unit) * 1024..][..1024]);
            let head = raw.cells().find(|cell| cell.is_head() && matches!(cell.state(), CellState::Live(_)));
            counts.extend(head.into_iter().flat_map(|head| head.pool()).filter_map(|(_, entry)| match entry {
                PoolEntry::KeyCount(keys) => keys,
                _ => None,
            }));
        }
        assert_eq!(counts.last(), Some(&(model.len() as u32)), "the stop says how many keys there are");
    }
}

#[test]
fn records_are_decoded_where_values_vary() {
    for unit in [1, 4, 8] {
        let widths = Varying { key_bytes: 2, value_bytes: 12, log_bytes: 0 };
        let mut list: VaryingList<_, 4, 16> = VaryingList::format(part(unit), widths, SETTINGS).unwrap();
        let put = |list: &mut VaryingList<_, 4, 16>, key: &[u8], value: &[u8]| list.put(key, value).unwrap();
        let model = changed(&mut list, put, fastrand::Rng::with_seed(u64::from(unit)), (1000, 0..=12));
        let keys: Vec<_> = list.range(Bound::Unbounded, Bound::Unbounded).unwrap().map(|one| one.unwrap().0).collect();
        assert_eq!(keys.len(), model.len());
    }
}

/// Random damage after a head that is whole: whatever is there is read to an end, and within the block.
#[test]
fn no_bytes_lead_out_of_a_block() {
    let mut random = fastrand::Rng::with_seed(11);
    let fixed: ByteFatList<_, 4, 4> =
        ByteFatList::format(part(4), AtMost { key_bytes: 2, value_bytes: 3 }, SETTINGS).unwrap();
    let widths = Varying { key_bytes: 2, value_bytes: 12, log_bytes: 0 };
    let varying: VaryingList<_, 4, 16> = VaryingList::format(part(4), widths, SETTINGS).unwrap();
    let mut decoded = 0;
    for sim in [fixed.into_device(), varying.into_device()] {
        let part = sim.spec().part;
        for _ in 0..500 {
            let mut cells = sim.cells()[..1024].to_vec();
            cells[48..].fill_with(|| if random.bool() { random.u8(..) } else { 0xFF });
            let length = random.usize(..=1024);
            for cell in RawBlock::new(&part, EraseUnit(0), &cells[..length]).cells() {
                let end = cell.address.0 + cell.size_bytes();
                assert!(end as usize <= length);
                assert!(cell.slots().all(|slot| slot.at.0 + slot.bytes <= end), "{cell:?}");
                decoded += cell.slots().count() + cell.pool().count() + cell.pointers().len();
            }
        }
    }
    assert!(decoded > 10_000, "{decoded}");
}
