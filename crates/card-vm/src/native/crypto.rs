//! What the API's classes of cryptography are built on: keys and states are arrays of theirs.
//!
//! ```text
//! an EC key         its bytes │ flags of the class's
//! a cipher's state  the block before, 16 │ what waits, 16 │ how much │ the key, during a call
//! a hash's state    u8 data came │ u64 bytes that came │ the intermediate hash, 32 │ a block that is not whole, 64
//! ```

use norn_card_package::native_number;

use super::{Bytes, Natives, Step, numbers};
use crate::code::Code;
use crate::crypto::{CipherMode, Crypto, Hash, NotComputed};
use crate::end::{Exception, Native, Trap};
use crate::heap::PersistentHeap;
use crate::objects::{Form, Objects};
use crate::ram::known;

numbers! {
    DIGEST_UPDATE = "javacard/security/Algorithms" "digestUpdate" "(B[B[BSS)V";
    DIGEST_FINISH = "javacard/security/Algorithms" "digestFinish" "(B[B[BS)S";
    AES = "javacardx/crypto/AesCipher" "blocks" "(B[BBZ[BSS[BS)V";
    RANDOM = "javacard/security/Algorithms" "random" "([BSS)V";
    GENERATE = "javacard/security/Algorithms" "generate" "([B[B)V";
    SIGN = "javacard/security/Algorithms" "sign" "([B[BSS[BS)S";
    VERIFY = "javacard/security/Algorithms" "verify" "([B[BSS[BSS)Z";
    AGREE = "javacard/security/Algorithms" "agree" "([B[BSS[BS)S";
    PARAMETER = "javacard/security/Algorithms" "parameter" "(B[BS)S";
    IS_PARAMETER = "javacard/security/Algorithms" "isParameter" "(B[BSS)Z";
}

const CRYPTO_EXCEPTION: u8 = known("javacard/security/CryptoException");
/// `CryptoException.ILLEGAL_VALUE` and `NO_SUCH_ALGORITHM`.
const ILLEGAL_VALUE: i16 = 1;
const NO_SUCH_ALGORITHM: i16 = 3;

/// `MessageDigest.ALG_SHA`.
const ALG_SHA: i32 = 1;
/// `Cipher.MODE_DECRYPT`.
const MODE_DECRYPT: i32 = 1;

const STATE: usize = 105;
const COUNT_AT: usize = 1;
const HASH_AT: usize = 9;
const BLOCK_AT: usize = 41;
const BLOCK: usize = 64;
const AES_BLOCK: usize = 16;
const AES_KEY_AT: i32 = 33;
const AES_KEY_MAX: usize = 32;
/// Bytes of a key at most, and of a hash to be signed.
const KEY_MAX: usize = 65;
const HASH_MAX: usize = 64;
const SIGNATURE_MAX: usize = 72;

const SHA1_START: [u32; 8] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0, 0, 0, 0];
const SHA256_START: [u32; 8] =
    [0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19];

/// P-256 (SEC 2, secp256r1): the field's prime, a, b, the base point, the order.
const FIELD: [u8; 32] = hex("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF");
const A: [u8; 32] = hex("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFC");
const B: [u8; 32] = hex("5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B");
const G: [u8; 65] = hex(concat!(
    "04",
    "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296",
    "4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5",
));
const R: [u8; 32] = hex("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551");

/// Bytes from hexadecimal digits, while a constant is made.
const fn hex<const N: usize>(digits: &str) -> [u8; N] {
    let digits = digits.as_bytes();
    assert!(digits.len() == 2 * N, "two digits a byte");
    let mut bytes = [0; N];
    let mut at = 0;
    while at < digits.len() {
        let digit = match digits[at] {
            digit @ b'0'..=b'9' => digit - b'0',
            digit => digit - b'A' + 10,
        };
        bytes[at / 2] = bytes[at / 2] << 4 | digit;
        at += 1;
    }
    bytes
}

fn parameter(which: i32) -> Option<&'static [u8]> {
    match which {
        0 => Some(&FIELD),
        1 => Some(&A),
        2 => Some(&B),
        3 => Some(&G),
        4 => Some(&R),
        _ => None,
    }
}

/// A hash's state, as its array has it.
struct HashState {
    bytes: [u8; STATE],
    hash: Hash,
}

impl HashState {
    fn count(&self) -> u64 {
        let count = self.bytes.get(COUNT_AT..).and_then(<[u8]>::first_chunk);
        count.map_or(0, |count| u64::from_be_bytes(*count))
    }

    fn begin(&mut self) {
        if self.bytes[0] == 0 {
            self.bytes[0] = 1;
            self.set_words(&if self.hash == Hash::Sha1 { SHA1_START } else { SHA256_START });
        }
    }

    fn words(&self) -> [u32; 8] {
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(self.bytes[HASH_AT..BLOCK_AT].chunks_exact(4)) {
            *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        words
    }

    fn set_words(&mut self, words: &[u32; 8]) {
        for (word, bytes) in words.iter().zip(self.bytes[HASH_AT..BLOCK_AT].chunks_exact_mut(4)) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
    }

    /// Takes bytes, whose count the state has from then on.
    fn take(&mut self, crypto: &mut impl Crypto, data: &[u8]) {
        self.begin();
        for byte in data {
            let count = self.count();
            let place = (count % BLOCK as u64) as usize;
            self.bytes[BLOCK_AT + place] = *byte;
            self.bytes[COUNT_AT..HASH_AT].copy_from_slice(&(count + 1).to_be_bytes());
            if place == BLOCK - 1 {
                self.compress(crypto);
            }
        }
    }

    fn compress(&mut self, crypto: &mut impl Crypto) {
        let mut words = self.words();
        if let Some(block) = self.bytes[BLOCK_AT..].first_chunk() {
            crypto.compress(self.hash, &mut words, block);
        }
        self.set_words(&words);
    }

    /// Pads, and leaves the hash where the intermediate one was.
    fn finish(&mut self, crypto: &mut impl Crypto) {
        self.begin();
        let bits = self.count().wrapping_mul(8).to_be_bytes();
        self.take(crypto, &[0x80]);
        while self.count() % BLOCK as u64 != (BLOCK - 8) as u64 {
            self.take(crypto, &[0]);
        }
        self.take(crypto, &bits);
    }
}

impl<H: PersistentHeap, C: Code, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize>
    Natives<'_, '_, H, C, K, PACKAGES, TRANSIENT>
{
    pub(super) fn of_crypto(
        &mut self,
        number: u16,
        [first, second, third, fourth, fifth, sixth, seventh, eighth, ninth]: [i32; 9],
    ) -> Step<Option<Native>, H, C> {
        if !K::COMPUTES {
            return self.throw(CRYPTO_EXCEPTION, NO_SUCH_ALGORITHM);
        }
        let value = match number {
            DIGEST_UPDATE => {
                let data = self.bytes(third, fourth, fifth)?;
                let (place, mut state) = self.hash_state(first, second)?;
                for offset in (0..data.count).step_by(32) {
                    let (chunk, count) = self.chunk::<32>(data, offset)?;
                    state.take(self.session.crypto, &chunk[..count]);
                }
                self.write(place, &state.bytes)?;
                0
            }
            DIGEST_FINISH => {
                let (place, mut state) = self.hash_state(first, second)?;
                let length = if state.hash == Hash::Sha1 { 20 } else { 32 };
                let to = self.bytes(third, fourth, length)?;
                state.finish(self.session.crypto);
                self.write(to, &state.bytes[HASH_AT..HASH_AT + length as usize])?;
                self.write(place, &[0; STATE])?;
                length
            }
            AES => {
                let from = self.bytes(fifth, sixth, seventh)?;
                let to = self.bytes(eighth, ninth, seventh)?;
                let chain = self.bytes(second, 0, AES_BLOCK as i32)?;
                let mode = if first == MODE_DECRYPT { CipherMode::Decrypt } else { CipherMode::Encrypt };
                let key = self.few::<AES_KEY_MAX>((second, AES_KEY_AT, third))?;
                self.aes_blocks(mode, key, Some(chain).filter(|_| fourth != 0), (from, to))?;
                0
            }
            RANDOM => {
                let to = self.bytes(first, second, third)?;
                for offset in (0..to.count).step_by(32) {
                    let mut chunk = [0; 32];
                    let count = usize::from(to.count - offset).min(chunk.len());
                    let drawn = self.session.crypto.random(&mut chunk[..count]);
                    self.computed(drawn)?;
                    self.write(Bytes { first: to.first + offset, ..to }, &chunk[..count])?;
                }
                0
            }
            GENERATE => {
                let (secret, point) = (self.bytes(first, 0, 32)?, self.bytes(second, 0, 65)?);
                let drawn = self.session.crypto.generate();
                let (secret_bytes, point_bytes) = self.computed(drawn)?;
                self.write(secret, &secret_bytes)?;
                self.write(point, &point_bytes)?;
                0
            }
            SIGN => {
                let (key, key_bytes) = self.key(first)?;
                let (hash, count) = self.few::<HASH_MAX>((second, third, fourth))?;
                let mut signature = [0; SIGNATURE_MAX];
                match self.session.crypto.sign(&key[..key_bytes], &hash[..count], &mut signature) {
                    Ok(length) => {
                        let to = self.bytes(fifth, sixth, length as i32)?;
                        self.write(to, &signature[..length])?;
                        length as i32
                    }
                    Err(NotComputed) => 0,
                }
            }
            VERIFY => {
                let (point, point_bytes) = self.key(first)?;
                let (hash, count) = self.few::<HASH_MAX>((second, third, fourth))?;
                let (signature, length) = match self.bytes(fifth, sixth, seventh)? {
                    long if usize::from(long.count) > SIGNATURE_MAX => return Ok(Some(Native::Returns(0))),
                    fitting => self.chunk::<SIGNATURE_MAX>(fitting, 0)?,
                };
                let crypto = &mut *self.session.crypto;
                i32::from(crypto.verify(&point[..point_bytes], &hash[..count], &signature[..length]))
            }
            AGREE => {
                let (key, key_bytes) = self.key(first)?;
                let (point, count) = self.few::<KEY_MAX>((second, third, fourth))?;
                let to = self.bytes(fifth, sixth, 32)?;
                match self.session.crypto.agree(&key[..key_bytes], &point[..count]) {
                    Ok(product) => {
                        self.write(to, &product)?;
                        32
                    }
                    Err(NotComputed) => 0,
                }
            }
            PARAMETER => {
                let Some(bytes) = parameter(first) else { return self.throw(CRYPTO_EXCEPTION, ILLEGAL_VALUE) };
                let to = self.bytes(second, third, bytes.len() as i32)?;
                self.write(to, bytes)?;
                bytes.len() as i32
            }
            IS_PARAMETER => {
                let Some(bytes) = parameter(first) else { return self.throw(CRYPTO_EXCEPTION, ILLEGAL_VALUE) };
                let given = self.bytes(second, third, fourth)?;
                i32::from(self.is_number(given, bytes)?)
            }
            _ => return Ok(None),
        };
        Ok(Some(Native::Returns(value)))
    }

    fn computed<T>(&mut self, result: Result<T, NotComputed>) -> Step<T, H, C> {
        match result {
            Ok(computed) => Ok(computed),
            Err(NotComputed) => self.throw(CRYPTO_EXCEPTION, NO_SUCH_ALGORITHM),
        }
    }

    fn hash_state(&mut self, algorithm: i32, array: i32) -> Step<(Bytes, HashState), H, C> {
        let place = self.bytes(array, 0, STATE as i32)?;
        let mut bytes = [0; STATE];
        self.read(place, &mut bytes)?;
        let hash = if algorithm == ALG_SHA { Hash::Sha1 } else { Hash::Sha256 };
        Ok((place, HashState { bytes, hash }))
    }

    /// A key's bytes: those of its array but the last.
    fn key(&mut self, array: i32) -> Step<([u8; KEY_MAX], usize), H, C> {
        self.usable(array)?;
        let Form::Array { length, .. } = self.memory.form(array).map_err(Trap::objects)? else {
            return Err(Trap::Exception(Exception::Bounds));
        };
        self.few((array, 0, i32::from(length) - 1))
    }

    /// Bytes of a range of few.
    fn few<const N: usize>(&mut self, (array, first, count): (i32, i32, i32)) -> Step<([u8; N], usize), H, C> {
        let range = self.bytes(array, first, count)?;
        if usize::from(range.count) > N {
            return self.throw(CRYPTO_EXCEPTION, ILLEGAL_VALUE);
        }
        self.chunk(range, 0)
    }

    fn aes_blocks(
        &mut self,
        mode: CipherMode,
        (key, key_bytes): ([u8; AES_KEY_MAX], usize),
        chain: Option<Bytes>,
        (from, to): (Bytes, Bytes),
    ) -> Step<(), H, C> {
        let mut chained = [0; AES_BLOCK];
        if let Some(chain) = chain {
            self.read(chain, &mut chained)?;
        }
        for offset in (0..from.count).step_by(AES_BLOCK) {
            let (given, count) = self.chunk::<AES_BLOCK>(from, offset)?;
            if count != AES_BLOCK {
                return self.throw(CRYPTO_EXCEPTION, ILLEGAL_VALUE);
            }
            let mut block = given;
            let is_chained = chain.is_some();
            if is_chained && mode == CipherMode::Encrypt {
                block.iter_mut().zip(chained).for_each(|(byte, other)| *byte ^= other);
            }
            let done = self.session.crypto.aes(mode, &key[..key_bytes], &mut block);
            self.computed(done)?;
            if is_chained && mode == CipherMode::Decrypt {
                block.iter_mut().zip(chained).for_each(|(byte, other)| *byte ^= other);
            }
            chained = if mode == CipherMode::Encrypt { block } else { given };
            self.write(Bytes { first: to.first + offset, ..to }, &block)?;
        }
        match chain {
            Some(chain) => self.write(chain, &chained),
            None => Ok(()),
        }
    }

    /// Whether a range is a number, leading zeros aside.
    fn is_number(&mut self, given: Bytes, number: &[u8]) -> Step<bool, H, C> {
        let mut is_same = usize::from(given.count) >= number.len();
        let zeros = usize::from(given.count).saturating_sub(number.len());
        for offset in (0..given.count).step_by(32) {
            let (chunk, count) = self.chunk::<32>(given, offset)?;
            for (at, byte) in (usize::from(offset)..).zip(&chunk[..count]) {
                let expected = at.checked_sub(zeros).and_then(|at| number.get(at)).copied().unwrap_or(0);
                is_same &= *byte == expected;
            }
        }
        Ok(is_same)
    }
}
