//! The clients that can be configured: facts about other programs, each with its source.
//!
//! "Seen" is the date of the stored copy or of the page, not of this file. A fact without a source could not be verified, and says so.

use super::facts::{
    ClientRow, EntryKeys, FileSyntax, FixedValue, HttpForm, NameCeiling, PathBase, SystemPath, TokenForm,
    UserFile,
};

/// Members that most clients share: those of Claude Desktop's file, which came first.
const USUAL: EntryKeys = EntryKeys {
    stdio: &[],
    command: "command",
    args: "args",
    env: "env",
    http: &[],
    url: "url",
    headers: "headers",
    last: &[],
    switch: None,
};

const fn home(path: &'static str) -> SystemPath {
    SystemPath { base: PathBase::Home, path }
}

const fn config(path: &'static str) -> SystemPath {
    SystemPath { base: PathBase::Config, path }
}

const fn app_data(path: &'static str) -> SystemPath {
    SystemPath { base: PathBase::AppData, path }
}

/// A file at one place below the home folder, on all systems.
const fn everywhere(path: &'static str) -> UserFile {
    UserFile { moved: None, linux: home(path), macos: home(path), windows: home(path), mark: None }
}

/// The client of this name.
pub fn find_client(name: &str) -> Option<&'static ClientRow> {
    CLIENTS.iter().find(|client| client.name == name)
}

/// All clients, in the order of the documentation.
pub const CLIENTS: &[ClientRow] = &[
    // code.claude.com/docs/en/mcp (seen 2026-09-22, quoted in "Six ${VAR} forms", dev.to/rulestack): scopes, `type`, and `${VAR}` in
    // `url` and `headers`. User scope is the member `mcpServers` of ~/.claude.json, local scope the same below
    // `projects.<path>`; an entry without `type` is started (wiki xsyetopz/claudetto, "Claude Code MCP", 2026-10-19).
    // CLAUDE_CONFIG_DIR moves the file (issue yarikleto/claude-profile#15, run with 2.1.220, 2026-08-29).
    // Names above 128 characters are left out (same wiki, "MCP Runtime"). Tools are deferred (same page).
    // Not verified: that the file may hold no comments; it is written as plain JSON. The docs promise `${VAR}` for `.mcp.json` alone.
    ClientRow {
        name: "claude-code",
        title: "Claude Code",
        user: UserFile {
            moved: Some(("CLAUDE_CONFIG_DIR", ".claude.json")),
            mark: Some(".claude"),
            ..everywhere(".claude.json")
        },
        project: Some(".mcp.json"),
        local: Some("projects"),
        syntax: FileSyntax::Json,
        key: "mcpServers",
        keys: EntryKeys {
            stdio: &[("type", FixedValue::Text("stdio"))],
            http: &[("type", FixedValue::Text("http"))],
            ..USUAL
        },
        lists: None,
        http: HttpForm::Native(TokenForm::Reference("${", "}")),
        name_ceiling: Some(NameCeiling {
            most: 128,
            around: ("mcp__", "__"),
            effect: "Claude Code leaves the tool out",
        }),
        next: "start a new session (`claude`), approve the server if it is asked for, and look at `/mcp`",
    },
    // modelcontextprotocol.io/quickstart/user and mcp-confluent docs/configuring-claude-desktop.md (seen 2026): the file on macOS
    // and Windows, `mcpServers`, restart. Linux builds are not Anthropic's; they read ~/.config/Claude (aaddrick/claude-desktop-debian
    // #400, 2026-04-14). The file holds no URLs: remote servers are connectors, which cannot reach this machine, or bridges
    // (docs.hyperstack.cloud "Claude Desktop Setup"; docs.lunar.dev "Connect with Claude"). A trailing comma disables the file
    // without a message (mcpbundles.com "Claude Desktop MCP Setup"). Servers see USER, HOME and PATH of the environment
    // (smithery.ai outfitter-dev/claude-config). Deferral: as Claude Code, by the research of the project.
    ClientRow {
        name: "claude-desktop",
        title: "Claude Desktop",
        user: UserFile {
            moved: None,
            linux: config("Claude/claude_desktop_config.json"),
            macos: home("Library/Application Support/Claude/claude_desktop_config.json"),
            windows: app_data("Claude/claude_desktop_config.json"),
            mark: None,
        },
        project: None,
        local: None,
        syntax: FileSyntax::Json,
        key: "mcpServers",
        keys: USUAL,
        lists: None,
        http: HttpForm::Bridge,
        name_ceiling: None,
        next: "quit Claude Desktop (closing its window is not enough) and start it again",
    },
    // code.visualstudio.com/docs/agents/reference/mcp-configuration.md (seen 2026-11): `.vscode/mcp.json` and `mcp.json` of the user
    // profile, `servers`, `type`, `headers`. The profile's folder: microsoft/apm#793 and minhluuquang/vscode-mcp-server.
    // 128 tools in a request: mcpbundles.com "How Many Tools" (2026), vscode#255585.
    // `${env:NAME}` is VS Code's variable of all configuration files; that `mcp.json` resolves it was read in mcp-hub 4.2.0's notes
    // on compatibility only. The default profile is written; other profiles have files of their own.
    ClientRow {
        name: "vscode",
        title: "VS Code",
        user: UserFile {
            moved: None,
            linux: config("Code/User/mcp.json"),
            macos: home("Library/Application Support/Code/User/mcp.json"),
            windows: app_data("Code/User/mcp.json"),
            mark: None,
        },
        project: Some(".vscode/mcp.json"),
        local: None,
        syntax: FileSyntax::Jsonc,
        key: "servers",
        keys: EntryKeys {
            stdio: &[("type", FixedValue::Text("stdio"))],
            http: &[("type", FixedValue::Text("http"))],
            ..USUAL
        },
        lists: None,
        http: HttpForm::Native(TokenForm::Reference("${env:", "}")),
        name_ceiling: None,
        next: "run `MCP: List Servers`, start the server, and trust it if VS Code asks",
    },
    // cursor.com/docs/mcp (as quoted in dev.to/skryvo "Cursor MCP", checked 2026-10-22; userjot.com/docs/mcp-cursor): both files,
    // `mcpServers`, `url`, `headers`, `${env:NAME}`. 40 tools: docs.cursor.com, quoted in anyproto/anytype-mcp#5 (2025-06);
    // Snowflake-Labs/mcp#77 saw a warning at 80 (2025-09). 60 characters: ComposioHQ/composio#2788 (2026-02).
    // Not verified: whether the limit of 40 still holds.
    ClientRow {
        name: "cursor",
        title: "Cursor",
        user: everywhere(".cursor/mcp.json"),
        project: Some(".cursor/mcp.json"),
        local: None,
        syntax: FileSyntax::Jsonc,
        key: "mcpServers",
        keys: USUAL,
        lists: None,
        http: HttpForm::Native(TokenForm::Reference("${env:", "}")),
        name_ceiling: Some(NameCeiling { most: 60, around: ("", ":"), effect: "Cursor leaves the tool out" }),
        next: "restart Cursor, and switch the server on under Customize, MCPs",
    },
    // openai/codex codex-rs/config/src/mcp_types.rs (2026): members, `enabled`, `bearer_token_env_var`; `bearer_token` is refused.
    // `.codex/config.toml` of a trusted project: tuff-adapter-codex 0.13.0 (Codex 0.154.0, 2026-09-16). CODEX_HOME: codex-wrapper.
    // 64 characters: codex-rs/core/src/mcp_connection_manager.rs, MAX_TOOL_NAME_LENGTH; longer names are shortened by a hash.
    // Deferred since openai/codex#29486 (2026-06-22), for models that search.
    ClientRow {
        name: "codex",
        title: "Codex",
        user: UserFile { moved: Some(("CODEX_HOME", "config.toml")), ..everywhere(".codex/config.toml") },
        project: Some(".codex/config.toml"),
        local: None,
        syntax: FileSyntax::Toml,
        key: "mcp_servers",
        keys: EntryKeys { headers: "http_headers", switch: Some(("enabled", false)), ..USUAL },
        lists: None,
        http: HttpForm::Native(TokenForm::Member("bearer_token_env_var")),
        name_ceiling: Some(NameCeiling {
            most: 64,
            around: ("mcp__", "__"),
            effect: "Codex replaces the end of the name by a hash",
        }),
        next: "start a new session (`codex`), and look at `/mcp`; a project has to be trusted",
    },
    // zed.dev/docs/ai/mcp.md (seen 2026): `context_servers`, `command`, `args`, `env`, `url`, `headers`. File: zed.dev/docs/configuring-zed;
    // Windows: skills.sh wcygan/dotfiles. Project settings: `context_servers` is a project setting in crates/settings
    // (ProjectSettingsContent). Headers are sent verbatim: zed-industries/zed#60459 (open, 2026-07-06); so a token needs a bridge.
    // `enabled`: the custom server of fancier21/mcp-local-server has it; not verified in Zed's source.
    ClientRow {
        name: "zed",
        title: "Zed",
        user: UserFile {
            moved: None,
            linux: config("zed/settings.json"),
            macos: home(".config/zed/settings.json"),
            windows: app_data("Zed/settings.json"),
            mark: None,
        },
        project: Some(".zed/settings.json"),
        local: None,
        syntax: FileSyntax::Jsonc,
        key: "context_servers",
        keys: EntryKeys { switch: Some(("enabled", false)), ..USUAL },
        lists: None,
        http: HttpForm::Native(TokenForm::Bridge),
        name_ceiling: None,
        next: "Zed reads its settings at once: look for a green dot in the settings of the Agent Panel",
    },
    // docs.windsurf.com/windsurf/cascade/mcp (copy at codeium.mintlify.app, seen 2026): the file, `serverUrl` or `url`, interpolation in
    // `headers`, 100 tools. `${env:NAME}` and that `url` does not connect in some versions: newtalaria/docs mcp/windsurf.md
    // (2026-10-29). `disabled`: pblagoje/mcp-ollama-python docs/windsurf.md. Not verified: files of projects.
    ClientRow {
        name: "windsurf",
        title: "Windsurf",
        user: everywhere(".codeium/windsurf/mcp_config.json"),
        project: None,
        local: None,
        syntax: FileSyntax::Jsonc,
        key: "mcpServers",
        keys: EntryKeys { url: "serverUrl", switch: Some(("disabled", true)), ..USUAL },
        lists: None,
        http: HttpForm::Native(TokenForm::Reference("${env:", "}")),
        name_ceiling: None,
        next: "press the refresh button of the MCP panel in Cascade",
    },
    // google-gemini/gemini-cli at 5411f113 (2026-08-21): docs/tools/mcp-server.md (files, members, names); `url` with `type: "http"`
    // replaces `httpUrl` (packages/core/src/tools/mcp-client.ts createUrlTransport, packages/cli/src/commands/mcp/add.ts);
    // references are expanded in all settings (packages/cli/src/config/settings.ts), comments are allowed (same file).
    // GEMINI_CLI_HOME: packages/core/src/utils/paths.ts. Names above 63: packages/core/src/tools/mcp-tool.ts.
    ClientRow {
        name: "gemini-cli",
        title: "Gemini CLI",
        user: UserFile {
            moved: Some(("GEMINI_CLI_HOME", ".gemini/settings.json")),
            ..everywhere(".gemini/settings.json")
        },
        project: Some(".gemini/settings.json"),
        local: None,
        syntax: FileSyntax::Jsonc,
        key: "mcpServers",
        keys: EntryKeys { http: &[("type", FixedValue::Text("http"))], ..USUAL },
        lists: Some(("mcp", "allowed", "excluded")),
        http: HttpForm::Native(TokenForm::Reference("${", "}")),
        name_ceiling: Some(NameCeiling {
            most: 63,
            around: ("mcp_", "_"),
            effect: "Gemini CLI cuts the middle out of the name",
        }),
        next: "start `gemini` again, and look at `/mcp`",
    },
    // block/goose crates/goose/src/agents/extension.rs (2026): members, types; extension_manager.rs: `${NAME}` in `headers`, for names
    // of `env_keys`, from the environment or the keyring. Files: goose docs/guides/config-files.md (aaif-goose/goose, seen 2026).
    ClientRow {
        name: "goose",
        title: "Goose",
        user: UserFile {
            moved: None,
            linux: config("goose/config.yaml"),
            macos: home(".config/goose/config.yaml"),
            windows: app_data("Block/goose/config/config.yaml"),
            mark: None,
        },
        project: None,
        local: None,
        syntax: FileSyntax::Yaml,
        key: "extensions",
        keys: EntryKeys {
            stdio: &[
                ("enabled", FixedValue::Flag(true)),
                ("type", FixedValue::Text("stdio")),
                ("name", FixedValue::Name),
                ("description", FixedValue::Text("Plugins served by Loggia")),
            ],
            command: "cmd",
            env: "envs",
            http: &[
                ("enabled", FixedValue::Flag(true)),
                ("type", FixedValue::Text("streamable_http")),
                ("name", FixedValue::Name),
                ("description", FixedValue::Text("Plugins served by Loggia")),
            ],
            url: "uri",
            last: &[("timeout", FixedValue::Number(300))],
            switch: Some(("enabled", false)),
            ..USUAL
        },
        lists: None,
        http: HttpForm::Native(TokenForm::Listed("env_keys")),
        name_ceiling: None,
        next: "start a new session of goose",
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_documentation_has_this_table() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/integrators/clients.md");
        let page = std::fs::read_to_string(page).unwrap();
        for client in CLIENTS {
            let at = client.user.linux;
            let user = match at.base {
                PathBase::Home => format!("~/{}", at.path),
                PathBase::Config | PathBase::AppData => at.path.to_owned(),
            };
            let project = client.project.map_or("–".to_owned(), |path| format!("`{path}`"));
            let row =
                format!("| {} | `{}` | `{user}` | {project} | `{}` |", client.title, client.name, client.key);
            assert!(page.contains(&row), "docs/integrators/clients.md should say: {row}");
            if let Some(most) = client.traits().tools {
                assert!(page.contains(&format!("{} {most}", client.title)), "{} {most}", client.title);
            }
        }
        let names: BTreeSet<&str> = CLIENTS.iter().map(|client| client.name).collect();
        assert_eq!(names.len(), CLIENTS.len());
    }
}
