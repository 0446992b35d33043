//! Block traces: the text format of MQSim's traces, which others use, too.
//!
//! Each line is a request, with five numbers between spaces: time of arrival, device, first sector, sectors, and type
//! (0 for a write, 1 for a read). A sector has 512 bytes, as a page of the simulated part. A file whose name ends in
//! `.xz` is decompressed first.
//!
//! Only writes count here, in their order. Time and device are ignored, as all devices share one space of sectors.
//!
//! Invariant of a [`BlockTrace`]: it has a request, and no request is empty or leaves the numbers of 64 bits.

use std::fs;
use std::path::Path;

use crc::{CRC_32_ISO_HDLC, Crc};

use crate::error::JobError;

/// A write of consecutive sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The first.
    pub sector: u64,
    /// How many.
    pub sectors: u32,
}

impl Request {
    /// The pages of a device with `logical_pages` that the sectors fall on: a trace of a larger device is folded.
    pub fn pages(self, logical_pages: u32) -> impl Iterator<Item = u32> {
        let first = self.sector;
        (0..u64::from(self.sectors)).map(move |number| ((first + number) % u64::from(logical_pages)) as u32)
    }
}

/// The writes of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockTrace {
    requests: Vec<Request>,
}

/// What can be wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// It is not five numbers.
    #[error("line {line} is not five numbers (time, device, first sector, sectors, type): {text}")]
    Columns {
        /// Its number, from 1.
        line: usize,
        /// What it is.
        text: String,
    },
    /// It is neither a read nor a write.
    #[error("line {line} has type {kind}: 0 is a write, 1 a read")]
    Type {
        /// Its number, from 1.
        line: usize,
        /// The type.
        kind: u64,
    },
    /// It writes nothing, or beyond the numbers of 64 bits.
    #[error("line {line} is no request: {sectors} sectors from {sector} on")]
    Range {
        /// Its number, from 1.
        line: usize,
        /// The first sector.
        sector: u64,
        /// How many.
        sectors: u64,
    },
    /// There is no write in the trace.
    #[error("no writes")]
    Empty,
}

impl BlockTrace {
    /// Of these requests, of which there is one at least.
    pub fn new(requests: Vec<Request>) -> BlockTrace {
        assert!(!requests.is_empty(), "a trace has requests");
        BlockTrace { requests }
    }

    /// Reads the text of a trace.
    ///
    /// # Errors
    /// Names the first line that is none.
    pub fn parse(text: &str) -> Result<BlockTrace, TraceError> {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let writes = lines.filter_map(|(number, line)| write_of(number, line).transpose());
        let requests = writes.collect::<Result<Vec<Request>, TraceError>>()?;
        if requests.is_empty() { Err(TraceError::Empty) } else { Ok(BlockTrace { requests }) }
    }

    /// Reads a file, whose checksum is the one with which the job was made.
    ///
    /// # Errors
    /// Names the file and what is wrong with it.
    pub fn read(path: &Path, expected: u32) -> Result<BlockTrace, JobError> {
        let failed = |problem: String| JobError::Failed(format!("{}: {problem}", path.display()));
        let bytes = fs::read(path).map_err(|error| failed(error.to_string()))?;
        if checksum_of(&bytes) != expected {
            return Err(failed("has changed since the run began".to_owned()));
        }
        let plain = if path.extension().is_some_and(|extension| extension == "xz") {
            let mut plain = Vec::new();
            lzma_rs::xz_decompress(&mut &bytes[..], &mut plain)
                .map_err(|error| failed(format!("no xz file: {error}")))?;
            plain
        } else {
            bytes
        };
        let text = String::from_utf8(plain).map_err(|_| failed("no text".to_owned()))?;
        BlockTrace::parse(&text).map_err(|error| failed(error.to_string()))
    }

    /// The writes.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Sectors that it writes, those written twice counted twice.
    pub fn sectors(&self) -> u64 {
        self.requests.iter().map(|request| u64::from(request.sectors)).sum()
    }

    /// Its first requests, at most the given number of them if there is one.
    pub fn beginning(mut self, requests: Option<usize>) -> BlockTrace {
        self.requests.truncate(requests.unwrap_or(usize::MAX).max(1));
        self
    }
}

/// The write that a line is, `None` for a read.
fn write_of(line: usize, text: &str) -> Result<Option<Request>, TraceError> {
    let columns: Option<Vec<u64>> = text.split_whitespace().map(|column| column.parse().ok()).collect();
    let Some([_, _, sector, sectors, kind]) = columns.as_deref() else {
        return Err(TraceError::Columns { line, text: text.to_owned() });
    };
    let (sector, sectors) = (*sector, *sectors);
    let range = TraceError::Range { line, sector, sectors };
    match kind {
        0 => {
            let short = u32::try_from(sectors).ok().filter(|&sectors| sectors > 0);
            let sectors = short.filter(|_| sector.checked_add(sectors).is_some()).ok_or(range)?;
            Ok(Some(Request { sector, sectors }))
        }
        1 => Ok(None),
        &kind => Err(TraceError::Type { line, kind }),
    }
}

/// A checksum of a file, by which a job's parameters name its contents.
pub fn checksum(path: &Path) -> Option<u32> {
    fs::read(path).ok().map(|bytes| checksum_of(&bytes))
}

fn checksum_of(bytes: &[u8]) -> u32 {
    Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_read_and_wrong_lines_are_named() {
        let trace = BlockTrace::parse("938 4 264 16 0\n939 3 100 8 1\n\n940 0 7 1 0\n").unwrap();
        assert_eq!(trace.requests(), [Request { sector: 264, sectors: 16 }, Request { sector: 7, sectors: 1 }]);
        assert_eq!(trace.sectors(), 17);
        let message = |text: &str| BlockTrace::parse(text).unwrap_err().to_string();
        assert_eq!(
            message("1 2 3 4 0\n1 2 x 4 0"),
            "line 2 is not five numbers (time, device, first sector, sectors, type): 1 2 x 4 0"
        );
        assert!(message("1 2 3 4").starts_with("line 1 is not five numbers"));
        assert_eq!(message("1 2 3 4 7"), "line 1 has type 7: 0 is a write, 1 a read");
        assert_eq!(message("1 2 3 0 0"), "line 1 is no request: 0 sectors from 3 on");
        assert!(message("1 2 18446744073709551615 2 0").starts_with("line 1 is no request"));
        assert_eq!(message("1 2 3 4 1\n"), "no writes");
    }

    #[test]
    fn files_are_named_and_compared_with_their_checksum() {
        let directory = tempfile::tempdir().unwrap();
        let (plain, packed) = (directory.path().join("t.trace"), directory.path().join("t.trace.xz"));
        let text = b"1 2 30 4 0\n";
        fs::write(&plain, text).unwrap();
        let mut bytes = Vec::new();
        lzma_rs::xz_compress(&mut &text[..], &mut bytes).unwrap();
        fs::write(&packed, &bytes).unwrap();
        for path in [&plain, &packed] {
            let trace = BlockTrace::read(path, checksum(path).unwrap()).unwrap();
            assert_eq!(trace.requests(), [Request { sector: 30, sectors: 4 }]);
            let problem = BlockTrace::read(path, 1).unwrap_err().to_string();
            assert!(problem.contains("t.trace") && problem.contains("has changed"), "{problem}");
        }
        assert_eq!(checksum(&directory.path().join("nothing")), None);
    }

    #[test]
    fn a_larger_device_is_folded() {
        let pages: Vec<u32> = Request { sector: 98, sectors: 4 }.pages(100).collect();
        assert_eq!(pages, [98, 99, 0, 1]);
    }
}
