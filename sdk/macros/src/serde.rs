//! What a type tells serde, and which traits it derives. What cannot be read is left to serde, which then says so.

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

/// The first of these keys that is there.
pub fn find(attributes: &[Attribute], keys: &[&str]) -> Option<Ident> {
    let mut found = attributes.iter().flat_map(entries).filter_map(|entry| entry.path().get_ident().cloned());
    found.find(|key| keys.iter().any(|wanted| key == wanted))
}

/// The name that `rename` gives a field in what is serialised.
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

/// Takes `skip_serializing_if` away, and gives the function that it names.
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

/// Whether the attribute derives this trait, also where only a `cfg` decides.
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
