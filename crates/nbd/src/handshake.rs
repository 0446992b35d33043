//! The handshake: greeting, flags, and options until the client takes the export or leaves.
//!
//! There is one export, whose name is empty. Options that are not known, and those for encryption, structured replies
//! and metadata, are refused by the protocol's error, after which a client does without them.
//!
//! Invariant: at most [`OPTION_BYTES_MAX`] bytes of an option are kept, whatever length it announces.

use std::io::{self, Read, Write};

use crate::end::{Broken, End};
use crate::export::Export;
use crate::wire::{
    self, ClientOption, EXPORT_NAME_ZEROS, Info, InfoRequest, OPTION_BYTES_MAX, OPTION_HEADER_BYTES, OptionHeader,
    OptionReply, Padding, REQUEST_BYTES_MAX, TRANSMISSION_FLAGS, Violation, option_reply,
};

const DESCRIPTION: &[u8] = b"a block device";

/// What came of a handshake.
pub(crate) enum Outcome {
    /// The client took the export: requests follow.
    Taken,
    /// It did not.
    Ended(End),
}

/// What an option leads to.
enum Next {
    Option,
    Take,
    Leave,
}

/// Shakes hands. The caller ensures that neither reader nor writer waits forever.
pub(crate) fn shake_hands<S>(
    reader: &mut impl Read,
    writer: &mut impl Write,
    export: &Export<S>,
) -> Result<Outcome, Broken> {
    writer.write_all(&wire::greeting())?;
    let mut flags = [0; 4];
    reader.read_exact(&mut flags)?;
    let padding = wire::client_flags(flags)?;
    loop {
        let mut header = [0; OPTION_HEADER_BYTES];
        reader.read_exact(&mut header)?;
        let header = OptionHeader::decode(&header)?;
        let Some(data) = read_data(reader, header.len)? else {
            if header.option() == ClientOption::ExportName {
                return Err(Violation::ExportName.into());
            }
            writer.write_all(&option_reply(header.number, OptionReply::TooBig, b"the option is too long"))?;
            continue;
        };
        let (answer, next) = export.answer(header, &data, padding)?;
        writer.write_all(&answer)?;
        match next {
            Next::Option => {}
            Next::Take => return Ok(Outcome::Taken),
            Next::Leave => return Ok(Outcome::Ended(End::Aborted)),
        }
    }
}

/// An option's data; `None` if it is too long, and passed over.
fn read_data(reader: &mut impl Read, len: u32) -> io::Result<Option<Vec<u8>>> {
    if len > OPTION_BYTES_MAX {
        let passed = io::copy(&mut reader.take(u64::from(len)), &mut io::sink())?;
        return if passed == u64::from(len) { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
    }
    let mut data = vec![0; len as usize];
    reader.read_exact(&mut data)?;
    Ok(Some(data))
}

impl<S> Export<S> {
    /// What is said to an option, and what is next.
    fn answer(&self, header: OptionHeader, data: &[u8], padding: Padding) -> Result<(Vec<u8>, Next), Violation> {
        let reply = |reply, text: &[u8]| option_reply(header.number, reply, text);
        let ack = || reply(OptionReply::Ack, b"");
        Ok(match header.option() {
            ClientOption::ExportName if data.is_empty() => (self.described_the_old_way(padding), Next::Take),
            ClientOption::ExportName => return Err(Violation::ExportName),
            ClientOption::Abort => (ack(), Next::Leave),
            ClientOption::List if data.is_empty() => {
                let mut answer = reply(OptionReply::Server, &0u32.to_be_bytes());
                answer.extend(ack());
                (answer, Next::Option)
            }
            ClientOption::List => (reply(OptionReply::Invalid, b"LIST has no data"), Next::Option),
            option @ (ClientOption::Info | ClientOption::Go) => match InfoRequest::decode(data) {
                None => (reply(OptionReply::Invalid, b"lengths do not add up"), Next::Option),
                Some(request) if !request.name.is_empty() => {
                    (reply(OptionReply::Unknown, b"the only export has the empty name"), Next::Option)
                }
                Some(request) => {
                    let mut answer = self.described(header.number, &request);
                    answer.extend(ack());
                    (answer, if option == ClientOption::Go { Next::Take } else { Next::Option })
                }
            },
            ClientOption::Other(_) => (reply(OptionReply::Unsupported, b"not supported"), Next::Option),
        })
    }

    fn described_the_old_way(&self, padding: Padding) -> Vec<u8> {
        let mut answer = self.size_bytes.to_be_bytes().to_vec();
        answer.extend(TRANSMISSION_FLAGS.to_be_bytes());
        if padding == Padding::Zeros {
            answer.extend([0; EXPORT_NAME_ZEROS]);
        }
        answer
    }

    /// A reply for each piece of information.
    fn described(&self, option: u32, request: &InfoRequest<'_>) -> Vec<u8> {
        let mut answer = Vec::new();
        let mut tell = |info: Info, text: &[&[u8]]| {
            let mut data = (info as u16).to_be_bytes().to_vec();
            data.extend(text.concat());
            answer.extend(option_reply(option, OptionReply::Info, &data));
        };
        tell(Info::Export, &[&self.size_bytes.to_be_bytes(), &TRANSMISSION_FLAGS.to_be_bytes()]);
        if request.wants(Info::Name) {
            tell(Info::Name, &[]);
        }
        if request.wants(Info::Description) {
            tell(Info::Description, &[DESCRIPTION]);
        }
        if request.wants(Info::BlockSize) {
            // Any length will do: what does not fill a page is read, changed and written.
            let sizes = [1, self.preferred_bytes, REQUEST_BYTES_MAX].map(u32::to_be_bytes);
            tell(Info::BlockSize, &[&sizes.concat()]);
        }
        answer
    }
}
