//! Prompts: procedures that a person starts, such as workflows. A prompt asks the model for one call of a tool that the client
//! sees, so it needs no other right than that call.

use loggia_facade::{Failure, Next, Object, trace::ParentSpan};
use loggia_gate::{access::CallOrigin, catalog::CatalogPrompt};
use loggia_schema::{UriTemplate, nearest};
use rmcp::{
    ErrorData,
    model::{
        CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, GetPromptRequestParams,
        GetPromptResponse, GetPromptResult, ListPromptsResult, PaginatedRequestParams, Prompt,
        PromptArgument, PromptMessage, Reference, ResourceContents, Role,
    },
};
use serde_json::Value;

use super::{
    elicitation::ElicitationSupport,
    handler::{McpContext, McpHandler},
    pages, prompt_form,
};

impl McpHandler {
    /// Answers `prompts/list`.
    pub(super) async fn answer_prompt_list(
        &self,
        request: Option<PaginatedRequestParams>,
        context: &McpContext,
    ) -> Result<ListPromptsResult, ErrorData> {
        let _operation = self.time_operation("prompts/list", context);
        let (_, prompts) = self.visible_prompts(context).await;
        let prompts: Vec<Prompt> = prompts.iter().map(to_prompt).collect();
        let cursor = request.and_then(|request| request.cursor);
        let (prompts, next) = pages::page(&prompts, |prompt| &prompt.name, cursor.as_deref())?;
        let mut result = ListPromptsResult::with_all_items(prompts);
        result.next_cursor = next;
        Ok(result.with_ttl_ms(self.ttl_ms()).with_cache_scope(self.cache_scope(context)))
    }

    /// Answers `prompts/get`.
    pub(super) async fn answer_prompt(
        &self,
        request: GetPromptRequestParams,
        context: &McpContext,
    ) -> Result<GetPromptResponse, ErrorData> {
        let operation = self.time_operation("prompts/get", context);
        let (origin, prompts) = self.visible_prompts(context).await;
        let prompt = find(&prompts, &request.name)?;
        let mut arguments = request.arguments.unwrap_or_default();
        let missing = missing_arguments(prompt, &arguments);
        match request.input_responses.map(prompt_form::parse_answer) {
            Some(answer) => prompt_form::fill_in(&mut arguments, &missing, answer),
            None if ElicitationSupport::of_client(context).shows_form_by_retry() => {
                let asked = (prompt.name.as_str(), prompt.action().summary.as_str());
                if let Some(asks) = prompt_form::ask(asked, &missing) {
                    return Ok(asks.into());
                }
            }
            None => {}
        }
        let params = prepare(prompt, arguments)?;
        let next = Next {
            facade: prompt.entry.surface().name.clone(),
            action: prompt.action().name.clone(),
            params,
            reason: None,
        };
        let attached = self.read_attached((prompt, &next.params), operation.span(), context).await?;
        let call = self.gate().catalog().snapshot().address_next(origin.list, &next);
        let message = PromptMessage::new_text(Role::User, render(prompt, &call));
        let messages = attached.into_iter().chain([message]).collect();
        Ok(GetPromptResult::new(messages).with_description(prompt.action().summary.clone()).into())
    }

    /// Reads the resources that a prompt brings with it, with the rights of its caller. One whose template has a parameter that was
    /// not given is left out.
    async fn read_attached(
        &self,
        (prompt, params): (&CatalogPrompt, &Object),
        span: &ParentSpan,
        context: &McpContext,
    ) -> Result<Vec<PromptMessage>, ErrorData> {
        let mut messages = Vec::new();
        for template in prompt.entry.facade.attached(&prompt.action().name) {
            // It was checked when the workflow was loaded.
            let Some(uri) = UriTemplate::parse(template).ok().and_then(|template| template.expand(params))
            else {
                continue;
            };
            let contents = self.read_contents(&uri, span, context).await?;
            messages.extend(
                contents.into_iter().map(|contents| PromptMessage::new(Role::User, to_block(contents))),
            );
        }
        Ok(messages)
    }

    /// Answers `completion/complete`: the values that an argument of a prompt may have, if its schema names
    /// them, or a variable of a resource, if its facade lists what exists.
    pub(super) async fn answer_completion(
        &self,
        request: CompleteRequestParams,
        context: &McpContext,
    ) -> Result<CompleteResult, ErrorData> {
        let _operation = self.time_operation("completion/complete", context);
        let reference = match &request.r#ref {
            Reference::Prompt(reference) => reference,
            Reference::Resource(template) => {
                return self.complete_variable(template, &request, context).await;
            }
            _ => {
                let message = "Only arguments of prompts and variables of resource templates are completed";
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        let (_, prompts) = self.visible_prompts(context).await;
        let prompt = find(&prompts, &reference.name)?;
        let argument = Parameter::of(prompt)
            .find(|parameter| parameter.is_scalar() && parameter.name == request.argument.name)
            .ok_or_else(|| unknown_argument(prompt, &request.argument.name))?;
        let begun = request.argument.value.to_lowercase();
        let mut values = argument.values();
        values.retain(|value| value.to_lowercase().starts_with(&begun));
        let total = u32::try_from(values.len()).ok();
        let has_more = values.len() > CompletionInfo::MAX_VALUES;
        values.truncate(CompletionInfo::MAX_VALUES);
        let completion = CompletionInfo::with_pagination(values, total, has_more);
        Ok(CompleteResult::new(completion.map_err(|reason| ErrorData::internal_error(reason, None))?))
    }

    /// Returns the prompts that the client of a request sees, with its origin.
    async fn visible_prompts(&self, context: &McpContext) -> (CallOrigin, Vec<CatalogPrompt>) {
        let catalog = self.gate().catalog();
        catalog.wait_until_admitted().await;
        let origin = self.origin(context);
        let prompts = catalog.snapshot().prompts(origin.list, &origin.rights);
        (origin, prompts)
    }
}

/// Converts what a resource contains: pictures and sounds to what models see and hear.
fn to_block(contents: ResourceContents) -> ContentBlock {
    match contents {
        ResourceContents::BlobResourceContents { mime_type: Some(mime_type), blob, .. }
            if mime_type.starts_with("image/") =>
        {
            ContentBlock::image(blob, mime_type)
        }
        ResourceContents::BlobResourceContents { mime_type: Some(mime_type), blob, .. }
            if mime_type.starts_with("audio/") =>
        {
            ContentBlock::audio(blob, mime_type)
        }
        contents => ContentBlock::resource(contents),
    }
}

/// A parameter of a prompt's action.
struct Parameter<'a> {
    name: &'a str,
    schema: &'a Value,
    required: bool,
}

impl<'a> Parameter<'a> {
    /// Lists the parameters of a prompt, in the order of their schema.
    fn of(prompt: &'a CatalogPrompt) -> impl Iterator<Item = Self> {
        let params = &prompt.action().params;
        let required = params.get("required").and_then(Value::as_array);
        let is_required = move |name: &str| required.is_some_and(|all| all.iter().any(|own| own == name));
        let properties = params.get("properties").and_then(Value::as_object).into_iter().flatten();
        properties.map(move |(name, schema)| Self { name, schema, required: is_required(name) })
    }

    /// Returns true if all of its values can be written as one word or line: arguments of prompts are texts.
    fn is_scalar(&self) -> bool {
        let is_scalar_type = |name: &Value| {
            matches!(name.as_str(), Some("string" | "number" | "integer" | "boolean" | "null"))
        };
        match (self.schema.get("type"), self.schema.get("enum"), self.schema.get("const")) {
            (Some(Value::Array(types)), ..) => types.iter().all(is_scalar_type),
            (Some(name), ..) => is_scalar_type(name),
            (None, Some(Value::Array(values)), _) => values.iter().all(|value| text_of(value).is_some()),
            (None, _, Some(value)) => text_of(value).is_some(),
            _ => false,
        }
    }

    /// Lists its values, if the schema names them.
    fn values(&self) -> Vec<String> {
        match (self.schema.get("enum"), self.schema.get("const"), self.schema.get("type")) {
            (Some(Value::Array(values)), ..) => values.iter().filter_map(text_of).collect(),
            (_, Some(value), _) => text_of(value).into_iter().collect(),
            (_, _, Some(name)) if name == "boolean" => vec!["true".to_owned(), "false".to_owned()],
            _ => Vec::new(),
        }
    }

    fn description(&self) -> Option<&'a str> {
        self.schema.get("description")?.as_str().filter(|text| !text.is_empty())
    }
}

/// Writes a scalar as an argument.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) | Value::Null => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn to_prompt(prompt: &CatalogPrompt) -> Prompt {
    let arguments = Parameter::of(prompt).filter(Parameter::is_scalar).map(|parameter| {
        let argument = PromptArgument::new(parameter.name).with_required(parameter.required);
        match parameter.description() {
            Some(description) => argument.with_description(description),
            None => argument,
        }
    });
    let (surface, action) = (prompt.entry.surface(), prompt.action());
    let title = match surface.actions.len() {
        1 => surface.title.clone(),
        _ => format!("{}: {}", surface.title, action.name.replace(['_', '-'], " ")),
    };
    Prompt::new(prompt.name.clone(), Some(action.summary.clone()), Some(arguments.collect()))
        .with_title(title)
}

fn find<'a>(prompts: &'a [CatalogPrompt], name: &str) -> Result<&'a CatalogPrompt, ErrorData> {
    prompts.iter().find(|prompt| prompt.name == name).ok_or_else(|| {
        let near = nearest(name, prompts.iter().map(|prompt| prompt.name.as_str()));
        let near = near.map(|near| format!(": did you mean {near:?}?")).unwrap_or_default();
        ErrorData::invalid_params(format!("Unknown prompt: {:?}{near}", cut(name)), None)
    })
}

fn unknown_argument(prompt: &CatalogPrompt, name: &str) -> ErrorData {
    let known: Vec<&str> =
        Parameter::of(prompt).filter(Parameter::is_scalar).map(|parameter| parameter.name).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let message = format!("The prompt {:?} has no argument {:?}; it has: {known}", prompt.name, cut(name));
    ErrorData::invalid_params(message, None)
}

/// Quotes names of clients no longer than this.
fn cut(name: &str) -> String {
    name.chars().take(80).collect()
}

/// Lists the required arguments that a person has not given, with their schemas.
fn missing_arguments<'a>(prompt: &'a CatalogPrompt, given: &Object) -> Vec<(&'a str, &'a Value)> {
    let is_given = |name: &str| given.get(name).is_some_and(is_set);
    let missing = Parameter::of(prompt).filter(|own| own.required && own.is_scalar() && !is_given(own.name));
    missing.map(|own| (own.name, own.schema)).collect()
}

/// Whether an argument was filled in.
fn is_set(value: &Value) -> bool {
    !value.is_null() && value.as_str() != Some("")
}

/// Checks the arguments of a prompt, and converts them to parameters of its action. An empty text is an argument that was not
/// filled in. Values are checked if the arguments can make a whole call, else the call itself checks them.
fn prepare(prompt: &CatalogPrompt, arguments: Object) -> Result<Object, ErrorData> {
    let given: Object = arguments.into_iter().filter(|(_, value)| is_set(value)).collect();
    let parameters: Vec<Parameter<'_>> = Parameter::of(prompt).collect();
    let is_argument = |name: &str| parameters.iter().any(|own| own.name == name && own.is_scalar());
    if let Some(name) = given.keys().find(|name| !is_argument(name)) {
        return Err(unknown_argument(prompt, name));
    }
    let is_missing = |own: &&Parameter<'_>| own.required && !given.contains_key(own.name);
    let (scalar, others): (Vec<_>, Vec<_>) =
        parameters.iter().filter(is_missing).partition(|own| own.is_scalar());
    if !scalar.is_empty() {
        let names: Vec<&str> = scalar.iter().map(|own| own.name).collect();
        let message = format!("The prompt {:?} requires the arguments: {}", prompt.name, names.join(", "));
        return Err(ErrorData::invalid_params(message, None));
    }
    if !others.is_empty() {
        return Ok(given);
    }
    let invalid = |failure: Failure| {
        let message = format!("Invalid arguments of the prompt {:?}: {}", prompt.name, failure.message);
        ErrorData::invalid_params(message, None)
    };
    let prepared = prompt.entry.contract.prepare(prompt.action(), given.clone()).map_err(invalid)?;
    // The call fills in the defaults itself.
    Ok(prepared.params.into_iter().filter(|(name, _)| given.contains_key(name)).collect())
}

/// Writes the message. `call` is what the client has to send.
fn render(prompt: &CatalogPrompt, call: &Value) -> String {
    let (action, tool) = (prompt.action(), call["tool"].as_str().unwrap_or_default());
    let arguments = &call["arguments"];
    let mut text = format!(
        "Run the workflow `{}` ({}). Make one call of the tool `{tool}`, with these arguments:\n\n{arguments}\n",
        action.name,
        action.summary.trim_end_matches('.'),
    );
    let mut others = Parameter::of(prompt).filter(|parameter| !parameter.is_scalar()).peekable();
    if others.peek().is_some() {
        text.push_str("\nAdd these to the arguments, as far as this conversation tells their values:\n");
        for Parameter { name, required, .. } in others.by_ref() {
            let need = if required { "required" } else { "optional" };
            text.push_str(&format!("- `{name}`, {need}\n"));
        }
        text.push_str(&format!("\nThe parameters: `{}`\n", prompt.entry.contract.signature(action)));
    }
    text.push_str("\nThen say what it has done, or which step has failed and why.");
    text
}
