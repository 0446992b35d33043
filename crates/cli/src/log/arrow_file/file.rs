//! A table with the columns `timestamp`, in seconds and UTC, and `value`: written as one, read wherever they are among
//! other columns.

use std::io::{Cursor, Write};
use std::sync::Arc;

use arrow_array::{Float64Array, RecordBatch, TimestampSecondArray};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use norn_sensor_log::Reading;

use crate::log::arrow_file::columns::{Columns, TIMESTAMP, VALUE};

/// Readings of a record batch.
const BATCH: usize = 1 << 16;

fn text(error: ArrowError) -> String {
    format!("no Arrow IPC file that can be read: {error}")
}

/// The readings of a file's bytes, in its order.
///
/// # Errors
/// Says what is wrong with the file, and in which row.
pub fn read(bytes: Vec<u8>) -> Result<Vec<Reading>, String> {
    let file = FileReader::try_new(Cursor::new(bytes), None).map_err(text)?;
    let mut readings = Vec::new();
    for batch in file {
        let batch = batch.map_err(text)?;
        let columns = Columns::of(&batch)?;
        let before = readings.len();
        for row in 0..batch.num_rows() {
            let reading = columns.reading(row);
            readings.push(reading.map_err(|problem| format!("row {}: {problem}", before + row + 1))?);
        }
    }
    Ok(readings)
}

fn schema() -> Schema {
    let timestamp = DataType::Timestamp(TimeUnit::Second, Some("UTC".into()));
    Schema::new(vec![Field::new(TIMESTAMP, timestamp, false), Field::new(VALUE, DataType::Float64, false)])
}

/// Writes readings as a file.
///
/// # Errors
/// When it cannot be written.
pub fn write(out: impl Write, readings: &[Reading]) -> Result<(), String> {
    let schema = Arc::new(schema());
    let written = FileWriter::try_new(out, &schema).and_then(|mut writer| {
        for readings in readings.chunks(BATCH) {
            let times: TimestampSecondArray = readings.iter().map(|reading| Some(i64::from(reading.at))).collect();
            let values: Float64Array = readings.iter().map(|reading| Some(f64::from(reading.milli) / 1e3)).collect();
            let columns = vec![Arc::new(times.with_timezone("UTC")) as _, Arc::new(values) as _];
            writer.write(&RecordBatch::try_new(schema.clone(), columns)?)?;
        }
        writer.finish()
    });
    written.map_err(|error| error.to_string())
}
