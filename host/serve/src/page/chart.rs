//! Pure: small charts as SVG. Colours are in the style sheet, since the page allows no inline styles.

use std::fmt::Write as _;

use maud::{Markup, html};

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 120.0;
/// Space for the labels of the vertical axis.
const LEFT: f64 = 72.0;
const TOP: f64 = 8.0;

/// One line of a chart.
pub(super) struct ChartSeries {
    /// Name, in the legend.
    pub(super) name: &'static str,
    /// Class of the line: `first` or `second`.
    pub(super) class: &'static str,
    /// Values, oldest first; `None` interrupts the line.
    pub(super) values: Vec<Option<f64>>,
}

/// Renders a chart of the last half hour; `most` values fill its width, and its
/// axis goes at least up to `least`.
pub(super) fn render_chart(
    title: &str,
    series: &[ChartSeries],
    most: usize,
    (least, format): (f64, impl Fn(f64) -> String),
) -> Markup {
    let values = series.iter().flat_map(|series| series.values.iter().flatten().copied());
    let highest = values.fold(0.0, f64::max);
    let top = round_up(highest.max(least));
    let latest: Vec<String> = series
        .iter()
        .map(|series| {
            let last = series.values.last().copied().flatten();
            format!("{} {}", series.name, last.map_or_else(|| "none".to_owned(), &format))
        })
        .collect();
    let label =
        format!("{title}, last 30 minutes. Now: {}. Highest: {}.", latest.join(", "), format(highest));
    html! {
        figure.chart {
            figcaption {
                span.name { (title) }
                @for (series, latest) in series.iter().zip(&latest) {
                    span.key { svg.swatch viewBox="0 0 12 12" aria-hidden="true" {
                        line class=(series.class) x1="0" y1="6" x2="12" y2="6" {} }
                        (latest) }
                }
            }
            svg role="img" aria-label=(label) viewBox={ "0 0 " (WIDTH) " " (HEIGHT + 24.0) } {
                @for (at, value) in [(0.0, top), (0.5, top / 2.0), (1.0, 0.0)] {
                    line.grid x1=(LEFT) x2=(WIDTH) y1=(TOP + at * (HEIGHT - TOP)) y2=(TOP + at * (HEIGHT - TOP)) {}
                    text.tick x=(LEFT - 8.0) y=(TOP + at * (HEIGHT - TOP) + 4.0) text-anchor="end" { (format(value)) }
                }
                text.tick x=(LEFT) y=(HEIGHT + 18.0) { "30 min ago" }
                text.tick x=(WIDTH) y=(HEIGHT + 18.0) text-anchor="end" { "now" }
                @for series in series {
                    path class=(series.class) d=(draw_line(&series.values, top, most)) {}
                }
            }
        }
    }
}

/// Draws values as a path, the newest at the right.
#[allow(clippy::cast_precision_loss, reason = "at most some hundred values")]
fn draw_line(values: &[Option<f64>], top: f64, most: usize) -> String {
    let step = (WIDTH - LEFT) / most.saturating_sub(1).max(1) as f64;
    let mut path = String::new();
    let mut is_down = false;
    for (at, value) in values.iter().enumerate() {
        let Some(value) = value else {
            is_down = false;
            continue;
        };
        let x = WIDTH - step * (values.len() - 1 - at) as f64;
        let y = HEIGHT - value / top * (HEIGHT - TOP);
        // Writing to a string does not fail.
        let _ = write!(path, "{}{x:.1} {y:.1}", if is_down { "L" } else { "M" });
        if !is_down {
            // A line of one point is a dot.
            path.push_str("h0");
        }
        is_down = true;
    }
    path
}

/// Rounds up to 1, 2 or 5 times a power of ten; never to zero.
fn round_up(value: f64) -> f64 {
    let value = value.max(1e-3);
    let power = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|top| *top >= value).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_its_numbers_as_text() {
        let series = [
            ChartSeries {
                name: "calls",
                class: "first",
                values: vec![Some(1.0), None, Some(3.0), Some(4.0)],
            },
            ChartSeries { name: "failed", class: "second", values: vec![None; 4] },
        ];
        let chart = render_chart("Calls per second", &series, 5, (1.0, |value| format!("{value:.1}")));
        insta::assert_snapshot!(chart.into_string());
    }

    #[test]
    fn axes_end_at_round_numbers() {
        for (value, top) in [(0.0, 0.001), (0.7, 1.0), (1.0, 1.0), (1.1, 2.0), (37.0, 50.0), (501.0, 1000.0)]
        {
            assert!((round_up(value) - top).abs() < 1e-9, "{value}");
        }
    }
}
