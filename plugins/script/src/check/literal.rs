//! Arguments as far as they are literals.

use boa_engine::{
    ast::{
        Expression,
        expression::{
            literal::{LiteralKind, ObjectLiteral, PropertyDefinition},
            operator::unary::UnaryOp,
        },
        property::PropertyName,
    },
    interner::{Interner, Sym},
};
use loggia_sdk::{Object, Value};

/// Argument of a call.
pub enum Argument {
    /// An object. If it is not whole, some values are not known, and are null here.
    Object { members: Object, is_whole: bool },
    /// Something that is no object: a text, a number, a list.
    Other,
    /// Not known before the program runs.
    Unknown,
}

/// Reads the arguments of a call.
pub fn read_argument(args: &[Expression], interner: &Interner) -> Argument {
    match args {
        [] => Argument::Object { members: Object::new(), is_whole: true },
        [Expression::ObjectLiteral(object)] => {
            let (members, is_whole) = read_members(object, interner);
            Argument::Object { members, is_whole }
        }
        [Expression::Literal(literal)] if !literal.is_undefined() => Argument::Other,
        [Expression::ArrayLiteral(_) | Expression::TemplateLiteral(_)] => Argument::Other,
        [_] => Argument::Unknown,
        [Expression::Spread(_), ..] => Argument::Unknown,
        _ => Argument::Other,
    }
}

/// Tests whether an object takes members from another one, or has computed names.
pub fn has_open_members(args: &[Expression]) -> bool {
    let [Expression::ObjectLiteral(object)] = args else { return false };
    object.properties().iter().any(|property| {
        matches!(
            property,
            PropertyDefinition::SpreadObject(_) | PropertyDefinition::Property(PropertyName::Computed(_), _)
        )
    })
}

fn read_members(object: &ObjectLiteral, interner: &Interner) -> (Object, bool) {
    let mut members = Object::new();
    let mut is_whole = true;
    for property in object.properties() {
        match property {
            PropertyDefinition::Property(PropertyName::Literal(name), value) => {
                let value = read_value(value, interner);
                is_whole &= value.is_some();
                members.insert(text(name.sym(), interner), value.unwrap_or_default());
            }
            PropertyDefinition::IdentifierReference(name) => {
                is_whole = false;
                members.insert(text(name.sym(), interner), Value::Null);
            }
            _ => is_whole = false,
        }
    }
    (members, is_whole)
}

/// Reads a literal. `None` if its value is not known.
fn read_value(value: &Expression, interner: &Interner) -> Option<Value> {
    match value {
        Expression::Literal(literal) => match literal.kind() {
            LiteralKind::String(value) => Some(text(*value, interner).into()),
            LiteralKind::Num(number) => Some((*number).into()),
            LiteralKind::Int(number) => Some((*number).into()),
            LiteralKind::Bool(value) => Some((*value).into()),
            LiteralKind::Null => Some(Value::Null),
            _ => None,
        },
        Expression::ArrayLiteral(array) => {
            let items = array.as_ref().iter().map(|item| read_value(item.as_ref()?, interner));
            items.collect::<Option<Vec<Value>>>().map(Value::Array)
        }
        Expression::ObjectLiteral(object) => {
            let (members, is_whole) = read_members(object, interner);
            is_whole.then_some(Value::Object(members))
        }
        Expression::Parenthesized(inner) => read_value(inner.expression(), interner),
        Expression::Unary(unary) if unary.op() == UnaryOp::Minus => {
            let number = read_value(unary.target(), interner)?;
            number
                .as_i64()
                .map(|number| Value::from(-number))
                .or_else(|| Some(Value::from(-number.as_f64()?)))
        }
        _ => None,
    }
}

/// Text of a name or literal.
pub fn text(sym: Sym, interner: &Interner) -> String {
    interner.resolve_expect(sym).to_string()
}
