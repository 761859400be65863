//! Cards and entries against the documented rules of both formats.

use std::path::Path;

use loggia_policy::{document::PolicySetting, settings::Settings};
use serde_json::{Value, json};

use super::*;

const SMALL: &str =
    "[card]\nname = 'com.example/tools'\nurl = 'https://tools.example.com/mcp'\ndescription = 'Notes.'\n";
const FULL: &str = "[profile.research]\ntools = ['secret-facade:*']\ninstructions = 'hidden'\n[profile.internal]\ntools = ['*']\n\
    [card]\nname = 'com.example/tools'\nurl = 'https://tools.example.com/mcp/'\ndescription = 'Notes.'\ntitle = 'Tools'\n\
    version = '1.4.0'\nwebsite = 'https://example.com'\nrepository = 'https://github.com/example/tools'\n\
    icons = [{ src = 'https://example.com/i.png', mime-type = 'image/png', sizes = ['48x48', 'any'], theme = 'dark' },\n\
    { src = 'https://example.com/i.svg' }]\n\
    profile = { research = { description = 'Reads.', title = 'Research' } }\n";
const TOKEN: &str = "[[auth.tokens]]\nname = 'ada'\nscopes = ['notes:read']\n\
    hash = 'sha256:1111111111111111111111111111111111111111111111111111111111111111'\n";
const OAUTH: &str = "[auth]\nresource = 'https://tools.example.com/mcp'\n\
    [auth.oauth]\nissuer = 'https://id.example.com'\njwks = 'keys.json'\nscopes = ['files:read']\n";

fn parse(toml: &str) -> Settings {
    let setting = PolicySetting { folder: Path::new("/etc"), home: None, variable: &|_| None };
    Settings::parse(toml, &setting).unwrap()
}

/// The rules of both formats, written from their documentation; unknown members are refused, as the formats' own generators do.
fn rules(is_registry: bool) -> jsonschema::Validator {
    let text = |most: usize| json!({"type": "string", "minLength": 1, "maxLength": most});
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let input = json!({"description": text(1000), "value": text(1000), "isRequired": {"type": "boolean"}, "isSecret": {"type": "boolean"}});
    let mut header = input.clone();
    header["name"] = text(100);
    header["variables"] = json!({"type": "object", "additionalProperties": object(input, json!([]))});
    let mut remote = json!({
        "type": {"const": "streamable-http"},
        "url": {"type": "string", "pattern": r"^https?://[^\s{}]+$"},
        "headers": {"type": "array", "items": object(header, json!(["name"]))},
    });
    let required = json!(["$schema", "name", "description", "version", "remotes"]);
    if !is_registry {
        let date = json!({"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"});
        remote["supportedProtocolVersions"] = json!({"type": "array", "items": date, "minItems": 1});
    }
    let icon = json!({
        "src": {"type": "string", "pattern": "^https://", "maxLength": 255},
        "mimeType": {"enum": ["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"]},
        "sizes": {"type": "array", "items": {"type": "string", "pattern": r"^(\d+x\d+|any)$"}},
        "theme": {"enum": ["light", "dark"]},
    });
    let schema = match is_registry {
        true => "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        false => "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    };
    let properties = json!({
        "$schema": {"const": schema},
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "description": text(100),
        "title": text(100),
        "version": text(255),
        "websiteUrl": {"type": "string", "pattern": "^https://"},
        "repository": object(json!({"url": {"type": "string", "pattern": "^https://"}, "source": text(100)}), json!(["url", "source"])),
        "icons": {"type": "array", "items": object(icon, json!(["src"]))},
        "remotes": {"type": "array", "minItems": 1, "items": object(remote, json!(["type", "url"]))},
    });
    jsonschema::validator_for(&object(properties, required)).unwrap()
}

fn assert_follows(is_registry: bool, document: &Value) {
    let rules = rules(is_registry);
    let errors: Vec<String> = rules.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{document:#}");
}

#[test]
fn documents_follow_the_published_rules() {
    for auth in ["", TOKEN, OAUTH, &format!("{OAUTH}{TOKEN}")] {
        for (card, profiles) in [(SMALL, &[None][..]), (FULL, &[None, Some("research")])] {
            let settings = parse(&format!("max-protocol-version = '2025-11-25'\n{auth}{card}"));
            let cards = ServerCards::new(&settings).unwrap();
            for profile in profiles {
                assert_follows(false, &cards.card(*profile).unwrap());
                assert_follows(true, &cards.registry_entry(*profile).unwrap().unwrap());
            }
            assert_eq!(cards.documents().len(), profiles.len() + 1);
        }
    }
    // The rules can fail.
    let broken = json!({"$schema": "x", "name": "tools", "remotes": [{"type": "stdio", "tools": []}]});
    assert!(rules(false).iter_errors(&broken).count() >= 4);
}

#[test]
fn a_server_without_the_table_has_no_card() {
    assert!(ServerCards::new(&parse("[http]\n")).is_none());
}

#[test]
fn a_card_says_what_the_table_says() {
    let settings = parse(FULL);
    let cards = ServerCards::new(&settings).unwrap();
    let card = cards.card(None).unwrap();
    let versions = json!(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    assert_eq!(
        card,
        json!({
            "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
            "name": "com.example/tools",
            "description": "Notes.",
            "version": "1.4.0",
            "title": "Tools",
            "websiteUrl": "https://example.com/",
            "repository": {"url": "https://github.com/example/tools", "source": "github"},
            "icons": [
                {"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"},
                {"src": "https://example.com/i.svg"},
            ],
            "remotes": [{
                "type": "streamable-http", "url": "https://tools.example.com/mcp", "supportedProtocolVersions": versions,
            }],
        })
    );
    let small = parse(SMALL);
    let card = ServerCards::new(&small).unwrap().card(None).unwrap();
    assert_eq!(card["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(card.as_object().unwrap().len(), 5);
}

#[test]
fn a_profile_has_a_card_if_it_is_named() {
    let settings = parse(FULL);
    let cards = ServerCards::new(&settings).unwrap();
    let card = cards.card(Some("research")).unwrap();
    assert_eq!(card["name"], "com.example/tools.research");
    assert_eq!((&card["title"], &card["description"]), (&json!("Research"), &json!("Reads.")));
    assert_eq!(card["remotes"][0]["url"], "https://tools.example.com/mcp/research");
    assert_eq!((cards.card(Some("internal")), cards.registry_entry(Some("internal"))), (None, Ok(None)));
    let documents = cards.documents();
    let paths: Vec<&str> = documents.iter().map(|document| document.path.as_str()).collect();
    assert_eq!(paths, ["/mcp/server-card", "/mcp/research/server-card", "/.well-known/ai-catalog.json"]);
    let catalog: Value = serde_json::from_str(&documents[2].body).unwrap();
    let entry = |identifier: &str, url: &str| json!({"identifier": identifier, "type": "application/mcp-server-card+json", "url": url});
    let own = entry("urn:air:example.com:mcp:tools", "https://tools.example.com/mcp/server-card");
    let research =
        entry("urn:air:example.com:mcp:tools.research", "https://tools.example.com/mcp/research/server-card");
    assert_eq!(catalog, json!({"specVersion": "1.0", "entries": [own, research]}));
}

#[test]
fn nothing_else_of_the_settings_appears() {
    let settings = parse(&format!("{OAUTH}{TOKEN}{FULL}"));
    let cards = ServerCards::new(&settings).unwrap();
    let mut all: String = cards.documents().into_iter().map(|document| document.body).collect();
    all += &cards.registry_entry(None).unwrap().unwrap().to_string();
    for hidden in [
        "secret-facade",
        "internal",
        "hidden",
        "ada",
        "1111",
        "notes:read",
        "files:read",
        "id.example.com",
        "keys",
    ] {
        assert!(!all.contains(hidden), "{hidden}: {all}");
    }
}

#[test]
fn tokens_need_a_header_and_logins_none() {
    for (auth, is_required) in
        [("", None), (TOKEN, Some(true)), (OAUTH, None), (&*format!("{OAUTH}{TOKEN}"), Some(false))]
    {
        let settings = parse(&format!("{auth}{SMALL}"));
        let card = ServerCards::new(&settings).unwrap().card(None).unwrap();
        let headers = &card["remotes"][0]["headers"];
        let Some(is_required) = is_required else {
            assert_eq!(headers, &Value::Null, "{auth}");
            continue;
        };
        assert_eq!(headers.as_array().unwrap().len(), 1);
        let header = &headers[0];
        assert_eq!((&header["name"], &header["value"]), (&json!("Authorization"), &json!("Bearer {token}")));
        assert_eq!((&header["isRequired"], &header["isSecret"]), (&json!(is_required), &json!(true)));
        assert_eq!(header["variables"]["token"]["isSecret"], true);
    }
}

#[test]
fn only_offered_revisions_are_listed() {
    for (newest, count) in [("2025-06-18", 3), ("2025-11-25", 4), ("2026-07-28", 5)] {
        let settings = parse(&format!("max-protocol-version = '{newest}'\n{SMALL}"));
        let card = ServerCards::new(&settings).unwrap().card(None).unwrap();
        let versions = card["remotes"][0]["supportedProtocolVersions"].as_array().unwrap().clone();
        assert_eq!((versions.len(), versions.last()), (count, Some(&json!(newest))));
    }
}

#[test]
fn an_entry_of_the_registry_has_what_it_accepts() {
    let local = parse(&SMALL.replace("https://tools.example.com", "http://127.0.0.1:8080"));
    let cards = ServerCards::new(&local).unwrap();
    assert_eq!(cards.registry_entry(None), Err(RegistryProblem::LocalUrl));
    assert!(cards.card(None).is_some());
    let odd = parse(&format!("{SMALL}profile = {{ x_ = {{ description = 'X.' }} }}\n"));
    let name = "com.example/tools.x_".to_owned();
    let refused = ServerCards::new(&odd).unwrap().registry_entry(Some("x_"));
    assert_eq!(refused, Err(RegistryProblem::NameEnd(name)));
    let elsewhere = parse(&FULL.replace("github.com", "codeberg.org"));
    let cards = ServerCards::new(&elsewhere).unwrap();
    let entry = cards.registry_entry(None).unwrap().unwrap();
    assert_eq!(cards.card(None).unwrap()["repository"]["source"], "codeberg.org");
    assert_eq!((entry.get("repository"), entry.get("packages")), (None, None));
    assert_eq!(
        entry["remotes"],
        json!([{"type": "streamable-http", "url": "https://tools.example.com/mcp"}])
    );
}
