//! Power cuts at each operation of a session, and of installation and deletion.

use norn_card_vm::{Card, InstallError};
use norn_conformance::seeds;
use norn_flash_sim::Tear;

use crate::{
    BALANCE, PIN, PURSE, TestCard, VERIFY, WRONG, aid, card_with_purse, credit, cut_after, debit, linked, mounted,
    new_card, objects, select, send, status, unmounted,
};

/// Balance, debits and tries that are left.
fn state(card: &mut TestCard) -> (u16, u16, u16) {
    assert_eq!(status(card, &select(&PURSE)), 0x9000);
    let (answer, status) = send(card, &BALANCE).unwrap();
    assert_eq!(status, 0x9000);
    let word = |at: usize| u16::from_be_bytes([answer[at], answer[at + 1]]);
    let tries = send(card, &WRONG).unwrap().1;
    (word(0), word(2), tries)
}

#[test]
fn a_power_cut_in_a_session_leaves_whole_debits_and_gives_no_try_back() {
    let run = seeds(0..1, "-p norn-card-linker --test card a_power_cut_in_a_session").next().unwrap();
    let mut random = run.random();
    let mut start = card_with_purse();
    assert_eq!(status(&mut start, &select(&PURSE)), 0x9000);
    assert_eq!(status(&mut start, &VERIFY), 0x9000);
    assert_eq!(status(&mut start, &credit(300)), 0x9000);
    let (device, nand) = unmounted(start);
    let session: [(&[u8], u16); 6] = [
        (&select(&PURSE), 0x9000),
        (&WRONG, 0x63C2),
        (&VERIFY, 0x9000),
        (&debit(100), 0x9000),
        (&credit(7), 0x9000),
        (&debit(30), 0x9000),
    ];
    // What balance and debits are after each command, and the fewest tries that a cut within it leaves.
    let states = [(300, 0), (300, 0), (300, 0), (200, 1), (207, 1), (177, 2)];
    for operation in 0.. {
        let mut card = mounted(device.clone(), nand.clone());
        cut_after(&mut card, operation, Tear::draw(&mut random));
        let answered = session.iter().take_while(|(command, expected)| match send(&mut card, command) {
            Ok((_, status)) => {
                assert_eq!(status, *expected, "{}", run.replay());
                true
            }
            Err(_) => false,
        });
        let done = answered.count();
        if done == session.len() {
            assert!(operation > 30, "{operation} cuts");
            println!("{operation} cut points in a session of the purse");
            return;
        }
        let (mut device, nand) = unmounted(card);
        assert_eq!(device.refusals(), 0);
        device.power_on();
        let mut card = mounted(device, nand);
        let (balance, debits, tries) = state(&mut card);
        let before = if done == 0 { (300, 0) } else { states[done - 1] };
        let context = format!("cut {operation} in command {done}: {balance} {debits} {tries:04x}, {}", run.replay());
        assert!((balance, debits) == before || (balance, debits) == states[done], "{context}");
        // The answer to one more wrong PIN: a try is gone from when the wrong one is compared until the right one is.
        let expected: &[u16] = match done {
            0 => &[0x63C2],
            1 => &[0x63C2, 0x63C1],
            2 => &[0x63C1, 0x63C0, 0x63C2],
            _ => &[0x63C2],
        };
        assert!(expected.contains(&tries), "{context}");
    }
}

/// Installs the purse and deletes it again; how many of its four steps were done.
fn install_and_delete(card: &mut TestCard) -> usize {
    let steps: [&dyn Fn(&mut TestCard) -> bool; 4] = [
        &|card| card.install_package(&linked().purse.image).is_ok(),
        &|card| card.install_applet(aid(&PURSE), aid(&PURSE), &PIN).is_ok(),
        &|card| card.delete(aid(&PURSE)).is_ok(),
        &|card| card.delete(aid(&PURSE[..6])).is_ok(),
    ];
    steps.iter().take_while(|step| step(card)).count()
}

/// Cuts the power of one of the two parts at each operation of installation and deletion.
fn cut_installations(of_nand: Part, replay: &str, random: &mut fastrand::Rng) -> u64 {
    let start = new_card();
    let (device, nand) = unmounted(start);
    let mut start = mounted(device.clone(), nand.clone());
    start.collect().unwrap();
    let before = objects(&mut start);
    for operation in 0.. {
        let mut card = mounted(device.clone(), nand.clone());
        let tear = Tear::draw(random);
        match of_nand {
            Part::Nand => card.packages().with_device(|part| part.cut_power_after(operation, tear)),
            Part::Nor => cut_after(&mut card, operation, tear),
        }
        let done = install_and_delete(&mut card);
        let (mut device, mut nand) = unmounted(card);
        assert_eq!((device.refusals(), nand.refusals()), (0, 0));
        if done == 4 {
            return operation;
        }
        device.power_on();
        nand.power_on();
        let mut card = mounted(device, nand);
        let context = format!("cut {operation} of {of_nand:?} after {done} steps, {replay}");
        // The package is whole or gone, and so is the applet.
        let selected = status(&mut card, &select(&PURSE));
        assert!([0x9000, 0x6999].contains(&selected), "{context}: {selected:04x}");
        assert!(done != 2 || selected == 0x9000 || of_nand == Part::Nor, "{context}");
        if selected == 0x9000 {
            assert_eq!(send(&mut card, &BALANCE).unwrap(), (vec![0; 4], 0x9000), "{context}");
        }
        // It goes on: what is there is deleted, everything is installed and deleted again, and nothing is left over.
        card.reset().unwrap();
        for name in [&PURSE[..], &PURSE[..6]] {
            match card.delete(aid(name)) {
                Ok(()) | Err(InstallError::Missing(_)) => {}
                Err(other) => panic!("{context}: {other:?}"),
            }
        }
        assert_eq!(install_and_delete(&mut card), 4, "{context}");
        card.collect().unwrap();
        assert_eq!(objects(&mut card), before, "{context}");
    }
    unreachable!("operations do not end")
}

/// A part of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Nor,
    Nand,
}

#[test]
fn a_power_cut_leaves_packages_and_applets_installed_or_not() {
    let run = seeds(0..1, "-p norn-card-linker --test card a_power_cut_leaves_packages").next().unwrap();
    let mut random = run.random();
    // Few operations, in several shapes each.
    let nand: u64 = (0..6).map(|_| cut_installations(Part::Nand, run.replay(), &mut random)).sum();
    let nor = cut_installations(Part::Nor, run.replay(), &mut random);
    println!("{nand} cut points of the NAND part and {nor} of the NOR part in an installation and a deletion");
    assert!(nand > 50 && nor > 100, "{nand} and {nor} cuts");
}
