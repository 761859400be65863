//! One method with `#[action(…)]`.

use syn::{
    Attribute, Error, FnArg, Ident, ImplItemFn, LitStr, Result, ReturnType, Type, ext::IdentExt,
    spanned::Spanned,
};

use crate::{
    attr::{self, ActionOptions, Resource},
    docs::Docs,
    names,
    param::{Absent, Input, Param},
    values,
};

/// An action, as its method declares it.
pub struct Action {
    /// The method.
    pub method: Ident,
    /// The action's name.
    pub name: LitStr,
    pub docs: Docs,
    /// `read`, `write` or `destructive`.
    pub effect: Ident,
    pub options: ActionOptions,
    pub inputs: Vec<Input>,
    /// The whole return type.
    pub output: Type,
    /// `#[cfg(…)]`s of the method, which its entry in the table repeats.
    pub cfgs: Vec<Attribute>,
}

impl Action {
    /// Parses a method; `Ok(None)` if it is not an action.
    pub fn read(method: &ImplItemFn) -> Result<Option<Self>> {
        let Some(attribute) = method.attrs.iter().find(|a| is_action(a)) else { return Ok(None) };
        let mut errors = Errors::default();
        let options = errors.take(attr::action_options(attribute)).unwrap_or_default();
        if let Err(error) = signature(method) {
            return Err(errors.and(error));
        }
        let name = match &options.name {
            Some(name) => name.clone(),
            None => LitStr::new(&method.sig.ident.unraw().to_string(), method.sig.ident.span()),
        };
        errors.take(names::action(&name.value(), name.span()));
        for alias in &options.aliases {
            errors.take(names::alias(&alias.value(), alias.span()));
        }
        let docs = Docs::read(&method.attrs);
        if docs.summary.is_empty() {
            let sentence = format!(
                "`{}` needs a doc comment: its first paragraph is the action's summary",
                name.value()
            );
            errors.push(Error::new(method.sig.ident.span(), sentence));
        }
        let effect = options.effect.clone();
        if effect.is_none() && errors.is_empty() {
            let sentence = "say what the action does to the world: \
                            `#[action(read)]`, `#[action(write)]` or `#[action(destructive)]`";
            errors.push(Error::new(attribute.span(), sentence));
        }
        let arguments = method.sig.inputs.iter().skip(1);
        let inputs: Vec<_> = arguments.filter_map(|argument| errors.take(Input::read(argument))).collect();
        errors.take(distinct(&inputs));
        if options.details && !inputs.iter().any(|input| matches!(input, Input::Call)) && errors.is_empty() {
            let sentence = "`details` is for an action that looks at the detail level: \
                            take `call: &Call` and ask `call.detail()`; \
                            where `#[detail]` marks the result's fields, the key is not needed";
            errors.push(Error::new(method.sig.ident.span(), sentence));
        }
        let output = errors.take(output(method));
        if errors.is_empty() {
            for example in &options.examples {
                errors.take(check_example(example, &inputs));
            }
            if let (Some(resource), Some(effect)) = (&options.resource, &effect) {
                errors.take(check_resource(resource, effect, &inputs));
            }
        }
        errors.finish()?;
        let (Some(effect), Some(output)) = (effect, output) else { return Ok(None) };
        let cfgs = method.attrs.iter().filter(|a| a.path().is_ident("cfg")).cloned().collect();
        let method = method.sig.ident.clone();
        Ok(Some(Self { method, name, docs, effect, options, inputs, output, cfgs }))
    }

    /// The action's parameters.
    pub fn params(&self) -> impl Iterator<Item = &Param> {
        params(&self.inputs)
    }
}

/// Tests whether this is our attribute, under any import path.
pub fn is_action(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "action")
}

/// Collects errors, so that the author sees all of them at once.
#[derive(Default)]
pub struct Errors(Option<Error>);

impl Errors {
    pub fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub fn finish(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }

    fn and(mut self, error: Error) -> Error {
        match self.0.take() {
            Some(mut first) => {
                first.combine(error);
                first
            }
            None => error,
        }
    }
}

/// Checks the signature of a method before its arguments.
fn signature(method: &ImplItemFn) -> Result<()> {
    let signature = &method.sig;
    if let Some(keyword) = &signature.asyncness {
        let sentence =
            "an action is not `async`: each call has an instance of its own, so it may simply block";
        return Err(Error::new(keyword.span, sentence));
    }
    if let Some(keyword) = &signature.unsafety {
        return Err(Error::new(keyword.span, "an action is not `unsafe`: anybody may call it"));
    }
    if !signature.generics.params.is_empty() || signature.generics.where_clause.is_some() {
        let sentence = "an action has no generics: its schema is made from concrete types";
        return Err(Error::new(signature.generics.span(), sentence));
    }
    match signature.inputs.first() {
        Some(FnArg::Receiver(this)) if this.reference.is_some() && this.mutability.is_none() => Ok(()),
        Some(FnArg::Receiver(this)) => {
            let sentence =
                "an action takes `&self`: the facade does not outlive a call, so it cannot be changed";
            Err(Error::new(this.span(), sentence))
        }
        Some(other) => Err(Error::new(other.span(), "an action takes `&self` first")),
        None => Err(Error::new(signature.paren_token.span.join(), "an action takes `&self`")),
    }
}

fn output(method: &ImplItemFn) -> Result<Type> {
    match &method.sig.output {
        ReturnType::Type(_, ty) => Ok((**ty).clone()),
        ReturnType::Default => {
            let sentence = "an action returns `Result<…>`; without data, `-> Result<()>`";
            Err(Error::new(method.sig.ident.span(), sentence))
        }
    }
}

fn params(inputs: &[Input]) -> impl Iterator<Item = &Param> {
    inputs.iter().filter_map(|input| match input {
        Input::Param(param) => Some(&**param),
        Input::Call => None,
    })
}

fn distinct(inputs: &[Input]) -> Result<()> {
    let mut seen = Vec::new();
    for param in params(inputs) {
        if seen.contains(&param.name.value()) {
            let sentence = format!("`{}` is the name of two parameters", param.name.value());
            return Err(Error::new(param.name.span(), sentence));
        }
        seen.push(param.name.value());
    }
    Ok(())
}

/// Checks what can be known of a resource here: that its variables are parameters. The host checks the rest at load, as
/// `testing::describe` does.
fn check_resource(resource: &Resource, effect: &Ident, inputs: &[Input]) -> Result<()> {
    let uri = resource.uri.value();
    let wrong = |sentence: String| Err(Error::new(resource.uri.span(), sentence));
    if effect != "read" {
        return wrong("only a `read` action can be a resource: reading it must change nothing".to_owned());
    }
    let known: Vec<_> = params(inputs).map(|param| param.name.value()).collect();
    let known: Vec<_> = known.iter().map(String::as_str).collect();
    let variables: Vec<&str> = uri
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}').map(|(name, _)| name.trim_start_matches('+')))
        .collect();
    if let Some(name) = variables.iter().find(|name| !known.contains(name)) {
        return wrong(names::unknown("the action has no parameter", name, &known));
    }
    let mut required = params(inputs).filter(|param| matches!(param.absent, Absent::Refused));
    match required.find(|param| !variables.contains(&param.name.value().as_str())) {
        Some(param) => wrong(format!("the URI lacks `{{{}}}`, which is required", param.name.value())),
        None => Ok(()),
    }
}

/// Checks an example: a JSON object with all required parameters and no unknown ones, whose values fit as far as the macro sees.
fn check_example(example: &LitStr, inputs: &[Input]) -> Result<()> {
    let wrong = |sentence: String| Err(Error::new(example.span(), sentence));
    let object = match serde_json::from_str::<serde_json::Map<_, _>>(&example.value()) {
        Ok(object) => object,
        Err(error) => return wrong(format!("an example is a JSON object: {error}")),
    };
    let known: Vec<_> = params(inputs).map(|param| param.name.value()).collect();
    let known: Vec<_> = known.iter().map(String::as_str).collect();
    if let Some(key) = object.keys().find(|key| !known.contains(&key.as_str())) {
        return wrong(names::unknown("the action has no parameter", key, &known));
    }
    let mut required = params(inputs).filter(|param| matches!(param.absent, Absent::Refused));
    match required.find(|param| !object.contains_key(&param.name.value())) {
        Some(param) => wrong(format!("the example lacks `{}`, which is required", param.name.value())),
        None => values::check_example(example, &object, params(inputs)),
    }
}
