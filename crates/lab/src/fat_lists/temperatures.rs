//! The temperatures of the Intel Berkeley Research Lab, which a user brings along with `--data`: hundredths of a degree
//! as 16-bit integers, little-endian, compressed as xz.

use std::path::Path;

use crate::error::JobError;
use crate::experiment::data_file;
use crate::settings::Settings;

/// The file's name in the directory of `--data`.
pub const FILE: &str = "intel-lab-temperature-centidegrees-i16le.xz";

/// A checksum of the file, if it exists, on which the result of a job depends; and how many readings it has.
pub fn find(settings: &Settings) -> Option<(u64, u32)> {
    let bytes = std::fs::read(data_file(settings, FILE)?).ok()?;
    let checksum = fnv1a(&bytes);
    // What is no file of readings is named by the job that reads it.
    let readings = read(settings.data.as_deref(), checksum).map_or(0, |readings| readings.len());
    Some((checksum, readings.try_into().ok()?))
}

/// The readings, in the order of the file.
///
/// # Errors
/// If the file is not there, not the one of the checksum, or no whole number of readings.
pub fn read(directory: Option<&Path>, expected: u64) -> Result<Vec<i16>, JobError> {
    let path = directory.ok_or_else(|| JobError::Failed("no directory of data".to_owned()))?.join(FILE);
    let failed = |problem: String| JobError::Failed(format!("{}: {problem}", path.display()));
    let bytes = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
    if fnv1a(&bytes) != expected {
        return Err(failed("has changed since the run began".to_owned()));
    }
    let mut plain = Vec::new();
    lzma_rs::xz_decompress(&mut &bytes[..], &mut plain).map_err(|error| failed(format!("no xz file: {error}")))?;
    if plain.is_empty() || plain.len() % 2 != 0 {
        return Err(failed(format!("{} bytes are not readings of two bytes each", plain.len())));
    }
    Ok(plain.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect())
}

fn fnv1a(bytes: &[u8]) -> u64 {
    // Kept below 2⁵³, so that every reader of JSON sees the same number.
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    hash >> 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_come_back_and_what_is_no_file_of_them_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let write = |plain: &[u8]| {
            let mut packed = Vec::new();
            lzma_rs::xz_compress(&mut &plain[..], &mut packed).unwrap();
            std::fs::write(directory.path().join(FILE), &packed).unwrap();
            fnv1a(&packed)
        };
        let problem = |checksum| read(Some(directory.path()), checksum).unwrap_err().to_string();
        assert!(problem(0).contains(FILE), "a file that is not there is named");
        let checksum = write(&[0x34, 0x12, 0xFF, 0xFF]);
        assert_eq!(read(Some(directory.path()), checksum).unwrap(), [0x1234, -1]);
        assert!(problem(checksum + 1).contains("has changed"));
        assert!(problem(write(&[1, 2, 3])).contains("3 bytes are not readings"));
        std::fs::write(directory.path().join(FILE), b"text").unwrap();
        assert!(problem(fnv1a(b"text")).contains("no xz file"));
    }
}
