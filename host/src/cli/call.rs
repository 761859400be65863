//! `loggia call`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, bail, ensure};
use loggia_facade::{Input, Object, Request};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Common, exit, runtime, term};
use crate::{
    gate::{Event, Origin},
    serve::Host,
};

/// Make one call and print its result as JSON.
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
        term::logs("warn");
        let params = parameters(&self.params)?;
        ensure!(
            self.plugins.is_dir(),
            "there is no folder {}: name the one that holds the plugins with --plugins DIR",
            self.plugins.display()
        );
        let runtime = runtime()?;
        let host = Host::new(&self.common.options())?;
        let envelope = runtime.block_on(async {
            let stop = CancellationToken::new();
            host.follow(self.plugins, stop.clone());
            host.gate.catalog().admitted().await;
            // The command's own words are arguments as a client sends them, so that the same rules apply.
            let mut arguments = Object::new();
            arguments.insert("action".into(), self.action.into());
            arguments.insert("params".into(), params.into());
            let input = Input::Arguments(arguments);
            let request = Request { facade: self.facade, input, timeout: None, idempotency_key: None };
            let mut exec = host.gate.start(Origin::local(), request);
            loop {
                match exec.next().await {
                    Event::Done(envelope) => break envelope,
                    Event::Progress(progress) => {
                        let total = progress.total.map(|total| format!("/{total}")).unwrap_or_default();
                        let message = progress.message.unwrap_or_default();
                        term::note(&format!("{}{total} {message}", progress.done));
                    }
                    Event::Asks(asks) => {
                        for key in asks.keys() {
                            exec.answer(key, loggia_facade::Answer::Declined);
                        }
                    }
                }
            }
        });
        runtime.shutdown_background();
        let code = if envelope.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(exit::CALL_FAILED) };
        let (json, _) = envelope.into_parts();
        let json = Value::Object(json);
        term::out(&if term::stdout_is_terminal() { format!("{json:#}") } else { json.to_string() });
        Ok(code)
    }
}

/// One JSON object, or `key=value` pairs whose values the gate turns into what the action takes.
fn parameters(words: &[String]) -> anyhow::Result<Object> {
    if let [word] = words
        && word.trim_start().starts_with('{')
    {
        return match serde_json::from_str(word).context("the parameters are not valid JSON")? {
            Value::Object(object) => Ok(object),
            _ => bail!("the parameters are not a JSON object"),
        };
    }
    let mut params = Object::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            bail!("`{word}` is neither a JSON object nor key=value");
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
}
