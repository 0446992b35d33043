//! T=1: its blocks carry whole APDUs, and vpcd hands over what they carried.

use crate::apdu::Command;
use crate::card_io::{CardIo, Power};

/// A card under T=1. What is no APDU is answered with 6700, and the card is not asked.
#[derive(Clone, Debug)]
pub struct T1<C> {
    card: C,
}

impl<C: CardIo> T1<C> {
    /// Puts the protocol in front of a card.
    pub const fn new(card: C) -> Self {
        T1 { card }
    }

    /// The card.
    pub fn into_inner(self) -> C {
        self.card
    }
}

impl<C: CardIo> CardIo for T1<C> {
    fn power(&mut self, power: Power) {
        self.card.power(power);
    }

    fn atr(&self) -> &[u8] {
        self.card.atr()
    }

    fn transmit(&mut self, command: &[u8], answer: &mut Vec<u8>) {
        match Command::parse(command) {
            Ok(_) => self.card.transmit(command, answer),
            Err(_) => answer.extend([0x67, 0x00]),
        }
    }
}
