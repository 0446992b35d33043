//! Plots: lines or groups of bars, in one panel or several side by side, as SVG and as PNG.
//!
//! The font of the PNG is one that a crate carries, so that text is there on every machine; an SVG names `sans-serif`
//! and leaves the choice to the viewer.

use std::ops::Range;
use std::path::Path;
use std::sync::Once;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::digits::figure;
use crate::error::LabError;

const PANEL_PIXELS: (u32, u32) = (800, 420);
const LEGEND_PIXELS: u32 = 220;
const TITLE_PIXELS: u32 = 34;
const FONT: &str = "sans-serif";
/// Colours that colour-blind readers can distinguish (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(90, 90, 90),
    RGBColor(0, 0, 0),
];

/// A picture.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Its file's name without extension.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Side by side.
    pub panels: Vec<Panel>,
    /// Panels in a row.
    pub columns: usize,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What distinguishes it from the others; may be empty.
    pub title: String,
    /// Below; of bars the axis has no scale.
    pub x: Axis,
    /// On the left.
    pub y: Axis,
    /// What is drawn.
    pub chart: Chart,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it counts, with its unit.
    pub label: String,
    /// How it is divided.
    pub scale: Scale,
}

impl Axis {
    /// An axis that starts at zero.
    pub fn linear(label: &str) -> Axis {
        Axis { label: label.to_owned(), scale: Scale::Linear }
    }

    /// An axis that is divided evenly, from just below the least value.
    pub fn close(label: &str) -> Axis {
        Axis { label: label.to_owned(), scale: Scale::Close }
    }

    /// An axis in powers of ten; what is not above zero is left out.
    pub fn log(label: &str) -> Axis {
        Axis { label: label.to_owned(), scale: Scale::Log }
    }
}

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, from zero on.
    Linear,
    /// Evenly, from just below the least value.
    Close,
    /// In powers of ten.
    Log,
}

/// What is drawn in a panel.
#[derive(Clone, Debug)]
pub enum Chart {
    /// A line for each series.
    Lines(Vec<Series>),
    /// Groups of bars: in each a bar for each series, whose points' x are the numbers of groups.
    Bars {
        /// Names of the groups.
        groups: Vec<String>,
        /// The bars.
        series: Vec<Series>,
    },
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub struct Series {
    /// What they are.
    pub label: String,
    /// Places, in ascending order of x.
    pub points: Vec<(f64, f64)>,
    /// How they are drawn; bars have one way.
    pub mark: Mark,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Joined by a line.
    Line,
    /// Alone, as crosses: published values.
    Crosses,
}

impl Series {
    /// Points joined by a line.
    pub fn line(label: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series { label: label.into(), points, mark: Mark::Line }
    }

    /// Published values.
    pub fn crosses(label: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series { mark: Mark::Crosses, ..Series::line(label, points) }
    }
}

type Drawn = Result<(), String>;

impl Plot {
    /// A plot of one panel.
    pub fn single(name: &str, title: &str, x: Axis, y: Axis, chart: Chart) -> Plot {
        let panel = Panel { title: String::new(), x, y, chart };
        Plot { name: name.to_owned(), title: title.to_owned(), panels: vec![panel], columns: 1 }
    }

    /// Draws `NAME.svg` and `NAME.png` in a directory.
    ///
    /// # Errors
    /// If they cannot be drawn or written.
    pub fn write(&self, directory: &Path) -> Result<(), LabError> {
        register_font();
        let columns = self.columns.clamp(1, self.panels.len().max(1)) as u32;
        let rows = (self.panels.len() as u32).div_ceil(columns).max(1);
        let size = (PANEL_PIXELS.0 * columns, PANEL_PIXELS.1 * rows + TITLE_PIXELS);
        let (svg, png) = (directory.join(format!("{}.svg", self.name)), directory.join(format!("{}.png", self.name)));
        let error = |path: &Path| {
            let path = path.to_owned();
            move |problem| LabError::Plot { path, problem }
        };
        self.draw(SVGBackend::new(&svg, size).into_drawing_area(), (rows, columns)).map_err(error(&svg))?;
        self.draw(BitMapBackend::new(&png, size).into_drawing_area(), (rows, columns)).map_err(error(&png))
    }

    fn draw<B: DrawingBackend>(&self, area: DrawingArea<B, Shift>, (rows, columns): (u32, u32)) -> Drawn {
        area.fill(&WHITE).map_err(text)?;
        let below = area.titled(&self.title, (FONT, 20)).map_err(text)?;
        let places = below.split_evenly((rows as usize, columns as usize));
        for (panel, place) in self.panels.iter().zip(&places) {
            panel.draw(place)?;
        }
        area.present().map_err(text)
    }
}

impl Panel {
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Drawn {
        let (series, groups) = match &self.chart {
            Chart::Lines(series) => (series, None),
            Chart::Bars { groups, series } => (series, Some(groups.len())),
        };
        let all = |pick: fn(&(f64, f64)) -> f64| series.iter().flat_map(|series| &series.points).map(pick);
        let ends = if groups.is_some() { Ends::Floor } else { Ends::Close };
        let y = bounds(all(|point| point.1), self.y.scale, ends);
        let x = groups.map_or_else(|| bounds(all(|point| point.0), self.x.scale, ends), |groups| (0.0, groups as f64));
        let x_scale = if groups.is_some() { Scale::Linear } else { self.x.scale };
        let (x, y) = (x.0..x.1, y.0..y.1);
        let powers = |range: Range<f64>, pick: fn(&(f64, f64)) -> f64| {
            let marks = doublings(all(pick)).unwrap_or_else(|| marks(range.start, range.end));
            range.log_scale().with_key_points(marks)
        };
        match [x_scale, self.y.scale].map(|scale| scale == Scale::Log) {
            [false, false] => self.draw_on(area, x, y),
            [false, true] => self.draw_on(area, x, powers(y, |point| point.1)),
            [true, false] => self.draw_on(area, powers(x, |point| point.0), y),
            [true, true] => self.draw_on(area, powers(x, |point| point.0), powers(y, |point| point.1)),
        }
    }

    fn draw_on<B: DrawingBackend, X, Y>(&self, area: &DrawingArea<B, Shift>, x: X, y: Y) -> Drawn
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let (Chart::Lines(series) | Chart::Bars { series, .. }) = &self.chart;
        let legend = if series.len() > 1 { LEGEND_PIXELS } else { 0 };
        let (place, beside) = area.split_horizontally(PANEL_PIXELS.0 - legend);
        let mut builder = ChartBuilder::on(&place);
        builder.margin(10).x_label_area_size(46).y_label_area_size(76);
        builder.caption(&self.title, (FONT, 17));
        let mut chart = builder.build_cartesian_2d(x, y).map_err(text)?;
        let bars = matches!(self.chart, Chart::Bars { .. });
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(&self.x.label).y_desc(&self.y.label).label_style((FONT, 14)).axis_desc_style((FONT, 15));
        mesh.x_label_formatter(&|value| figure(*value)).y_label_formatter(&|value| figure(*value));
        mesh.light_line_style(WHITE.mix(0.0)).bold_line_style(BLACK.mix(0.12)).x_labels(8).y_labels(8);
        if bars {
            mesh.disable_x_mesh().x_labels(0);
        }
        mesh.draw().map_err(text)?;
        let sign = match &self.chart {
            Chart::Lines(_) => {
                draw_lines(&mut chart, series)?;
                Sign::AsMarked
            }
            Chart::Bars { groups, .. } => {
                draw_bars(&mut chart, &place, groups, series)?;
                Sign::Bar
            }
        };
        if legend > 0 { draw_legend(&beside, series, sign) } else { Ok(()) }
    }
}

/// The symbol of a series in a legend.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    AsMarked,
    Bar,
}

/// The names of the series, beside the chart, where they hide nothing. One series needs none.
fn draw_legend<B: DrawingBackend>(area: &DrawingArea<B, Shift>, series: &[Series], sign: Sign) -> Drawn {
    let style = TextStyle::from((FONT, 14)).pos(Pos::new(HPos::Left, VPos::Center));
    for (number, (series, colour)) in series.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let y = 50 + 20 * number as i32;
        match (sign, series.mark) {
            (Sign::Bar, _) => area.draw(&Rectangle::new([(4, y - 6), (18, y + 6)], colour.filled())),
            (Sign::AsMarked, Mark::Line) => area.draw(&PathElement::new([(2, y), (20, y)], colour.stroke_width(3))),
            (Sign::AsMarked, Mark::Crosses) => area.draw(&Cross::new((11, y), 5, colour.stroke_width(2))),
        }
        .map_err(text)?;
        area.draw(&Text::new(series.label.as_str(), (26, y), style.clone())).map_err(text)?;
    }
    Ok(())
}

type Plane<'a, B, X, Y> = ChartContext<'a, B, Cartesian2d<X, Y>>;

fn draw_lines<B: DrawingBackend, X, Y>(chart: &mut Plane<B, X, Y>, series: &[Series]) -> Drawn
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let all = series.len();
    for (number, (series, colour)) in series.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let (points, colour) = (series.points.clone(), *colour);
        // Where lines coincide, the dots of the first ones are rings about the others.
        let radius = 2 + all.saturating_sub(number).min(4) as i32;
        match series.mark {
            Mark::Line => {
                chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2))).map_err(text)?;
                let dots = points.into_iter().map(|point| Circle::new(point, radius, colour.filled()));
                chart.draw_series(dots).map_err(text)?;
            }
            Mark::Crosses => {
                let crosses = points.into_iter().map(|point| Cross::new(point, 5, colour.stroke_width(2)));
                chart.draw_series(crosses).map_err(text)?;
            }
        }
    }
    Ok(())
}

fn draw_bars<B: DrawingBackend, X, Y>(
    chart: &mut Plane<B, X, Y>,
    area: &DrawingArea<B, Shift>,
    groups: &[String],
    series: &[Series],
) -> Drawn
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let floor = chart.y_range().start;
    let width = 0.84 / series.len() as f64;
    for (number, (series, colour)) in series.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let bars = series.points.iter().map(|&(group, height)| {
            let left = group + 0.08 + number as f64 * width;
            Rectangle::new([(left, floor), (left + width * 0.92, height.max(floor))], colour.filled())
        });
        chart.draw_series(bars).map_err(text)?;
    }
    let style = TextStyle::from((FONT, 14)).pos(Pos::new(HPos::Center, VPos::Top));
    let corner = area.get_base_pixel();
    for (number, name) in groups.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(number as f64 + 0.5, floor));
        area.draw(&Text::new(name.as_str(), (x - corner.0, y - corner.1 + 6), style.clone())).map_err(text)?;
    }
    Ok(())
}

/// How close to the least value an axis in powers of ten begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// Just below it.
    Close,
    /// At a power of ten below it, as the base of bars.
    Floor,
}

/// From where to where an axis goes to show `values`.
fn bounds(values: impl Iterator<Item = f64>, scale: Scale, ends: Ends) -> (f64, f64) {
    let shown = values.filter(|value| value.is_finite() && (scale != Scale::Log || *value > 0.0));
    let (low, high) =
        shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    match scale {
        _ if low > high => (1.0, 10.0),
        Scale::Linear => (low.min(0.0), if high > 0.0 { high * 1.08 } else { 1.0 }),
        Scale::Close => (low - 0.05 * (high - low).max(1.0), high + 0.05 * (high - low).max(1.0)),
        Scale::Log if ends == Ends::Floor => (10f64.powf((low / 1.5).log10().floor()), high * 2.0),
        Scale::Log => with_three_marks(low / 1.2, high * 1.2),
    }
}

/// Widens an axis on which fewer than three values would be labelled.
fn with_three_marks(low: f64, high: f64) -> (f64, f64) {
    if marks(low, high).len() >= 3 { (low, high) } else { (low / 2.0, high * 2.0) }
}

/// What is labelled on an axis whose values are all powers of two, and three or more: the values.
fn doublings(values: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let are_doubled = values.len() >= 3 && values.iter().all(|value| *value > 0.0 && value.log2().fract() == 0.0);
    are_doubled.then_some(values)
}

/// The values that are labelled on an axis in powers of ten: the powers, with twice and five times each where there are
/// few, and every multiple where there are very few.
fn marks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().floor() as i32);
    let of = |multiples: &[u32]| -> Vec<f64> {
        let powers = (first..=last).map(|exponent| 10f64.powi(exponent));
        let all = powers.flat_map(|power| multiples.iter().map(move |&multiple| f64::from(multiple) * power));
        all.filter(|value| (low..=high).contains(value)).collect()
    };
    let [tens, fives, all] = [&[1][..], &[1, 2, 5], &[1, 2, 3, 4, 5, 6, 7, 8, 9]].map(of);
    match (tens.len(), fives.len()) {
        (5.., _) => tens,
        (_, 3..) => fives,
        _ => all,
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
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
    fn an_axis_of_powers_of_ten_has_three_labels_or_more() {
        assert_eq!(marks(16.0 / 1.2, 512.0 * 1.2), [20.0, 50.0, 100.0, 200.0, 500.0]);
        assert_eq!(marks(1.0, 1e6), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!(marks(2.0, 7.2), [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        for value in [0.003, 0.25, 1.0, 3.0, 9.9, 47_000.0] {
            for factor in [1.0, 1.5, 3.0, 30.0, 1e4, 1e9] {
                let (low, high) = bounds([value, value * factor].into_iter(), Scale::Log, Ends::Close);
                let count = marks(low, high).len();
                assert!((3..=13).contains(&count) && low < value, "{count} labels from {low} to {high}");
            }
        }
        assert_eq!(doublings([32.0, 0.5, 16.0, 32.0].into_iter()), Some(vec![0.5, 16.0, 32.0]));
        assert_eq!(doublings([16.0, 32.0, 100.0].into_iter()), None);
        assert_eq!(doublings([1.0, 2.0].into_iter()), None, "two labels are too few");
        assert_eq!(bounds([12.0, 1200.0].into_iter(), Scale::Log, Ends::Close), (10.0, 1440.0));
        assert_eq!(bounds([5.0, 15.0].into_iter(), Scale::Log, Ends::Floor), (1.0, 30.0));
        assert_eq!(bounds([3.0].into_iter(), Scale::Linear, Ends::Close), (0.0, 3.0 * 1.08));
        assert_eq!(bounds([0.0].into_iter(), Scale::Log, Ends::Close), (1.0, 10.0));
        assert_eq!(bounds([50.0, 90.0].into_iter(), Scale::Close, Ends::Close), (48.0, 92.0));
    }
}
