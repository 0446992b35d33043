//! The drawing: the mean of each column of pixels as a line, and what lies between the least and the greatest reading
//! as a band.
//!
//! The line is broken where nothing was read for long. The font of a PNG is one that a crate carries, so that text is
//! there on every machine; an SVG names `sans-serif` and leaves the choice to the viewer.

use std::sync::Once;

use norn_sensor_log::{Seconds, Summary};
use plotters::coord::Shift;
use plotters::prelude::*;
use png::{ColorType, Encoder, EncodingError};

use crate::log::moment::Timestamp;
use crate::log::picture::form::{Kind, Size};
use crate::log::plot::Plot;

const FONT: &str = "sans-serif";
const COLOUR: RGBColor = RGBColor(0, 114, 178);
/// Times the median distance of two points after which the line is broken.
const GAP: u32 = 10;
/// Labels of the axis of time, at most.
const LABELS: u32 = 8;
/// Seconds between two labels: of these the first that gives few enough.
const STEPS: [u32; 22] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
    2_592_000, 31_536_000,
];

type Points = Vec<(Seconds, Summary)>;

/// Draws a plot: the bytes of a file of this kind.
///
/// # Errors
/// Says what the drawing failed with.
pub fn draw(plot: &Plot, kind: Kind, Size { width, height }: Size) -> Result<Vec<u8>, String> {
    register_font();
    let points: Points = plot.columns().collect();
    match kind {
        Kind::Png => {
            let mut pixels = vec![0; width as usize * height as usize * 3];
            draw_on(BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area(), &points)?;
            compressed(&pixels, Size { width, height }).map_err(|error| error.to_string())
        }
        Kind::Svg => {
            let mut text = String::new();
            draw_on(SVGBackend::with_string(&mut text, (width, height)).into_drawing_area(), &points)?;
            Ok(text.into_bytes())
        }
    }
}

/// A PNG of pixels of three bytes.
fn compressed(pixels: &[u8], Size { width, height }: Size) -> Result<Vec<u8>, EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

fn draw_on<B: DrawingBackend>(area: DrawingArea<B, Shift>, points: &Points) -> Result<(), String> {
    let text = |error: DrawingAreaErrorKind<B::ErrorType>| error.to_string();
    area.fill(&WHITE).map_err(text)?;
    let (times, values) = (times(points), values(points));
    let labels = labels(times.start as Seconds, times.end as Seconds);
    let step = labels.get(1).map_or(1, |second| second - labels[0]);
    let mut builder = ChartBuilder::on(&area);
    builder.margin(14).x_label_area_size(40).y_label_area_size(70);
    let mut chart = builder.build_cartesian_2d(times.with_key_points(labels), values).map_err(text)?;
    let mut mesh = chart.configure_mesh();
    mesh.label_style((FONT, 14)).axis_desc_style((FONT, 15)).x_desc("UTC");
    mesh.light_line_style(WHITE.mix(0.0)).bold_line_style(BLACK.mix(0.12)).x_labels(LABELS as usize).y_labels(8);
    let time = |at: &i64| label_text(*at as Seconds, step);
    mesh.x_label_formatter(&time);
    mesh.draw().map_err(text)?;
    let milli = |milli: i32| f64::from(milli) / 1e3;
    let bands = points.iter().map(|(at, summary)| {
        let ends = vec![(i64::from(*at), milli(summary.min_milli)), (i64::from(*at), milli(summary.max_milli))];
        PathElement::new(ends, COLOUR.mix(0.3))
    });
    chart.draw_series(bands).map_err(text)?;
    let gap = gap_seconds(points);
    for run in points.chunk_by(|(before, _), (after, _)| after - before <= gap) {
        let line = run.iter().map(|(at, summary)| (i64::from(*at), milli(summary.mean_milli())));
        chart.draw_series(LineSeries::new(line.clone(), COLOUR.stroke_width(2))).map_err(text)?;
        if run.len() == 1 {
            chart.draw_series(line.map(|point| Circle::new(point, 2, COLOUR.filled()))).map_err(text)?;
        }
    }
    area.present().map_err(text)
}

/// From when to when the axis goes: a second at least.
fn times(points: &Points) -> std::ops::Range<i64> {
    let (first, last) = (points.first().map_or(0, |point| point.0), points.last().map_or(0, |point| point.0));
    i64::from(first)..i64::from(last).max(i64::from(first) + 1)
}

fn values(points: &Points) -> std::ops::Range<f64> {
    let (low, high) = points.iter().fold((i32::MAX, i32::MIN), |(low, high), (_, summary)| {
        (low.min(summary.min_milli), high.max(summary.max_milli))
    });
    let (low, high) = (f64::from(low) / 1e3, f64::from(high) / 1e3);
    let margin = 0.05 * (high - low).max(1e-2);
    low - margin..high + margin
}

/// Round times between two.
fn labels(from: Seconds, to: Seconds) -> Vec<i64> {
    let step = STEPS.into_iter().find(|step| (to - from) / step < LABELS).unwrap_or((to - from) / LABELS + 1);
    (from.div_ceil(step)..=to / step).map(|number| i64::from(number) * i64::from(step)).collect()
}

/// A time as precise as the distance of labels makes it.
fn label_text(at: Seconds, step: i64) -> String {
    let at = Timestamp(at);
    match step {
        86_400.. => at.date_text(),
        60.. => format!("{} {}", at.date_text(), at.time_text().get(..5).unwrap_or_default()),
        _ => at.time_text(),
    }
}

/// Seconds without a point after which the line is broken.
fn gap_seconds(points: &Points) -> Seconds {
    let mut distances: Vec<Seconds> = points.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    distances.sort_unstable();
    distances.get(distances.len() / 2).map_or(Seconds::MAX, |median| median.saturating_mul(GAP))
}

fn register_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let registered = plotters::style::register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
        assert!(registered.is_ok(), "the crate's font is one");
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_round_and_few() {
        assert_eq!(labels(86_390, 86_390 + 7 * 3_600), (0..7).map(|hour| 86_400 + hour * 3_600).collect::<Vec<i64>>());
        for seconds in [1, 59, 3_600, 86_400, 40 * 86_400, 3_000_000_000] {
            let labels = labels(1_000_000_007, 1_000_000_007 + seconds);
            assert!((1..=9).contains(&labels.len()), "{seconds}: {labels:?}");
        }
        assert_eq!(label_text(86_400, 3_600), "1970-01-02 00:00");
        assert_eq!((label_text(86_405, 5), label_text(86_400, 86_400)), ("00:00:05".into(), "1970-01-02".into()));
    }
}
