//! Instruction-fetch traces: records of sequential runs, in the order of execution.
//!
//! A record has 8 bytes, little-endian: offset in the code section (4), length in bytes (2), instructions (2).
//!
//! Invariant of a [`Trace`]: no run is empty, and each ends at or before `code_bytes`.

use std::fs;
use std::io::Read;
use std::path::Path;

use crc::{CRC_32_ISO_HDLC, Crc};

use crate::error::JobError;

const RECORD_BYTES: usize = 8;

/// Instructions that were executed one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first byte, counted from the start of the code.
    pub address: u32,
    /// Bytes of the instructions.
    pub bytes: u16,
    /// Instructions.
    pub instructions: u16,
}

impl Run {
    /// The byte after the last.
    pub fn end(&self) -> u32 {
        self.address + u32::from(self.bytes)
    }
}

/// A trace of a program.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What was executed.
    pub runs: Vec<Run>,
    /// Bytes of the code: the end of the furthest run.
    pub code_bytes: u32,
}

/// What can be wrong with a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// The last record is not whole.
    #[error("truncated: {bytes} bytes are not whole records of {RECORD_BYTES}")]
    Truncated {
        /// Bytes of all records.
        bytes: usize,
    },
    /// The trace has no records.
    #[error("no records")]
    Empty,
    /// A run has no bytes, or leaves the addresses of 32 bits.
    #[error("record {record} is not a run of code: {bytes} bytes at {address:#x}")]
    NoRun {
        /// Its number.
        record: usize,
        /// Its address.
        address: u32,
        /// Its length.
        bytes: u16,
    },
}

impl Trace {
    /// A trace of these runs.
    ///
    /// # Errors
    /// If there are none, or one of them is none.
    pub fn new(runs: Vec<Run>) -> Result<Trace, TraceError> {
        let wrong = runs.iter().position(|run| run.bytes == 0 || run.address.checked_add(run.bytes.into()).is_none());
        if let Some(record) = wrong {
            let Run { address, bytes, .. } = runs[record];
            return Err(TraceError::NoRun { record, address, bytes });
        }
        let code_bytes = runs.iter().map(Run::end).max().ok_or(TraceError::Empty)?;
        Ok(Trace { runs, code_bytes })
    }

    /// Decodes records.
    ///
    /// # Errors
    /// Says what is wrong with them.
    pub fn decode(bytes: &[u8]) -> Result<Trace, TraceError> {
        if !bytes.len().is_multiple_of(RECORD_BYTES) {
            return Err(TraceError::Truncated { bytes: bytes.len() });
        }
        let half = |record: &[u8], at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
        let run = |record: &[u8]| Run {
            address: u32::from(half(record, 0)) | u32::from(half(record, 2)) << 16,
            bytes: half(record, 4),
            instructions: half(record, 6),
        };
        Trace::new(bytes.chunks_exact(RECORD_BYTES).map(run).collect())
    }

    /// Encodes records.
    pub fn encode(&self) -> Vec<u8> {
        let record = |run: &Run| {
            let mut bytes = [0; RECORD_BYTES];
            bytes[..4].copy_from_slice(&run.address.to_le_bytes());
            bytes[4..6].copy_from_slice(&run.bytes.to_le_bytes());
            bytes[6..].copy_from_slice(&run.instructions.to_le_bytes());
            bytes
        };
        self.runs.iter().flat_map(record).collect()
    }

    /// Compresses records with zstd.
    pub fn compress(records: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(records, ruzstd::encoding::CompressionLevel::Fastest)
    }

    /// Reads a file of records, compressed with zstd if its name ends so.
    ///
    /// # Errors
    /// Names the file and what is wrong with it.
    pub fn read(path: &Path) -> Result<Trace, JobError> {
        let failed = |error: &dyn std::fmt::Display| JobError::Failed(format!("{}: {error}", path.display()));
        let not_whole = |error: &dyn std::fmt::Display| failed(&format!("truncated or no zstd file: {error}"));
        let mut bytes = fs::read(path).map_err(|error| failed(&error))?;
        if path.extension().is_some_and(|extension| extension == "zst") {
            let mut decoder = ruzstd::decoding::StreamingDecoder::new(&bytes[..]).map_err(|error| not_whole(&error))?;
            let mut plain = Vec::new();
            decoder.read_to_end(&mut plain).map_err(|error| not_whole(&error))?;
            bytes = plain;
        }
        Trace::decode(&bytes).map_err(|error| failed(&error))
    }

    /// Bytes executed.
    pub fn executed_bytes(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.bytes)).sum()
    }

    /// The first part of the runs, in thousandths, and the rest.
    pub fn split(&self, thousandths: u32) -> (Trace, Trace) {
        let (first, rest) = self.runs.split_at((self.runs.len() as u64 * u64::from(thousandths) / 1000) as usize);
        let part = |runs: &[Run]| Trace { runs: runs.to_vec(), code_bytes: self.code_bytes };
        (part(first), part(rest))
    }
}

/// A checksum of a file, by which a job's parameters name its contents.
pub fn checksum(path: &Path) -> Option<u32> {
    fs::read(path).ok().map(|bytes| Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_encoding_and_damage_is_named() {
        let run = |address, bytes| Run { address, bytes, instructions: 3 };
        let trace = Trace::new(vec![run(0x12345, 7), run(4, 900)]).unwrap();
        assert_eq!((trace.code_bytes, trace.executed_bytes()), (0x1234C, 907));
        let bytes = trace.encode();
        assert_eq!(Trace::decode(&bytes).unwrap().runs, trace.runs);
        let message = |bytes: &[u8]| Trace::decode(bytes).unwrap_err().to_string();
        assert_eq!(message(&bytes[..15]), "truncated: 15 bytes are not whole records of 8");
        assert_eq!(message(&[]), "no records");
        assert_eq!(message(&[0; 8]), "record 0 is not a run of code: 0 bytes at 0x0");
        assert_eq!(message(&[0xFF; 8]), "record 0 is not a run of code: 65535 bytes at 0xffffffff");
    }

    fn made_up_bytes() -> Vec<u8> {
        crate::paging::source::made_up(1, 5000).encode()
    }

    #[test]
    fn a_truncated_file_is_named() {
        let directory = tempfile::tempdir().unwrap();
        for (name, bytes) in [("t.runs", &[1u8, 2, 3][..]), ("t.runs.zst", &[0x28, 0xB5, 0x2F, 0xFD, 0][..])] {
            let path = directory.path().join(name);
            fs::write(&path, bytes).unwrap();
            let error = Trace::read(&path).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("truncated"), "{error}");
        }
        let whole = made_up_bytes();
        let path = directory.path().join("whole.runs.zst");
        fs::write(&path, Trace::compress(&whole)).unwrap();
        assert_eq!(Trace::read(&path).unwrap().encode(), whole);
        assert!(fs::metadata(&path).unwrap().len() < whole.len() as u64 / 2);
        assert!(Trace::read(Path::new("/nowhere.runs")).unwrap_err().to_string().starts_with("/nowhere.runs: "));
    }
}
