//! The description of an API as plain data: what is left of an OpenAPI document after normalisation.

use std::{collections::BTreeMap, fmt, sync::Arc};

use loggia_facade::Effect;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An API as it is served. Pinned: nothing of it is fetched again.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiDescription {
    /// Name of the facade.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// The API's own version.
    pub version: String,
    /// Purpose of the API, in one or two sentences.
    pub summary: String,
    /// Base URL of all operations without one of their own: scheme, host, port and the beginning of the path.
    pub server: String,
    /// The document from which the description was made.
    pub source: DescriptionSource,
    /// How requests are authenticated. The policy's `secrets` hold the credentials.
    pub security: Vec<SecurityScheme>,
    /// Operations, in the order of the document.
    pub operations: Vec<Arc<ApiOperation>>,
}

/// Origin of a description.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescriptionSource {
    /// File or URL, without credentials.
    pub location: String,
    /// SHA-256 of the document's bytes, in hexadecimal.
    pub sha256: String,
    /// Version of OpenAPI.
    pub openapi: String,
}

/// One way to authenticate requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecurityScheme {
    /// Name in the document.
    pub name: String,
    /// `bearer`, `basic`, `header`, `query`, `cookie`, `oauth2`, `openid` or `other`.
    pub kind: String,
    /// Header that carries the credential; none if no header does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Format of the header's value, as in the policy's `secrets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiOperation {
    /// Name of the action. Kept in the file, so that it stays the same whatever else changes.
    pub action: String,
    /// The document's `operationId`.
    pub id: Option<String>,
    /// Method.
    pub method: ApiMethod,
    /// Path below the server's, with `{name}` for parameters.
    pub path: String,
    /// Base URL, where it is not that of the description.
    pub server: Option<String>,
    /// First tag or, without tags, the first word of the path.
    pub group: Option<String>,
    /// One line.
    pub summary: String,
    /// Whole description, where it says more than the summary.
    pub description: Option<String>,
    /// True if the document says that the operation will go away.
    pub deprecated: bool,
    /// Parameters of path, query, headers and cookies.
    pub parameters: Vec<ApiParameter>,
    /// Body of the request.
    pub body: Option<ApiBody>,
    /// Value of the `accept` header.
    pub accept: String,
    /// Query parameter that selects the next page, where the results come in pages.
    pub paging: Option<String>,
    /// Schema of a successful response's JSON, if it is small.
    pub data: Option<Arc<Value>>,
    /// What the document says about a status of 400 or more.
    pub errors: BTreeMap<u16, String>,
}

/// Method of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ApiMethod {
    /// Reads.
    Get,
    /// Reads without a body of the response.
    Head,
    /// Adds or acts.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
    /// Removes.
    Delete,
}

/// A parameter outside of the body.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiParameter {
    /// Name in the request.
    pub name: String,
    /// Place in the request.
    pub place: ParameterPlace,
    /// Format of lists and objects.
    pub style: ParameterStyle,
    /// Whether each item or member is written apart.
    pub explode: bool,
    /// True if the operation cannot do without it.
    pub required: bool,
    /// Path: the value may contain slashes. Query: reserved characters stay as they are.
    pub reserved: bool,
    /// JSON Schema of the value, with its description.
    pub schema: Value,
}

/// Place of a parameter in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParameterPlace {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

/// Format of a parameter whose value is a list or an object; OpenAPI's `style`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ParameterStyle {
    /// `a,b`: in paths and headers.
    Simple,
    /// `name=a&name=b`, or `name=a,b`.
    Form,
    /// `name=a%20b`.
    SpaceDelimited,
    /// `name=a|b`.
    PipeDelimited,
    /// `name[key]=value`.
    DeepObject,
    /// The value as JSON: OpenAPI's `content` instead of a schema.
    Json,
}

/// Body of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiBody {
    /// How values become bytes.
    pub form: BodyForm,
    /// Value of the `content-type` header.
    pub media: String,
    /// True if the operation cannot do without a body.
    pub required: bool,
    /// JSON Schema of the body.
    pub schema: Value,
    /// Styles of members, where they differ from the form's usual one.
    pub styles: BTreeMap<String, ParameterStyle>,
}

/// How a body becomes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyForm {
    /// JSON.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data`.
    Multipart,
    /// The text itself.
    Text,
    /// The bytes themselves, which a call passes in base64.
    Binary,
}

impl ApiMethod {
    /// All methods that can be served, by their names in a document.
    pub(crate) const ALL: [(&'static str, Self); 6] = [
        ("get", Self::Get),
        ("head", Self::Head),
        ("post", Self::Post),
        ("put", Self::Put),
        ("patch", Self::Patch),
        ("delete", Self::Delete),
    ];

    /// The method in upper case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// What the method does to the world.
    pub fn effect(self) -> Effect {
        match self {
            Self::Get | Self::Head => Effect::Read,
            Self::Post | Self::Put | Self::Patch => Effect::Write,
            Self::Delete => Effect::Destructive,
        }
    }

    /// Whether a repeated request does no more than one.
    pub fn is_idempotent(self) -> bool {
        !matches!(self, Self::Post | Self::Patch)
    }
}

impl fmt::Display for ApiMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl ParameterPlace {
    /// The word in descriptions.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Query => "query",
            Self::Header => "header",
            Self::Cookie => "cookie",
        }
    }

    /// The style of parameters that name none.
    pub(crate) fn default_style(self) -> ParameterStyle {
        match self {
            Self::Path | Self::Header => ParameterStyle::Simple,
            Self::Query | Self::Cookie => ParameterStyle::Form,
        }
    }
}

impl ApiDescription {
    /// Base URL of an operation.
    pub fn server_of<'a>(&'a self, operation: &'a ApiOperation) -> &'a str {
        operation.server.as_deref().unwrap_or(&self.server)
    }

    /// Name for the environment variable of the credential: `GITHUB_TOKEN`.
    pub(crate) fn token_variable(&self) -> String {
        let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        format!("{}_TOKEN", self.name.chars().map(letter).collect::<String>())
    }

    /// Base URLs of all operations, each once.
    pub fn servers(&self) -> Vec<&str> {
        let mut servers = vec![self.server.as_str()];
        for server in self.operations.iter().filter_map(|operation| operation.server.as_deref()) {
            if !servers.contains(&server) {
                servers.push(server);
            }
        }
        servers
    }
}
