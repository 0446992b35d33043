//! A card as a reader sees it.

use norn_card_transport::{CardIo, Power};

use crate::card::CardImage;
use crate::failure::CardFailure;

/// Bytes of the longest answer: data and status word.
const ANSWER_MAX: usize = 32_767 + 2;

/// A card in a reader. A command in which a memory fails is not answered with 9000, and the card is reset.
#[derive(Debug)]
pub struct ServedCard {
    card: CardImage,
    atr: Vec<u8>,
    is_powered: bool,
    /// Why the card stopped answering.
    failure: Option<CardFailure>,
}

impl ServedCard {
    /// A card with an answer to reset.
    #[must_use]
    pub fn new(card: CardImage, atr: &[u8]) -> Self {
        ServedCard { card, atr: atr.to_vec(), is_powered: false, failure: None }
    }

    /// The card.
    pub fn card(&mut self) -> &mut CardImage {
        &mut self.card
    }

    /// Why the card stopped answering, if it did.
    pub fn take_failure(&mut self) -> Option<CardFailure> {
        self.failure.take()
    }
}

impl CardIo for ServedCard {
    fn power(&mut self, power: Power) {
        self.is_powered = power != Power::Off;
        if self.is_powered
            && let Err(failure) = self.card.reset()
        {
            self.is_powered = false;
            self.failure = Some(failure);
        }
    }

    fn atr(&self) -> &[u8] {
        &self.atr
    }

    fn transmit(&mut self, command: &[u8], answer: &mut Vec<u8>) {
        let mut response = vec![0; ANSWER_MAX];
        match self.card.send(command, &mut response) {
            Ok(length) if self.is_powered => answer.extend(&response[..length]),
            Ok(_) => answer.extend([0x6F, 0x00]),
            Err(failure) => {
                answer.extend([0x6F, 0x00]);
                self.is_powered = false;
                self.failure = Some(failure);
            }
        }
    }
}
