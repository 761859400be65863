//! `#[data]` on a type: derives what parameters, results and state need, through the SDK's own serde and schemars, so that a plugin
//! names neither in its `Cargo.toml`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, Fields, Item, ItemEnum, parse_quote, spanned::Spanned};

use crate::{docs::Docs, serde::derives};

/// Derives of serde and schemars.
const DERIVES: [&str; 3] = ["Serialize", "Deserialize", "JsonSchema"];

/// Adds the derives, unless the type has some of its own, and where they find their crates.
pub fn expand(arguments: &TokenStream, mut item: Item) -> TokenStream {
    if !arguments.is_empty() {
        let sentence = "`#[data]` takes no arguments; write `#[derive(…)]` below it to derive less";
        let error = Error::new(arguments.span(), sentence).into_compile_error();
        return quote!(#error #item);
    }
    if let Item::Enum(item) = &mut item {
        keep_order(item);
    }
    let attributes = match &mut item {
        Item::Struct(item) => &mut item.attrs,
        Item::Enum(item) => &mut item.attrs,
        other => {
            let error =
                Error::new(other.span(), "`#[data]` goes on a struct or an enum").into_compile_error();
            return quote!(#error #other);
        }
    };
    let has =
        |attributes: &[Attribute], name: &str| attributes.iter().any(|attribute| derives(attribute, name));
    if !DERIVES.iter().any(|name| has(attributes, name)) {
        let all: Attribute = parse_quote! {
            #[derive(::loggia_sdk::serde::Serialize, ::loggia_sdk::serde::Deserialize, ::loggia_sdk::schemars::JsonSchema)]
        };
        // Above the attributes of these derives, and below other macros', which are to see them.
        let helps =
            |attribute: &Attribute| ["serde", "schemars"].iter().any(|name| attribute.path().is_ident(name));
        let place = attributes.iter().position(helps).unwrap_or(attributes.len());
        attributes.insert(place, all);
    }
    if has(attributes, "Serialize") || has(attributes, "Deserialize") {
        attributes.push(parse_quote!(#[serde(crate = "::loggia_sdk::serde")]));
    }
    if has(attributes, "JsonSchema") {
        attributes.push(parse_quote!(#[schemars(crate = "::loggia_sdk::schemars")]));
    }
    quote!(#item)
}

/// Keeps the variants in the author's order: schemars collects those without documentation before the others, unless each has
/// something of its own. The SDK removes the mark from the schema.
fn keep_order(item: &mut ItemEnum) {
    let is_documented = |attributes: &[Attribute]| !Docs::read(attributes).text().is_empty();
    let documented = item.variants.iter().filter(|variant| is_documented(&variant.attrs)).count();
    if documented == 0 || documented == item.variants.len() {
        return;
    }
    for variant in item.variants.iter_mut().filter(|variant| matches!(variant.fields, Fields::Unit)) {
        if !is_documented(&variant.attrs) {
            variant.attrs.push(parse_quote!(#[schemars(extend("x-own" = true))]));
        }
    }
}
