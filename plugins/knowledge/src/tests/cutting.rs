//! Splitting of texts.

use proptest::prelude::*;

use crate::{
    block::Kind,
    convert::{Format, blocks},
    cut::{Cut, Measure, cut},
    document::Passage,
    markdown,
};

fn cuts(text: &str, format: Format, size: usize, overlap: usize) -> Vec<Cut> {
    cut(text, &blocks(text, format), Measure { size, overlap })
}

/// Each passage as `path: text`.
fn shown(text: &str, size: usize, overlap: usize) -> Vec<String> {
    let cuts = cuts(text, Format::Markdown, size, overlap);
    cuts.into_iter().map(|cut| format!("{}: {}", cut.path.join(" > "), text[cut.range].trim())).collect()
}

#[test]
fn headings_come_first() {
    let text =
        "Before.\n\n# Guide\n\n## Install\nRun it.\n\n## Use\n\nUse it.\n\n### Often\n\n# End\nOver.\n";
    let expected = [
        ": Before.",
        "Guide > Install: # Guide\n\n## Install\nRun it.",
        "Guide > Use: ## Use\n\nUse it.",
        "Guide > Use > Often: ### Often",
        "End: # End\nOver.",
    ];
    assert_eq!(shown(text, 200, 0), expected);
}

#[test]
fn passages_split_at_sentences_and_overlap() {
    let text = "One is first. Two comes next. Three follows it. Four is the last.";
    assert_eq!(
        shown(text, 30, 0),
        [": One is first. Two comes next.", ": Three follows it.", ": Four is the last."]
    );
    assert_eq!(
        shown(text, 36, 18),
        [
            ": One is first. Two comes next.",
            ": Two comes next. Three follows it.",
            ": Three follows it. Four is the last."
        ]
    );
}

#[test]
fn code_and_tables_stay_whole_if_possible() {
    let code = "```\nlet a = 1;\n\nlet b = 2;\n```\n";
    let table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n";
    let text = format!("A sentence that takes some room.\n\n{code}\n{table}\nThe end.\n");
    let expected = [
        ": A sentence that takes some room.".to_owned(),
        format!(": {}", code.trim()),
        format!(": {}\n\nThe end.", table.trim()),
    ];
    assert_eq!(shown(&text, 50, 20), expected);
    let lines = shown(&text, 24, 0);
    assert!(lines.iter().all(|line| line.chars().count() <= 26), "{lines:?}");
}

#[test]
fn an_endless_heading_is_truncated() {
    let text = format!("# {}\n\nSays something.", "x".repeat(100_000));
    let cuts = cuts(&text, Format::Markdown, 1000, 100);
    assert!(cuts.len() > 100 && cuts.iter().all(|cut| cut.path[0].len() == 120));
}

#[test]
fn text_without_boundaries_is_split() {
    let text = "x".repeat(100);
    assert_eq!(shown(&text, 40, 0).iter().map(|line| line.len() - 2).collect::<Vec<_>>(), [40, 40, 20]);
    let text = "word ".repeat(20);
    assert!(shown(&text, 22, 0).iter().all(|line| line.ends_with("word")));
}

/// The headings that `pulldown-cmark` finds outside of lists and quotes: level and where.
fn expected_headings(text: &str) -> Vec<(u8, usize)> {
    use pulldown_cmark::{Event, Options, Parser, Tag};
    let mut depth = 0;
    let mut found = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => found.push((level as u8, range.start)),
            _ => {}
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    found
}

fn headings(text: &str) -> Vec<(u8, usize)> {
    let blocks = markdown::blocks(text).into_iter();
    let indent = |at: usize| text[at..].len() - text[at..].trim_start().len();
    blocks
        .filter_map(|block| match block.kind {
            Kind::Heading(level, _) => Some((level, block.range.start + indent(block.range.start))),
            _ => None,
        })
        .collect()
}

fn line() -> impl Strategy<Value = String> {
    let marks = prop::sample::select(vec![
        "",
        "",
        "# ",
        "## ",
        "### ",
        "#",
        "- ",
        "1. ",
        "> ",
        "```",
        "~~~~",
        "    ",
        "| a | b |",
        "|---|---|",
        "===",
        "---",
    ]);
    let words = prop::sample::select(vec![
        "",
        "A word.",
        "and more",
        "日本語の文。次の文。",
        "Ünïcödé? Yes!",
        "<b>x</b>",
        "long long long long long long",
    ]);
    (marks, words).prop_map(|(mark, words)| format!("{mark}{words}\n"))
}

/// Lines that `pulldown-cmark` and this scan interpret alike: no lists and quotes, whose content has other rules.
fn plain_line() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "",
        "# One",
        "## Two ##",
        "###",
        "#hash",
        "####### seven",
        "  # Indented",
        "```",
        "```rust",
        "~~~",
        "Some words.",
        "more words",
        "===",
        "---",
        "=",
        "  ---",
        "\\# escaped",
    ])
    .prop_map(|line| format!("{line}\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn headings_match_those_of_a_markdown_parser(lines in prop::collection::vec(plain_line(), 0..14)) {
        // No front matter, which is not part of Markdown.
        let text = format!("Start.\n\n{}", lines.concat());
        prop_assert_eq!(headings(&text), expected_headings(&text), "{}", text);
    }

    #[test]
    fn pieces_are_complete_and_small_enough(
        text in prop_oneof![prop::collection::vec(line(), 0..40).prop_map(|lines| lines.concat()), any::<String>()],
        markdown: bool,
        size in 10_usize..200,
        overlap in 0_usize..60,
    ) {
        let overlap = overlap.min(size / 2);
        let format = if markdown { Format::Markdown } else { Format::Text };
        let cuts = cuts(&text, format, size, overlap);
        let said: String = cuts.iter().map(|cut| &text[cut.fresh..cut.range.end]).collect();
        // Blank texts have no blocks.
        prop_assert_eq!(said, if cuts.is_empty() { String::new() } else { text.clone() });
        prop_assert!(!cuts.is_empty() || text.trim().is_empty());
        for cut in &cuts {
            let passage = &text[cut.range.clone()];
            prop_assert!(passage.trim_end().chars().count() <= size, "{:?}", passage);
            let shared = text[cut.range.start..cut.fresh].chars().count();
            prop_assert!(shared <= overlap, "{} of {}: {:?}", shared, overlap, passage);
        }
        for (cut, passage) in cuts.iter().zip(Passage::of(&text, &cuts)) {
            let said = &text[cut.range.clone()];
            let begins = cut.range.start + said.len() - said.trim_start().len();
            let line = |at: usize| text[..at].matches('\n').count() as u32 + 1;
            prop_assert_eq!(passage.lines, [line(begins), line(begins + said.trim().len())]);
            prop_assert_eq!(passage.own(), &text[cut.fresh..cut.range.end]);
        }
        for pair in cuts.windows(2) {
            prop_assert!(pair[0].range.end == pair[1].fresh);
            prop_assert!(pair[1].range.start > pair[0].range.start);
        }
    }

    #[test]
    fn sentences_overlap_as_configured(count in 2_usize..60, size in 40_usize..300, overlap in 20_usize..100) {
        let text: String = (0..count).map(|n| format!("This is item {n:03}! ")).collect();
        let overlap = overlap.min(size / 2);
        for pair in cuts(&text, Format::Text, size, overlap).windows(2) {
            let shared = pair[1].fresh - pair[1].range.start;
            // The next sentence more would be too much, for the overlap or for the passage.
            let full = shared + 18 > overlap || shared + 18 + 17 > size;
            prop_assert!(full && shared <= overlap, "{} of {}", shared, overlap);
        }
    }
}
