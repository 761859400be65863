//! The attribute macros of `loggia-sdk`; use them through that crate.
//!
//! `#[facade]` parses an `impl` block into a `facade::Facade` (with every mistake as a compile error at its location)
//! and `expand` generates code from it: the block without our attributes, and an implementation of `loggia_sdk::Facade`
//! that is only a table of actions.

mod action;
mod attr;
mod bounds;
mod data;
mod detail;
mod docs;
mod expand;
mod facade;
mod fields;
mod grants;
mod names;
mod param;
mod pattern;
mod serde;
mod values;

use proc_macro::TokenStream;
use quote::quote;
use syn::{Error, Item, ItemImpl, parse::Parser};

/// Makes an `impl` block a facade: each method with `#[action(…)]` is an action.
///
/// The first paragraph of the block's doc comment is the facade's summary, the paragraphs after it are its
/// instructions. Name, title and version come from the crate's `Cargo.toml`. These keys override them:
///
/// | key | value |
/// |---|---|
/// | `name = "…"` | the facade's name, which an MCP client sees as the tool's |
/// | `title = "…"` | the name for people |
/// | `summary = "…"` | one or two sentences: purpose of the facade |
/// | `instructions = "…"` | when to use the facade, and the order of its actions |
/// | `default = "…"` | default action of calls that name none |
/// | `view("name", include_str!("name.html"))` | a view: a fragment of HTML, with styles and scripts, that shows results of actions to a person, in clients that support MCP Apps; may be repeated |
/// | `needs("grant", "reason")` | a required capability; may be repeated |
/// | `wants("grant", "reason")` | an optional capability; may be repeated |
#[proc_macro_attribute]
pub fn facade(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let wrong = "`#[facade]` goes on an `impl` block: `#[facade] impl Notes { … }`";
    let block = match syn::parse::<ItemImpl>(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            // Report syntax errors inside an impl block as they are; anything else is not an impl block.
            let text = item.to_string();
            let is_impl = text.starts_with("impl") || text.contains(" impl ") || text.contains("\nimpl ");
            let error = if is_impl { error } else { Error::new(error.span(), wrong) };
            let (error, item) = (error.into_compile_error(), proc_macro2::TokenStream::from(item));
            return quote!(#error #item).into();
        }
    };
    let options = attr::facade_options.parse(arguments);
    expand::expand(block, options).into()
}

/// Makes a method of a `#[facade]` block an action. The doc comment's first paragraph is its summary.
///
/// | key | meaning |
/// |---|---|
/// | `read`, `write`, `destructive` | the action's effect; exactly one. The host enforces it |
/// | `idempotent` | repeating a call has no further effect |
/// | `open_world` | the action reaches beyond this machine |
/// | `long_running` | the action may outlive a request, and then becomes a run. If it is also `read` or `idempotent`, a run that a restart of the host interrupts is made again, with the same `Call::idempotency_key`: keep a checkpoint under it to go on from there |
/// | `details` | results differ with the detail level (`Call::detail`); not needed for those of [`detail`](macro@detail) |
/// | `name = "…"` | another name than the method's |
/// | `alias = "…"` | an alternative name for calls; may be repeated |
/// | `needs = "grant"` | a grant without which the action cannot work, such as `config: embeddings`: where the policy lacks it, the action is not published; may be repeated |
/// | `resource("notes://note/{id}")` | clients also read the result by this URI; its variables are parameters. Only with `read` |
/// | `resource("…", mime_type = "…", items = "…", state = "…")` | its media type; the `read` action whose data lists what exists, objects with a field for each variable (of a single one, `id` also counts); the prefix of the keys of shared state that it is made from, so that subscribers hear of changes |
/// | `view = "…"` | the view of the facade that shows its results |
/// | `example = r#"{…}"#` | parameters of an example call; may be repeated |
#[proc_macro_attribute]
pub fn action(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    misplaced("`#[action]` belongs on a method of an `impl` block that has `#[facade]`", item)
}

/// Describes a parameter of an action. The doc comment is its description; `Option<T>` makes it optional.
///
/// | key | meaning |
/// |---|---|
/// | `default`, `default = expression` | default value: the type's own, or this one |
/// | `range = 1..=50` | bounds of a number |
/// | `length = 1..=400` | bounds of a text's characters, or of a list's or map's items |
/// | `pattern = "…"` | a regular expression that the text matches |
/// | `format = "…"` | a format of JSON Schema, for example `date` or `uri` |
/// | `hint = "…"` | advice to the caller beyond the description (`x-hint` in the schema) |
/// | `secret` | a confidential value (`writeOnly` in the schema): the host never echoes it |
/// | `example = expression` | an example value; may be repeated |
/// | `name = "…"` | another name than the variable's |
#[proc_macro_attribute]
pub fn param(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    misplaced("`#[param]` belongs on a parameter of an `#[action]` method", item)
}

/// Lets callers choose the level of detail of a result, by marks on the fields of its type.
///
/// | mark | included at |
/// |---|---|
/// | `#[detail(minimal)]` | `minimal`, `standard`, `full` |
/// | none | `standard`, `full` |
/// | `#[detail(full)]` | `full` |
///
/// If no field is marked `minimal`, fields named `id`, `name` or `title` in JSON count as marked, or, without such
/// fields, all unmarked ones. Each variant of an enum is treated separately, and a variant without marks is always
/// complete. A flattened field is like any other: its mark applies to everything that it contributes.
///
/// Marks apply to the return value of an action, wherever it contains the type: in a `Reply`, a list, a map, another
/// struct. They do not apply to data that the action itself serialises, such as stored data, and so not to a `Value`
/// that it builds.
///
/// An action whose result has marks is published with detail levels automatically. Fields that may be omitted are not
/// `required` in the schema, and marked ones carry `x-detail`.
///
/// The attribute must be above `#[derive(Serialize, JsonSchema)]`.
#[proc_macro_attribute]
pub fn detail(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse::<Item>(item.clone()) {
        Ok(item) => detail::expand(&arguments.into(), item).into(),
        Err(_) => misplaced("`#[detail]` goes on a struct or an enum, and its levels on their fields", item),
    }
}

/// Derives `Serialize`, `Deserialize` and `JsonSchema` for a type of parameters, results or state, without dependencies of the plugin on serde
/// and schemars. With a `#[derive(…)]` of some of them below it, it derives only these. The variants of an enum keep their order in the
/// schema, whichever of them have a doc comment. `#[detail]` goes below it.
#[proc_macro_attribute]
pub fn data(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse::<Item>(item.clone()) {
        Ok(item) => data::expand(&arguments.into(), item).into(),
        Err(_) => misplaced("`#[data]` goes on a struct or an enum", item),
    }
}

fn misplaced(sentence: &str, item: TokenStream) -> TokenStream {
    let error = Error::new(proc_macro2::Span::call_site(), sentence).into_compile_error();
    let item = proc_macro2::TokenStream::from(item);
    quote!(#error #item).into()
}
