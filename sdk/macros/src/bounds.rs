//! Bounds of `#[param(…)]`, as far as they are literals: `range = 1..=50`, `length = 1..`.

use syn::{Error, Expr, ExprLit, ExprRange, ExprUnary, Lit, RangeLimits, Result, UnOp, spanned::Spanned};

/// Checks a range: it has at least one end and, if both are literals, contains something.
pub fn check(expr: &Expr, key: &str, like: &str) -> Result<()> {
    let wrong = |sentence: String| Err(Error::new(expr.span(), sentence));
    match expr {
        Expr::Range(range) if is_empty(range) => wrong(
            "no value is within this range: the lower bound comes first, and the upper one is not below it"
                .to_owned(),
        ),
        Expr::Range(range) if range.start.is_some() || range.end.is_some() => Ok(()),
        Expr::Range(_) => wrong(format!("`..` has no bounds; write, for example, `{like}`")),
        // A constant range.
        Expr::Path(_) => Ok(()),
        _ => wrong(format!("`{key}` takes a range, for example `{like}`")),
    }
}

/// Whether a number is outside of a range. An end that is no literal excludes nothing.
pub fn excludes(range: &Expr, value: f64) -> bool {
    let Expr::Range(range) = range else { return false };
    let [start, end] = ends(range);
    let is_above = |end: f64| match range.limits {
        RangeLimits::HalfOpen(_) => value >= end,
        RangeLimits::Closed(_) => value > end,
    };
    start.is_some_and(|start| value < start) || end.is_some_and(is_above)
}

/// Renders a range as the author wrote it: `-1..=5`.
pub fn render(range: &Expr) -> String {
    quote::quote!(#range).to_string().replace(' ', "")
}

/// The value of a literal number.
pub fn number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => number.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr).map(|number| -number),
        Expr::Paren(inner) => number(&inner.expr),
        Expr::Group(inner) => number(&inner.expr),
        _ => None,
    }
}

/// Whether a range of literals contains nothing.
fn is_empty(range: &ExprRange) -> bool {
    let [Some(start), Some(end)] = ends(range) else { return false };
    start > end || (start == end && matches!(range.limits, RangeLimits::HalfOpen(_)))
}

fn ends(range: &ExprRange) -> [Option<f64>; 2] {
    [&range.start, &range.end].map(|end| end.as_deref().and_then(number))
}
