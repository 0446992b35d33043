//! Damaged images of packages: refused, or installed and harmless. What other packages keep is untouched.

use norn_card_vm::Card;
use norn_conformance::seeds;

use crate::{
    BALANCE, PIN, PURSE, SERVER, TestCard, VERIFY, aid, card_with_purse, credit, debit, mounted, select, send, sharing,
    status, unmounted,
};

/// Selects the damaged applet and sends it commands; whatever it answers is right.
fn use_it(card: &mut TestCard) {
    for command in [&select(&SERVER)[..], &[0x80, 1, 0, 0, 0], &[0x80, 2, 0, 0, 1, 7, 0]] {
        let mut response = [0; 300];
        let length = card.process(command, &mut response).unwrap();
        assert!(length >= 2);
    }
}

#[test]
fn a_damaged_package_is_refused_or_harmless() {
    let mut start = card_with_purse();
    for command in [&select(&PURSE)[..], &VERIFY, &credit(500), &debit(100)] {
        assert_eq!(status(&mut start, command), 0x9000);
    }
    let (device, nand) = unmounted(start);
    let image = &sharing()[0].image;
    let run = seeds(0..1, "-p norn-card-linker --test card a_damaged_package").next().unwrap();
    let mut random = run.random();
    let (mut refused, mut installed, mut ran) = (0, 0, 0);
    for round in 0..400 {
        let mut damaged = image.clone();
        match random.u8(0..8) {
            0 => damaged.truncate(random.usize(0..image.len())),
            1 => damaged.extend([random.u8(..); 3]),
            _ => {
                for _ in 0..random.usize(1..3) {
                    let at = random.usize(0..image.len());
                    damaged[at] = if random.bool() { random.u8(..) } else { damaged[at] ^ (1 << random.u8(0..8)) };
                }
            }
        }
        let mut card = mounted(device.clone(), nand.clone());
        if card.install_package(&damaged).is_err() {
            refused += 1;
        } else {
            installed += 1;
            if card.install_applet(aid(&SERVER), aid(&SERVER), &PIN).is_ok() {
                ran += 1;
                use_it(&mut card);
            }
        }
        let (device, nand) = unmounted(card);
        let mut card = mounted(device, nand);
        let context = format!("round {round}, {}", run.replay());
        assert_eq!(status(&mut card, &select(&PURSE)), 0x9000, "{context}");
        assert_eq!(send(&mut card, &BALANCE).unwrap(), (vec![1, 144, 0, 1], 0x9000), "{context}");
    }
    println!("{refused} damaged images refused, {installed} installed, {ran} of them with an applet that ran");
    assert!(refused > 50 && ran > 20, "{refused} refused, {ran} ran");
}
