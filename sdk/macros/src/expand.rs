//! Writes a facade down: the author's block, and the table of its actions.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, ExprLit, FnArg, ImplItem, ItemImpl, Lit, Result, Type, parse_quote, spanned::Spanned};

use crate::{
    action::{Action, is_action},
    attr::{ActionOptions, FacadeOptions},
    facade::Facade,
    param::{Absent, Input, Param},
};

/// The block without our attributes, followed by the implementation of `Facade`; or by the mistakes, with an empty
/// implementation so that rustc does not add to them.
pub fn expand(mut block: ItemImpl, options: Result<FacadeOptions>) -> TokenStream {
    let facade = Facade::read(&block, options);
    strip(&mut block);
    let implementation = match facade {
        Ok(facade) => implementation(&facade),
        Err(errors) => {
            let errors = errors.into_compile_error();
            if block.trait_.is_some() || !block.generics.params.is_empty() {
                return quote!(#errors);
            }
            let ty = &block.self_ty;
            quote! {
                #errors
                impl ::loggia_sdk::Facade for #ty {
                    const ABOUT: ::loggia_sdk::table::About = ::loggia_sdk::table::About::EMPTY;
                    const ACTIONS: &'static [::loggia_sdk::table::Action<Self>] = &[];
                }
            }
        }
    };
    quote!(#block #implementation)
}

/// Removes our own attributes: rustc allows neither doc comments nor our attributes on parameters.
fn strip(block: &mut ItemImpl) {
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        if !method.attrs.iter().any(is_action) {
            continue;
        }
        method.attrs.retain(|attribute| !is_action(attribute));
        // The author cannot fix lints about the required form of an action.
        method.attrs.push(parse_quote! {
            #[allow(clippy::needless_pass_by_value, clippy::too_many_arguments, clippy::unnecessary_wraps, clippy::unused_self)]
        });
        for argument in &mut method.sig.inputs {
            if let FnArg::Typed(argument) = argument {
                argument.attrs.clear();
            }
        }
    }
}

fn implementation(facade: &Facade) -> TokenStream {
    let Facade { ty, name, title, summary, .. } = facade;
    let instructions = option(facade.instructions.as_ref());
    let default = option(facade.default.as_ref());
    let wants = facade.wants.iter().map(|want| {
        let (grant, reason, needed) = (&want.grant, &want.reason, want.needed);
        quote!(::loggia_sdk::table::Want { grant: #grant, reason: #reason, needed: #needed })
    });
    let views = facade.views.iter().map(|view| {
        let (name, html) = (&view.name, &view.html);
        quote!(::loggia_sdk::table::View { name: #name, html: #html })
    });
    let actions = facade.actions.iter().map(action);
    quote! {
        // Clippy would find fault with our code at the author's places.
        #[automatically_derived]
        #[allow(clippy::all, clippy::pedantic)]
        impl ::loggia_sdk::Facade for #ty {
            const ABOUT: ::loggia_sdk::table::About = ::loggia_sdk::table::About {
                name: #name,
                title: #title,
                version: ::core::env!("CARGO_PKG_VERSION"),
                summary: #summary,
                instructions: #instructions,
                default_action: #default,
                views: &[#(#views),*],
                wants: &[#(#wants),*],
            };
            const ACTIONS: &'static [::loggia_sdk::table::Action<Self>] = &[#(#actions),*];
        }
        #[cfg(all(target_family = "wasm", not(test)))]
        const _: () = {
            #[used]
            static EXPORTED: unsafe extern "C" fn() = ::loggia_sdk::abi::EXPORTED;
        };
    }
}

/// Names of the generated functions' parameters. Their spans hide them from the author's expressions.
struct Locals {
    facade: Ident,
    incoming: Ident,
    call: Ident,
    shape: Ident,
}

fn action(action: &Action) -> TokenStream {
    let [facade, incoming, call, shape] =
        ["facade", "incoming", "call", "shape"].map(|name| Ident::new(name, Span::mixed_site()));
    let locals = Locals { facade, incoming, call, shape };
    let Locals { facade, incoming, call, shape } = &locals;
    let [output_value, items] = ["output", "items"].map(|name| Ident::new(name, Span::mixed_site()));
    let Action { method, name, cfgs, output, options, .. } = action;
    let (summary, about) = (&action.docs.summary, &action.docs.rest);
    let effect = {
        let word = action.effect.to_string();
        format_ident!("{}{}", word[..1].to_uppercase(), &word[1..])
    };
    let ActionOptions { idempotent, open_world, long_running, details, aliases, needs, examples, .. } =
        options;
    let view = option(options.view.as_ref());
    let resource = option(options.resource.as_ref().map(|resource| {
        let uri = &resource.uri;
        let [mime_type, items, state] =
            [&resource.mime_type, &resource.items, &resource.state].map(|text| option(text.as_ref()));
        quote!(::loggia_sdk::table::Resource { uri: #uri, mime_type: #mime_type, items: #items, state: #state })
    }));
    let properties = action.params().map(|param| property(&locals, param));
    let data = quote_spanned!(output.span()=> ::loggia_sdk::table::data::<#output>);
    let arguments = action.inputs.iter().map(|input| argument(&locals, input));
    let takes_call = action.inputs.iter().any(|input| matches!(input, Input::Call));
    let make_call = takes_call.then(|| quote!(let #call = #incoming.call();));
    let run = quote!(Self::#method(#facade, #(#arguments),*));
    let finish = quote_spanned!(output.span()=> <#output as ::loggia_sdk::table::Outcome>::finish);
    quote! {
        #(#cfgs)*
        ::loggia_sdk::table::Action {
            name: #name,
            summary: #summary,
            about: #about,
            effect: ::loggia_sdk::Effect::#effect,
            idempotent: #idempotent,
            open_world: #open_world,
            long_running: #long_running,
            details: #details,
            aliases: &[#(#aliases),*],
            needs: &[#(#needs),*],
            resource: #resource,
            view: #view,
            examples: &[#(#examples),*],
            params: |#shape| {
                #(#properties)*
            },
            data: #data,
            run: |#facade, #incoming| {
                #[allow(unused_imports)] // Only the types tell which of the two it is.
                use ::loggia_sdk::table::{IsList as _, IsNoList as _};
                #make_call
                let #output_value = #run;
                let #items = (&::loggia_sdk::table::Counted(&#output_value)).items();
                #finish(#output_value, #incoming.detail(), #items)
            },
        }
    }
}

/// One statement that adds a parameter to the action's schema.
fn property(locals: &Locals, param: &Param) -> TokenStream {
    let shape = &locals.shape;
    let Param { name, doc, ty, .. } = param;
    let begin = match &param.absent {
        Absent::Refused => quote_spanned!(ty.span()=> #shape.required::<#ty>(#name, #doc)),
        Absent::None => quote_spanned!(ty.span()=> #shape.optional::<#ty>(#name, #doc)),
        Absent::Default(value) => {
            let value = default(param, value.as_ref());
            quote_spanned!(ty.span()=> #shape.defaulted::<#ty>(#name, #doc, #value))
        }
    };
    let range = param.range.as_ref().map(|(span, range)| quote_spanned!(*span=> .range::<#ty>(#range)));
    let length = param.length.as_ref().map(|(span, range)| quote_spanned!(*span=> .length::<#ty>(#range)));
    let pattern = param.pattern.as_ref().map(|(span, text)| quote_spanned!(*span=> .pattern::<#ty>(#text)));
    let format = param.format.as_ref().map(|(span, text)| quote_spanned!(*span=> .format::<#ty>(#text)));
    let hint = param.hint.as_ref().map(|text| quote!(.hint(#text)));
    let secret = param.secret.then(|| quote!(.secret()));
    let examples = param.examples.iter().map(|example| {
        let value = literal(ty, example);
        quote_spanned!(example.span()=> .example::<#ty>(#value))
    });
    quote!(#begin #range #length #pattern #format #hint #secret #(#examples)*;)
}

/// One argument of the method's call.
fn argument(locals: &Locals, input: &Input) -> TokenStream {
    let Locals { incoming, call, .. } = locals;
    let Input::Param(param) = input else { return quote!(&#call) };
    let Param { name, ty, .. } = &**param;
    match &param.absent {
        Absent::Refused => quote_spanned!(ty.span()=> #incoming.take::<#ty>(#name)?),
        Absent::None => quote_spanned!(ty.span()=> #incoming.take_optional::<#ty>(#name)?),
        Absent::Default(value) => {
            let value = default(param, value.as_ref());
            quote_spanned!(ty.span()=> #incoming.take_or::<#ty>(#name, || #value)?)
        }
    }
}

/// The value of a parameter that the caller left out.
fn default(param: &Param, value: Option<&Expr>) -> TokenStream {
    let ty = &param.ty;
    match value {
        Some(value) => literal(ty, value),
        None => quote_spanned!(ty.span()=> <#ty as ::core::default::Default>::default()),
    }
}

/// An expression; a string literal becomes whatever text type the parameter has.
fn literal(ty: &Type, value: &Expr) -> TokenStream {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            quote_spanned!(text.span()=> ::loggia_sdk::table::from_text::<#ty>(#text))
        }
        _ => quote!(#value),
    }
}

fn option<T: ToTokens>(value: Option<T>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
