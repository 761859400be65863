//! Serde attributes and derived traits of a type. Unreadable ones are left to serde, which reports them.

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Expr, ExprLit, ExprPath, Ident, Lit, LitStr, Meta, Token, parse_quote, punctuated::Punctuated,
};

type Metas = Punctuated<Meta, Token![,]>;

/// The entries of one `#[serde(…)]`.
fn entries(attribute: &Attribute) -> Metas {
    if !attribute.path().is_ident("serde") {
        return Metas::new();
    }
    attribute.parse_args_with(Metas::parse_terminated).unwrap_or_default()
}

/// First of these keys that is present.
pub fn find(attributes: &[Attribute], keys: &[&str]) -> Option<Ident> {
    let mut found = attributes.iter().flat_map(entries).filter_map(|entry| entry.path().get_ident().cloned());
    found.find(|key| keys.iter().any(|wanted| key == wanted))
}

/// Name of a field in the serialised data, from `rename`.
pub fn renamed(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().flat_map(entries).find_map(|entry| match entry {
        Meta::NameValue(meta) if meta.path.is_ident("rename") => text(&meta.value).map(|name| name.value()),
        Meta::List(list) if list.path.is_ident("rename") => {
            let parts = list.parse_args_with(Metas::parse_terminated).ok()?;
            parts.iter().find_map(|part| match part {
                Meta::NameValue(meta) if meta.path.is_ident("serialize") => {
                    text(&meta.value).map(|name| name.value())
                }
                _ => None,
            })
        }
        _ => None,
    })
}

/// Removes `skip_serializing_if` and returns the function that it names.
pub fn take_skip(attributes: &mut [Attribute]) -> Option<ExprPath> {
    for attribute in attributes {
        let found = entries(attribute);
        let Some(function) = found.iter().find_map(skip) else { continue };
        let rest: Metas = found.into_iter().filter(|entry| skip(entry).is_none()).collect();
        *attribute = parse_quote!(#[serde(#rest)]);
        return Some(function);
    }
    None
}

fn skip(entry: &Meta) -> Option<ExprPath> {
    match entry {
        Meta::NameValue(meta) if meta.path.is_ident("skip_serializing_if") => text(&meta.value)?.parse().ok(),
        _ => None,
    }
}

fn text(value: &Expr) -> Option<LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}

/// Tests whether the attribute derives this trait, even conditionally by `cfg`.
pub fn derives(attribute: &Attribute, name: &str) -> bool {
    let Meta::List(list) = &attribute.meta else { return false };
    (list.path.is_ident("derive") || list.path.is_ident("cfg_attr")) && mentions(list.tokens.clone(), name)
}

fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}
