//! Tests of description files.

use super::*;

const FILE: &str = r#"
format = 1
name = "pets"
summary = "Pets."
server = "https://api.example.com/v1"

[[operation]]
action = "get_pet"
method = "GET"
path = "/pets/{id}"
summary = "Reads a pet."
parameters = [
  { in = "path", name = "id", schema = '{"type":"string"}' },
]
"#;

#[test]
fn files_return_what_was_written() {
    let description = ApiDescription::parse(FILE).unwrap();
    let text = description.render();
    assert_eq!(ApiDescription::parse(&text).unwrap(), description);
    assert_eq!(ApiDescription::parse(&text).unwrap().render(), text);
    insta::assert_snapshot!(text);
}

#[test]
fn texts_survive_toml() {
    let mut description = ApiDescription::parse(FILE).unwrap();
    for odd in
        ["", "'", "\"\"\"", "a\nb\\\n\"c\"\n", "\t\u{7f}\u{1}\r\n", "\n", "\\u0041", "# no comment", "日本"]
    {
        description.title = odd.into();
        let operation = std::sync::Arc::make_mut(&mut description.operations[0]);
        operation.description = Some(odd.into());
        operation.parameters[0].schema = serde_json::json!({"type": "string", "description": odd});
        operation.errors = [(404, odd.to_owned())].into();
        let text = description.render();
        assert_eq!(
            ApiDescription::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")),
            description,
            "{odd:?}"
        );
    }
}

#[test]
fn mistakes_have_lines() {
    for (from, to, line, message) in [
        ("format = 1", "format = 2", 2, "import the API again"),
        ("\"GET\"", "\"TRACE\"", 9, "unknown variant"),
        ("\"/pets/{id}\"", "\"pets\"", 10, "must begin with `/`"),
        ("\"/pets/{id}\"", "\"/pets\"", 13, "the path has no `{id}`"),
        ("'{\"type\":\"string\"}'", "'{'", 13, "malformed"),
        ("'{\"type\":\"string\"}'", "'1'", 13, "must be a JSON object"),
        ("in = \"path\"", "in = \"body\"", 13, "unknown variant"),
        ("summary = \"Pets.\"", "sumary = \"Pets.\"", 4, "unknown field"),
        ("https://api.example.com/v1", "https://u:p@api.example.com", 5, "no credentials"),
        ("https://api.example.com/v1", "file:///etc", 5, "http or https"),
        ("action = \"get_pet\"", "action = ", 8, ""),
        ("action = \"get_pet\"", "", 7, "missing field"),
        ("summary = \"Reads a pet.\"", "summary = \"R\"\nerrors = { x = \"y\" }", 7, "no status"),
    ] {
        let error = ApiDescription::parse(&FILE.replace(from, to)).unwrap_err();
        assert_eq!(error.line, line, "{to}: {error}");
        assert!(error.message.contains(message), "{to}: {error}");
    }
}
