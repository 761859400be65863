//! Pure: sums of stacks as an SVG image. It needs no script and loads nothing; a browser shows the whole name of a function, and its
//! share, beside the pointer.

use std::fmt::Write;

use loggia_text::printable;

use super::stacks::StackTree;

/// Width of the image, height of a row and of the title, in pixels.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 18.0;
const TITLE: f64 = 30.0;
/// Width of a letter.
const LETTER: f64 = 7.0;
/// Functions that are narrower are left out.
const NARROWEST: f64 = 0.5;

/// Renders a flame graph: each function is as wide as its share of the samples, above the function that called it.
pub fn render_flame_graph(stacks: &StackTree, title: &str) -> String {
    let height = TITLE + ROW * (stacks.depth() + 1) as f64 + 4.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{}\" y=\"20\" text-anchor=\"middle\">{}</text>\n",
        WIDTH / 2.0,
        escape(title)
    );
    draw(&mut svg, stacks, stacks.samples(), 0.0, height - 4.0 - ROW);
    svg.push_str("</svg>\n");
    svg
}

/// Draws a function at `x`, and those that it called above it.
fn draw(svg: &mut String, function: &StackTree, all: usize, x: f64, y: f64) {
    let share = |samples: usize| samples as f64 / all.max(1) as f64;
    let width = share(function.samples()) * WIDTH;
    if width < NARROWEST {
        return;
    }
    let name = printable(&function.name);
    let percent = share(function.samples()) * 100.0;
    // Writing to a text does not fail.
    let _ = writeln!(
        svg,
        "<g><title>{} ({} samples, {percent:.1} %)</title>\
         <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" rx=\"1\" fill=\"{}\"/>{}</g>",
        escape(&name),
        function.samples(),
        ROW - 1.0,
        colour(&name),
        label(&name, x, y, width)
    );
    let mut x = x;
    for child in function.children() {
        draw(svg, child, all, x, y - ROW);
        x += share(child.samples()) * WIDTH;
    }
}

/// The name, as far as it fits.
fn label(name: &str, x: f64, y: f64, width: f64) -> String {
    let fits = ((width - 6.0) / LETTER) as usize;
    if fits < 3 {
        return String::new();
    }
    let text: String = if name.chars().count() <= fits {
        name.to_owned()
    } else {
        // The end of a path says more than its beginning.
        let skipped = name.chars().count() - (fits - 1);
        std::iter::once('…').chain(name.chars().skip(skipped)).collect()
    };
    format!("<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", x + 3.0, y + 13.0, escape(&text))
}

/// A warm colour that is always the same for a name.
fn colour(name: &str) -> String {
    let hash = name.bytes().fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    format!("hsl({} 80% {}%)", 15 + hash % 40, 68 + hash / 64 % 14)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_as_wide_as_their_share() {
        let mut stacks = StackTree::default();
        stacks.name = "all".to_owned();
        let stack = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        stacks.add(&stack("Vec<u8>::push notes::list"), 3);
        stacks.add(&stack("notes::render_a_very_long_name_that_does_not_fit_into_its_share notes::list"), 1);
        stacks.add(&stack("rare notes::list"), 0);
        insta::assert_snapshot!(render_flame_graph(&stacks, "notes.list: 10 calls & \"4\" samples"));
    }
}
