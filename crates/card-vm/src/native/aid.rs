//! `AID`: identifiers of applets. An object has one field, an array of its bytes.

use norn_card_package::{Aid, native_number};

use super::{Natives, Step, numbers};
use crate::code::Code;
use crate::crypto::Crypto;
use crate::end::{Native, Trap};
use crate::heap::PersistentHeap;
use crate::objects::{Form, Objects};
use crate::ram::known;
use crate::types;

numbers! {
    GET_BYTES = "javacard/framework/AID" "getBytes" "([BS)B";
    EQUALS_OBJECT = "javacard/framework/AID" "equals" "(Ljava/lang/Object;)Z";
    EQUALS = "javacard/framework/AID" "equals" "([BSB)Z";
    PARTIAL_EQUALS = "javacard/framework/AID" "partialEquals" "([BSB)Z";
    RID_EQUALS = "javacard/framework/AID" "RIDEquals" "(Ljavacard/framework/AID;)Z";
    GET_PARTIAL_BYTES = "javacard/framework/AID" "getPartialBytes" "(S[BSB)B";
}

/// Bytes of an AID at most.
const AID_MAX: usize = 16;
/// Bytes of its owner's part.
const RID: usize = 5;

impl<H: PersistentHeap, C: Code, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize>
    Natives<'_, '_, H, C, K, PACKAGES, TRANSIENT>
{
    pub(super) fn of_aid(
        &mut self,
        number: u16,
        [this, first, second, third, fourth]: [i32; 5],
    ) -> Step<Option<Native>, H, C> {
        let value = match number {
            GET_BYTES => {
                let own = self.aid(this)?;
                let count = own.as_bytes().len() as i32;
                let to = self.bytes(first, second, count)?;
                self.write(to, own.as_bytes())?;
                count
            }
            GET_PARTIAL_BYTES => {
                let own = self.aid(this)?;
                let from = usize::try_from(first).unwrap_or(usize::MAX);
                let rest = own.as_bytes().get(from..).unwrap_or(&[]);
                let wanted = if fourth == 0 { rest.len() } else { usize::try_from(fourth).unwrap_or(usize::MAX) };
                let Some(bytes) = rest.get(..wanted).filter(|_| from <= own.as_bytes().len()) else {
                    return Err(Trap::Exception(crate::end::Exception::Bounds));
                };
                let to = self.bytes(second, third, bytes.len() as i32)?;
                self.write(to, bytes)?;
                bytes.len() as i32
            }
            EQUALS | PARTIAL_EQUALS => {
                let own = self.aid(this)?;
                if first == 0 {
                    return Ok(Some(Native::Returns(0)));
                }
                let other = self.bytes(first, second, third)?;
                let own = own.as_bytes();
                let fits = if number == EQUALS { other.count as usize == own.len() } else { true };
                let (bytes, count) = self.chunk::<AID_MAX>(other, 0)?;
                i32::from(fits && usize::from(other.count) <= own.len() && own[..count] == bytes[..count])
            }
            EQUALS_OBJECT => {
                if first == 0 {
                    return Ok(Some(Native::Returns(0)));
                }
                if self.memory.standing(first).map_err(Trap::objects)?.owner != crate::objects::RUNTIME {
                    self.usable(first)?;
                }
                if !self.is_aid(first)? {
                    return Ok(Some(Native::Returns(0)));
                }
                let (own, other) = (self.aid(this)?, self.aid(first)?);
                i32::from(own.as_bytes() == other.as_bytes())
            }
            RID_EQUALS => {
                if first == 0 {
                    return Ok(Some(Native::Returns(0)));
                }
                let (own, other) = (self.aid(this)?, self.aid(first)?);
                i32::from(own.as_bytes()[..RID] == other.as_bytes()[..RID])
            }
            _ => return Ok(None),
        };
        Ok(Some(Native::Returns(value)))
    }

    fn is_aid(&mut self, reference: i32) -> Step<bool, H, C> {
        let Form::Object(class) = self.memory.form(reference).map_err(Trap::objects)? else { return Ok(false) };
        let aid = self.memory.ram.known.class(const { known("javacard/framework/AID") });
        Ok(types::is_below(self.code, class, aid)?)
    }

    /// The bytes of an identifier of the caller's context, or of the runtime's.
    pub(super) fn aid(&mut self, reference: i32) -> Step<Aid, H, C> {
        if reference == 0 {
            return Err(Trap::Exception(crate::end::Exception::Null));
        }
        if self.memory.standing(reference).map_err(Trap::objects)?.owner != crate::objects::RUNTIME {
            self.usable(reference)?;
        }
        self.bytes_of_aid(reference)
    }

    /// The bytes of an identifier, whosever it is.
    pub(super) fn bytes_of_aid(&mut self, reference: i32) -> Step<Aid, H, C> {
        self.memory.aid_bytes(reference).map_err(Trap::objects)
    }
}
