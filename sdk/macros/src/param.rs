//! One parameter of an action's method.

use proc_macro2::Span;
use syn::{
    Error, Expr, FnArg, GenericArgument, LitStr, Pat, PatType, PathArguments, PathSegment, Result, Type,
    ext::IdentExt, spanned::Spanned,
};

use crate::{
    attr::{self, ParamOptions},
    docs::Docs,
    names, values,
};

/// Arguments of a method after `&self`.
pub enum Input {
    /// `call: &Call`
    Call,
    /// A parameter of the action.
    Param(Box<Param>),
}

/// A parameter of the action.
pub struct Param {
    /// Name in the schema.
    pub name: LitStr,
    /// Description.
    pub doc: String,
    /// Type; for an optional parameter the type inside `Option<…>`.
    pub ty: Type,
    /// Handling of a missing parameter.
    pub absent: Absent,
    pub range: Option<(Span, Expr)>,
    pub length: Option<(Span, Expr)>,
    pub pattern: Option<(Span, LitStr)>,
    pub format: Option<(Span, LitStr)>,
    pub hint: Option<LitStr>,
    pub secret: bool,
    pub examples: Vec<Expr>,
}

/// Meaning of a missing parameter.
pub enum Absent {
    /// The call is refused.
    Refused,
    /// `None`.
    None,
    /// This value, or the type's own default.
    Default(Option<Expr>),
}

impl Input {
    /// Reads one argument of a method.
    pub fn read(argument: &FnArg) -> Result<Self> {
        let FnArg::Typed(argument) = argument else {
            return Err(Error::new(argument.span(), "`&self` comes first"));
        };
        match &*argument.ty {
            Type::Reference(reference) if named(&reference.elem, "Call").is_some() => Ok(Self::Call),
            Type::Reference(reference) => {
                let sentence = "a parameter is an owned value: `String` for text, `Vec<T>` for a list; \
                                only `&Call` is borrowed";
                Err(Error::new(reference.span(), sentence))
            }
            Type::ImplTrait(ty) => Err(Error::new(
                ty.span(),
                "a parameter has one concrete type, since its schema is made from it",
            )),
            ty if named(ty, "Call").is_some() => {
                Err(Error::new(ty.span(), "the call is borrowed: write `&Call`"))
            }
            _ => Param::read(argument).map(|param| Self::Param(Box::new(param))),
        }
    }
}

impl Param {
    fn read(argument: &PatType) -> Result<Self> {
        let options = Self::options(argument)?;
        let Pat::Ident(pattern) = &*argument.pat else {
            let sentence = "a parameter has a plain name, which callers use: take it apart in the body";
            return Err(Error::new(argument.pat.span(), sentence));
        };
        let name = match options.name {
            Some(name) => name,
            None => LitStr::new(&pattern.ident.unraw().to_string(), pattern.ident.span()),
        };
        names::param(&name.value(), name.span())?;
        if options.secret {
            let shown = match &options.default {
                Some((_, Some(value))) => Some(value),
                _ => options.examples.first(),
            };
            if let Some(shown) = shown {
                let sentence = "the value of a `secret` would be published with the schema: take it away";
                return Err(Error::new(shown.span(), sentence));
            }
        }
        let optional = option_inner(&argument.ty);
        let absent = match (optional, options.default) {
            (Some(_), Some((span, _))) => {
                let sentence =
                    "`Option` and `default` contradict each other: write the plain type with `default`";
                return Err(Error::new(span, sentence));
            }
            (Some(_), None) => Absent::None,
            (None, Some((_, value))) => Absent::Default(value),
            (None, None) => Absent::Refused,
        };
        let param = Self {
            name,
            doc: Docs::read(&argument.attrs).text(),
            ty: optional.unwrap_or(&argument.ty).clone(),
            absent,
            range: options.range,
            length: options.length,
            pattern: options.pattern,
            format: options.format,
            hint: options.hint,
            secret: options.secret,
            examples: options.examples,
        };
        let default = match &param.absent {
            Absent::Default(value) => value.as_ref(),
            Absent::Refused | Absent::None => None,
        };
        values::check(&param, default)?;
        Ok(param)
    }

    /// Whether the parameter is an `Option`.
    pub fn is_optional(&self) -> bool {
        matches!(self.absent, Absent::None)
    }

    fn options(argument: &PatType) -> Result<ParamOptions> {
        let mut found = None;
        for attribute in argument.attrs.iter().filter(|a| !a.path().is_ident("doc")) {
            if !is_param(attribute) {
                return Err(Error::new(
                    attribute.span(),
                    "a parameter takes doc comments and `#[param(…)]` only",
                ));
            }
            if found.replace(attr::param_options(attribute)?).is_some() {
                return Err(Error::new(attribute.span(), "one `#[param(…)]` holds all the keys"));
            }
        }
        Ok(found.unwrap_or_default())
    }
}

/// Tests whether this is our attribute, under any import path.
fn is_param(attribute: &syn::Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "param")
}

/// The last segment of a path type, if it has this name.
fn named<'a>(ty: &'a Type, name: &str) -> Option<&'a PathSegment> {
    let Type::Path(path) = ty else { return None };
    path.path.segments.last().filter(|segment| segment.ident == name)
}

/// `T` of `Option<T>`, recognised by name, as in every derive: a macro sees no types.
pub fn option_inner(ty: &Type) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &named(ty, "Option")?.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}
