//! Every number and layout of the protocol, and what is checked of them. Big-endian throughout.
//!
//! ```text
//! server  "NBDMAGIC" 8 · "IHAVEOPT" 8 · handshake flags 2
//! client  flags 4
//! client  "IHAVEOPT" 8 · option 4 · length 4 · data                       until it takes an export
//! server  0x3e889045565a9 8 · option 4 · reply type 4 · length 4 · data
//! client  0x25609513 4 · flags 2 · command 2 · cookie 8 · offset 8 · length 4 · data of a write
//! server  0x67446698 4 · error 4 · cookie 8 · data of a read
//! ```
//!
//! Invariant: nothing here reads, waits or allocates beyond what it is given.

/// Most bytes of a read or a write, and what is advertised.
pub const REQUEST_BYTES_MAX: u32 = 32 << 20;
/// Most bytes of an option's data that are looked at: the longest name of 4,096 bytes, and what GO says beside it.
pub const OPTION_BYTES_MAX: u32 = 64 << 10;
/// Bytes of a request's header.
pub const REQUEST_HEADER_BYTES: usize = 28;
/// Bytes of a reply's header.
pub const REPLY_HEADER_BYTES: usize = 16;
/// Bytes of an option's header.
pub const OPTION_HEADER_BYTES: usize = 16;
/// Zeros after the answer to EXPORT_NAME, for clients that did not ask to be spared.
pub const EXPORT_NAME_ZEROS: usize = 124;

const OPTION_MAGIC: [u8; 8] = *b"IHAVEOPT";
const OPTION_REPLY_MAGIC: u64 = 0x0003_E889_0455_65A9;
const REQUEST_MAGIC: u32 = 0x2560_9513;
const REPLY_MAGIC: u32 = 0x6744_6698;

const FIXED_NEWSTYLE: u16 = 1;
const NO_ZEROES: u16 = 2;

const HAS_FLAGS: u16 = 1;
const SEND_FLUSH: u16 = 1 << 2;
const SEND_FUA: u16 = 1 << 3;
const SEND_TRIM: u16 = 1 << 5;
const SEND_WRITE_ZEROES: u16 = 1 << 6;
const CAN_MULTI_CONN: u16 = 1 << 8;

/// What the export can do. Several connections see each other's writes, and a flush on one covers what was answered on
/// all: there is one store under one lock.
pub const TRANSMISSION_FLAGS: u16 = HAS_FLAGS | SEND_FLUSH | SEND_FUA | SEND_TRIM | SEND_WRITE_ZEROES | CAN_MULTI_CONN;

/// What ends a connection: the client does not speak the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Client flags that were not offered.
    #[error("client flags {0:#x}, of which 0x3 were offered")]
    ClientFlags(u32),
    /// An option without its magic.
    #[error("an option starts with {0:#x}, not with IHAVEOPT")]
    OptionMagic(u64),
    /// EXPORT_NAME of an export that there is not, to which the protocol has no answer.
    #[error("the client wants an export that there is not, by an option that knows no errors")]
    ExportName,
    /// A request without its magic.
    #[error("a request starts with {0:#x}, not with 0x25609513")]
    RequestMagic(u32),
    /// A write longer than is advertised.
    #[error("a write of {0} bytes; at most 33554432 are advertised")]
    WriteLength(u32),
}

/// The first bytes of the server.
pub fn greeting() -> [u8; 18] {
    let mut bytes = [0; 18];
    bytes[..8].copy_from_slice(b"NBDMAGIC");
    bytes[8..16].copy_from_slice(&OPTION_MAGIC);
    bytes[16..].copy_from_slice(&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    bytes
}

/// Whether zeros follow the answer to EXPORT_NAME.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// 124 of them.
    Zeros,
    /// None: the client knows better.
    None,
}

/// Reads the client's flags.
///
/// # Errors
/// [`Violation::ClientFlags`].
pub fn client_flags(bytes: [u8; 4]) -> Result<Padding, Violation> {
    let flags = u32::from_be_bytes(bytes);
    match flags & !u32::from(FIXED_NEWSTYLE | NO_ZEROES) {
        0 if flags & u32::from(NO_ZEROES) != 0 => Ok(Padding::None),
        0 => Ok(Padding::Zeros),
        _ => Err(Violation::ClientFlags(flags)),
    }
}

/// What a client asks for before it takes an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientOption {
    /// Take an export, the old way.
    ExportName,
    /// Leave.
    Abort,
    /// Name the exports.
    List,
    /// Describe an export.
    Info,
    /// Describe an export and take it.
    Go,
    /// Anything else: encryption, structured replies, metadata.
    Other(u32),
}

/// An option's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionHeader {
    /// Its number, to be repeated in replies.
    pub number: u32,
    /// Bytes of data that follow.
    pub len: u32,
}

impl OptionHeader {
    /// Reads a header.
    ///
    /// # Errors
    /// [`Violation::OptionMagic`].
    pub fn decode(bytes: &[u8; OPTION_HEADER_BYTES]) -> Result<Self, Violation> {
        let [m @ .., n0, n1, n2, n3, l0, l1, l2, l3] = *bytes;
        match m == OPTION_MAGIC {
            true => Ok(OptionHeader {
                number: u32::from_be_bytes([n0, n1, n2, n3]),
                len: u32::from_be_bytes([l0, l1, l2, l3]),
            }),
            false => Err(Violation::OptionMagic(u64::from_be_bytes(m))),
        }
    }

    /// Which option it is.
    pub const fn option(&self) -> ClientOption {
        match self.number {
            1 => ClientOption::ExportName,
            2 => ClientOption::Abort,
            3 => ClientOption::List,
            6 => ClientOption::Info,
            7 => ClientOption::Go,
            number => ClientOption::Other(number),
        }
    }
}

/// Information that INFO and GO can return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Info {
    /// Size and flags; always sent.
    Export = 0,
    /// The name.
    Name = 1,
    /// What it is.
    Description = 2,
    /// Least, preferred and largest length.
    BlockSize = 3,
}

/// The data of INFO and GO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoRequest<'a> {
    /// The export.
    pub name: &'a [u8],
    /// Kinds of information requested, two bytes each.
    wanted: &'a [u8],
}

impl<'a> InfoRequest<'a> {
    /// Reads name and numbers; `None` if lengths do not add up.
    pub fn decode(data: &'a [u8]) -> Option<Self> {
        let (len, rest) = data.split_first_chunk()?;
        let (name, rest) = rest.split_at_checked(u32::from_be_bytes(*len) as usize)?;
        let (count, wanted) = rest.split_first_chunk()?;
        (wanted.len() == 2 * usize::from(u16::from_be_bytes(*count))).then_some(InfoRequest { name, wanted })
    }

    /// Whether the client requests this.
    pub fn wants(&self, info: Info) -> bool {
        self.wanted.chunks_exact(2).any(|number| number == (info as u16).to_be_bytes())
    }
}

/// How an option is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum OptionReply {
    /// Done.
    Ack = 1,
    /// An export's name.
    Server = 2,
    /// Something of an export.
    Info = 3,
    /// The option is not supported.
    Unsupported = (1 << 31) + 1,
    /// The option's data makes no sense.
    Invalid = (1 << 31) + 3,
    /// There is no such export.
    Unknown = (1 << 31) + 6,
    /// The option's data is too long.
    TooBig = (1 << 31) + 9,
}

/// A reply to an option, whole.
pub fn option_reply(option: u32, reply: OptionReply, data: &[u8]) -> Vec<u8> {
    let mut bytes = OPTION_REPLY_MAGIC.to_be_bytes().to_vec();
    bytes.extend(option.to_be_bytes());
    bytes.extend((reply as u32).to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

/// What a client wants of the export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Bytes.
    Read,
    /// Bytes changed.
    Write,
    /// To leave.
    Disconnect,
    /// Durability.
    Flush,
    /// Bytes given up.
    Trim,
    /// Zeros.
    WriteZeroes,
    /// Anything else.
    Other(u16),
}

const FUA: u16 = 1;
const NO_HOLE: u16 = 2;

/// Numbers of errors in replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Errno {
    /// Reading or writing failed.
    Io = 5,
    /// The request makes no sense.
    Invalid = 22,
    /// No room.
    NoSpace = 28,
}

/// A request's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Flags, as they came.
    pub flags: u16,
    /// What is wanted.
    pub command: Command,
    /// Repeated in the reply.
    pub cookie: u64,
    /// From where on.
    pub at: u64,
    /// How many bytes.
    pub len: u32,
}

impl Request {
    /// Reads a header.
    ///
    /// # Errors
    /// [`Violation::RequestMagic`]; [`Violation::WriteLength`], because so much data is not read, and what follows it
    /// is not found.
    pub fn decode(bytes: &[u8; REQUEST_HEADER_BYTES]) -> Result<Self, Violation> {
        let number =
            |at: usize, len: usize| bytes[at..at + len].iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        let (magic, flags, command) = (number(0, 4) as u32, number(4, 2) as u16, number(6, 2) as u16);
        if magic != REQUEST_MAGIC {
            return Err(Violation::RequestMagic(magic));
        }
        let command = match command {
            0 => Command::Read,
            1 => Command::Write,
            2 => Command::Disconnect,
            3 => Command::Flush,
            4 => Command::Trim,
            6 => Command::WriteZeroes,
            other => Command::Other(other),
        };
        let request = Request { flags, command, cookie: number(8, 8), at: number(16, 8), len: number(24, 4) as u32 };
        match command == Command::Write && request.len > REQUEST_BYTES_MAX {
            true => Err(Violation::WriteLength(request.len)),
            false => Ok(request),
        }
    }

    /// Whether its effect is to be durable when it is answered.
    pub const fn is_forced(&self) -> bool {
        self.flags & FUA != 0
    }

    /// Whether zeros may be holes.
    pub const fn allows_holes(&self) -> bool {
        self.flags & NO_HOLE == 0
    }

    /// Refuses what cannot be done on an export of this size.
    ///
    /// # Errors
    /// What the reply says.
    pub fn check(&self, size_bytes: u64) -> Result<(), Errno> {
        let known = if self.command == Command::WriteZeroes { FUA | NO_HOLE } else { FUA };
        let within = self.at.checked_add(u64::from(self.len)).is_some_and(|end| end <= size_bytes);
        match self.command {
            Command::Other(_) => Err(Errno::Invalid),
            _ if self.flags & !known != 0 => Err(Errno::Invalid),
            Command::Flush if self.at != 0 || self.len != 0 => Err(Errno::Invalid),
            Command::Flush | Command::Disconnect => Ok(()),
            Command::Read if self.len > REQUEST_BYTES_MAX => Err(Errno::Invalid),
            Command::Read | Command::Trim if !within => Err(Errno::Invalid),
            Command::Write | Command::WriteZeroes if !within => Err(Errno::NoSpace),
            _ => Ok(()),
        }
    }
}

/// A reply's header.
pub fn reply_header(outcome: Result<(), Errno>, cookie: u64) -> [u8; REPLY_HEADER_BYTES] {
    let mut bytes = [0; REPLY_HEADER_BYTES];
    bytes[..4].copy_from_slice(&REPLY_MAGIC.to_be_bytes());
    bytes[4..8].copy_from_slice(&outcome.map_or_else(|error| error as u32, |()| 0).to_be_bytes());
    bytes[8..].copy_from_slice(&cookie.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_an_info_request_have_to_add_up() {
        let data = [0, 0, 0, 2, b'a', b'b', 0, 2, 0, 1, 0, 3];
        assert_eq!(InfoRequest::decode(&data).map(|request| request.name), Some(&b"ab"[..]));
        assert!((0..data.len()).all(|len| InfoRequest::decode(&data[..len]).is_none()));
        assert!(InfoRequest::decode(&[&data[..], &[0]].concat()).is_none());
        assert!(InfoRequest::decode(&[&data[..], &[0, 0]].concat()).is_none());
    }

    #[test]
    fn a_request_stays_within_the_export() {
        let request = |command, at, len| Request { flags: 0, command, cookie: 0, at, len }.check(4096);
        for (command, error) in [
            (Command::Read, Errno::Invalid),
            (Command::Trim, Errno::Invalid),
            (Command::Write, Errno::NoSpace),
            (Command::WriteZeroes, Errno::NoSpace),
        ] {
            assert_eq!(request(command, 4095, 1), Ok(()));
            for (at, len) in [(4096, 1), (4095, 2), (0, 4097), (u64::MAX, 1), (u64::MAX - 5, 6)] {
                assert_eq!(request(command, at, len), Err(error), "{command:?}, {len} at {at}");
            }
        }
    }
}
