//! What is said where the command is built without the feature `arrow`.

use std::io::Write;

use norn_sensor_log::Reading;

const ABSENT: &str = "Arrow files take a norn that is built with the feature arrow: \
                      `cargo build --release -p norn-cli --features arrow`";

/// Says what is missing.
pub fn read(_: Vec<u8>) -> Result<Vec<Reading>, String> {
    Err(ABSENT.to_owned())
}

/// Says what is missing.
pub fn write(_: impl Write, _: &[Reading]) -> Result<(), String> {
    Err(ABSENT.to_owned())
}
