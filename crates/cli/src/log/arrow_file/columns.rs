//! The two columns of a record batch that make readings, of whatever numbers they are.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use norn_sensor_log::Reading;

use crate::log::milli::Milli;
use crate::log::moment::of_seconds;

/// The name of the column with times.
pub const TIMESTAMP: &str = "timestamp";
/// The name of the column with values.
pub const VALUE: &str = "value";

/// A batch's columns.
pub struct Columns<'a> {
    timestamp: &'a dyn Array,
    value: &'a dyn Array,
}

impl<'a> Columns<'a> {
    /// Those of `batch`.
    ///
    /// # Errors
    /// When there is none of a name, or of a type that is not read.
    pub fn of(batch: &'a RecordBatch) -> Result<Columns<'a>, String> {
        let column = |name: &str| match batch.column_by_name(name) {
            Some(column) => Ok(column.as_ref()),
            None => Err(format!("there is no column {name:?}; a log takes {TIMESTAMP:?} and {VALUE:?}")),
        };
        let columns = Columns { timestamp: column(TIMESTAMP)?, value: column(VALUE)? };
        if batch.num_rows() > 0 {
            ticks(columns.timestamp, 0).map_err(wrong_type(TIMESTAMP))?;
            number(columns.value, 0).map_err(wrong_type(VALUE))?;
        }
        Ok(columns)
    }

    /// The reading of a row.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn reading(&self, row: usize) -> Result<Reading, String> {
        for (name, column) in [(TIMESTAMP, self.timestamp), (VALUE, self.value)] {
            if column.is_null(row) {
                return Err(format!("there is no {name}"));
            }
        }
        let (ticks, per_second) = ticks(self.timestamp, row).map_err(wrong_type(TIMESTAMP))?;
        if ticks % per_second != 0 {
            return Err(format!("the timestamp {ticks} of {per_second} a second is not a whole second"));
        }
        let seconds = ticks / per_second;
        let at = of_seconds(seconds).ok_or_else(|| format!("timestamp {seconds} is not between 1970 and 2106"))?;
        let value = number(self.value, row).map_err(wrong_type(VALUE))?;
        let milli = Milli::of(value).ok_or_else(|| format!("value {value} is not within ±2,147,483"))?;
        Ok(Reading { at: at.0, milli: milli.0 })
    }
}

fn wrong_type(name: &str) -> impl Fn(&DataType) -> String {
    move |found| format!("the column {name:?} is of type {found}, which is not read")
}

/// A time, and how many there are in a second.
fn ticks(column: &dyn Array, row: usize) -> Result<(i64, i64), &DataType> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    Ok(match column.data_type() {
        DataType::Timestamp(Second, _) => (column.as_primitive::<TimestampSecondType>().value(row), 1),
        DataType::Timestamp(Millisecond, _) => (column.as_primitive::<TimestampMillisecondType>().value(row), 1_000),
        DataType::Timestamp(Microsecond, _) => {
            (column.as_primitive::<TimestampMicrosecondType>().value(row), 1_000_000)
        }
        DataType::Timestamp(Nanosecond, _) => {
            (column.as_primitive::<TimestampNanosecondType>().value(row), 1_000_000_000)
        }
        DataType::UInt32 => (column.as_primitive::<UInt32Type>().value(row).into(), 1),
        DataType::Int32 => (column.as_primitive::<Int32Type>().value(row).into(), 1),
        DataType::Int64 => (column.as_primitive::<Int64Type>().value(row), 1),
        DataType::UInt64 => (i64::try_from(column.as_primitive::<UInt64Type>().value(row)).unwrap_or(i64::MAX), 1),
        other => return Err(other),
    })
}

fn number(column: &dyn Array, row: usize) -> Result<f64, &DataType> {
    Ok(match column.data_type() {
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row),
        DataType::Float32 => column.as_primitive::<Float32Type>().value(row).into(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row) as f64,
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into(),
        other => return Err(other),
    })
}
