//! The plugins of `plugins/`, in the real host.

mod banking;
mod brief;
mod context;
mod conversations;
mod files;
mod knowledge;
mod memories;
mod policies;
mod projects;
mod readme_table;
mod savings;
mod script;
mod search;
mod session;
mod table;
mod tools;
mod web;

use loggia_tests::{
    Folder, plugin,
    web::{Answer, Asked, Web},
};
use serde_json::{Value, json};

/// A folder with one of the plugins, and its policy.
fn folder(name: &str, policy: &str) -> Folder {
    let folder = Folder::new();
    add(&folder, name, policy);
    folder
}

/// One more plugin, and its policy.
fn add(folder: &Folder, name: &str, policy: &str) {
    folder.write(&format!("{name}.toml"), policy);
    folder.put(name, &plugin(name));
}

/// Tests whether the plugin gave up after conflicts or a slow disk: nothing was written, and the caller retries.
fn is_busy(envelope: &Value) -> bool {
    envelope["error"] == "too many concurrent changes" || envelope["error"] == "the state is busy"
}

/// A server of OpenAI's embeddings. Texts are alike that have the same letters.
async fn embeddings() -> anyhow::Result<Web> {
    Web::start(|asked: &Asked| {
        let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        let texts = body["input"].as_array().cloned().unwrap_or_default();
        let letters = |text: &Value| -> Vec<usize> {
            let text = text.as_str().unwrap_or_default().to_lowercase();
            ('a'..='z').map(|letter| text.matches(letter).count()).collect()
        };
        let data: Vec<Value> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| json!({"object": "embedding", "index": index, "embedding": letters(text)}))
            .collect();
        Answer::text(json!({"object": "list", "model": body["model"], "data": data}).to_string())
    })
    .await
}

/// Policy that grants a plugin the embedding server.
fn meaning(web: &Web) -> String {
    format!(
        "http = [{{ url = {:?}, methods = [\"POST\"], reads = [\"POST\"] }}]\n\
         config.embeddings = {{ url = {:?}, model = \"letters\" }}\n",
        web.url(""),
        web.url("/v1/embeddings"),
    )
}
