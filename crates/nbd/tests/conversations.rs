//! Conversations from random scripts: every answer is the one that the protocol wants, whatever is said. The fuzz
//! target `nbd_conversation` plays the same scripts.

use norn_fuzz_inputs::nbd_conversation::play;

#[test]
fn every_answer_is_the_protocols() {
    for seed in 0..20_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = vec![0; random.usize(0..200)];
        random.fill(&mut bytes);
        let played = std::panic::catch_unwind(|| play(&bytes));
        assert!(played.is_ok(), "seed {seed}, script {bytes:?}");
    }
}
