//! Class files, package images and conversations with a card's reader, whatever bytes they are made from: what the fuzz
//! targets `card_class_file`, `card_package` and `card_conversation` play.

use norn_fuzz_inputs::{card_class_file, card_conversation, card_package};

/// Bytes after a beginning that is right more often than not.
fn drawn(random: &mut fastrand::Rng, beginning: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; random.usize(0..120)];
    random.fill(&mut bytes);
    let beginning = if random.bool() { beginning } else { &[] };
    [beginning, &bytes].concat()
}

#[test]
fn any_bytes_are_refused_or_used() {
    for seed in 0..20_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let class = drawn(&mut random, &[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52, 0, 3, 1, 0, 1, b'A', 7, 0, 1]);
        let package = drawn(&mut random, b"NCP1");
        let conversation = drawn(&mut random, &[1, 0, 1, 1, 0, 4, 0, 2, 1, 44]);
        let tried = std::panic::catch_unwind(|| {
            card_class_file::try_class(&class);
            card_package::try_package(&package);
            card_conversation::play(&conversation);
        });
        assert!(tried.is_ok(), "seed {seed}");
    }
}
