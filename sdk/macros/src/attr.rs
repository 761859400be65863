//! The arguments of the three attributes.

use proc_macro2::Span;
use syn::{
    Attribute, Error, Expr, Ident, LitStr, Meta, Result, Token,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
};

use crate::{bounds, grants, names, pattern};

/// The arguments of `#[facade(…)]`.
#[derive(Default)]
pub struct FacadeOptions {
    pub name: Option<LitStr>,
    pub title: Option<LitStr>,
    pub summary: Option<LitStr>,
    pub instructions: Option<LitStr>,
    pub default: Option<LitStr>,
    pub views: Vec<View>,
    pub wants: Vec<Want>,
}

/// `view("name", html)`.
pub struct View {
    pub name: LitStr,
    pub html: Expr,
}

/// `resource("uri", mime_type = "…", items = "…", state = "…")`.
pub struct Resource {
    pub uri: LitStr,
    pub mime_type: Option<LitStr>,
    pub items: Option<LitStr>,
    pub state: Option<LitStr>,
}

/// `needs("grant", "reason")` or `wants("grant", "reason")`.
pub struct Want {
    pub grant: LitStr,
    pub reason: LitStr,
    pub needed: bool,
}

/// The arguments of `#[action(…)]`.
#[derive(Default)]
pub struct ActionOptions {
    pub effect: Option<Ident>,
    pub idempotent: bool,
    pub open_world: bool,
    pub long_running: bool,
    pub details: bool,
    pub name: Option<LitStr>,
    pub aliases: Vec<LitStr>,
    pub needs: Vec<LitStr>,
    pub resource: Option<Resource>,
    pub view: Option<LitStr>,
    pub examples: Vec<LitStr>,
}

/// The arguments of `#[param(…)]`.
#[derive(Default)]
pub struct ParamOptions {
    pub name: Option<LitStr>,
    pub default: Option<(Span, Option<Expr>)>,
    pub range: Option<(Span, Expr)>,
    pub length: Option<(Span, Expr)>,
    pub pattern: Option<(Span, LitStr)>,
    pub format: Option<(Span, LitStr)>,
    pub hint: Option<LitStr>,
    pub secret: bool,
    pub examples: Vec<Expr>,
}

const FACADE_KEYS: [&str; 8] =
    ["name", "title", "summary", "instructions", "default", "view", "needs", "wants"];
const ACTION_KEYS: [&str; 13] = [
    "read",
    "write",
    "destructive",
    "idempotent",
    "open_world",
    "long_running",
    "details",
    "name",
    "alias",
    "needs",
    "resource",
    "view",
    "example",
];
const RESOURCE_KEYS: [&str; 3] = ["mime_type", "items", "state"];
const PARAM_KEYS: [&str; 9] =
    ["default", "range", "length", "pattern", "format", "hint", "secret", "example", "name"];

/// Formats of JSON Schema 2020-12 that constrain a text.
const FORMATS: [&str; 13] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "uuid",
    "json-pointer",
    "regex",
];

/// One `key`, `key = …` or `key(…)` whose key was parsed.
struct Entry<'a> {
    key: Ident,
    input: ParseStream<'a>,
}

impl Entry<'_> {
    /// `= value`
    fn value<T: Parse>(&self, what: &str) -> Result<T> {
        if !self.input.peek(Token![=]) {
            let sentence = format!("`{0}` needs a value: `{0} = {what}`", self.key);
            return Err(Error::new(self.key.span(), sentence));
        }
        self.input.parse::<Token![=]>()?;
        self.input.parse()
    }

    fn text(&self) -> Result<LitStr> {
        self.value("\"…\"")
    }

    /// Accepts a key without a value.
    fn flag(&self, into: &mut bool) -> Result<()> {
        self.bare()?;
        if std::mem::replace(into, true) { Err(self.twice()) } else { Ok(()) }
    }

    fn bare(&self) -> Result<()> {
        if self.input.is_empty() || self.input.peek(Token![,]) {
            return Ok(());
        }
        Err(Error::new(self.input.span(), format!("`{}` takes no value", self.key)))
    }

    fn set<T>(&self, into: &mut Option<T>, value: T) -> Result<()> {
        if into.replace(value).is_some() { Err(self.twice()) } else { Ok(()) }
    }

    fn twice(&self) -> Error {
        Error::new(self.key.span(), format!("`{}` is given twice", self.key))
    }

    /// `("…", …)`: the parenthesised input after the key.
    fn inside<T>(&self, usage: &str, parser: impl FnOnce(ParseStream) -> Result<T>) -> Result<T> {
        let inside;
        if !self.input.peek(syn::token::Paren) {
            return Err(Error::new(self.key.span(), format!("write `{usage}`")));
        }
        parenthesized!(inside in self.input);
        parser(&inside)
    }

    fn view(&self) -> Result<View> {
        self.inside("view(\"name\", include_str!(\"name.html\"))", |input| {
            let name: LitStr = input.parse()?;
            input.parse::<Token![,]>()?;
            let html = input.parse()?;
            input.parse::<Option<Token![,]>>()?;
            names::view(&name.value(), name.span())?;
            Ok(View { name, html })
        })
    }

    fn resource(&self) -> Result<Resource> {
        self.inside("resource(\"notes://note/{id}\")", |input| {
            let uri = input.parse()?;
            input.parse::<Option<Token![,]>>()?;
            let mut resource = Resource { uri, mime_type: None, items: None, state: None };
            entries("`resource` has no key", &RESOURCE_KEYS, input, |key, entry| match key {
                "mime_type" => entry.set(&mut resource.mime_type, entry.text()?),
                "items" => entry.set(&mut resource.items, entry.text()?),
                _ => entry.set(&mut resource.state, entry.text()?),
            })?;
            Ok(resource)
        })
    }

    fn want(&self) -> Result<Want> {
        let usage = format!("write `{}(\"grant\", \"reason\")`", self.key);
        let inside;
        if !self.input.peek(syn::token::Paren) {
            return Err(Error::new(self.key.span(), usage));
        }
        parenthesized!(inside in self.input);
        let texts = Punctuated::<LitStr, Token![,]>::parse_terminated(&inside)?;
        match <[LitStr; 2]>::try_from(texts.into_iter().collect::<Vec<_>>()) {
            Ok([_, reason]) if reason.value().trim().is_empty() => Err(Error::new(
                reason.span(),
                "the reason is empty: say what the grant is for; the operator decides by it",
            )),
            Ok([grant, reason]) => {
                grants::check(&grant).map(|()| Want { grant, reason, needed: self.key == "needs" })
            }
            Err(_) => Err(Error::new(self.key.span(), usage)),
        }
    }
}

/// Reads `key, key = value, key(…)` and gives each key, with the input after it, to `take`.
fn entries(
    lack: &str,
    keys: &[&str],
    input: ParseStream,
    mut take: impl FnMut(&str, &Entry) -> Result<()>,
) -> Result<()> {
    while !input.is_empty() {
        let key = Ident::parse_any(input)?;
        let name = key.to_string();
        if !keys.contains(&name.as_str()) {
            return Err(Error::new(key.span(), names::unknown(lack, &name, keys)));
        }
        take(&name, &Entry { key, input })?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(())
}

/// Parses the text between an attribute's parentheses with `parser`; returns the default without parentheses.
fn arguments<T: Default>(attribute: &Attribute, parser: impl Fn(ParseStream) -> Result<T>) -> Result<T> {
    match &attribute.meta {
        Meta::Path(_) => Ok(T::default()),
        Meta::List(list) => parser.parse2(list.tokens.clone()),
        Meta::NameValue(meta) => {
            Err(Error::new(meta.eq_token.span, "the arguments go in parentheses: `#[name(key = value)]`"))
        }
    }
}

/// Reads the arguments of `#[facade(…)]`.
pub fn facade_options(input: ParseStream) -> Result<FacadeOptions> {
    let mut options = FacadeOptions::default();
    entries("`#[facade]` has no key", &FACADE_KEYS, input, |key, entry| match key {
        "name" => entry.set(&mut options.name, entry.text()?),
        "title" => entry.set(&mut options.title, entry.text()?),
        "summary" => entry.set(&mut options.summary, entry.text()?),
        "instructions" => entry.set(&mut options.instructions, entry.text()?),
        "default" => entry.set(&mut options.default, entry.text()?),
        "view" => {
            options.views.push(entry.view()?);
            Ok(())
        }
        _ => {
            options.wants.push(entry.want()?);
            Ok(())
        }
    })?;
    Ok(options)
}

/// Reads `#[action(…)]`.
pub fn action_options(attribute: &Attribute) -> Result<ActionOptions> {
    arguments(attribute, |input| {
        let mut options = ActionOptions::default();
        entries("`#[action]` has no key", &ACTION_KEYS, input, |key, entry| match key {
            "read" | "write" | "destructive" => {
                entry.bare()?;
                match options.effect.replace(entry.key.clone()) {
                    None => Ok(()),
                    Some(first) => Err(Error::new(
                        entry.key.span(),
                        format!("an action has one effect: keep `{first}` or `{}`", entry.key),
                    )),
                }
            }
            "idempotent" => entry.flag(&mut options.idempotent),
            "open_world" => entry.flag(&mut options.open_world),
            "long_running" => entry.flag(&mut options.long_running),
            "details" => entry.flag(&mut options.details),
            "name" => entry.set(&mut options.name, entry.text()?),
            "alias" => {
                options.aliases.push(entry.text()?);
                Ok(())
            }
            "needs" => {
                let grant = entry.value("\"grant\"")?;
                grants::check(&grant)?;
                options.needs.push(grant);
                Ok(())
            }
            "resource" => entry.set(&mut options.resource, entry.resource()?),
            "view" => entry.set(&mut options.view, entry.text()?),
            _ => {
                options.examples.push(entry.value("r#\"{…}\"#")?);
                Ok(())
            }
        })?;
        Ok(options)
    })
}

/// Reads `#[param(…)]`.
pub fn param_options(attribute: &Attribute) -> Result<ParamOptions> {
    arguments(attribute, |input| {
        let mut options = ParamOptions::default();
        entries("`#[param]` has no key", &PARAM_KEYS, input, |key, entry| {
            let span = entry.key.span();
            match key {
                "default" => {
                    let value = if input.peek(Token![=]) { Some(entry.value("…")?) } else { None };
                    entry.bare()?;
                    entry.set(&mut options.default, (span, value))
                }
                "range" => entry.set(&mut options.range, (span, range(entry, "1..=50")?)),
                "length" => entry.set(&mut options.length, (span, range(entry, "1..=400")?)),
                "pattern" => entry.set(&mut options.pattern, (span, pattern(entry)?)),
                "format" => entry.set(&mut options.format, (span, format(entry)?)),
                "hint" => entry.set(&mut options.hint, entry.text()?),
                "secret" => entry.flag(&mut options.secret),
                "name" => entry.set(&mut options.name, entry.text()?),
                _ => {
                    options.examples.push(entry.value("…")?);
                    Ok(())
                }
            }
        })?;
        Ok(options)
    })
}

/// A range with at least one end.
fn range(entry: &Entry, like: &str) -> Result<Expr> {
    let expr = entry.value::<Expr>(like)?;
    bounds::check(&expr, &entry.key.to_string(), like)?;
    Ok(expr)
}

fn pattern(entry: &Entry) -> Result<LitStr> {
    let pattern = entry.text()?;
    pattern::check(&pattern)?;
    Ok(pattern)
}

fn format(entry: &Entry) -> Result<LitStr> {
    let format = entry.text()?;
    if FORMATS.contains(&format.value().as_str()) {
        return Ok(format);
    }
    Err(Error::new(format.span(), names::unknown("there is no format", &format.value(), &FORMATS)))
}
