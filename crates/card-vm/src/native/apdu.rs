//! `APDU`: the command that is carried out, its buffer, and the answer.
//!
//! ```text
//! INITIAL ──► PARTIAL_INCOMING ──► FULL_INCOMING       setIncomingAndReceive, receiveBytes
//!    └──────────────┴──────────────────┴──► OUTGOING ──► OUTGOING_LENGTH_KNOWN ──► PARTIAL_, FULL_OUTGOING
//! ```

use norn_card_package::native_number;

use super::{APDU_EXCEPTION, Bytes, Natives, Step, numbers};
use crate::code::Code;
use crate::crypto::Crypto;
use crate::end::Native;
use crate::heap::PersistentHeap;
use crate::ram::{APDU, APDU_BUFFER, APDU_BUFFER_BYTES};
use crate::session::Protocol;

numbers! {
    GET_BUFFER = "javacard/framework/APDU" "getBuffer" "()[B";
    GET_IN_BLOCK_SIZE = "javacard/framework/APDU" "getInBlockSize" "()S";
    GET_OUT_BLOCK_SIZE = "javacard/framework/APDU" "getOutBlockSize" "()S";
    GET_PROTOCOL = "javacard/framework/APDU" "getProtocol" "()B";
    GET_NAD = "javacard/framework/APDU" "getNAD" "()B";
    SET_OUTGOING = "javacard/framework/APDU" "setOutgoing" "()S";
    SET_OUTGOING_NO_CHAINING = "javacard/framework/APDU" "setOutgoingNoChaining" "()S";
    SET_OUTGOING_LENGTH = "javacard/framework/APDU" "setOutgoingLength" "(S)V";
    RECEIVE_BYTES = "javacard/framework/APDU" "receiveBytes" "(S)S";
    SET_INCOMING_AND_RECEIVE = "javacard/framework/APDU" "setIncomingAndReceive" "()S";
    SEND_BYTES = "javacard/framework/APDU" "sendBytes" "(SS)V";
    SEND_BYTES_LONG = "javacard/framework/APDU" "sendBytesLong" "([BSS)V";
    SET_OUTGOING_AND_SEND = "javacard/framework/APDU" "setOutgoingAndSend" "(SS)V";
    GET_CURRENT_STATE = "javacard/framework/APDU" "getCurrentState" "()B";
    GET_CURRENT_APDU = "javacard/framework/APDU" "getCurrentAPDU" "()Ljavacard/framework/APDU;";
    GET_CURRENT_APDU_BUFFER = "javacard/framework/APDU" "getCurrentAPDUBuffer" "()[B";
    GET_CLA_CHANNEL = "javacard/framework/APDU" "getCLAChannel" "()B";
    WAIT_EXTENSION = "javacard/framework/APDU" "waitExtension" "()V";
    IS_COMMAND_CHAINING_CLA = "javacard/framework/APDU" "isCommandChainingCLA" "()Z";
    IS_SECURE_MESSAGING_CLA = "javacard/framework/APDU" "isSecureMessagingCLA" "()Z";
    IS_ISO_INTERINDUSTRY_CLA = "javacard/framework/APDU" "isISOInterindustryCLA" "()Z";
    IS_VALID_CLA = "javacard/framework/APDU" "isValidCLA" "()Z";
    GET_INCOMING_LENGTH = "javacard/framework/APDU" "getIncomingLength" "()S";
    GET_OFFSET_CDATA = "javacard/framework/APDU" "getOffsetCdata" "()S";
}

const PARTIAL_INCOMING: i8 = 1;
const FULL_INCOMING: i8 = 2;
const OUTGOING: i8 = 3;
const OUTGOING_LENGTH_KNOWN: i8 = 4;
const PARTIAL_OUTGOING: i8 = 5;
const FULL_OUTGOING: i8 = 6;

/// Reasons of `APDUException`.
const ILLEGAL_USE: i16 = 1;
const BUFFER_BOUNDS: i16 = 2;
const BAD_LENGTH: i16 = 3;

/// Bytes of a block of T=1 at most.
const BLOCK_BYTES: i32 = 254;

impl<H: PersistentHeap, C: Code, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize>
    Natives<'_, '_, H, C, K, PACKAGES, TRANSIENT>
{
    pub(super) fn of_apdu(&mut self, number: u16, arguments: [i32; 5]) -> Step<Option<Native>, H, C> {
        let [_, first, second, third, _] = arguments;
        let command = self.session.command;
        let cla = i32::from(command.header[0]);
        let value = match number {
            GET_BUFFER | GET_CURRENT_APDU_BUFFER => APDU_BUFFER,
            GET_CURRENT_APDU => APDU,
            GET_IN_BLOCK_SIZE | GET_OUT_BLOCK_SIZE => BLOCK_BYTES,
            GET_PROTOCOL => i32::from(self.session.state.protocol == Protocol::T1),
            GET_NAD | WAIT_EXTENSION => 0,
            GET_CURRENT_STATE => i32::from(self.session.apdu_state),
            GET_CLA_CHANNEL => i32::from(self.session.state.channel),
            IS_COMMAND_CHAINING_CLA => i32::from(cla & 0x10 != 0),
            IS_SECURE_MESSAGING_CLA => i32::from(cla & if cla & 0x40 == 0 { 0x0C } else { 0x20 } != 0),
            IS_ISO_INTERINDUSTRY_CLA => i32::from(cla & 0x80 == 0),
            IS_VALID_CLA => i32::from(cla != 0xFF && cla & 0xE0 != 0x20),
            GET_INCOMING_LENGTH => {
                self.in_states(PARTIAL_INCOMING..=FULL_INCOMING)?;
                command.data.len().min(i16::MAX as usize) as i32
            }
            GET_OFFSET_CDATA => {
                self.in_states(PARTIAL_INCOMING..=FULL_INCOMING)?;
                self.data_offset() as i32
            }
            SET_INCOMING_AND_RECEIVE => {
                self.in_states(0..=0)?;
                self.receive(self.data_offset())
            }
            RECEIVE_BYTES => {
                self.in_states(PARTIAL_INCOMING..=FULL_INCOMING)?;
                match usize::try_from(first) {
                    Ok(offset) if offset < APDU_BUFFER_BYTES => self.receive(offset),
                    _ => return self.throw(APDU_EXCEPTION, BUFFER_BOUNDS),
                }
            }
            SET_OUTGOING | SET_OUTGOING_NO_CHAINING => self.set_outgoing()?,
            SET_OUTGOING_LENGTH => {
                self.set_length(first)?;
                0
            }
            SEND_BYTES => {
                self.send_from_buffer(first, second)?;
                0
            }
            SEND_BYTES_LONG => {
                self.in_states(OUTGOING_LENGTH_KNOWN..=PARTIAL_OUTGOING)?;
                let from = self.bytes(first, second, third)?;
                self.send(from)?;
                0
            }
            SET_OUTGOING_AND_SEND => {
                self.set_outgoing()?;
                self.set_length(second)?;
                self.send_from_buffer(first, second)?;
                0
            }
            _ => return Ok(None),
        };
        Ok(Some(Native::Returns(value)))
    }

    fn in_states(&mut self, states: core::ops::RangeInclusive<i8>) -> Step<(), H, C> {
        if states.contains(&self.session.apdu_state) { Ok(()) } else { self.throw(APDU_EXCEPTION, ILLEGAL_USE) }
    }

    /// Where data starts in the buffer.
    fn data_offset(&self) -> usize {
        if self.session.command.is_extended { 7 } else { 5 }
    }

    /// Puts as much of the command's data into the buffer as it takes from a place on.
    fn receive(&mut self, offset: usize) -> i32 {
        let session = &mut *self.session;
        let rest = &session.command.data[session.received..];
        let count = rest.len().min(APDU_BUFFER_BYTES - offset);
        self.memory.ram.buffer[offset..offset + count].copy_from_slice(&rest[..count]);
        session.received += count;
        session.apdu_state = if count == rest.len() { FULL_INCOMING } else { PARTIAL_INCOMING };
        count as i32
    }

    fn set_outgoing(&mut self) -> Step<i32, H, C> {
        self.in_states(0..=FULL_INCOMING)?;
        self.session.apdu_state = OUTGOING;
        let unsaid = if self.session.state.protocol == Protocol::T0 { 256 } else { 0 };
        Ok(self.session.command.expected.map_or(unsaid, i32::from))
    }

    fn set_length(&mut self, length: i32) -> Step<(), H, C> {
        self.in_states(OUTGOING..=OUTGOING)?;
        let most = if self.session.command.is_extended { i32::from(i16::MAX) } else { 256 };
        match usize::try_from(length) {
            Ok(bytes) if length <= most => {
                self.session.length = bytes;
                self.session.apdu_state = OUTGOING_LENGTH_KNOWN;
                Ok(())
            }
            _ => self.throw(APDU_EXCEPTION, BAD_LENGTH),
        }
    }

    fn send_from_buffer(&mut self, offset: i32, count: i32) -> Step<(), H, C> {
        self.in_states(OUTGOING_LENGTH_KNOWN..=PARTIAL_OUTGOING)?;
        match (u16::try_from(offset), u16::try_from(count)) {
            (Ok(first), Ok(count)) if usize::from(first) + usize::from(count) <= APDU_BUFFER_BYTES => {
                self.send(Bytes { array: APDU_BUFFER, first, count })
            }
            _ => self.throw(APDU_EXCEPTION, BUFFER_BOUNDS),
        }
    }

    /// Appends to the answer. One that the host has no room for becomes none: the status word is 6F00 then.
    fn send(&mut self, from: Bytes) -> Step<(), H, C> {
        let count = usize::from(from.count);
        if self.session.sent + count > self.session.length {
            return self.throw(APDU_EXCEPTION, ILLEGAL_USE);
        }
        for offset in (0..from.count).step_by(32) {
            let (chunk, bytes) = self.chunk::<32>(from, offset)?;
            let start = self.session.sent + usize::from(offset);
            if let Some(place) = self.session.response.get_mut(start..start + bytes) {
                place.copy_from_slice(&chunk[..bytes]);
            }
        }
        self.session.sent += count;
        let is_full = self.session.sent == self.session.length;
        self.session.apdu_state = if is_full { FULL_OUTGOING } else { PARTIAL_OUTGOING };
        Ok(())
    }
}
