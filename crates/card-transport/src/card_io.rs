//! What a card looks like from its contacts.

/// What happens to a card's supply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// The supply is gone, in the middle of whatever the card did.
    Off,
    /// The supply is there: a cold reset.
    On,
    /// A warm reset.
    Reset,
}

/// A card that takes whole APDUs.
pub trait CardIo {
    /// Takes note of a change of the supply. A card without power is asked for nothing but its ATR.
    fn power(&mut self, power: Power);

    /// The answer to reset, 2 to 33 bytes.
    fn atr(&self) -> &[u8];

    /// Carries out a command and appends data and status word to `answer`. Any bytes may come as `command`, so that a
    /// card answers what is no APDU with a status word as well.
    fn transmit(&mut self, command: &[u8], answer: &mut Vec<u8>);
}

impl<C: CardIo + ?Sized> CardIo for &mut C {
    fn power(&mut self, power: Power) {
        C::power(self, power);
    }

    fn atr(&self) -> &[u8] {
        C::atr(self)
    }

    fn transmit(&mut self, command: &[u8], answer: &mut Vec<u8>) {
        C::transmit(self, command, answer);
    }
}
