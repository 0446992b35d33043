//! Values of varying length: what they take on flash, what is refused, and maps of types whose values vary.

use norn_flash::{Collected, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::{
    Blob, ByteIndexError, Change, FatList, IndexError, Map, MapError, MountError, Settings, Text, Varying, VaryingList,
    VaryingMap,
};

fn part(units: u16, unit_bytes: u32) -> NorSim {
    NorSim::new(catalogue::limited_test_part(units, unit_bytes, 2, Reprogramming::Unlimited))
}

const WIDTHS: Varying<64, 500> = Varying { key_bytes: 64, value_bytes: 500, log_bytes: 0 };

#[test]
fn the_longest_keys_and_values_are_kept() {
    let mut list = VaryingList::format(part(8, 16 << 10), WIDTHS, Settings::paper_2011()).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    let mut model = std::collections::BTreeMap::new();
    for _ in 0..2_000 {
        let key = [random.u8(..40); 64];
        let value: Vec<u8> = match random.u8(0..4) {
            0 => vec![0; random.usize(0..=500)],
            1 => vec![0xFF; 500],
            _ => (0..random.usize(0..=500)).map(|_| random.u8(..)).collect(),
        };
        match list.put(&key, &value) {
            Ok(()) => _ = model.insert(key, value),
            Err(ByteIndexError::Index(IndexError::Full)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let mut list = VaryingList::mount(list.into_device(), WIDTHS).unwrap();
    let mut found: Collected = Collected::default();
    list.audit(&mut found).unwrap();
    assert!(found.violations.is_empty(), "{:?}", found.violations);
    assert!(model.len() > 30);
    for (key, value) in &model {
        let mut bytes = [0; 500];
        let length = list.get(key, &mut bytes).unwrap().unwrap();
        assert_eq!(bytes[..length], value[..]);
    }
}

#[test]
fn what_does_not_fit_is_refused_with_both_numbers() {
    let widths: Varying<4, 100> = Varying { key_bytes: 4, value_bytes: 50, log_bytes: 240 };
    let mut list = VaryingList::format(part(8, 4096), widths, Settings::paper_2011()).unwrap();
    let operations = list.device().operations();
    let refusal = |what, needed, given| Err(ByteIndexError::Width { what, needed, given });
    assert_eq!(list.insert(b"key", b""), refusal("key", 4, 3));
    assert_eq!(list.put(b"keys", &[1; 51]), refusal("value", 50, 51));
    let batch = [1, 2, 3, 4, 5].map(|key| [key; 4]);
    let changes: Vec<_> = batch.iter().map(|key| Change::Put(&key[..], &[7; 50][..])).collect();
    assert_eq!(list.apply(&changes), refusal("log for a batch", 290, 240));
    assert_eq!(list.device().operations(), operations, "a refused call reached the device");
    list.apply(&changes[..4]).unwrap();
    assert_eq!(
        list.get(&[1; 4], &mut [0; 49]),
        Err(ByteIndexError::Width { what: "buffer for a value", needed: 50, given: 49 })
    );

    let short = Varying { log_bytes: 230, ..widths };
    assert!(matches!(
        VaryingList::format(part(8, 4096), short, Settings::paper_2011()),
        Err(MountError::Unsuitable(_))
    ));
    let wide: Varying<4, 20> = Varying { key_bytes: 4, value_bytes: 50, log_bytes: 0 };
    let refusal = MountError::TooSmall { what: "bytes for a value", needed: 50, given: 20 };
    assert_eq!(VaryingList::mount(part(8, 4096), wide).err(), Some(refusal));
    let soft = VaryingList::format(part(8, 4096), widths, Settings::soft_list());
    assert!(matches!(soft, Err(MountError::Unsuitable(_))));
}

#[test]
fn a_list_of_the_other_layout_is_named() {
    let varies = |image, expected| {
        Some(MountError::WrongGeometry { what: "values of varying length, 1 if so", image, expected })
    };
    let widths: Varying<4, 100> = Varying { key_bytes: 4, value_bytes: 100, log_bytes: 0 };
    let varied = VaryingList::format(part(8, 4096), widths, Settings::paper_2011()).unwrap();
    assert_eq!(FatList::<_, 4, 100>::mount(varied.into_device()).err(), varies(1, 0));
    let settings = Settings { slots: 20, keys: 10, ..Settings::paper_2011() };
    let fixed = FatList::<_, 4, 100>::format(part(8, 4096), settings).unwrap();
    assert_eq!(VaryingList::mount(fixed.into_device(), widths).err(), varies(0, 1));
}

#[test]
fn a_value_that_grows_divides_its_object_and_one_that_does_not_always_has_room() {
    let widths: Varying<2, 60> = Varying { key_bytes: 2, value_bytes: 60, log_bytes: 264 };
    let mut list = VaryingList::format(part(4, 2048), widths, Settings::paper_2011()).unwrap();
    let mut keys = 0_u16;
    while list.insert(&keys.to_be_bytes(), b"short").is_ok() {
        keys += 1;
    }
    let mut is_full = false;
    for key in 0..keys {
        match list.update(&key.to_be_bytes(), &[9; 60]) {
            Ok(()) => {}
            Err(ByteIndexError::Index(IndexError::Full)) => is_full = true,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(is_full, "a full list has room for values that are longer");
    for round in 0..20_u8 {
        for key in 0..keys {
            let mut value = [0; 60];
            let length = list.get(&key.to_be_bytes(), &mut value).unwrap().unwrap();
            assert!(value[..length] == *b"short" || round > 0 || value == [9; 60]);
            list.update(&key.to_be_bytes(), &[round; 60][..length]).unwrap();
        }
    }
    let mut found: Collected = Collected::default();
    list.audit(&mut found).unwrap();
    assert!(found.violations.is_empty(), "{:?}", found.violations);
    assert_eq!(list.len().unwrap(), u32::from(keys));
}

#[test]
fn guaranteed_bytes_fit_whatever_the_lengths_are() {
    for seed in 0..6 {
        let mut random = fastrand::Rng::with_seed(seed);
        let widths: Varying<2, 60> = Varying { key_bytes: 2, value_bytes: 60, log_bytes: 400 };
        let mut list = VaryingList::format(part(8, 2048), widths, Settings::paper_2011()).unwrap();
        let mut sizes = std::collections::BTreeMap::new();
        for round in 0..3 {
            loop {
                let (key, length) = (random.u16(..).to_be_bytes(), random.usize(10..=60));
                match list.insert(&key, &[round; 60][..length]) {
                    Ok(()) => _ = sizes.insert(key, u32::from(list.record_bytes(length))),
                    Err(ByteIndexError::Index(IndexError::Full)) => break,
                    Err(ByteIndexError::Index(IndexError::KeyExists)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            let held: u32 = sizes.values().sum();
            let guaranteed = list.guaranteed_bytes();
            assert!(held + 66 > guaranteed, "full at {held} bytes, {guaranteed} guaranteed, seed {seed}");
            sizes.retain(|key, _| {
                let stays = random.u8(0..3) > 0;
                if !stays {
                    list.remove(key).unwrap();
                }
                stays
            });
        }
    }
}

#[test]
fn maps_keep_values_without_padding() {
    type Said = VaryingMap<NorSim, u32, Text<200>>;
    let mut said = Said::format(part(16, 4096), Settings::paper_2011()).unwrap();
    let text = |length: usize| Text::new(&"norn".repeat(50)[..length]).unwrap();
    for key in 0..60 {
        said.insert(&key, &text(key as usize)).unwrap();
    }
    let before = said.list().device().counters();
    said.insert(&60, &text(3)).unwrap();
    assert!((said.list().device().counters() - before).programmed_bytes() < 20, "text of three bytes is padded");
    assert_eq!(said.list().record_bytes(3), 12);
    said.apply(&[Change::Put(7, text(150)), Change::Remove(8)]).unwrap();
    let all: Vec<_> = said.range(5..10).map(|entry| entry.unwrap()).collect();
    assert_eq!(all, [(5, text(5)), (6, text(6)), (7, text(150)), (9, text(9))]);
    let back: Vec<_> = said.range(..).rev().take(2).map(|entry| entry.unwrap().0).collect();
    assert_eq!((back, said.len().unwrap()), (vec![60, 59], 60));
    let long: Vec<_> = (100..140).map(|key| Change::Put(key, text(200))).collect();
    assert_eq!(said.apply(&long).unwrap_err(), MapError::TooLong);
    said.stop().unwrap();
    let mut said = Said::mount(said.into_device()).unwrap();
    assert_eq!(said.get(&7).unwrap(), Some(text(150)));
    assert_eq!(said.get(&8).unwrap(), None);
    assert_eq!(said.insert_in_ring(&1_000, &text(0)).unwrap(), 0);

    type Files = Map<NorSim, Text<8>, Blob<40>, 8, 40>;
    let mut padded = Files::format(part(16, 4096), Settings::paper_2011()).unwrap();
    let name = Text::new("a").unwrap();
    assert_eq!(padded.insert(&name, &Blob::new(b"short").unwrap()), Err(MapError::TooLong));
}

#[cfg(feature = "postcard")]
#[test]
fn what_serde_serialises_takes_what_it_needs() {
    use norn_ordered_index::Postcard;

    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    enum Event {
        Started,
        Said(String),
    }

    type Events = VaryingMap<NorSim, u32, Postcard<Event, 100>>;
    let mut events = Events::format(part(16, 4096), Settings::paper_2011()).unwrap();
    let said = Postcard(Event::Said("x".repeat(90)));
    events.insert(&1, &Postcard(Event::Started)).unwrap();
    events.insert(&2, &said).unwrap();
    assert_eq!(events.get(&1).unwrap(), Some(Postcard(Event::Started)));
    assert_eq!(events.get(&2).unwrap(), Some(said));
    assert_eq!(events.insert(&3, &Postcard(Event::Said("x".repeat(100)))), Err(MapError::TooLong));
}

/// Every bit of every record that counts or once did, flipped after a stop.
#[test]
fn a_flipped_bit_of_a_record_is_found_or_changes_nothing() {
    let widths: Varying<2, 40> = Varying { key_bytes: 2, value_bytes: 40, log_bytes: 240 };
    let mut list = VaryingList::format(part(4, 1024), widths, Settings::paper_2011()).unwrap();
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..60 {
        let (key, length) = (random.u16(..12).to_be_bytes(), random.usize(..30));
        list.put(&key, &[random.u8(..); 30][..length]).unwrap();
    }
    list.stop().unwrap();
    let read = |list: &mut VaryingList<NorSim, 2, 40>| {
        let (mut found, mut key, mut value) = (Vec::new(), [0; 2], [0; 40]);
        let (mut bound, mut hint) = (std::ops::Bound::Unbounded, Default::default());
        loop {
            let from = bound.as_ref().map(|key: &[u8; 2]| &key[..]);
            let step = list.neighbour(from, norn_ordered_index::Direction::Forwards, &mut hint, (&mut key, &mut value));
            let Some(length) = step? else { return Ok::<_, ByteIndexError<norn_flash_sim::SimError>>(found) };
            found.push((key, value[..length].to_vec()));
            bound = std::ops::Bound::Excluded(key);
        }
    };
    let expected = read(&mut list.clone()).unwrap();
    let (mut found, mut same) = (0, 0);
    for at in 0..4096 {
        let address = norn_flash::Address(at);
        let byte = list.device().peek(address, 1)[0];
        if byte == 0xFF {
            continue;
        }
        for bit in 0..8 {
            let mut device = list.clone().into_device();
            device.poke(address, &[byte ^ 1 << bit]);
            let Ok(mut list) = VaryingList::<_, 2, 40>::mount(device, widths) else {
                found += 1;
                continue;
            };
            let mut collected: Collected = Collected::default();
            let is_whole = list.audit(&mut collected).is_ok() && collected.violations.is_empty();
            match read(&mut list) {
                Ok(contents) if contents == expected => same += 1,
                outcome => {
                    assert!(outcome.is_err() || !is_whole, "bit {bit} at {at:#x} changes what is read, unnoticed");
                    found += 1;
                }
            }
        }
    }
    println!("{found} flipped bits found, {same} changed nothing");
    assert!(found > 1_000 && same > 0);
}
