//! A plugin for an external HTTP API: the README's section on requests as a complete program.

use std::time::Duration;

use loggia_sdk::prelude::*;

struct Issues;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Issue {
    number: u64,
    title: String,
    #[serde(default)]
    body: Option<String>,
}

const REPOSITORIES: &str = "https://api.github.com/repos";

/// Issues of projects on GitHub.
#[facade(name = "github", needs("http: https://api.github.com", "there they are"))]
impl Issues {
    /// List open issues.
    #[action(read, open_world)]
    fn list(
        &self,
        owner: String,
        repository: String,
        #[param(default = 20, range = 1..=100)] limit: u32,
    ) -> Result<Vec<Issue>> {
        http::get(REPOSITORIES)
            .path(&[&owner, &repository, "issues"])
            .query(&[("per_page", limit)])
            .header("accept", "application/vnd.github+json")
            .timeout(Duration::from_secs(10))
            .send()?
            .ok()?
            .json()
    }

    /// Open an issue.
    #[action(write, open_world)]
    fn open(&self, owner: String, repository: String, title: String, body: Option<String>) -> Result<Issue> {
        http::post(REPOSITORIES)
            .path(&[&owner, &repository, "issues"])
            .json(&json!({"title": title, "body": body}))
            .send()?
            .ok()?
            .json()
    }
}

loggia_sdk::export!(Issues);
