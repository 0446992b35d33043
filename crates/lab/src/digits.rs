//! Numbers as they are printed.

use std::fmt::Write;

/// A number with four significant digits, thousands apart: `12.02`, `0.00171`, `5,500`, `74,000,000`.
pub fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    if magnitude < 3 {
        let decimals = (3 - magnitude).clamp(0, 9) as usize;
        let text = format!("{value:.decimals$}");
        return if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text };
    }
    let unit = 10f64.powi(magnitude - 3);
    let digits = format!("{:.0}", (value / unit).round() * unit);
    let mut text = String::new();
    let sign = usize::from(digits.starts_with('-'));
    for (at, digit) in digits.chars().enumerate() {
        if at > sign && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        let _ = write!(text, "{digit}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits() {
        let pairs = [(12.021, "12.02"), (0.00171, "0.00171"), (5500.0, "5,500"), (74e6, "74,000,000"), (0.0, "0")];
        for (value, text) in pairs {
            assert_eq!(figure(value), text);
        }
        assert_eq!(figure(1_234_567.0), "1,235,000");
        assert_eq!(figure(999.96), "1000");
        assert_eq!(figure(f64::NAN), "–");
    }
}
