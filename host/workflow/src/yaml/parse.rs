//! Parses YAML text into a tree.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::{
    builder::TreeBuilder,
    limits::BYTES,
    node::{YamlNode, YamlTree, YamlValue},
    syntax::syntax_error,
};
use crate::FileProblem;

/// Parses a file.
///
/// # Errors
///
/// Invalid YAML, and files beyond the limits.
pub fn parse(text: &str) -> Result<YamlTree, FileProblem> {
    if text.len() > BYTES {
        let message = format!("the file has {} bytes; at most {BYTES} are accepted", text.len());
        return Err(FileProblem::new(0, "", message).hint("split it into several files"));
    }
    build(text)
}

/// Parses a text whose length has been checked.
fn build(text: &str) -> Result<YamlTree, FileProblem> {
    let mut builder = TreeBuilder::default();
    let mut parser = Parser::new_from_str(text);
    let mut documents = 0;
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| syntax_error(text, &error))?;
        let (line, column) = (span.start.line().max(1), span.start.col() + 1);
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    let message =
                        "the file contains several documents separated by `---`; only one is supported";
                    return Err(
                        FileProblem::new(line, "", message).hint("split it into one file per document")
                    );
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = builder.scalar(&text, style, tag.as_deref(), line);
                let plain = style == ScalarStyle::Plain && tag.is_none();
                builder.leaf(YamlNode { line, column, value }, &text, plain, anchor)?;
            }
            Event::SequenceStart(anchor, tag) => {
                let value = YamlValue::List(Vec::new());
                builder.begin(YamlNode { line, column, value }, anchor, tag.as_deref())?;
            }
            Event::MappingStart(anchor, tag) => {
                let value = YamlValue::Map(Vec::new());
                builder.begin(YamlNode { line, column, value }, anchor, tag.as_deref())?;
            }
            Event::SequenceEnd | Event::MappingEnd => builder.end()?,
            Event::Alias(anchor) => builder.alias(anchor, line, column)?,
            Event::StreamEnd => break,
            Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
        }
    }
    let root = builder.root.ok_or_else(|| FileProblem::new(1, "", "the file is empty"))?;
    Ok(YamlTree { root, problems: builder.problems })
}
