//! `loggia call`.
//!
//! | file | concept |
//! |---|---|
//! | `replies.rs` | replies to questions: those of `--answer`, then those of the person |
//! | `prompt.rs` | asks the person at the terminal |

mod prompt;
mod replies;

use std::{collections::BTreeSet, path::PathBuf, process::ExitCode};

use loggia_facade::{Block, Input, Object, Request};
use loggia_gate::{call::CANNOT_ASK, run::CallEvent};
use loggia_policy::settings::Level;
use loggia_serve::{HostOptions, PluginHost};
use loggia_telemetry::logs;
use loggia_text::{printable, printable_text};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::replies::QuestionReplies;
use super::{
    common::{LoadOptions, UsageError, io_runtime},
    exit, term,
    working_dir::terminal_origin,
};

/// Make one call and print its result as JSON.
///
/// Prints text content after the result. Describes images and other media on stderr.
///
/// Questions of the plugin are answered by --answer, one after another, and then by you, if the command runs at a terminal.
///
/// A policy that grants the roots of clients gets the directory in which the command runs.
///
/// Exits with 0 if the call succeeded, and with 20 if it failed.
#[derive(clap::Args)]
pub struct CallCommand {
    /// Facade (tool) to call
    facade: String,
    /// Action ("describe" lists them)
    action: String,
    /// Parameters: one JSON object, or key=value pairs
    #[arg(value_name = "JSON | key=value")]
    params: Vec<String>,
    /// Answer to a question, in the order of the questions: accept, decline, cancel, or the fields of a form as a JSON object
    #[arg(long = "answer", value_name = "ANSWER")]
    answers: Vec<String>,
    /// Plugin folder [default: that of the settings file, or plugins]
    #[arg(long, value_name = "DIR")]
    plugins: Option<PathBuf>,
    #[command(flatten)]
    common: LoadOptions,
}

impl CallCommand {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let params = parse_params(&self.params)?;
        let mut replies = QuestionReplies::parse(&self.answers, term::is_interactive())?;
        let folder = self.common.plugin_folder(self.plugins)?;
        let runtime = io_runtime()?;
        let options = self.common.host_options()?;
        let options = HostOptions { sources: options.sources.patient(), ..options };
        let host = PluginHost::new(&options)?;
        let can_ask = replies.can_answer();
        let envelope = runtime.block_on(async {
            let stop = CancellationToken::new();
            host.watch_folder(folder, stop.clone());
            // Waits for compilation: a person is more patient than a client.
            host.gate.catalog().wait_for_slot(&self.facade).await;
            // Passed as client arguments, so that the same rules apply.
            let mut arguments = Object::new();
            arguments.insert("action".into(), self.action.into());
            arguments.insert("params".into(), params.into());
            let input = Input::Arguments(arguments);
            let request = Request::new(self.facade.clone(), input);
            if host.gate.catalog().is_missing(&self.facade) {
                // An error lists the existing facades, which are known once all are loaded.
                host.gate.catalog().wait_for_admission().await;
            }
            let origin = terminal_origin().with_elicitation(can_ask).with_links(can_ask);
            let mut exec = host.gate.start(origin, request);
            let mut asked = BTreeSet::new();
            loop {
                match exec.next().await {
                    CallEvent::Done(envelope) => break envelope,
                    CallEvent::Progress(progress) => {
                        let total = progress.total.map(|total| format!("/{total}")).unwrap_or_default();
                        let message = progress.message.unwrap_or_default();
                        term::note(&printable(&format!("{}{total} {message}", progress.done)));
                    }
                    // Only servers keep approvals.
                    CallEvent::AwaitsApproval => {}
                    CallEvent::Asks(asks) => {
                        for (key, question) in asks {
                            if asked.insert(key.clone()) {
                                exec.answer(&key, replies.answer(question).await);
                            }
                        }
                    }
                }
            }
        });
        // Running calls use timers of this runtime, so drop the host first.
        drop(host);
        runtime.shutdown_background();
        if !can_ask && envelope.outcome.as_ref().is_err_and(|failure| failure.message.ends_with(CANNOT_ASK)) {
            term::note("the plugin asks a question: run the command at a terminal, or answer with --answer");
        }
        let code = if envelope.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(exit::CALL_FAILED) };
        let (json, content) = envelope.into_parts();
        let terminal = term::stdout_is_terminal();
        term::print_json(&Value::Object(json));
        for content in content {
            match render_block(&content.block) {
                RenderedBlock::Text(text) if terminal => term::print(&printable_text(text)),
                RenderedBlock::Text(text) => term::print(text),
                RenderedBlock::Note(note) => term::note(&printable(&note)),
            }
        }
        Ok(code)
    }
}

/// Output for a content block.
#[derive(Debug, PartialEq)]
enum RenderedBlock<'a> {
    Text(&'a str),
    Note(String),
}

fn render_block(block: &Block) -> RenderedBlock<'_> {
    let media = |kind: &str, mime_type: &str, bytes: usize| {
        RenderedBlock::Note(format!("({kind}, {mime_type}, {bytes} bytes: not shown)"))
    };
    match block {
        Block::Text(text) | Block::Embedded { text: Some(text), .. } => RenderedBlock::Text(text),
        Block::Image { data, mime_type } => media("image", mime_type, data.len()),
        Block::Audio { data, mime_type } => media("audio", mime_type, data.len()),
        Block::Embedded { uri, mime_type, blob, .. } => {
            let mime_type = mime_type.as_deref().unwrap_or("unknown type");
            media(&format!("resource {uri}"), mime_type, blob.as_ref().map_or(0, Vec::len))
        }
        Block::Link { uri, name, .. } => RenderedBlock::Note(format!("(link {name}: {uri})")),
    }
}

/// Parses one JSON object, or `key=value` pairs whose values the gate converts to the types of the action.
pub(super) fn parse_params(words: &[String]) -> Result<Object, UsageError> {
    if let [word] = words
        && word.trim_start().starts_with('{')
    {
        // Text with this prefix is an object or invalid.
        return serde_json::from_str(word)
            .map_err(|error| UsageError(format!("the parameters are not a JSON object: {error}")));
    }
    let mut params = Object::new();
    for word in words {
        if word.trim_start().starts_with('{') {
            return Err(UsageError(format!(
                "`{word}` must be the only argument: write all parameters into it"
            )));
        }
        let Some((key, value)) = word.split_once('=') else {
            return Err(UsageError(format!("`{word}` is neither a JSON object nor key=value")));
        };
        let before = params.insert(key.to_owned(), Value::String(value.to_owned()));
        if before.is_some_and(|before| before != value) {
            return Err(UsageError(format!("`{key}` has two values")));
        }
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_one_object_or_pairs() {
        let check = |words: &[&str], expected: Option<Value>| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(parse_params(&words).ok().map(Value::Object), expected, "{words:?}");
        };
        check(&[], Some(json!({})));
        check(&[r#"{"a": [1]}"#], Some(json!({"a": [1]})));
        check(&["text=a=b", "limit=5"], Some(json!({"text": "a=b", "limit": "5"})));
        check(&["{nonsense"], None);
        check(&["n=1", "n=1"], Some(json!({"n": "1"})));
        check(&["n=1", "n=2"], None);
        check(&[r#"{"a": 1}"#, "b=2"], None);
        check(&["b=2", r#"{"a": "="}"#], None);
        check(&["milk"], None);
    }

    #[test]
    fn text_is_printed_and_media_are_described() {
        let check = |block: Block, expected: RenderedBlock<'_>| assert_eq!(render_block(&block), expected);
        check(Block::Text("milk".into()), RenderedBlock::Text("milk"));
        let image = Block::Image { data: vec![0; 12], mime_type: "image/png".into() };
        check(image, RenderedBlock::Note("(image, image/png, 12 bytes: not shown)".into()));
        let embedded = |text: Option<&str>, blob: Option<Vec<u8>>| Block::Embedded {
            uri: "file:///a".into(),
            mime_type: None,
            text: text.map(str::to_owned),
            blob,
        };
        check(embedded(Some("milk"), None), RenderedBlock::Text("milk"));
        let note = "(resource file:///a, unknown type, 3 bytes: not shown)";
        check(embedded(None, Some(vec![0; 3])), RenderedBlock::Note(note.into()));
    }
}
