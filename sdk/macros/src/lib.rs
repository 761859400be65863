//! The attribute macros of `loggia-sdk`; use them through that crate.
//!
//! `#[facade]` reads an `impl` block into a `facade::Facade` (with every mistake as a compile error where it was
//! made) and `expand` writes it down again: the block without our attributes, and an implementation of
//! `loggia_sdk::Facade` that is nothing but a table of actions.

mod action;
mod attr;
mod detail;
mod docs;
mod expand;
mod facade;
mod fields;
mod names;
mod param;
mod serde;

use proc_macro::TokenStream;
use quote::quote;
use syn::{Error, Item, ItemImpl, parse::Parser};

/// Makes an `impl` block a facade: each method with `#[action(…)]` is an action.
///
/// The first paragraph of the block's doc comment is the facade's summary, the paragraphs after it are its
/// instructions. Name, title and version come from the crate's `Cargo.toml`. What is given here overrides them:
///
/// | key | value |
/// |---|---|
/// | `name = "…"` | the facade's name, which an MCP client sees as the tool's |
/// | `title = "…"` | the name for people |
/// | `summary = "…"` | one or two sentences: what the facade is for |
/// | `instructions = "…"` | when to use the facade, and in what order its actions go |
/// | `default = "…"` | the action meant by a call that names none |
/// | `needs("grant", "reason")` | a capability without which the plugin is of no use; may be repeated |
/// | `wants("grant", "reason")` | a capability the plugin can do without; may be repeated |
#[proc_macro_attribute]
pub fn facade(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let wrong = "`#[facade]` goes on an `impl` block: `#[facade] impl Notes { … }`";
    let block = match syn::parse::<ItemImpl>(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            // A syntax error inside an impl block is reported as it is; anything else is not an impl block.
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
/// | `read`, `write`, `destructive` | what the action does to the world; exactly one. The host enforces it |
/// | `idempotent` | calling twice does no more than calling once |
/// | `open_world` | the action reaches beyond this machine |
/// | `long_running` | the action may outlive a request, and then becomes a run |
/// | `details` | results differ with the detail level (`Call::detail`); not needed for those of [`detail`](macro@detail) |
/// | `name = "…"` | another name than the method's |
/// | `alias = "…"` | a further name by which it may be called; may be repeated |
/// | `example = r#"{…}"#` | parameters of an example call; may be repeated |
#[proc_macro_attribute]
pub fn action(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    misplaced("`#[action]` belongs on a method of an `impl` block that has `#[facade]`", item)
}

/// Says more about a parameter of an action. The doc comment is its description; `Option<T>` makes it optional.
///
/// | key | meaning |
/// |---|---|
/// | `default`, `default = expression` | the value where the caller gives none: the type's own, or this one |
/// | `range = 1..=50` | bounds of a number |
/// | `length = 1..=400` | bounds of a text's characters, or of a list's or map's items |
/// | `pattern = "…"` | a regular expression that the text matches |
/// | `format = "…"` | a format of JSON Schema, for example `date` or `uri` |
/// | `hint = "…"` | advice to the caller beyond the description (`x-hint` in the schema) |
/// | `secret` | a value that nobody may be shown (`writeOnly` in the schema): the host never echoes it |
/// | `example = expression` | an example value; may be repeated |
/// | `name = "…"` | another name than the variable's |
#[proc_macro_attribute]
pub fn param(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    misplaced("`#[param]` belongs on a parameter of an `#[action]` method", item)
}

/// Lets callers choose how much of a result they get, by marks on the fields of its type.
///
/// | mark | shown at |
/// |---|---|
/// | `#[detail(minimal)]` | `minimal`, `standard`, `full` |
/// | none | `standard`, `full` |
/// | `#[detail(full)]` | `full` |
///
/// Where no field is marked `minimal`, those that are called `id`, `name` or `title` in JSON count as if they were, and
/// where there are none, all unmarked ones. Each variant of an enum is looked at by itself, and one without marks is
/// always shown whole. A flattened field is a field like any other: its mark is that of all that it brings along.
///
/// Marks act on what an action returns, wherever it holds the type: in a `Reply`, a list, a map, another structure. They
/// do not act on what the action itself serialises, such as what it keeps, and so not on a `Value` that it made.
///
/// An action whose result has marks is published with detail levels by itself. Fields that may be left out are not
/// `required` in the schema, and marked ones carry `x-detail`.
///
/// The attribute stands above `#[derive(Serialize, JsonSchema)]`.
#[proc_macro_attribute]
pub fn detail(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse::<Item>(item.clone()) {
        Ok(item) => detail::expand(&arguments.into(), item).into(),
        Err(_) => misplaced("`#[detail]` goes on a struct or an enum, and its levels on their fields", item),
    }
}

fn misplaced(sentence: &str, item: TokenStream) -> TokenStream {
    let error = Error::new(proc_macro2::Span::call_site(), sentence).into_compile_error();
    let item = proc_macro2::TokenStream::from(item);
    quote!(#error #item).into()
}
