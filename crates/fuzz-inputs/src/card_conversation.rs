//! A conversation with a card's reader, made from arbitrary bytes: it ends, or each message gets an answer.

use norn_card_transport::{CardIo, Command, Power, T0, T1, serve};

/// A card that answers a command with its data, or with as many bytes as P1 and P2 say.
struct Echo;

impl CardIo for Echo {
    fn power(&mut self, _: Power) {}

    fn atr(&self) -> &[u8] {
        &[0x3B, 0x80, 0x01, 0x81]
    }

    fn transmit(&mut self, command: &[u8], answer: &mut Vec<u8>) {
        let Ok(command) = Command::parse(command) else {
            answer.extend([0x67, 0x00]);
            return;
        };
        match command.header {
            [_, 2, high, low] => answer.resize(usize::from(u16::from_be_bytes([high, low])), 7),
            _ => answer.extend(command.data),
        }
        answer.extend([0x90, 0x00]);
    }
}

/// Plays what a reader sends, under the protocol that the first byte says.
///
/// # Panics
/// If an answer is no message, or has no status word.
pub fn play(bytes: &[u8]) {
    let Some((&protocol, sent)) = bytes.split_first() else { return };
    let mut told = Vec::new();
    let _ = match protocol & 1 {
        0 => serve(sent, &mut told, &mut T0::new(Echo)),
        _ => serve(sent, &mut told, &mut T1::new(Echo)),
    };
    let mut rest = &told[..];
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_be_bytes(*length));
        assert!(length >= 2 && length <= after.len(), "{told:02X?}");
        rest = &after[length..];
    }
    assert!(rest.is_empty(), "{told:02X?}");
}
