//! `#[detail]` on a type: each mark becomes a `skip_serializing_if` that asks for the call's level, and a keyword in the
//! schema.
//!
//! So serde and schemars do the work, and everything they understand is supported: renames, flattening, enum tags,
//! generics. In return, they must see the generated attributes, so this attribute must be above their derives.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, Error, Fields, Generics, Ident, Item, Result, Variant, parse_quote, spanned::Spanned};

use crate::{
    action::Errors,
    fields::{Level, Marked, is_detail},
    param::option_inner,
    serde,
};

/// Expands the marks of a type into attributes and helpers; on errors, returns these and the type without marks.
pub fn expand(arguments: &TokenStream, mut item: Item) -> TokenStream {
    let mut errors = Errors::default();
    if !arguments.is_empty() {
        let sentence = "on a type `#[detail]` takes no level; levels go on its fields: `#[detail(full)]`";
        errors.push(Error::new(arguments.span(), sentence));
    }
    let helpers = errors.take(carry_out(&mut item)).unwrap_or_default();
    match errors.finish() {
        Ok(()) => quote!(#item #helpers),
        Err(errors) => {
            // rustc would find fault with the marks that are left.
            strip(&mut item);
            let errors = errors.into_compile_error();
            quote!(#errors #item)
        }
    }
}

/// Replaces the marks by attributes with their meaning.
fn carry_out(item: &mut Item) -> Result<TokenStream> {
    let (attributes, ident, generics, all) = match item {
        Item::Struct(item) => (&mut item.attrs, &item.ident, &item.generics, vec![&mut item.fields]),
        Item::Enum(item) => {
            let mut errors = Errors::default();
            for variant in &item.variants {
                errors.take(effective(variant));
            }
            errors.finish()?;
            let all = item.variants.iter_mut().map(|variant| &mut variant.fields).collect();
            (&mut item.attrs, &item.ident, &item.generics, all)
        }
        other => {
            let sentence = "`#[detail]` goes on a struct or an enum, and its levels on their fields";
            return Err(Error::new(other.span(), sentence));
        }
    };
    let marked = read(all, ident)?;
    derives(attributes, ident)?;
    if let Some(key) = serde::find(attributes, &["transparent", "into", "remote"]) {
        let sentence =
            format!("`{key}` makes another type's JSON of it, which leaves the marks without effect");
        return Err(Error::new(key.span(), sentence));
    }
    // If only flattened fields are marked, no property of the schema shows it.
    if marked.iter().all(|marked| marked.is_flat || marked.level == Level::Standard) {
        attributes.push(parse_quote!(#[schemars(extend("x-detail" = true))]));
    }
    let helpers: Vec<_> = marked
        .into_iter()
        .enumerate()
        .filter_map(|(n, marked)| write(marked, &format_ident!("__loggia_skip_{n}"), ident, generics))
        .collect();
    if helpers.is_empty() {
        return Ok(TokenStream::new());
    }
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        #[doc(hidden)]
        #[allow(clippy::all, clippy::pedantic, dead_code)]
        impl #impl_generics #ident #type_generics #where_clause { #(#helpers)* }
    })
}

/// Rejects marks on a variant, which have no effect; only those on its fields do.
fn effective(variant: &Variant) -> Result<()> {
    if let Some(mark) = variant.attrs.iter().find(|attribute| is_detail(attribute)) {
        return Err(Error::new(mark.path().span(), "a variant has no level: mark its named fields"));
    }
    let keys = ["with", "serialize_with", "skip", "skip_serializing"];
    let is_marked = variant.fields.iter().any(|field| field.attrs.iter().any(is_detail));
    match serde::find(&variant.attrs, &keys).filter(|_| is_marked) {
        Some(key) => {
            let sentence = format!("`{key}` leaves the marks of the variant's fields without effect");
            Err(Error::new(key.span(), sentence))
        }
        None => Ok(()),
    }
}

/// Removes all marks.
fn strip(item: &mut Item) {
    let keep = |attributes: &mut Vec<Attribute>| attributes.retain(|attribute| !is_detail(attribute));
    let mut all = Vec::new();
    match item {
        Item::Struct(item) => all.push(&mut item.fields),
        Item::Enum(item) => {
            for variant in &mut item.variants {
                keep(&mut variant.attrs);
                all.push(&mut variant.fields);
            }
        }
        _ => {}
    }
    for field in all.into_iter().flatten() {
        keep(&mut field.attrs);
    }
}

/// The fields of each list of fields that has marks, with the levels that follow from them.
fn read<'f>(all: Vec<&'f mut Fields>, ident: &Ident) -> Result<Vec<Marked<'f>>> {
    let mut errors = Errors::default();
    let lists: Vec<_> = all.into_iter().filter_map(|fields| errors.take(Marked::read(fields))).collect();
    errors.finish()?;
    let marked: Vec<_> = lists.into_iter().flatten().collect();
    if marked.is_empty() {
        let sentence = "no field is marked: say `#[detail(minimal)]` or `#[detail(full)]` on some, \
                        or take `#[detail]` away";
        return Err(Error::new(ident.span(), sentence));
    }
    if marked.iter().all(|marked| marked.level == Level::Minimal) {
        let sentence =
            "every field is shown at every level: leave those unmarked that `minimal` need not show";
        return Err(Error::new(ident.span(), sentence));
    }
    Ok(marked)
}

/// Checks that the derives of serde and schemars come after this attribute.
fn derives(attributes: &[Attribute], ident: &Ident) -> Result<()> {
    let has = |name| attributes.iter().any(|attribute| serde::derives(attribute, name));
    let missing: Vec<_> = ["Serialize", "JsonSchema"].into_iter().filter(|name| !has(name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let sentence = format!(
        "`#[detail]` must be above the derives that it configures: `#[derive({})]` is missing below it",
        missing.join(", ")
    );
    Err(Error::new(ident.span(), sentence))
}

/// Writes a field's attributes; if the author skips the field too, also a function that combines both conditions.
fn write(marked: Marked, helper: &Ident, ident: &Ident, generics: &Generics) -> Option<TokenStream> {
    let Marked { field, level, is_flat } = marked;
    let ty = &field.ty;
    let full = level == Level::Full;
    if !is_flat && level != Level::Standard {
        let name = level.name();
        field.attrs.push(parse_quote!(#[schemars(extend("x-detail" = #name))]));
    }
    if level == Level::Minimal {
        return None;
    }
    if is_flat {
        let with = match option_inner(ty) {
            Some(inner) => quote!(::core::option::Option<::loggia_sdk::detail::Flattened<#inner, #full>>),
            None => quote!(::loggia_sdk::detail::Flattened<#ty, #full>),
        };
        let with = with.to_string();
        field.attrs.push(parse_quote!(#[schemars(with = #with)]));
    }
    let skip = if full { "::loggia_sdk::detail::below_full" } else { "::loggia_sdk::detail::below_standard" };
    let Some(own) = serde::take_skip(&mut field.attrs) else {
        field.attrs.push(parse_quote!(#[serde(skip_serializing_if = #skip)]));
        return None;
    };
    let (_, type_generics, _) = generics.split_for_impl();
    let turbofish = type_generics.as_turbofish();
    let path = quote!(#ident #turbofish :: #helper).to_string();
    field.attrs.push(parse_quote!(#[serde(skip_serializing_if = #path)]));
    let skip: syn::Path = syn::parse_str(skip).ok()?;
    let span = own.span();
    Some(quote_spanned! {span=>
        fn #helper(value: &#ty) -> bool {
            #skip(value) || #own(value)
        }
    })
}
