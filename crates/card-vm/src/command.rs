//! The cases of a command APDU, as applets see them.

/// A command, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Command<'a> {
    /// CLA, INS, P1, P2.
    pub header: [u8; 4],
    /// The data.
    pub data: &'a [u8],
    /// How many bytes of answer are expected at most; none where the command does not say.
    pub expected: Option<u16>,
    /// Whether its lengths are extended.
    pub is_extended: bool,
}

/// 6700: what is no command, or an extended one for an applet that takes none.
pub(crate) const WRONG_LENGTH: u16 = 0x6700;

/// Le of an extended command at most, as applets see it.
const EXTENDED_MAX: u16 = i16::MAX as u16;

impl<'a> Command<'a> {
    /// The command of a run without one, as an installation is.
    pub fn none() -> Command<'static> {
        Command { header: [0; 4], data: &[], expected: None, is_extended: false }
    }

    /// Takes a command apart; none where its lengths are wrong.
    pub fn parse(bytes: &'a [u8]) -> Option<Command<'a>> {
        let (header, rest) = bytes.split_first_chunk::<4>()?;
        let command = Command { header: *header, ..Command::none() };
        match *rest {
            [] => Some(command),
            [le] => Some(Command { expected: Some(short(le)), ..command }),
            [0, high, low] => Some(Command { expected: Some(extended([high, low])), is_extended: true, ..command }),
            [0, high, low, ref after @ ..] => {
                let length = usize::from(u16::from_be_bytes([high, low]));
                let (data, le) = after.split_at_checked(length).filter(|(data, _)| !data.is_empty())?;
                let expected = match *le {
                    [] => None,
                    [high, low] => Some(extended([high, low])),
                    _ => return None,
                };
                Some(Command { data, expected, is_extended: true, ..command })
            }
            [0, _] => None,
            [length, ref after @ ..] => {
                let (data, le) = after.split_at_checked(length.into())?;
                let expected = match *le {
                    [] => None,
                    [le] => Some(short(le)),
                    _ => return None,
                };
                Some(Command { data, expected, ..command })
            }
        }
    }
}

/// An Le of one byte; 00 is 256.
fn short(le: u8) -> u16 {
    if le == 0 { 256 } else { le.into() }
}

/// An Le of two bytes; 0000 and what a short cannot say are 32,767.
fn extended(le: [u8; 2]) -> u16 {
    match u16::from_be_bytes(le) {
        0 => EXTENDED_MAX,
        le => le.min(EXTENDED_MAX),
    }
}
