//! `loggia call`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::ensure;
use loggia_facade::{Block, Input, Object, Request};
use loggia_gate::{access::Origin, run::Event};
use loggia_text::{printable, printable_text};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    common::{Common, UsageError, runtime},
    exit, term,
};
use crate::{
    serve::PluginHost,
    telemetry::{logs, logs::Level},
};

/// Make one call and print its result as JSON.
///
/// Text that the plugin gives beside its result follows it; of pictures and other media stderr says what they are.
///
/// Ends with 0 if the call worked, and with 20 if it was made and failed.
#[derive(clap::Args)]
pub struct Call {
    /// The facade, that is the tool
    facade: String,
    /// The action ("describe" lists them)
    action: String,
    /// Parameters: one JSON object, or key=value pairs
    #[arg(value_name = "JSON | key=value")]
    params: Vec<String>,
    /// The folder of plugins
    #[arg(long, value_name = "DIR", default_value = "plugins")]
    plugins: PathBuf,
    #[command(flatten)]
    common: Common,
}

impl Call {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        logs::start_plain(Level::Warn);
        let params = parameters(&self.params)?;
        ensure!(
            self.plugins.is_dir(),
            "there is no folder {}: name the one that holds the plugins with --plugins DIR",
            self.plugins.display()
        );
        let runtime = runtime()?;
        let host = PluginHost::new(&self.common.options()?)?;
        let envelope = runtime.block_on(async {
            let stop = CancellationToken::new();
            host.watch_folder(self.plugins, stop.clone());
            // Compiling may take a while, and a person waits longer than a client.
            host.gate.catalog().settled(&self.facade).await;
            // The command's own words are arguments as a client sends them, so that the same rules apply.
            let mut arguments = Object::new();
            arguments.insert("action".into(), self.action.into());
            arguments.insert("params".into(), params.into());
            let input = Input::Arguments(arguments);
            let request =
                Request { facade: self.facade.clone(), input, timeout: None, idempotency_key: None };
            if host.gate.catalog().lacks(&self.facade) {
                // The answer names what there is instead, which is known once all is loaded.
                host.gate.catalog().complete().await;
            }
            let mut exec = host.gate.start(Origin::local(), request);
            loop {
                match exec.next().await {
                    Event::Done(envelope) => break envelope,
                    Event::Progress(progress) => {
                        let total = progress.total.map(|total| format!("/{total}")).unwrap_or_default();
                        let message = progress.message.unwrap_or_default();
                        term::note(&printable(&format!("{}{total} {message}", progress.done)));
                    }
                    Event::Asks(asks) => {
                        for key in asks.keys() {
                            exec.answer(key, loggia_facade::Answer::Declined);
                        }
                    }
                }
            }
        });
        // What still runs waits by the clocks of this runtime, so it ends first.
        drop(host);
        runtime.shutdown_background();
        let code = if envelope.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(exit::CALL_FAILED) };
        let (json, content) = envelope.into_parts();
        let terminal = term::stdout_is_terminal();
        term::json(&Value::Object(json));
        for content in content {
            match shown(&content.block) {
                Shown::Text(text) if terminal => term::out(&printable_text(text)),
                Shown::Text(text) => term::out(text),
                Shown::Note(note) => term::note(&printable(&note)),
            }
        }
        Ok(code)
    }
}

/// What is shown of a content block.
#[derive(Debug, PartialEq)]
enum Shown<'a> {
    Text(&'a str),
    Note(String),
}

fn shown(block: &Block) -> Shown<'_> {
    let media = |kind: &str, mime_type: &str, bytes: usize| {
        Shown::Note(format!("({kind}, {mime_type}, {bytes} bytes: not shown)"))
    };
    match block {
        Block::Text(text) | Block::Embedded { text: Some(text), .. } => Shown::Text(text),
        Block::Image { data, mime_type } => media("a picture", mime_type, data.len()),
        Block::Audio { data, mime_type } => media("a sound", mime_type, data.len()),
        Block::Embedded { uri, mime_type, blob, .. } => {
            let mime_type = mime_type.as_deref().unwrap_or("of unknown type");
            media(&format!("the resource {uri}"), mime_type, blob.as_ref().map_or(0, Vec::len))
        }
        Block::Link { uri, name, .. } => Shown::Note(format!("(a link, {name}: {uri})")),
    }
}

/// One JSON object, or `key=value` pairs whose values the gate turns into what the action takes.
pub(super) fn parameters(words: &[String]) -> Result<Object, UsageError> {
    if let [word] = words
        && word.trim_start().starts_with('{')
    {
        // What begins so is an object or no JSON.
        return serde_json::from_str(word)
            .map_err(|error| UsageError(format!("the parameters are not a JSON object: {error}")));
    }
    let mut params = Object::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            return Err(UsageError(format!("`{word}` is neither a JSON object nor key=value")));
        };
        params.insert(key.to_owned(), Value::String(value.to_owned()));
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
            assert_eq!(parameters(&words).ok().map(Value::Object), expected, "{words:?}");
        };
        check(&[], Some(json!({})));
        check(&[r#"{"a": [1]}"#], Some(json!({"a": [1]})));
        check(&["text=a=b", "limit=5"], Some(json!({"text": "a=b", "limit": "5"})));
        check(&["{nonsense"], None);
        check(&["milk"], None);
    }

    #[test]
    fn text_is_shown_and_of_media_what_they_are() {
        let check = |block: Block, expected: Shown<'_>| assert_eq!(shown(&block), expected);
        check(Block::Text("milk".into()), Shown::Text("milk"));
        let image = Block::Image { data: vec![0; 12], mime_type: "image/png".into() };
        check(image, Shown::Note("(a picture, image/png, 12 bytes: not shown)".into()));
        let embedded = |text: Option<&str>, blob: Option<Vec<u8>>| Block::Embedded {
            uri: "file:///a".into(),
            mime_type: None,
            text: text.map(str::to_owned),
            blob,
        };
        check(embedded(Some("milk"), None), Shown::Text("milk"));
        let note = "(the resource file:///a, of unknown type, 3 bytes: not shown)";
        check(embedded(None, Some(vec![0; 3])), Shown::Note(note.into()));
    }
}
