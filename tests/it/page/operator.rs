//! What a browser knows of the page, and calls that wait for a decision.

use anyhow::{Context, Result};
use loggia_tests::{
    Folder, Served, Token, eventually,
    wire::{self, Told},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// An answer as it came; `Told` has its head in lower case, and ids of sessions need their case.
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Page {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    /// The value of an input of a form.
    pub(super) fn field(&self, name: &str) -> Result<&str> {
        let (_, rest) = self
            .body
            .split_once(&format!("name=\"{name}\" value=\""))
            .with_context(|| format!("no field {name}: {}", self.body))?;
        rest.split_once('"').map(|(value, _)| value).context("an end")
    }
}

/// What a browser knows of the page.
pub(super) struct Operator {
    pub(super) admin: String,
    /// Headers of a browser's own forms.
    pub(super) own: String,
    pub(super) cookie: String,
}

impl Operator {
    pub(super) fn new(served: &Served) -> Self {
        let own = format!("Origin: http://{}\r\n", served.admin);
        Self { admin: served.admin.clone(), own, cookie: String::new() }
    }

    pub(super) async fn send(&self, request: &str, headers: &str, body: &str) -> Result<Page> {
        let mut stream = TcpStream::connect(&self.admin).await?;
        let (admin, cookie) = (&self.admin, &self.cookie);
        let cookie = if cookie.is_empty() { String::new() } else { format!("Cookie: a=b; {cookie}\r\n") };
        let head = format!("{request} HTTP/1.1\r\nHost: {admin}\r\n{cookie}{headers}\r\n");
        stream.write_all(format!("{head}{body}").as_bytes()).await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let (head, body) = text.split_once("\r\n\r\n").context("no head")?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status")?;
        Ok(Page { status, head: head.to_owned(), body: body.to_owned() })
    }

    pub(super) async fn get(&self, path: &str) -> Result<Page> {
        self.send(&format!("GET {path}"), "", "").await
    }

    /// Texts of the cells of a page's table, by rows.
    pub(super) async fn rows(&self, path: &str) -> Result<Vec<Vec<String>>> {
        let body = self.get(path).await?.body;
        let (_, rows) = body.split_once("<tbody>").with_context(|| format!("no table: {body}"))?;
        let (rows, _) = rows.split_once("</tbody>").context("an end")?;
        // Of each element, what follows its tag.
        let text = |cell: &str| cell.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect();
        let cells = |row: &str| {
            let cells = row.split("<t").skip(2);
            cells.map(|cell| text(&format!("<t{cell}"))).collect()
        };
        Ok(rows.split("</tr>").filter(|row| row.contains("<tr>")).map(cells).collect())
    }

    /// Posts a form with these headers.
    pub(super) async fn post_as(&self, path: &str, headers: &str, form: &str) -> Result<Page> {
        let headers = format!(
            "{headers}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
            form.len()
        );
        self.send(&format!("POST {path}"), &headers, form).await
    }

    pub(super) async fn post(&self, path: &str, form: &str) -> Result<Page> {
        self.post_as(path, &self.own, form).await
    }

    /// Logs in; the answer.
    pub(super) async fn log_in(&mut self, token: &str) -> Result<Page> {
        let form = self.get("/operator/login").await?;
        let own = form.field("form_token")?.to_owned();
        let page = self.post("/operator/login", &format!("form_token={own}&token={token}&name=ada")).await?;
        if let Some(cookie) = page.header("set-cookie") {
            cookie.split(';').next().unwrap_or_default().clone_into(&mut self.cookie);
        }
        Ok(page)
    }
}

/// Settings whose admin token this is.
pub(super) fn settings(token: &Token) -> Result<String> {
    let hash = token.toml.lines().find_map(|line| line.strip_prefix("hash = ")).context("a hash")?;
    Ok(format!("[admin]\nlisten = \"127.0.0.1:0\"\ntoken = {hash}\n[http.per-caller]\nrate = 0\n"))
}

/// A folder with a plugin whose `put` needs consent.
pub(super) fn folder() -> Folder {
    let folder = Folder::with(&["shelf", "worker"]);
    folder.write("shelf.toml", "[grants]\nstore = true\nelicit = true\n[actions]\nconfirm = [\"put\"]\n");
    folder
}

/// Calls `shelf.put`, which waits for an approval; the handle of its run.
pub(super) async fn put(served: &Served, caller: &Token, text: &str) -> Result<String> {
    let arguments = json!({"action": "put", "id": "n1", "title": "A title", "text": text});
    let told: Told = wire::answered(&served.host, &caller.header(), "shelf", &arguments).await?;
    let envelope = told.envelope()?;
    let run = envelope["data"]["run"]["id"].as_str().with_context(|| format!("no run: {envelope}"))?;
    Ok(run.to_owned())
}

/// Waits for the result of a run of `shelf`.
pub(super) async fn result(served: &Served, caller: &Token, run: &str) -> Value {
    result_of(served, caller, "shelf", run).await
}

/// Waits for the result of a run of a tool.
pub(super) async fn result_of(served: &Served, caller: &Token, tool: &str, run: &str) -> Value {
    eventually(async || {
        let status = json!({"action": "run_status", "run_id": run});
        let told = wire::answered(&served.host, &caller.header(), tool, &status).await;
        let envelope = told.and_then(|told| told.envelope()).map_err(|error| error.to_string())?;
        let result = &envelope["data"]["run"]["result"];
        if result.is_null() { Err(envelope.to_string()) } else { Ok(result.clone()) }
    })
    .await
}

/// The id of the only open approval.
pub(super) async fn open_approval(operator: &Operator) -> String {
    eventually(async || {
        let page = operator.get("/operator/approvals").await.map_err(|error| error.to_string())?;
        let id = page.body.split_once("id=\"card-").and_then(|(_, rest)| rest.split_once('"'));
        id.map(|(id, _)| id.to_owned()).ok_or(page.body)
    })
    .await
}
