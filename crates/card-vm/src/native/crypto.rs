//! What the API's classes of cryptography are built on: keys and states are arrays of theirs.
//!
//! ```text
//! an EC key         its bytes │ flags of the class's
//! a cipher's state  the block before, 16 │ what waits, 16 │ how much │ the key, during a call
//! a hash's state    u8 data came │ u64 bytes that came │ the intermediate hash, 32 │ a block that is not whole, 64
//!                   of SHA-384 and SHA-512: twice as much of both
//! ```

use norn_card_package::native_number;

use super::hash_state::{HashState, kind_of};
use super::{Bytes, Natives, Step, numbers};
use crate::code::Code;
use crate::crypto::{BlockCipher, CURVES_MAX, CipherMode, Crypto, NotComputed, Parameter};
use crate::end::{Exception, Native, Trap};
use crate::heap::PersistentHeap;
use crate::objects::{Form, Objects};
use crate::ram::known;

numbers! {
    DIGEST_UPDATE = "javacard/security/Algorithms" "digestUpdate" "(B[B[BSS)V";
    DIGEST_FINISH = "javacard/security/Algorithms" "digestFinish" "(B[B[BS)S";
    BLOCKS = "javacardx/crypto/BlockCipher" "blocks" "(B[BBZ[BSS[BS)V";
    BLOCKS_OF_A_CODE = "javacard/security/Algorithms" "blocks" "(B[BBZ[BSS[BS)V";
    RANDOM = "javacard/security/Algorithms" "random" "([BSS)V";
    GENERATE = "javacard/security/Algorithms" "generate" "(B[B[B)V";
    SIGN = "javacard/security/Algorithms" "sign" "(B[B[BSS[BS)S";
    VERIFY = "javacard/security/Algorithms" "verify" "(B[B[BSS[BSS)Z";
    AGREE = "javacard/security/Algorithms" "agree" "(BZ[B[BSS[BS)S";
    PARAMETER = "javacard/security/Algorithms" "parameter" "(BB[BS)S";
    CURVES = "javacard/security/Algorithms" "curves" "(SB[BSS)S";
    MAKE_KEY = "javacard/security/Algorithms" "makeKey" "(S)[B";
    NOTE_OLD_KEY = "javacard/security/Algorithms" "noteOldKey" "()V";
    REQUIRE = "javacard/security/Algorithms" "require" "(S)V";
    REQUIRE_CIPHER = "javacardx/crypto/BlockCipher" "require" "(S)V";
}

const CRYPTO_EXCEPTION: u8 = known("javacard/security/CryptoException");
/// `CryptoException.ILLEGAL_VALUE` and `NO_SUCH_ALGORITHM`.
const ILLEGAL_VALUE: i16 = 1;
const NO_SUCH_ALGORITHM: i16 = 3;

/// `Cipher.MODE_DECRYPT`.
const MODE_DECRYPT: i32 = 1;
/// Added to a mode: DES instead of AES.
const WITH_DES: i32 = 0x10;
/// What `require` names beside hashes, which are bytes.
const AES: i32 = 0x100;
const DES: i32 = 0x101;
const CURVES_AT_ALL: i32 = 0x102;
const RANDOM_BYTES: i32 = 0x103;

/// Bytes of the largest block.
const BLOCK_MAX: usize = 16;
const KEY_AT: i32 = 33;
const CIPHER_KEY_MAX: usize = 32;
/// Bytes of a field's number, and of a point, at most.
const FIELD_MAX: usize = 66;
const POINT_MAX: usize = 1 + 2 * FIELD_MAX;
const HASH_MAX: usize = 64;
const SIGNATURE_MAX: usize = 139;
/// In place of a parameter of a curve: none is asked for.
const NO_PARAMETER: i32 = -1;

fn parameter_of(which: i32) -> Option<Parameter> {
    Some(match which {
        0 => Parameter::Field,
        1 => Parameter::A,
        2 => Parameter::B,
        3 => Parameter::Generator,
        4 => Parameter::Order,
        _ => return None,
    })
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
                    let taken = state.take(self.session.crypto, &chunk[..count]);
                    self.computed(taken)?;
                }
                self.write(place, state.bytes())?;
                0
            }
            DIGEST_FINISH => {
                let (place, mut state) = self.hash_state(first, second)?;
                let to = self.bytes(third, fourth, i32::from(state.length()))?;
                let finished = state.finish(self.session.crypto);
                self.computed(finished)?;
                self.write(to, state.hash())?;
                state.clear();
                self.write(place, state.bytes())?;
                i32::from(state.length())
            }
            BLOCKS | BLOCKS_OF_A_CODE => {
                let from = self.bytes(fifth, sixth, seventh)?;
                let to = self.bytes(eighth, ninth, seventh)?;
                let cipher = if first & WITH_DES == 0 { BlockCipher::Aes } else { BlockCipher::Des };
                let chain = self.bytes(second, 0, cipher.block_bytes() as i32)?;
                let mode = if first & !WITH_DES == MODE_DECRYPT { CipherMode::Decrypt } else { CipherMode::Encrypt };
                let key = self.few::<CIPHER_KEY_MAX>((second, KEY_AT, third))?;
                self.blocks((cipher, mode), key, Some(chain).filter(|_| fourth != 0), (from, to))?;
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
                let field = self.field_bytes(first)?;
                let (secret, point) =
                    (self.bytes(second, 0, field as i32)?, self.bytes(third, 0, 1 + 2 * field as i32)?);
                let (mut secret_bytes, mut point_bytes) = ([0; FIELD_MAX], [0; POINT_MAX]);
                let (secret_bytes, point_bytes) = (&mut secret_bytes[..field], &mut point_bytes[..1 + 2 * field]);
                let drawn = self.session.crypto.generate(first as u8, secret_bytes, point_bytes);
                self.computed(drawn)?;
                self.write(secret, secret_bytes)?;
                self.write(point, point_bytes)?;
                0
            }
            SIGN => {
                let (key, key_bytes) = self.key(second)?;
                let (hash, count) = self.few::<HASH_MAX>((third, fourth, fifth))?;
                let mut signature = [0; SIGNATURE_MAX];
                let crypto = &mut *self.session.crypto;
                match crypto.sign(first as u8, &key[..key_bytes], &hash[..count], &mut signature) {
                    Ok(length) => {
                        let to = self.bytes(sixth, seventh, length as i32)?;
                        self.write(to, &signature[..length])?;
                        length as i32
                    }
                    Err(NotComputed) => 0,
                }
            }
            VERIFY => {
                let (point, point_bytes) = self.key(second)?;
                let (hash, count) = self.few::<HASH_MAX>((third, fourth, fifth))?;
                let (signature, length) = match self.bytes(sixth, seventh, eighth)? {
                    long if usize::from(long.count) > SIGNATURE_MAX => return Ok(Some(Native::Returns(0))),
                    fitting => self.chunk::<SIGNATURE_MAX>(fitting, 0)?,
                };
                let crypto = &mut *self.session.crypto;
                i32::from(crypto.verify(first as u8, &point[..point_bytes], &hash[..count], &signature[..length]))
            }
            AGREE => {
                let field = self.field_bytes(first)?;
                let (key, key_bytes) = self.key(third)?;
                let (point, count) = self.few::<POINT_MAX>((fourth, fifth, sixth))?;
                let mut product = [0; POINT_MAX];
                let product = &mut product[..1 + 2 * field];
                let crypto = &mut *self.session.crypto;
                match crypto.agree(first as u8, &key[..key_bytes], &point[..count], product) {
                    Ok(()) => {
                        let wanted = if second == 0 { &product[1..=field] } else { &product[..] };
                        let to = self.bytes(seventh, eighth, wanted.len() as i32)?;
                        self.write(to, wanted)?;
                        wanted.len() as i32
                    }
                    Err(NotComputed) => 0,
                }
            }
            PARAMETER => {
                let which = parameter_of(second);
                let found = which.and_then(|which| self.session.crypto.parameter(first as u8, which));
                let Some(bytes) = found else { return self.throw(CRYPTO_EXCEPTION, ILLEGAL_VALUE) };
                let to = self.bytes(third, fourth, bytes.len() as i32)?;
                self.write(to, bytes)?;
                bytes.len() as i32
            }
            CURVES => {
                let mut curves = 0;
                for curve in 0..CURVES_MAX {
                    let Some(field) = self.session.crypto.parameter(curve, Parameter::Field) else { continue };
                    let unused = field.first().map_or(0, |byte| byte.leading_zeros());
                    if field.len() as i32 * 8 - unused as i32 != first {
                        continue;
                    }
                    let is_one = match parameter_of(second) {
                        None => second == NO_PARAMETER,
                        Some(which) => {
                            let given = self.bytes(third, fourth, fifth)?;
                            let number = self.session.crypto.parameter(curve, which).unwrap_or(&[]);
                            self.is_number(given, number)?
                        }
                    };
                    curves |= i32::from(is_one) << curve;
                }
                curves
            }
            MAKE_KEY => {
                let Some(length) = u16::try_from(first).ok().filter(|length| *length > 0) else {
                    return Err(Trap::Exception(Exception::NegativeSize));
                };
                let made = self.memory.create_key(length);
                self.changed(made)?
            }
            NOTE_OLD_KEY => {
                let noted = self.memory.note_old_key();
                self.changed(noted)?;
                0
            }
            REQUIRE | REQUIRE_CIPHER => {
                let found = self.tried(first);
                self.computed(found)?;
                0
            }
            _ => return Ok(None),
        };
        Ok(Some(Native::Returns(value)))
    }

    /// Computes something once, so that what is there is what is said to be there. No random byte is drawn for it.
    fn tried(&mut self, what: i32) -> Result<(), NotComputed> {
        let crypto = &mut *self.session.crypto;
        match what {
            AES => crypto.block(BlockCipher::Aes, CipherMode::Encrypt, &[0; 16], &mut [0; 16]),
            DES => crypto.block(BlockCipher::Des, CipherMode::Encrypt, &[0; 8], &mut [0; 8]),
            CURVES_AT_ALL => crypto.parameter(0, Parameter::Field).map(drop).ok_or(NotComputed),
            RANDOM_BYTES => Ok(()),
            hash => HashState::new(kind_of(hash).ok_or(NotComputed)?).finish(crypto),
        }
    }

    fn computed<T>(&mut self, result: Result<T, NotComputed>) -> Step<T, H, C> {
        match result {
            Ok(computed) => Ok(computed),
            Err(NotComputed) => self.throw(CRYPTO_EXCEPTION, NO_SUCH_ALGORITHM),
        }
    }

    fn hash_state(&mut self, algorithm: i32, array: i32) -> Step<(Bytes, HashState), H, C> {
        let Some(kind) = kind_of(algorithm) else { return self.throw(CRYPTO_EXCEPTION, NO_SUCH_ALGORITHM) };
        let mut state = HashState::new(kind);
        let place = self.bytes(array, 0, state.bytes().len() as i32)?;
        self.read(place, state.bytes_mut())?;
        Ok((place, state))
    }

    /// Bytes of a curve's numbers.
    fn field_bytes(&mut self, curve: i32) -> Step<usize, H, C> {
        let field = u8::try_from(curve).ok().and_then(|curve| self.session.crypto.parameter(curve, Parameter::Field));
        match field.map(<[u8]>::len) {
            Some(bytes) if bytes <= FIELD_MAX => Ok(bytes),
            _ => self.throw(CRYPTO_EXCEPTION, NO_SUCH_ALGORITHM),
        }
    }

    /// A key's bytes: those of its array but the last.
    fn key(&mut self, array: i32) -> Step<([u8; POINT_MAX], usize), H, C> {
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

    fn blocks(
        &mut self,
        (cipher, mode): (BlockCipher, CipherMode),
        (key, key_bytes): ([u8; CIPHER_KEY_MAX], usize),
        chain: Option<Bytes>,
        (from, to): (Bytes, Bytes),
    ) -> Step<(), H, C> {
        let size = cipher.block_bytes();
        let mut chained = [0; BLOCK_MAX];
        if let Some(chain) = chain {
            self.read(chain, &mut chained[..size])?;
        }
        for offset in (0..from.count).step_by(size) {
            let part = Bytes { count: from.count.min(offset + size as u16), ..from };
            let (given, count) = self.chunk::<BLOCK_MAX>(part, offset)?;
            if count != size {
                return self.throw(CRYPTO_EXCEPTION, ILLEGAL_VALUE);
            }
            let mut block = given;
            let is_chained = chain.is_some();
            if is_chained && mode == CipherMode::Encrypt {
                block.iter_mut().zip(chained).for_each(|(byte, other)| *byte ^= other);
            }
            let done = self.session.crypto.block(cipher, mode, &key[..key_bytes], &mut block[..size]);
            self.computed(done)?;
            if is_chained && mode == CipherMode::Decrypt {
                block.iter_mut().zip(chained).for_each(|(byte, other)| *byte ^= other);
            }
            chained = if mode == CipherMode::Encrypt { block } else { given };
            self.write(Bytes { first: to.first + offset, ..to }, &block[..size])?;
        }
        match chain {
            Some(chain) => self.write(chain, &chained[..size]),
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
