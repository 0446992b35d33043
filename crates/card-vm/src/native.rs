//! The API's native methods, by number.

mod aid;
mod apdu;
mod arrays;
mod crypto;
mod hash_state;
mod rsa;
mod system;

use norn_card_package::{Wrong, format, native_number};

use crate::code::{Code, CodeError};
use crate::crypto::Crypto;
use crate::end::{Exception, Failure, Native, Trap};
use crate::heap::PersistentHeap;
use crate::memory::{Memory, MemoryError};
use crate::objects::{Form, NativeCall, Objects, RUNTIME, Standing};
use crate::persistent::TransactionRefusal;
use crate::ram::known;
use crate::session::Session;

/// What a native method ends with, or what keeps it from that.
pub(crate) type Step<T, H, C> = Result<T, Trap<MemoryError<H>, CodeError<C>>>;

/// Names numbers of native methods; one that the list lacks is an error of the compiler's.
macro_rules! numbers {
    ($($name:ident = $class:literal $method:literal $descriptor:literal;)*) => {
        $(const $name: u16 = match native_number($class, $method, $descriptor) {
            Some(number) => number,
            None => panic!("the list of native methods has it"),
        };)*
    };
}
pub(crate) use numbers;

numbers! {
    THROW_APDU = "javacard/framework/APDUException" "throwIt" "(S)V";
    THROW_CARD = "javacard/framework/CardException" "throwIt" "(S)V";
    THROW_CARD_RUNTIME = "javacard/framework/CardRuntimeException" "throwIt" "(S)V";
    THROW_ISO = "javacard/framework/ISOException" "throwIt" "(S)V";
    THROW_PIN = "javacard/framework/PINException" "throwIt" "(S)V";
    THROW_SYSTEM = "javacard/framework/SystemException" "throwIt" "(S)V";
    THROW_TRANSACTION = "javacard/framework/TransactionException" "throwIt" "(S)V";
    THROW_USER = "javacard/framework/UserException" "throwIt" "(S)V";
    THROW_CRYPTO = "javacard/security/CryptoException" "throwIt" "(S)V";
    THROW_UTIL = "javacardx/framework/util/UtilException" "throwIt" "(S)V";
    THROW_TLV = "javacardx/framework/tlv/TLVException" "throwIt" "(S)V";
}

/// `APDUException`, by its place in the list of known classes.
const APDU_EXCEPTION: u8 = known("javacard/framework/APDUException");
/// `SystemException`.
const SYSTEM_EXCEPTION: u8 = known("javacard/framework/SystemException");
/// `TransactionException`.
const TRANSACTION_EXCEPTION: u8 = known("javacard/framework/TransactionException");

/// A native method that is carried out.
pub(crate) struct Natives<'a, 's, H: PersistentHeap, C: Code, K, const PACKAGES: usize, const TRANSIENT: usize> {
    session: &'a mut Session<'s, K>,
    memory: &'a mut Memory<H, PACKAGES, TRANSIENT>,
    code: &'a mut C,
    owner: u8,
    previous: u8,
}

/// Carries a native method out.
pub(crate) fn carry_out<H: PersistentHeap, C: Code, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize>(
    session: &mut Session<'_, K>,
    call: NativeCall<'_, Memory<H, PACKAGES, TRANSIENT>, C>,
) -> Step<Native, H, C> {
    let NativeCall { objects: memory, code, number, owner, previous, arguments } = call;
    let mut natives = Natives { session, memory, code, owner, previous };
    let argument = |place: usize| arguments.get(place).copied().unwrap_or(0);
    let all = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(argument);
    let [first, second, third, fourth, fifth, ..] = all;
    let arguments = [first, second, third, fourth, fifth];
    let class = match number {
        THROW_APDU => APDU_EXCEPTION,
        THROW_CARD => const { known("javacard/framework/CardException") },
        THROW_CARD_RUNTIME => const { known("javacard/framework/CardRuntimeException") },
        THROW_ISO => const { known("javacard/framework/ISOException") },
        THROW_PIN => const { known("javacard/framework/PINException") },
        THROW_SYSTEM => SYSTEM_EXCEPTION,
        THROW_TRANSACTION => TRANSACTION_EXCEPTION,
        THROW_USER => const { known("javacard/framework/UserException") },
        THROW_CRYPTO => const { known("javacard/security/CryptoException") },
        THROW_UTIL => const { known("javacardx/framework/util/UtilException") },
        THROW_TLV => const { known("javacardx/framework/tlv/TLVException") },
        _ => {
            let found = match natives.of_apdu(number, arguments)? {
                None => match natives.of_arrays(number, arguments)? {
                    None => match natives.of_system(number, arguments)? {
                        None => match natives.of_aid(number, arguments)? {
                            None => match natives.of_crypto(number, all)? {
                                None => natives.of_rsa(number, all)?,
                                found => found,
                            },
                            found => found,
                        },
                        found => found,
                    },
                    found => found,
                },
                found => found,
            };
            return found.ok_or(Trap::damaged(0, Wrong::Native));
        }
    };
    natives.throw(class, arguments[0] as i16)
}

/// A range of an array of bytes that may be used.
#[derive(Clone, Copy)]
struct Bytes {
    array: i32,
    first: u16,
    count: u16,
}

impl<H: PersistentHeap, C: Code, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize>
    Natives<'_, '_, H, C, K, PACKAGES, TRANSIENT>
{
    /// Throws the runtime's instance of a known class.
    fn throw<T>(&mut self, class: u8, reason: i16) -> Step<T, H, C> {
        Err(Trap::Throw(self.memory.ram.exception(class, reason)))
    }

    /// Throws what the refusal of a change is.
    fn changed<T>(&mut self, result: Result<T, Failure<MemoryError<H>>>) -> Step<T, H, C> {
        result.map_err(Trap::failure)
    }

    fn transaction(&mut self, result: Result<(), TransactionRefusal<H::Error>>) -> Step<Option<Native>, H, C> {
        let reason = match result {
            Ok(()) => return Ok(Some(Native::Returns(0))),
            Err(TransactionRefusal::InProgress) => 1,
            Err(TransactionRefusal::NotInProgress) => 2,
            Err(TransactionRefusal::Full) => 3,
            Err(TransactionRefusal::Heap(error)) => {
                return Err(Trap::objects(crate::persistent::ObjectError::Heap(error)));
            }
        };
        self.throw(TRANSACTION_EXCEPTION, reason)
    }

    /// Refuses an object that the caller's context may not use.
    fn usable(&mut self, reference: i32) -> Step<(), H, C> {
        if reference == 0 {
            return Err(Trap::Exception(Exception::Null));
        }
        if self.owner == RUNTIME {
            return Ok(());
        }
        let Standing { owner, is_global, needs_selection } = self.memory.standing(reference).map_err(Trap::objects)?;
        let context = self.memory.contexts.of(self.owner);
        let is_own = owner != RUNTIME && self.memory.contexts.of(owner) == context;
        let is_selected = self.session.state.may_use_selected(&self.memory.contexts, context);
        if is_global || is_own && (!needs_selection || is_selected) {
            return Ok(());
        }
        Err(Trap::Exception(Exception::Security))
    }

    /// A range of an array of bytes; null, a foreign array and a range beyond its ends throw.
    fn bytes(&mut self, array: i32, first: i32, count: i32) -> Step<Bytes, H, C> {
        self.usable(array)?;
        let Form::Array { kind: format::BYTE, length, .. } = self.memory.form(array).map_err(Trap::objects)? else {
            return Err(Trap::damaged(0, Wrong::Kind));
        };
        match (u16::try_from(first), u16::try_from(count)) {
            (Ok(first), Ok(count)) if u32::from(first) + u32::from(count) <= u32::from(length) => {
                Ok(Bytes { array, first, count })
            }
            _ => Err(Trap::Exception(Exception::Bounds)),
        }
    }

    /// Reads from an array of bytes.
    fn read(&mut self, from: Bytes, into: &mut [u8]) -> Step<(), H, C> {
        let first = usize::from(from.first);
        if let Some(ram) = self.memory.in_ram(from.array).map_err(Trap::objects)? {
            let Some(found) = ram.get(first..first + into.len()) else {
                return Err(Trap::Exception(Exception::Bounds));
            };
            into.copy_from_slice(found);
            return Ok(());
        }
        self.memory.read_bytes(from.array, from.first, into).map_err(Trap::objects)
    }

    /// Reads a few bytes, up to the end of the range.
    fn chunk<const N: usize>(&mut self, from: Bytes, offset: u16) -> Step<([u8; N], usize), H, C> {
        let mut chunk = [0; N];
        let count = usize::from(from.count - offset).min(N);
        self.read(Bytes { first: from.first + offset, ..from }, &mut chunk[..count])?;
        Ok((chunk, count))
    }

    /// Writes to an array of bytes, all or nothing.
    fn write(&mut self, to: Bytes, bytes: &[u8]) -> Step<(), H, C> {
        let first = usize::from(to.first);
        if let Some(ram) = self.memory.in_ram(to.array).map_err(Trap::objects)? {
            let place = ram.get_mut(first..first + bytes.len());
            let Some(place) = place else { return Err(Trap::Exception(Exception::Bounds)) };
            place.copy_from_slice(bytes);
            return Ok(());
        }
        let written = self.memory.write_bytes(to.array, to.first, bytes);
        self.changed(written)
    }
}
