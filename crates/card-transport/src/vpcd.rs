//! One conversation with vpcd: messages in, answers out.
//!
//! A message is its length, two bytes, the most significant first, and that many bytes. One byte is a control: 0 power
//! off, 1 power on, 2 reset, 4 the ATR is asked for, which alone is answered. Longer messages are commands; each is
//! answered with one message.

use std::io::{self, ErrorKind, Read, Write};

use thiserror::Error;

use crate::card_io::{CardIo, Power};

/// Bytes of the longest message.
pub const MESSAGE_MAX: usize = 65_535;

const OFF: u8 = 0;
const ON: u8 = 1;
const RESET: u8 = 2;
const ATR: u8 = 4;

/// The answer where the card has no power, or more to say than a message holds.
const NO_PRECISE_REASON: [u8; 2] = [0x6F, 0x00];

/// How a conversation ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The peer closed the connection between two messages.
    Closed,
}

/// Why a conversation broke off.
#[derive(Debug, Error)]
pub enum VpcdError {
    /// The peer closed the connection, or was silent for too long, within a message.
    #[error("a message of {announced} bytes broke off after {arrived}: {source}")]
    BrokenOff {
        /// Bytes of the message, its length included.
        announced: usize,
        /// Bytes that arrived.
        arrived: usize,
        /// What reading said.
        source: io::Error,
    },
    /// Reading or writing failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
}

/// Serves a card until the peer goes away. The card is without power before and after.
///
/// A control that is none of those above, and a message of no bytes, are passed over.
///
/// # Errors
///
/// [`VpcdError`]. The card is without power then, too: it was pulled out.
pub fn serve<C: CardIo>(mut from: impl Read, mut to: impl Write, card: &mut C) -> Result<Ended, VpcdError> {
    let ended = converse(&mut from, &mut to, card);
    card.power(Power::Off);
    ended
}

fn converse<C: CardIo>(from: &mut impl Read, to: &mut impl Write, card: &mut C) -> Result<Ended, VpcdError> {
    let mut message = Vec::new();
    let mut answer = Vec::new();
    let mut powered = false;
    while receive(from, &mut message)? {
        answer.clear();
        match message[..] {
            [] => continue,
            [ATR] => answer.extend(card.atr()),
            [control] => {
                if let Some(power) = power(control) {
                    powered = power != Power::Off;
                    card.power(power);
                }
                continue;
            }
            _ if powered => card.transmit(&message, &mut answer),
            _ => answer.extend(NO_PRECISE_REASON),
        }
        send(to, &mut answer)?;
    }
    Ok(Ended::Closed)
}

fn power(control: u8) -> Option<Power> {
    match control {
        OFF => Some(Power::Off),
        ON => Some(Power::On),
        RESET => Some(Power::Reset),
        _ => None,
    }
}

/// Reads a message. False where the peer closed the connection before it.
fn receive(from: &mut impl Read, message: &mut Vec<u8>) -> Result<bool, VpcdError> {
    let mut length = [0; 2];
    if !read_first(from, &mut length[..1])? {
        return Ok(false);
    }
    read_rest(from, &mut length[1..], 2, 1)?;
    let length = usize::from(u16::from_be_bytes(length));
    message.resize(length, 0);
    read_rest(from, message, length + 2, 2)?;
    Ok(true)
}

/// Reads the byte that a message begins with, however long the peer is silent.
fn read_first(from: &mut impl Read, byte: &mut [u8]) -> Result<bool, VpcdError> {
    loop {
        match from.read(byte) {
            Ok(count) => return Ok(count != 0),
            Err(error) if is_silence(&error) || error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn read_rest(from: &mut impl Read, bytes: &mut [u8], announced: usize, before: usize) -> Result<(), VpcdError> {
    let mut count = 0;
    while count < bytes.len() {
        let source = match from.read(&mut bytes[count..]) {
            Ok(0) => ErrorKind::UnexpectedEof.into(),
            Ok(more) => {
                count += more;
                continue;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => error,
        };
        return Err(VpcdError::BrokenOff { announced, arrived: before + count, source });
    }
    Ok(())
}

/// Sends an answer as one write: vpcd waits for its length and its bytes apart.
fn send(to: &mut impl Write, answer: &mut Vec<u8>) -> Result<(), VpcdError> {
    if answer.len() > MESSAGE_MAX {
        answer.clear();
        answer.extend(NO_PRECISE_REASON);
    }
    let length = (answer.len() as u16).to_be_bytes();
    to.write_all(&[&length, &answer[..]].concat())?;
    to.flush()?;
    Ok(())
}
