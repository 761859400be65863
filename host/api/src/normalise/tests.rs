//! Tests of imports, against the contract.

use std::sync::Arc;

use loggia_facade::Object;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    schema::{SchemaSide, convert},
    *,
};
use crate::{
    adapt::adapt_operation,
    description::{ApiDescription, ApiOperation, BodyForm},
    source::OpenApiDocument,
};

fn options() -> ImportOptions {
    ImportOptions {
        name: "api".into(),
        location: "https://example.com/v1/openapi.json".into(),
        ..Default::default()
    }
}

fn document(paths: Value) -> Value {
    json!({"openapi": "3.0.3", "info": {"title": "An API", "version": "1"}, "servers": [{"url": "https://api.example.com"}],
        "paths": paths})
}

fn import(document: &Value) -> ImportedApi {
    import_openapi(document.to_string().as_bytes(), &options()).unwrap()
}

/// Imports one operation.
fn one(operation: Value) -> ApiOperation {
    let imported = import(&document(json!({"/a/{id}": {"post": operation}})));
    assert_eq!(imported.problems, [""; 0]);
    (*imported.description.operations[0]).clone()
}

/// Converts a schema, with some definitions.
fn converted(schema: Value) -> Value {
    let root = json!({"openapi": "3.0.0", "paths": {}, "components": {"schemas": {
        "Name": {"type": "string", "description": "Name.", "maxLength": 9},
        "Tree": {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Tree"}}},
        "Pet": {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}},
    }}});
    let document = OpenApiDocument::read(root.to_string().as_bytes()).unwrap();
    convert(&document, &schema, SchemaSide::Request, 4096)
}

#[test]
fn schemas_become_json_schema_2020() {
    for (schema, expected) in [
        (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
        (
            json!({"type": "string", "enum": ["a", "b", "a"], "nullable": true}),
            json!({"type": ["string", "null"], "enum": ["a", "b", null]}),
        ),
        (
            json!({"type": ["string", "null"], "const": "a"}),
            json!({"type": ["string", "null"], "enum": ["a"]}),
        ),
        (
            json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
            json!({"type": "integer", "exclusiveMinimum": 1}),
        ),
        (
            json!({"type": "integer", "exclusiveMaximum": 9}),
            json!({"type": "integer", "exclusiveMaximum": 9}),
        ),
        (
            json!({"type": "integer", "format": "int64", "example": 5}),
            json!({"type": "integer", "examples": [5]}),
        ),
        (json!({"type": "string", "example": 5, "minLength": "2"}), json!({"type": "string"})),
        // Defaults are texts: filled in, they would change what a call does not name.
        (
            json!({"type": "boolean", "default": true}),
            json!({"type": "boolean", "description": "Default: true."}),
        ),
        (
            json!({"type": "string", "default": "x", "description": "It. Defaults to x."}),
            json!({"type": "string", "description": "It. Defaults to x."}),
        ),
        (
            json!({"additionalProperties": false, "oneOf": [{"properties": {"a": {}}}]}),
            json!({"anyOf": [{"type": "object", "properties": {"a": {}}}]}),
        ),
        (json!({"type": "file"}), json!({})),
        (
            json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "not": {"type": "null"}}),
            json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        ),
        (json!({"properties": {"a": true}}), json!({"type": "object", "properties": {"a": {}}})),
        (
            json!({"$ref": "#/components/schemas/Name"}),
            json!({"type": "string", "description": "Name.", "maxLength": 9}),
        ),
        (
            json!({"$ref": "#/components/schemas/Name", "description": "Own.", "nullable": true}),
            json!({"type": ["string", "null"], "description": "Own.", "maxLength": 9}),
        ),
        (json!({"$ref": "other.json#/a"}), json!({})),
        (
            json!({"$ref": "#/components/schemas/Tree"}),
            json!({"type": "object", "properties": {"next": {"type": "object"}}}),
        ),
        (
            json!({"allOf": [{"$ref": "#/components/schemas/Pet"}, {"properties": {"age": {"type": "integer"}}, "required": ["age"]}]}),
            json!({"type": "object", "required": ["kind", "age"], "properties": {"kind": {"type": "string"}, "age": {"type": "integer"}}}),
        ),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}], "nullable": true, "discriminator": {}}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
        ),
        (
            json!({"type": "object", "required": ["id", "a"], "properties": {"id": {"type": "string", "readOnly": true}, "a": {"type": "string", "x-y": 1}}}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}),
        ),
        (
            json!({"items": [{"type": "string"}]}),
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
        ),
        (json!({"type": "array", "items": false}), json!({"type": "array", "items": false})),
    ] {
        assert_eq!(converted(schema.clone()), expected, "{schema}");
    }
}

#[test]
fn large_schemas_are_cut() {
    let mut wide = Object::new();
    for index in 0..40 {
        let text = "word ".repeat(50);
        wide.insert(
            format!("p{index}"),
            json!({"type": "object", "properties": {"q": {"type": "string", "description": text}}}),
        );
    }
    let cut = converted(json!({"type": "object", "properties": wide}));
    assert!(cut.to_string().len() <= 4096);
    assert_eq!(cut["properties"]["p0"]["type"], "object");

    // Every level refers twice to the next one.
    let mut definitions = Object::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/d/s{}", level + 1)});
        definitions.insert(format!("s{level}"), json!({"properties": {"a": next, "b": next}}));
    }
    let root = json!({"openapi": "3.0.0", "paths": {}, "d": definitions});
    let document = OpenApiDocument::read(root.to_string().as_bytes()).unwrap();
    let cut = convert(&document, &json!({"$ref": "#/d/s0"}), SchemaSide::Request, 1024);
    assert!(cut.to_string().len() <= 1024 && cut["type"] == "object", "{cut}");
}

#[test]
fn servers_are_found() {
    for (servers, location, option, expected) in [
        (json!([{"url": "https://a.example.com/v1/"}]), "x.json", None, Ok("https://a.example.com/v1")),
        (json!([{"url": "/v2"}]), "https://b.example.com/docs/o.json", None, Ok("https://b.example.com/v2")),
        (json!([{"url": "//c.example.com"}]), "x.json", None, Ok("https://c.example.com")),
        (
            json!([{"url": "https://{r}.example.com", "variables": {"r": {"default": "eu"}}}]),
            "x",
            None,
            Ok("https://eu.example.com"),
        ),
        (json!([]), "https://d.example.com/o.json", None, Ok("https://d.example.com")),
        (
            json!([{"url": "ftp://x"}, {"url": "https://e.example.com"}]),
            "x",
            None,
            Ok("https://e.example.com"),
        ),
        (
            json!([{"url": "https://a.example.com"}]),
            "x",
            Some("http://127.0.0.1:1"),
            Ok("http://127.0.0.1:1"),
        ),
        (json!([]), "x.json", None, Err("names no server")),
        (json!([{"url": "/v2"}]), "x.json", None, Err("relative")),
        (json!([{"url": "https://{r}.example.com"}]), "x", None, Err("characters")),
        (json!([{"url": "https://u:p@example.com"}]), "x", None, Err("credentials")),
        (json!([{"url": "https://x?y"}]), "x", None, Err("query")),
    ] {
        let mut document = document(json!({"/a": {"get": {}}}));
        document["servers"] = servers.clone();
        let options =
            ImportOptions { location: location.into(), server: option.map(str::to_owned), ..options() };
        let imported = import_openapi(document.to_string().as_bytes(), &options);
        match (imported, expected) {
            (Ok(imported), Ok(server)) => assert_eq!(imported.description.server, server, "{servers}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{servers}: {error}"),
            (imported, _) => panic!("{servers}: {imported:?}"),
        }
    }
}

#[test]
fn operations_are_read() {
    let operation = one(json!({
        "operationId": "pets/create", "tags": ["Pets", "x"], "deprecated": true,
        "description": "<p>Creates a <b>pet</b> &amp; more.</p><p>Second.</p>",
        "parameters": [
            {"in": "query", "name": "page", "schema": {"type": "integer", "default": 1}},
            {"in": "header", "name": "X-Trace", "schema": {"type": "string"}, "required": true},
            {"in": "header", "name": "Authorization", "schema": {"type": "string"}, "required": true},
            {"in": "query", "name": "f", "style": "deepObject", "schema": {"type": "object"}},
            {"in": "query", "name": "j", "content": {"application/json": {"schema": {"type": "object"}}}},
            {"in": "nowhere", "name": "n"},
        ],
        "requestBody": {"required": true, "content": {
            "multipart/form-data": {}, "application/json": {"schema": {"type": "object", "properties": {"name": {"type": "string"}}}}}},
        "responses": {
            "201": {"content": {"application/json; charset=utf-8": {"schema": {"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}}, "required": ["id"]}}}},
            "404": {"description": "Not Found"}, "422": {"description": "The name is taken. More."}},
    }));
    let shown: Vec<_> = operation
        .parameters
        .iter()
        .map(|p| format!("{} {} {:?}", p.place.as_str(), p.name, p.style))
        .collect();
    assert_eq!(
        shown,
        ["path id Simple", "header X-Trace Simple", "query page Form", "query f DeepObject", "query j Json"]
    );
    assert_eq!(operation.summary, "Creates a pet & more.");
    assert_eq!(operation.description.as_deref(), Some("Creates a pet & more.\n\nSecond."));
    assert_eq!((operation.action.as_str(), operation.group.as_deref()), ("pets_create", Some("Pets")));
    assert!(operation.deprecated && operation.paging.is_none());
    assert_eq!(operation.body.as_ref().unwrap().form, BodyForm::Json);
    assert_eq!(operation.accept, "application/json");
    assert_eq!(*operation.data.unwrap(), json!({"type": "object", "properties": {"id": {"type": "string"}}}));
    assert_eq!(operation.errors, [(422, "The name is taken.".to_owned())].into());
}

#[test]
fn bodies_are_chosen() {
    let body = |content: Value| one(json!({"requestBody": {"content": content}})).body;
    for (content, expected) in [
        (
            json!({"text/plain": {}, "application/vnd.x+json": {}}),
            Some((BodyForm::Json, "application/vnd.x+json")),
        ),
        (
            json!({"multipart/form-data": {}, "application/x-www-form-urlencoded": {}}),
            Some((BodyForm::Form, "application/x-www-form-urlencoded")),
        ),
        (json!({"multipart/form-data": {}}), Some((BodyForm::Multipart, "multipart/form-data"))),
        (json!({"*/*": {}}), Some((BodyForm::Json, "application/json"))),
        (json!({"text/plain": {}}), Some((BodyForm::Text, "text/plain"))),
        (json!({"image/png": {}}), Some((BodyForm::Binary, "image/png"))),
        (json!({}), None),
        // Stripe's operations that read have an empty one.
        (
            json!({"application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": {}, "additionalProperties": false}}}),
            None,
        ),
    ] {
        let chosen = body(content.clone());
        assert_eq!(chosen.as_ref().map(|body| (body.form, body.media.as_str())), expected, "{content}");
    }
    let imported = import(&document(json!({"/a": {
        "get": {}, "post": {"requestBody": {"content": {"multipart/mixed": {}}}}}, "b": {"get": {}}})));
    assert_eq!(
        imported.problems,
        [
            "`POST /a` is left out: its body can be sent only as multipart/mixed, which is not supported",
            "`GET b` is left out: its path must begin with `/` and have no query",
        ]
    );
}

#[test]
fn unusable_documents_are_refused() {
    let check = |document: &Value, part: &str| {
        let error = import_openapi(document.to_string().as_bytes(), &options()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    check(&document(json!({})), "no operation");
    check(&document(json!({"a": {"get": {}}})), "begin with `/`");
    let many: Object =
        (0..2100).map(|n| (format!("/p{n}"), json!({"get": {"tags": [format!("t{}", n % 2)]}}))).collect();
    check(&document(Value::Object(many.clone())), "2100 operations");
    let options = ImportOptions { tags: vec!["t1".into()], ..options() };
    let imported = import_openapi(document(Value::Object(many)).to_string().as_bytes(), &options).unwrap();
    assert_eq!(imported.description.operations.len(), 1050);
}

#[test]
fn refused_schemas_alone_are_loosened() {
    let imported = import(&document(json!({"/a": {"post": {
        "parameters": [{"in": "query", "name": "bad", "schema": {"type": "string", "pattern": "(?<=x)("}},
            {"in": "query", "name": "good", "schema": {"type": "string", "pattern": "^a+$"}}],
        "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {
            "worse": {"type": "string", "pattern": "["}, "fine": {"type": "integer", "minimum": 1}}}}}}}}})));
    let operation = &imported.description.operations[0];
    assert_eq!(operation.parameters[0].schema, json!({"type": "string"}));
    assert_eq!(operation.parameters[1].schema, json!({"type": "string", "pattern": "^a+$"}));
    assert_eq!(
        operation.body.as_ref().unwrap().schema["properties"],
        json!({"worse": {"type": "string"}, "fine": {"type": "integer", "minimum": 1}})
    );
    assert_eq!(
        imported.problems,
        [
            "`POST /a` is imported without the schema of `bad` and the schema of `worse`, which cannot be used here"
        ]
    );
}

#[test]
fn credentials_are_no_parameters() {
    let mut document = document(json!({"/a": {"get": {"parameters": [
        {"in": "header", "name": "x-key", "schema": {"type": "string"}}, {"in": "query", "name": "key", "schema": {"type": "string"}},
        {"in": "query", "name": "q", "schema": {"type": "string"}}]}}}));
    document["components"] = json!({"securitySchemes": {
        "h": {"type": "apiKey", "in": "header", "name": "X-Key"}, "q": {"type": "apiKey", "in": "query", "name": "key"},
        "b": {"type": "http", "scheme": "Bearer"}}});
    let imported = import(&document);
    let names: Vec<_> =
        imported.description.operations[0].parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["q"]);
    let kinds: Vec<_> = imported.description.security.iter().map(|s| s.kind.as_str()).collect();
    assert_eq!(kinds, ["bearer", "header", "query"]);
    assert!(imported.description.render().contains("from-env = \"API_TOKEN\""));
}

/// JSON of OpenAPI's keywords and odd values.
fn odd_values() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "object",
        "string",
        "array",
        "null",
        "query",
        "path",
        "form",
        "deepObject",
        "#/paths/~1a/get",
        "#/components/schemas/a",
        "a",
        "action",
        "(?<x",
        "\u{200b}",
        "https://x",
        "binary",
        "1",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..70_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "type",
        "properties",
        "required",
        "items",
        "additionalProperties",
        "anyOf",
        "allOf",
        "oneOf",
        "not",
        "$ref",
        "enum",
        "default",
        "example",
        "pattern",
        "minimum",
        "exclusiveMinimum",
        "nullable",
        "readOnly",
        "description",
        "in",
        "name",
        "style",
        "explode",
        "schema",
        "content",
        "application/json",
        "multipart/form-data",
        "a",
        "action",
        "b c",
        "200",
        "404",
        "parameters",
        "requestBody",
        "responses",
        "operationId",
        "tags",
        "servers",
        "url",
        "\u{7}",
    ]);
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec((keys.clone(), inner.clone()), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
            prop::collection::vec(inner, 0..4).prop_map(Value::Array),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever a document holds, its operations are accepted by the contract, and come back from their file.
    #[test]
    fn imported_operations_survive_their_file(
        parameter in odd_values(), schema in odd_values(), body in odd_values(), other in odd_values(), whole in odd_values(),
    ) {
        let operation = json!({"parameters": [parameter, {"in": "query", "name": "q", "schema": schema}],
            "requestBody": {"content": {"application/json": {"schema": body}}}, "responses": {"200": other}});
        let mut document = document(json!({"/a": {"get": operation, "post": whole}, "/b": {"put": {}}}));
        document["components"] = json!({"schemas": {"a": other}});
        let imported = import(&document);
        let text = imported.description.render();
        let back = ApiDescription::parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&back, &imported.description);
        for operation in &back.operations {
            adapt_operation(&Arc::new((**operation).clone()));
        }
    }
}
