//! `loggia clients`.

use std::process::ExitCode;

use loggia_policy::clients::{ClientTraits, client_table};
use loggia_text::units::format_bytes;
use serde_json::json;

use super::{columns, term};

/// Print how each MCP client is served.
///
/// With `schema = "auto"`, the default, a server chooses the form of the tool list by the name with which a client
/// introduces itself, and for each client how results are sent. `deferred` clients show their model names and
/// instructions, until a search loads tools; the others read the whole list on every turn. `hidden` lists what of a result a
/// client does not pass to its model, which gets a line about it instead.
#[derive(clap::Args)]
pub struct ClientsCommand {
    /// Only this client, with the sources of each fact
    #[arg(value_name = "NAME", value_parser = known_client)]
    name: Option<&'static ClientTraits>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Finds a client by its name in the table.
pub fn known_client(name: &str) -> Result<&'static ClientTraits, String> {
    client_table().named(name).ok_or_else(|| {
        let known: Vec<&str> = client_table().all().map(|client| client.name.as_str()).collect();
        format!("known clients: {}", known.join(", "))
    })
}

impl ClientsCommand {
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let clients: Vec<&ClientTraits> = match self.name {
            Some(client) => vec![client],
            None => client_table().all().collect(),
        };
        if self.json {
            let clients: Vec<_> = clients.iter().map(|client| to_json(client)).collect();
            term::print_json(&clients.into());
            return Ok(ExitCode::SUCCESS);
        }
        const HEAD: [&str; 9] =
            ["name", "client", "clientInfo", "schema", "results", "hidden", "deferred", "answer", "tools"];
        let rows: Vec<_> = clients.iter().map(|client| to_row(client)).collect();
        term::print(&match term::stdout_is_terminal() {
            true => columns::build_table(&HEAD, &rows, 7).to_string(),
            false => columns::tab_separated(&HEAD, &rows),
        });
        if self.name.is_some() {
            clients.iter().flat_map(|client| &client.sources).for_each(|source| term::note(source));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn to_row(client: &ClientTraits) -> [String; 9] {
    let number = |number: Option<usize>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let or_none = |texts: String| if texts.is_empty() { "-".to_owned() } else { texts };
    let hidden = client.content.hidden().into_iter().map(str::to_owned);
    let too_large =
        client.content.image_bytes.map(|most| format!("image over {}", format_bytes(most as u64)));
    let info = or_none(client.info.join(", "));
    [
        client.name.clone(),
        client.title.clone(),
        info,
        client.form.as_str().to_owned(),
        client.result.as_str().to_owned(),
        or_none(hidden.chain(too_large).collect::<Vec<_>>().join(", ")),
        if client.deferred { "yes" } else { "-" }.to_owned(),
        number(client.answer),
        number(client.tools),
    ]
}

fn to_json(client: &ClientTraits) -> serde_json::Value {
    json!({
        "name": client.name,
        "title": client.title,
        "clientInfo": client.info,
        "schema": client.form.as_str(),
        "results": client.result.as_str(),
        "content": client.content,
        "deferred": client.deferred,
        "meta": client.meta,
        "answer": client.answer,
        "tools": client.tools,
        "sources": client.sources,
    })
}
