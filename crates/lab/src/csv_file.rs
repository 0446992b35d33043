//! Rows as CSV: the parameters' columns, then the measured ones.

use serde_json::Value;

/// The rows of an experiment as CSV, in the order given; a column for each field that any of them has.
///
/// # Panics
/// If a parameter and a measured field have the same name, or a field is not plain: mistakes of the experiment.
pub fn csv_text(outcomes: &[(Value, Value)]) -> String {
    let mut columns: Vec<&str> = Vec::new();
    for (parameters, _) in outcomes {
        add_columns(&mut columns, parameters);
    }
    let parameter_columns = columns.len();
    for (_, row) in outcomes {
        add_columns(&mut columns, row);
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&columns).expect("memory can be written");
    for (parameters, row) in outcomes {
        let cell = |(at, name): (usize, &&str)| {
            let of_row = row.get(*name);
            assert!(at >= parameter_columns || of_row.is_none(), "{name} is a parameter and measured");
            text(if at < parameter_columns { parameters.get(*name) } else { of_row })
        };
        writer.write_record(columns.iter().enumerate().map(cell)).expect("memory can be written");
    }
    String::from_utf8(writer.into_inner().expect("memory can be written")).expect("texts")
}

fn add_columns<'a>(columns: &mut Vec<&'a str>, map: &'a Value) {
    for name in map.as_object().expect("a struct").keys() {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
}

fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(plain @ (Value::Bool(_) | Value::Number(_))) => plain.to_string(),
        Some(other) => panic!("not a plain field: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parameters_come_first_and_what_is_missing_is_empty() {
        let outcomes = [
            (json!({"workload": "a, b", "seed": 1}), json!({"reads": 2.5, "worn": null})),
            (json!({"workload": "c", "seed": 2}), json!({"reads": 3, "note": "full"})),
        ];
        assert_eq!(csv_text(&outcomes), "workload,seed,reads,worn,note\n\"a, b\",1,2.5,,\nc,2,3,,full\n");
    }
}
