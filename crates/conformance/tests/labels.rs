//! Labels of parts: power is cut at every operation of writing one and of the load after that, in every shape, on NOR
//! parts of several kinds and on NAND parts whose bits err and whose blocks fail. The old label is there or the new
//! one, and what was there once stays.

use norn_conformance::{Context, PowerLost, Subject, Sweep, Tally, Trial, one_of_each, seeds};
use norn_flash::{
    Address, Block, Label, LabelDevice, LabelError, MountError, NandLabel, NorLabel, Reprogramming, TenantKind,
};
use norn_flash_sim::{NandSim, Noise, NorSim, PartSpec, SimError, Tear, catalogue, nand_catalogue};

/// A label of some tenants before `end`.
fn draw(random: &mut fastrand::Rng, end: u16) -> Label {
    let mut label = Label::default();
    let mut start = 0;
    for number in 0..random.u8(0..11) {
        let range = start..random.u16(start + 1..=end.min(start + 4).max(start + 1));
        if range.end > end {
            break;
        }
        let kinds = [TenantKind::HEAP, TenantKind::INDEX, TenantKind::DISK, TenantKind::CODE];
        let name: Vec<u8> = (0..random.usize(1..12)).map(|_| random.u8(b'a'..=b'z')).chain([b'0' + number]).collect();
        label.add(&name, kinds[random.usize(0..4)], range.clone()).unwrap();
        start = range.end;
    }
    label
}

/// A part with a label whose power can be cut.
macro_rules! subject {
    ($name:ident, $sim:ty, $device:ident, $lost:pat) => {
        #[derive(Clone)]
        struct $name($sim);

        impl Subject for $name {
            type Device = $sim;
            type Call = Label;
            type Contents = Label;

            fn device_mut(&mut self) -> &mut $sim {
                &mut self.0
            }

            fn into_device(self) -> $sim {
                self.0
            }

            fn mount(mut device: $sim, context: Context<'_>) -> Self {
                match $device(&mut device).load() {
                    Ok(_) | Err(MountError::NotFormatted) => $name(device),
                    Err(error) => panic!("{error} {}", context()),
                }
            }

            fn try_mount(device: &mut $sim) -> Result<(), PowerLost> {
                match $device(device).load() {
                    Err(MountError::Device($lost)) => Err(PowerLost),
                    _ => Ok(()),
                }
            }

            fn make(&mut self, label: &Label) -> Result<(), PowerLost> {
                match $device(&mut self.0).store(label) {
                    Ok(()) => Ok(()),
                    Err(LabelError::Device($lost)) => Err(PowerLost),
                    Err(error) => panic!("{error}"),
                }
            }

            /// A part without a label has no tenants.
            fn contents(&mut self, context: Context<'_>) -> Label {
                let mut load = || $device(&mut self.0).load().unwrap_or_default();
                let first = load();
                for _ in 0..3 {
                    assert_eq!(load(), first, "another label, {}", context());
                }
                first
            }
        }
    };
}

subject!(NorSubject, NorSim, NorLabel, SimError::PowerLost);
subject!(NandSubject, NandSim, NandLabel, norn_flash_sim::NandSimError::PowerLost);

/// Cuts the writing of some labels, one after the other, the first of them on a part without one.
fn cut_writes<S: Subject<Call = Label, Contents = Label>>(
    mut subject: S,
    end: u16,
    writes: usize,
    shapes: &dyn Fn(u64, &mut fastrand::Rng) -> Vec<Tear>,
    random: &mut fastrand::Rng,
    context: Context<'_>,
) -> Tally {
    let (mut tally, mut before) = (Tally::default(), Label::default());
    for _ in 0..writes {
        let label = draw(random, end);
        let trial = Trial {
            subject: &subject,
            call: &label,
            shapes,
            admitted: &|found| *found == before || *found == label,
            go_on: &mut |mut subject, _, random, context| {
                let next = draw(random, end);
                subject.make(&next).unwrap();
                assert_eq!(subject.contents(context), next, "{}", context());
            },
            context,
        };
        tally += Sweep::default().cut(trial, random);
        subject.make(&label).unwrap();
        before = label;
        assert_eq!(subject.contents(context), before);
    }
    tally
}

fn nor_parts() -> [PartSpec; 4] {
    [
        catalogue::test_part(5, 256),
        catalogue::limited_test_part(9, 1024, 8, Reprogramming::Once),
        catalogue::limited_test_part(3, 512, 32, Reprogramming::Once),
        catalogue::limited_test_part(4, 512, 4, Reprogramming::Times(2)),
    ]
}

#[test]
fn a_cut_leaves_the_old_label_of_a_nor_part_or_the_new_one() {
    let mut tally = Tally::default();
    for run in seeds(0..8, "-p norn-conformance --test suite nor_part") {
        let mut random = run.random();
        let spec = nor_parts()[run.seed as usize % 4].clone();
        let (end, part) = (spec.part.unit_count - 2, NorSim::new(spec));
        let context = || format!("replay: {}", run.replay());
        tally += cut_writes(NorSubject(part), end, 4, &one_of_each, &mut random, &context);
    }
    println!("{tally:?}");
    assert!(tally.cuts > 3000, "{tally:?}");
}

/// All that the contract of NAND parts allows: marginal bits among them.
fn nand_shapes(cut: u64, random: &mut fastrand::Rng) -> Vec<Tear> {
    let mut shapes = one_of_each(cut, random);
    shapes.extend((0..3).map(|_| Tear::Marginal(random.u64(..))));
    shapes.extend((0..3).map(|_| Tear::Unstable(random.u64(..))));
    shapes
}

#[test]
fn a_cut_leaves_the_old_label_of_a_nand_part_or_the_new_one() {
    let mut tally = Tally::default();
    for run in seeds(0..6, "-p norn-conformance --test suite nand_part") {
        let mut random = run.random();
        let mut part = NandSim::new(nand_catalogue::test_part(14, 4, 512));
        part.reseed(run.seed);
        if run.seed % 3 > 0 {
            part.mark_bad(&[Block(9), Block(13), Block(11)][..run.seed as usize % 3 + 1]);
        }
        let bits_max = (run.seed % 2) as u8;
        part.set_noise(Noise { bits_max, beyond_per_million: 0 });
        let context = || format!("replay: {}", run.replay());
        tally += cut_writes(NandSubject(part), 8, 8, &nand_shapes, &mut random, &context);
    }
    println!("{tally:?}");
    assert!(tally.cuts > 2000 && tally.second_cuts > 100, "{tally:?}");
}

#[test]
fn a_block_that_fails_is_passed_over() {
    for number in 0..40 {
        let mut part = NandSim::new(nand_catalogue::test_part(14, 4, 512));
        let mut random = fastrand::Rng::with_seed(number);
        part.fail_after(number % 20);
        part.fail_after(number / 2);
        let mut last = None;
        for _ in 0..6 {
            let label = draw(&mut random, 8);
            NandLabel(&mut part).store(&label).unwrap();
            last = Some(label);
            assert_eq!(NandLabel(&mut part).load().ok(), last);
        }
        assert!(last.is_some());
    }
}

#[test]
fn damage_gives_an_older_label_or_none() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut part = NorSim::new(catalogue::test_part(6, 512));
    let labels: Vec<Label> = (0..3).map(|_| draw(&mut random, 4)).collect();
    for label in &labels {
        NorLabel(&mut part).store(label).unwrap();
    }
    for bit in 0..256 * 8 {
        for places in [&[4][..], &[5], &[4, 5]] {
            let mut damaged = part.clone();
            for place in places {
                let address = Address(place * 512 + bit / 8);
                damaged.poke(address, &[damaged.peek(address, 1)[0] ^ 1 << (bit % 8)]);
            }
            let found = NorLabel(&mut damaged).load();
            let expected = match places {
                [4] => Ok(labels[1]), // the first and the third were written there
                [5] => Ok(labels[2]),
                _ => Err(MountError::NotFormatted),
            };
            assert_eq!(found, expected, "bit {bit} of {places:?}");
        }
    }
}

#[test]
fn a_label_of_another_part_or_version_says_so() {
    let mut part = NorSim::new(catalogue::test_part(6, 512));
    assert_eq!(NorLabel(&mut part).load(), Err(MountError::NotFormatted));
    NorLabel(&mut part).store(&Label::default()).unwrap();
    let cells = part.peek(Address(4 * 512), 1024);
    let moved = |units: u16, unit_bytes: u32| {
        let mut other = NorSim::new(catalogue::test_part(units, unit_bytes));
        let start = Address((u32::from(units) - 2) * unit_bytes);
        other.poke(start, &cells[..512]);
        NorLabel(&mut other).load().unwrap_err()
    };
    assert_eq!(moved(9, 512), MountError::WrongGeometry { what: "units or blocks", image: 6, expected: 9 });
    let size = MountError::WrongGeometry { what: "bytes in a unit or block", image: 512, expected: 1024 };
    assert_eq!(moved(6, 1024), size);
    let tiny = NorLabel(NorSim::new(catalogue::test_part(6, 128))).load();
    assert!(matches!(tiny, Err(MountError::Unsuitable(_))));
    let two = NorLabel(NorSim::new(catalogue::test_part(2, 512))).load();
    assert!(matches!(two, Err(MountError::Unsuitable(_))));
}

/// CRC-32 of ISO-HDLC, as docs/format/label.md gives it.
fn crc_32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    })
}

#[test]
fn a_copy_whose_tenants_are_impossible_is_no_label_to_work_with() {
    let mut part = NorSim::new(catalogue::test_part(6, 512));
    let mut label = Label::default();
    label.add(b"objects", TenantKind::HEAP, 0..2).unwrap();
    label.add(b"index", TenantKind::INDEX, 2..4).unwrap();
    NorLabel(&mut part).store(&label).unwrap();
    let cells = part.peek(Address(4 * 512), 256);
    let with_second = |start: u16, end: u16| {
        let mut cells = cells.to_vec();
        cells[60..62].copy_from_slice(&start.to_le_bytes());
        cells[62..64].copy_from_slice(&end.to_le_bytes());
        let crc = crc_32(&cells[..252]);
        cells[252..].copy_from_slice(&crc.to_le_bytes());
        let mut part = part.clone();
        part.poke(Address(4 * 512), &cells);
        NorLabel(&mut part).load()
    };
    assert_eq!(with_second(2, 4), Ok(label));
    let range = |start, end| Err(MountError::Refused(LabelError::Range { start, end }));
    assert_eq!(with_second(3, 3), range(3, 3));
    assert_eq!(with_second(9, 3), range(9, 3));
    assert_eq!(with_second(2, 60_000), range(2, 60_000));
    assert_eq!(with_second(2, 5), range(2, 5), "units 4 and 5 have the label");
    assert_eq!(with_second(1, 4), Err(MountError::Refused(LabelError::Overlap { start: 0, end: 2 })));
}

#[test]
fn tenants_that_overlap_or_leave_the_part_are_refused() {
    let mut label = Label::default();
    label.add(b"objects", TenantKind::HEAP, 0..3).unwrap();
    assert_eq!(label.add(b"objects", TenantKind::HEAP, 3..4), Err(LabelError::Name));
    assert_eq!(label.add(b"", TenantKind::HEAP, 3..4), Err(LabelError::Name));
    assert_eq!(label.add(b"thirteen long", TenantKind::HEAP, 3..4), Err(LabelError::Name));
    assert_eq!(label.add(b"a\0b", TenantKind::HEAP, 3..4), Err(LabelError::Name));
    assert_eq!(label.add(b"index", TenantKind::INDEX, 2..4), Err(LabelError::Overlap { start: 0, end: 3 }));
    assert_eq!(label.add(b"index", TenantKind::INDEX, 3..3), Err(LabelError::Range { start: 3, end: 3 }));
    label.add(b"index", TenantKind::INDEX, 3..5).unwrap();
    assert_eq!(format!("{:?}", label.tenants()), "[objects (heap) 0..3, index (indx) 3..5]");

    let mut part = NorSim::new(catalogue::test_part(6, 512));
    let range = LabelError::Range { start: 3, end: 5 };
    assert_eq!(NorLabel(&mut part).store(&label), Err(range), "units 4 and 5 have the label");
    assert_eq!(part.operations(), 0);
    assert!(label.remove(b"index") && !label.remove(b"index"));
    for number in 3..13 {
        label.add(&[b'a' + number as u8], TenantKind::CODE, number..number + 1).unwrap();
    }
    assert_eq!(label.add(b"z", TenantKind::CODE, 20..21), Err(LabelError::Full));
    let mut large = NorSim::new(catalogue::test_part(20, 512));
    NorLabel(&mut large).store(&label).unwrap();
    assert_eq!(NorLabel(&mut large).load(), Ok(label));
}
