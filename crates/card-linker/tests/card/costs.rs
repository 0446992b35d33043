//! What a bytecode on an object costs: words of flash, counted as the difference of loops with and without it.

use norn_card_vm::Protocol;
use norn_flash_sim::Counters;

use super::*;

const COSTS: [u8; 6] = [0xF0, 0, 0, 0, 9, 1];

/// The applet that does one thing often, linked once for all tests.
fn costs() -> &'static LinkedPackage {
    static PACKAGE: OnceLock<LinkedPackage> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let linked = linked();
        let texts = [
            ("costs/Step.java", include_str!("../programs/card/costs/Step.java")),
            ("costs/Costs.java", include_str!("../programs/card/costs/Costs.java")),
        ];
        let (_, classes) = sources(&texts, &[&linked.lang, &linked.main]);
        let package = config(&COSTS[..5], &[(&COSTS, "costs/Costs")]);
        let package = link(&read(&classes), std::slice::from_ref(&linked.api.exports), &package);
        package.unwrap_or_else(|error| panic!("{error}"))
    })
}

/// A card with it, selected.
fn card_with_costs() -> TestCard {
    let mut card = new_card();
    card.install_package(&costs().image).unwrap();
    card.install_applet(aid(&COSTS), aid(&COSTS), &[]).unwrap();
    assert_eq!(status(&mut card, &select(&COSTS)), 0x9000);
    card
}

fn counters(card: &mut TestCard) -> Counters {
    card.heap().heap().device_mut().device_mut().0.borrow().counters()
}

/// What the part does for a command, and its answer.
fn part_for(card: &mut TestCard, instruction: u8, times: u16) -> (Counters, u16) {
    let [high, low] = times.to_be_bytes();
    let before = counters(card);
    let (data, status) = send(card, &[0x80, instruction, high, low, 0]).unwrap();
    assert_eq!(status, 0x9000, "{instruction}");
    (counters(card) - before, u16::from_be_bytes([data[0], data[1]]))
}

#[test]
fn fields_headers_and_transient_arrays_are_read_from_flash_once() {
    let mut card = card_with_costs();
    // Instruction, and what is added each time.
    for (instruction, adds) in [(0, 4), (1, 5), (2, 3), (4, 9), (5, 2), (6, 1), (7, 1)] {
        let (once, _) = part_for(&mut card, instruction, 1);
        let (often, sum) = part_for(&mut card, instruction, 1001);
        assert_eq!(sum, adds * 1001, "{instruction}");
        assert_eq!((often - once).reads(), 0, "{instruction}");
    }
}

#[test]
fn fields_show_what_was_written_and_undone() {
    let mut card = card_with_costs();
    for round in 0..50 {
        let (_, sum) = part_for(&mut card, 11, 1);
        assert_eq!(sum, 1100 + 2, "round {round}");
    }
}

/// Loads of a mount of a card, and the card's parts.
fn loads_of_mount((device, nand): (NorSim, NandSim)) -> (u64, (NorSim, NandSim)) {
    let before = nand.counters().loads;
    let parts = unmounted(mounted(device, nand));
    (parts.1.counters().loads - before, parts)
}

#[test]
fn a_mount_looks_into_rooms_of_installed_packages_alone() {
    let (with_api, parts) = loads_of_mount(unmounted(new_card()));
    let (with_purse, parts) = loads_of_mount(unmounted({
        let mut card = mounted(parts.0, parts.1);
        card.install_package(&linked().purse.image).unwrap();
        card
    }));
    // Nine for each of the shelf's eight rooms would be 72.
    println!("{with_api} and {with_purse} loads");
    assert!(with_api < 18 && with_purse < 2 * 18, "{with_api} and {with_purse} loads");
    // An image that a deletion has left in its room is not looked for.
    let mut card = mounted(parts.0, parts.1);
    card.packages().with_device(|part| part.cut_power_after(0, Tear::Nothing));
    assert!(card.delete(aid(&PURSE[..6])).is_err());
    let (device, mut nand) = unmounted(card);
    nand.power_on();
    let (with_rest, parts) = loads_of_mount((device, nand));
    assert_eq!(with_rest, with_api);
    let mut card = mounted(parts.0, parts.1);
    card.install_package(&linked().purse.image).unwrap();
    card.install_applet(aid(&PURSE), aid(&PURSE), &PIN).unwrap();
    assert_eq!(status(&mut card, &select(&PURSE)), 0x9000);
}

/// Nanoseconds that the NOR part and the NAND part take since they were made, where a purse that is selected is
/// credited, debited and asked for its balance so often, with so many pages of 64 bytes in the pager's cache.
fn purse_takes<const FRAMES: usize>(rounds: u16) -> (u64, u64) {
    let [heap, journal] = parts(NorSim::new(catalogue::tinystore()));
    let heap = Journaled::mount(Flash::format(heap, Config::default()).unwrap(), journal).unwrap();
    let nand = NandSim::new(nand_catalogue::k9f1208q0b(nand_catalogue::Bus::Mhz33Bits8));
    let packages =
        NandPackages::<NandSim, Clock<FRAMES>, 8, FRAMES, 64, 512>::mount(nand, Options::default(), ()).unwrap();
    let mut card: AppletCard<_, _, _, 8, 1536, 256> =
        AppletCard::mount(heap, packages, RustCrypto(Deterministic::new(1)), 200_000).unwrap();
    card.install_package(&linked().api.image).unwrap();
    card.install_package(&linked().purse.image).unwrap();
    card.install_applet(aid(&PURSE), aid(&PURSE), &PIN).unwrap();
    for command in [&select(&PURSE)[..], &VERIFY] {
        assert_eq!(status(&mut card, command), 0x9000);
    }
    for _ in 0..rounds {
        for command in [&credit(3)[..], &debit(3), &BALANCE] {
            assert_eq!(status(&mut card, command), 0x9000);
        }
    }
    let (heap, packages) = card.into_parts();
    let nor = heap.into_parts().1.into_device().0.borrow().elapsed_ns();
    (nor, packages.into_parts().0.elapsed_ns())
}

/// A round's nanoseconds.
fn round_takes<const FRAMES: usize>() -> (u64, u64) {
    let [(nor, nand), (nor_more, nand_more)] = [20, 120].map(purse_takes::<FRAMES>);
    ((nor_more - nor) / 100, (nand_more - nand) / 100)
}

#[test]
fn a_larger_cache_waits_less_for_the_packages_part() {
    let rounds = [(1, round_takes::<16>()), (2, round_takes::<32>()), (4, round_takes::<64>())];
    for (kilobytes, (nor, nand)) in rounds {
        println!("{kilobytes} KB: {nor} ns of the NOR part, {nand} ns of the NAND part");
    }
    let [one, two, four] = rounds.map(|(_, (_, nand))| nand);
    assert!(one >= two && two >= four && one > four, "{one}, {two}, {four}");
}

#[test]
fn classes_lead_to_the_applet_of_their_channel() {
    let mut card = card_with_costs();
    for class in 0..=0xFF {
        // Interindustry classes and proprietary ones up to BF name one of four channels; 20 to 3F are none.
        let expected = match class {
            0x00..=0x1F | 0x80..=0xBF if class & 3 == 0 => 0x9000,
            0xC0..=0xFE => 0x9000,
            0xFF => 0x6E00,
            _ => 0x6881,
        };
        assert_eq!(status(&mut card, &[class, 0, 0, 1, 0]), expected, "class {class:02X}");
    }
}

#[test]
fn short_data_are_in_the_buffer_under_blocks_alone() {
    let mut card = card_with_costs();
    let command = [0x80, 12, 0, 0, 1, 42, 0];
    assert_eq!(send(&mut card, &command).unwrap(), (vec![0, 42], 0x9000));
    card.set_protocol(Protocol::T0);
    assert_eq!(send(&mut card, &command).unwrap(), (vec![0, 0], 0x9000));
}
