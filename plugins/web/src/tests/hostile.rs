//! Pages that are made to exhaust their reader. Each must end within the memory and time of a call; the tests with the real host
//! run some of them within its limits.

use std::{
    io::{Write, stderr},
    time::Instant,
};

use url::Url;

use super::*;
use crate::html::Page as HtmlPage;

/// Bytes of a page. Tests run without optimisation; the real host is given larger ones.
const SIZE: usize = 1 << 20;

fn repeated(text: &str) -> String {
    text.repeat(SIZE / text.len())
}

/// Pages, and a text that must be in the result.
fn pages() -> Vec<(&'static str, String, &'static str)> {
    let numbered = |text: &str| (0..SIZE / 24).map(|n| text.replace('N', &n.to_string())).collect::<String>();
    vec![
        (
            "deep blocks",
            format!("{}<p>bottom{}", "<div>".repeat(100_000), "</div>".repeat(100_000)),
            "bottom",
        ),
        ("deep quotations", format!("{}<p>bottom", "<blockquote>".repeat(100_000)), "bottom"),
        ("deep lists", format!("{}bottom", "<ul><li>x".repeat(100_000)), "bottom"),
        ("deep formatting", format!("{}bottom", numbered("<b id=N>")), ""),
        ("deep tables", format!("{}bottom", "<table><tr><td>".repeat(100_000)), "bottom"),
        ("formatting and paragraphs", format!("{}<p>bottom", numbered("<b id=N><p>")), ""),
        ("many cells", format!("<p>top<table><tr>{}", repeated("<td>x")), "top"),
        ("many rows", format!("<p>top<table>{}", repeated("<tr><td>x<td>y")), "top"),
        ("wide cells", format!("<p>top<table>{}", repeated("<tr><td colspan=99999 rowspan=99999>x")), "top"),
        ("many links", format!("<p>top {}", repeated("<a href=/a>b</a>")), "top"),
        ("many attributes", format!("<p>top<p {}>bottom", repeated("a=b ")), "bottom"),
        ("long attribute", format!("<p>top<a href='{}'>bottom</a>", repeated("x")), "bottom"),
        ("broken entities", format!("<p>top {}", repeated("&#x&#99999999999;&amp&")), "top"),
        ("open tags", format!("<p>top {}", repeated("<a <")), "top"),
        ("end tags", format!("<p>top {}", repeated("</div></p>")), "top"),
        ("open comment", format!("<p>top <!--{}", repeated("--!")), "top"),
        ("one word", format!("<p>top {}", repeated("x")), "top"),
        ("zero bytes", format!("<p>top {}", repeated("\0<b>\0</b>")), "top"),
        ("rubies", format!("<p>top <ruby>{}", repeated("x<rt>")), "top"),
        ("terms", format!("<p>top<dl>{}", repeated("<dt>x<dd>")), "top"),
        ("code in code", format!("<p>top {}", "<code>`".repeat(100_000)), "top"),
        ("headings", format!("<p>top {}", repeated("<h1><b>")), "top"),
    ]
}

#[test]
fn hostile_pages_end() {
    let url = Url::parse(SITE).unwrap();
    for (name, html, expected) in pages() {
        let start = Instant::now();
        let page = HtmlPage::parse(&html, &url);
        for whole in [false, true] {
            let text = page.markdown(whole);
            assert!(text.markdown.contains(expected), "{name}");
            assert!(text.markdown.len() < 10 << 20, "{name} {}", text.markdown.len());
        }
        page.links();
        page.meta();
        // Shown by `--nocapture`: tests do not assert durations.
        writeln!(stderr(), "{name}: {} ms", start.elapsed().as_millis()).unwrap();
    }
}
