//! The algorithms in little code give what the whole set gives, and refuse what they do not have.
#![cfg(feature = "crypto")]

use norn_card_crypto::Deterministic;
use norn_card_vm::{BlockCipher, CipherMode, Crypto, Hash, NotComputed, Parameter, RustCrypto, SmallCrypto};

/// What an implementation gives for everything that both have.
fn answers(crypto: &mut impl Crypto) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut state = [7; 8];
    crypto.compress(Hash::Sha256, &mut state, &[3; 64]).unwrap();
    all.push(state.map(u32::to_be_bytes).concat());
    for bytes in [16, 24, 32] {
        for mode in [CipherMode::Encrypt, CipherMode::Decrypt] {
            let mut block = [9; 16];
            crypto.block(BlockCipher::Aes, mode, &[5; 32][..bytes], &mut block).unwrap();
            all.push(block.to_vec());
        }
    }
    let parameters = [Parameter::Field, Parameter::A, Parameter::B, Parameter::Generator, Parameter::Order];
    all.extend(parameters.map(|which| crypto.parameter(0, which).unwrap().to_vec()));
    let mut random = [0; 40];
    crypto.random(&mut random).unwrap();
    all.push(random.to_vec());
    let mut keys = [([0; 32], [0; 65]); 2];
    for (secret, point) in &mut keys {
        crypto.generate(0, secret, point).unwrap();
        all.extend([secret.to_vec(), point.to_vec()]);
    }
    let mut signature = [0; 72];
    let length = crypto.sign(0, &keys[0].0, &[8; 32], &mut signature).unwrap();
    assert!(crypto.verify(0, &keys[0].1, &[8; 32], &signature[..length]));
    assert!(!crypto.verify(0, &keys[1].1, &[8; 32], &signature[..length]));
    let mut products = [[0; 65]; 2];
    crypto.agree(0, &keys[0].0, &keys[1].1, &mut products[0]).unwrap();
    crypto.agree(0, &keys[1].0, &keys[0].1, &mut products[1]).unwrap();
    assert_eq!(products[0], products[1]);
    all.extend([signature[..length].to_vec(), products[0].to_vec()]);
    all
}

#[test]
fn both_give_the_same() {
    assert_eq!(answers(&mut SmallCrypto(Deterministic::new(4))), answers(&mut RustCrypto(Deterministic::new(4))));
}

#[test]
fn what_is_not_there_is_refused() {
    let mut crypto = SmallCrypto(Deterministic::new(4));
    assert_eq!(crypto.compress(Hash::Sha1, &mut [0; 8], &[0; 64]), Err(NotComputed));
    assert_eq!(crypto.compress_wide(&mut [0; 8], &[0; 128]), Err(NotComputed));
    assert_eq!(crypto.block(BlockCipher::Des, CipherMode::Encrypt, &[1; 8], &mut [0; 8]), Err(NotComputed));
    assert_eq!(crypto.block(BlockCipher::Aes, CipherMode::Encrypt, &[1; 8], &mut [0; 16]), Err(NotComputed));
    for curve in 1..8 {
        assert_eq!(crypto.parameter(curve, Parameter::Field), None);
        assert_eq!(crypto.generate(curve, &mut [0; 32], &mut [0; 65]), Err(NotComputed));
        assert_eq!(crypto.sign(curve, &[1; 32], &[1; 32], &mut [0; 72]), Err(NotComputed));
        assert!(!crypto.verify(curve, &[4; 65], &[1; 32], &[0; 72]));
        assert_eq!(crypto.agree(curve, &[1; 32], &[4; 65], &mut [0; 65]), Err(NotComputed));
    }
}
