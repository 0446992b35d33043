//! T=0 in front of a card that takes whole APDUs.
//!
//! A command under T=0 is a header, P3, and data in one direction (ISO/IEC 7816-3, 12.2):
//!
//! | P3, data | to the card | from the card |
//! |---|---|---|
//! | none | case 1 | the status word |
//! | P3 is Le | case 2 | as many bytes as Le; 6Cxx if there are fewer, 61xx after them if there are more |
//! | P3 is Lc | case 4, Le 00 | the status word; 61xx if there are data |
//! | GET RESPONSE, data wait | nothing | as many bytes as Le; 6Cxx and 61xx as above |
//! | the same header after 6Cxx, another Le | nothing | what waits |
//! | ENVELOPE with a part of an extended command | the command, once it is whole | 9000 for a part; for the whole, as case 4 |
//!
//! An extended command in parts is whole as soon as it is one: no part ends between its lengths and its data, nor
//! between its data and its Le. Any other command while data wait discards them. A card that sends 61xx or 6Cxx itself,
//! without data, is left alone.
//!
//! The command is carried out before 6Cxx is answered, where a card with contacts waits for the right length first: the
//! applet does not see a reader that goes on with something else.

use crate::apdu::{Command, Malformed};
use crate::card_io::{CardIo, Power};

const GET_RESPONSE: u8 = 0xC0;
const ENVELOPE: [u8; 4] = [0x00, 0xC2, 0x00, 0x00];
const SUCCESS: [u8; 2] = [0x90, 0x00];
const WRONG_LENGTH: [u8; 2] = [0x67, 0x00];

/// An answer of which something is still to be fetched.
#[derive(Clone, Debug)]
struct Waiting {
    /// The header of the command, which after 6Cxx comes again.
    header: [u8; 4],
    data: Vec<u8>,
    /// How many of the data are sent.
    sent: usize,
    status: [u8; 2],
}

/// A card under T=0. RAM: an answer that waits, and an extended command that comes in parts, 64 KiB each at most.
#[derive(Clone, Debug)]
pub struct T0<C> {
    card: C,
    waiting: Option<Waiting>,
    envelope: Vec<u8>,
}

impl<C: CardIo> T0<C> {
    /// Puts the protocol in front of a card.
    pub const fn new(card: C) -> Self {
        T0 { card, waiting: None, envelope: Vec::new() }
    }

    /// The card.
    pub fn into_inner(self) -> C {
        self.card
    }

    /// Asks the card. The answer waits as a whole.
    fn ask(&mut self, header: [u8; 4], command: &[u8]) -> Waiting {
        let mut data = Vec::new();
        self.card.transmit(command, &mut data);
        let status = data.split_off(data.len().saturating_sub(2));
        let status = status.try_into().unwrap_or([0x6F, 0x00]);
        Waiting { header, data, sent: 0, status }
    }

    /// Sends as many bytes as Le says, or says how many there are.
    fn send(&mut self, mut waiting: Waiting, le: u8, answer: &mut Vec<u8>) {
        let expected = crate::apdu::short_expected(le) as usize;
        let rest = &waiting.data[waiting.sent..];
        if rest.is_empty() {
            answer.extend(waiting.status);
        } else if rest.len() < expected {
            answer.extend([0x6C, rest.len() as u8]);
            self.waiting = Some(waiting);
        } else if rest.len() == expected {
            answer.extend(rest);
            answer.extend(waiting.status);
        } else {
            answer.extend(&rest[..expected]);
            waiting.sent += expected;
            self.announce(waiting, answer);
        }
    }

    /// Says that data wait, 61xx, where 00 is 256 or more.
    fn announce(&mut self, waiting: Waiting, answer: &mut Vec<u8>) {
        match waiting.data.len() - waiting.sent {
            0 => answer.extend(waiting.status),
            rest => {
                answer.extend([0x61, u8::try_from(rest).unwrap_or(0)]);
                self.waiting = Some(waiting);
            }
        }
    }

    fn fetch(&mut self, header: [u8; 4], le: u8, answer: &mut Vec<u8>) -> bool {
        let fits = |waiting: &Waiting| header[1] == GET_RESPONSE || (waiting.sent == 0 && waiting.header == header);
        let Some(waiting) = self.waiting.take_if(|waiting| fits(waiting)) else {
            return false;
        };
        self.send(waiting, le, answer);
        true
    }

    /// Whether an envelope's data are, or go on with, an extended command.
    fn is_part(&self, header: [u8; 4], data: &[u8]) -> bool {
        header == ENVELOPE && (!self.envelope.is_empty() || (data.len() > 4 && data[4] == 0))
    }

    fn take_part(&mut self, data: &[u8], answer: &mut Vec<u8>) {
        self.envelope.extend(data);
        match Command::parse(&self.envelope) {
            Err(Malformed::Short(_)) => answer.extend(SUCCESS),
            Ok(command) => {
                let header = command.header;
                let whole = std::mem::take(&mut self.envelope);
                let waiting = self.ask(header, &whole);
                self.announce(waiting, answer);
            }
            Err(_) => {
                self.envelope.clear();
                answer.extend(WRONG_LENGTH);
            }
        }
    }

    fn command_with_data(&mut self, header: [u8; 4], command: &[u8], answer: &mut Vec<u8>) {
        self.waiting = None;
        if self.is_part(header, &command[5..]) {
            self.take_part(&command[5..], answer);
        } else {
            self.envelope.clear();
            let waiting = self.ask(header, &[command, &[0]].concat());
            self.announce(waiting, answer);
        }
    }
}

impl<C: CardIo> CardIo for T0<C> {
    fn power(&mut self, power: Power) {
        self.waiting = None;
        self.envelope.clear();
        self.card.power(power);
    }

    fn atr(&self) -> &[u8] {
        self.card.atr()
    }

    fn transmit(&mut self, command: &[u8], answer: &mut Vec<u8>) {
        let Some((&header, rest)) = command.split_first_chunk::<4>() else {
            answer.extend(WRONG_LENGTH);
            return;
        };
        match *rest {
            [le] if self.fetch(header, le, answer) => {}
            [] | [_] => {
                self.waiting = None;
                self.envelope.clear();
                let waiting = self.ask(header, command);
                match rest {
                    [le] => self.send(waiting, *le, answer),
                    _ => self.announce(waiting, answer),
                }
            }
            [lc, ref data @ ..] if data.len() == usize::from(lc) => self.command_with_data(header, command, answer),
            _ => answer.extend(WRONG_LENGTH),
        }
    }
}
