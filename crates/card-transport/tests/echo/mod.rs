//! A card that answers a command with its own data, and counts what happens to its supply.

use norn_card_transport::{CardIo, Command, Power};

/// Answers with this many bytes, whatever is expected: P1 and P2.
pub const AS_MANY: u8 = 0x02;
/// Answers with the counts of power off, power on and resets.
pub const COUNTS: u8 = 0x50;

/// The card.
pub struct Echo {
    pub atr: &'static [u8],
    pub counts: [u8; 3],
    pub commands: Vec<Vec<u8>>,
}

impl Echo {
    pub fn new(atr: &'static [u8]) -> Self {
        Echo { atr, counts: [0; 3], commands: Vec::new() }
    }
}

/// Bytes that tell their places.
pub fn pattern(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at % 251) as u8).collect()
}

impl CardIo for Echo {
    fn power(&mut self, power: Power) {
        let place = match power {
            Power::Off => 0,
            Power::On => 1,
            Power::Reset => 2,
        };
        self.counts[place] = self.counts[place].wrapping_add(1);
    }

    fn atr(&self) -> &[u8] {
        self.atr
    }

    fn transmit(&mut self, bytes: &[u8], answer: &mut Vec<u8>) {
        self.commands.push(bytes.to_vec());
        let Ok(command) = Command::parse(bytes) else {
            answer.extend([0x67, 0x00]);
            return;
        };
        match command.header[1] {
            AS_MANY => answer.extend(pattern(usize::from(u16::from_be_bytes([command.header[2], command.header[3]])))),
            COUNTS => answer.extend(self.counts),
            _ if command.expected.is_some() => answer.extend(command.data),
            _ => {}
        }
        answer.extend([0x90, 0x00]);
    }
}
