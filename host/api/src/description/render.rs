//! From a description to the file `<name>.api.toml`.
//!
//! Written by hand rather than by serde: schemas are compact JSON, since a parameter then takes one line, and GitHub's
//! twelve hundred operations are read in a fraction of the time that TOML tables take.

use super::{
    model::{ApiBody, ApiDescription, ApiOperation, ApiParameter, BodyForm, ParameterPlace, ParameterStyle},
    toml_text::{json, key, text},
};

/// Version of the file's format.
pub(super) const FORMAT: i64 = 1;

impl ApiDescription {
    /// Renders the file. The same description gives the same bytes.
    pub fn render(&self) -> String {
        let mut out = format!(
            "# An API that Loggia serves as the facade `{}`. Written by `loggia import openapi`.\n\
             # It is pinned: nothing of it is fetched again. Operations may be edited and removed by hand.\n",
            self.name.replace(char::is_control, " ")
        );
        for scheme in &self.security {
            if let (Some(header), Some(format)) = (&scheme.header, &scheme.format) {
                let host = url::Url::parse(&self.server).ok();
                let host = host.as_ref().and_then(url::Url::host_str).unwrap_or("api.example.com");
                let secret = format!(
                    "secrets = [{{ from-env = \"{}\", host = {}, header = {}, format = {} }}]",
                    self.token_variable(),
                    text(host),
                    text(header),
                    text(format)
                );
                out.push_str("# Its policy may name the credential in [grants], for example:\n");
                out.push_str(&format!("#   {}\n", secret.replace(char::is_control, " ")));
                break;
            }
        }
        out.push('\n');
        let mut line = |name: &str, value: String| out.push_str(&format!("{name} = {value}\n"));
        line("format", FORMAT.to_string());
        line("name", text(&self.name));
        line("title", text(&self.title));
        line("version", text(&self.version));
        line("summary", text(&self.summary));
        line("server", text(&self.server));
        let source = &self.source;
        out.push_str(&format!(
            "\n[source]\nlocation = {}\nsha256 = {}\nopenapi = {}\n",
            text(&source.location),
            text(&source.sha256),
            text(&source.openapi)
        ));
        for scheme in &self.security {
            out.push_str(&format!(
                "\n[[security]]\nname = {}\nkind = {}\n",
                text(&scheme.name),
                text(&scheme.kind)
            ));
            for (name, value) in [("header", &scheme.header), ("format", &scheme.format)] {
                if let Some(value) = value {
                    out.push_str(&format!("{name} = {}\n", text(value)));
                }
            }
        }
        for operation in &self.operations {
            render_operation(operation, &mut out);
        }
        out
    }
}

fn render_operation(operation: &ApiOperation, out: &mut String) {
    out.push_str("\n[[operation]]\n");
    let mut line = |name: &str, value: String| out.push_str(&format!("{name} = {value}\n"));
    line("action", text(&operation.action));
    if let Some(id) = &operation.id {
        line("id", text(id));
    }
    line("method", text(operation.method.as_str()));
    line("path", text(&operation.path));
    if let Some(server) = &operation.server {
        line("server", text(server));
    }
    if let Some(group) = &operation.group {
        line("group", text(group));
    }
    line("summary", text(&operation.summary));
    if let Some(description) = &operation.description {
        line("description", text(description));
    }
    if operation.deprecated {
        line("deprecated", "true".into());
    }
    line("accept", text(&operation.accept));
    if let Some(paging) = &operation.paging {
        line("paging", text(paging));
    }
    if !operation.parameters.is_empty() {
        let parameters: Vec<String> = operation.parameters.iter().map(parameter).collect();
        line("parameters", format!("[\n{}]", parameters.concat()));
    }
    if let Some(ApiBody { form, media, required, schema, styles }) = &operation.body {
        let mut members =
            vec![format!("form = \"{}\"", form_word(*form)), format!("media = {}", text(media))];
        if *required {
            members.push("required = true".into());
        }
        if !styles.is_empty() {
            let styles: Vec<String> = styles
                .iter()
                .map(|(name, style)| format!("{} = \"{}\"", key(name), style_word(*style)))
                .collect();
            members.push(format!("styles = {{ {} }}", styles.join(", ")));
        }
        members.push(format!("schema = {}", json(schema)));
        line("body", format!("{{ {} }}", members.join(", ")));
    }
    if let Some(data) = &operation.data {
        line("data", json(data));
    }
    if !operation.errors.is_empty() {
        let errors: Vec<String> =
            operation.errors.iter().map(|(status, hint)| format!("{status} = {}", text(hint))).collect();
        line("errors", format!("{{ {} }}", errors.join(", ")));
    }
}

fn parameter(parameter: &ApiParameter) -> String {
    let ApiParameter { name, place, style, explode, required, reserved, schema } = parameter;
    let mut members = vec![format!("in = \"{}\"", place.as_str()), format!("name = {}", text(name))];
    if *required && *place != ParameterPlace::Path {
        members.push("required = true".into());
    }
    if *style != place.default_style() {
        members.push(format!("style = \"{}\"", style_word(*style)));
    }
    if *explode != style.default_explode() {
        members.push(format!("explode = {explode}"));
    }
    if *reserved {
        members.push("reserved = true".into());
    }
    members.push(format!("schema = {}", json(schema)));
    format!("  {{ {} }},\n", members.join(", "))
}

impl ParameterStyle {
    /// Whether parameters of this style are exploded if nothing else is said.
    pub(crate) fn default_explode(self) -> bool {
        matches!(self, Self::Form | Self::DeepObject)
    }
}

fn style_word(style: ParameterStyle) -> &'static str {
    match style {
        ParameterStyle::Simple => "simple",
        ParameterStyle::Form => "form",
        ParameterStyle::SpaceDelimited => "spaceDelimited",
        ParameterStyle::PipeDelimited => "pipeDelimited",
        ParameterStyle::DeepObject => "deepObject",
        ParameterStyle::Json => "json",
    }
}

fn form_word(form: BodyForm) -> &'static str {
    match form {
        BodyForm::Json => "json",
        BodyForm::Form => "form",
        BodyForm::Multipart => "multipart",
        BodyForm::Text => "text",
        BodyForm::Binary => "binary",
    }
}
