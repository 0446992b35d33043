//! Means with confidence intervals, from windows of a steady state.
//!
//! A run is cut into windows of equal length; the mean of each is one observation, and these are nearly independent
//! when a window is long compared with what the system remembers (batch means). The interval is Student's, at 95%.

use serde::{Deserialize, Serialize};

/// A mean and half the width of its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Half of the interval's width; nothing for a single observation.
    pub half_width: Option<f64>,
}

/// Student's t at 97.5% for 1 to 30 degrees of freedom.
const T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The same for more.
const T_MANY: f64 = 1.96;

impl Interval {
    /// The mean of observations, each with as much weight.
    ///
    /// # Panics
    /// If there are none.
    pub fn of(observations: &[f64]) -> Interval {
        assert!(!observations.is_empty(), "a mean of something");
        let count = observations.len() as f64;
        let mean = observations.iter().sum::<f64>() / count;
        let half_width = (observations.len() > 1).then(|| {
            let variance = observations.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
            T.get(observations.len() - 2).unwrap_or(&T_MANY) * (variance / count).sqrt()
        });
        Interval { mean, half_width }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_students() {
        // Mean 3, variance 2.5, t(4) = 2.776: 2.776 * sqrt(0.5).
        let interval = Interval::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(interval.mean, 3.0);
        assert!((interval.half_width.unwrap() - 1.963).abs() < 0.001);
        assert_eq!(Interval::of(&[7.0]), Interval { mean: 7.0, half_width: None });
    }
}
