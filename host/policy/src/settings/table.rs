//! Declaration of a table of the file.

/// Declares a table: its struct, its parser and its description. An entry is `key: Type = default, reader;`. Without a
/// default the key is required; without a reader, [`SettingValue::read`] reads it; a description of what the reader takes may
/// follow it. A table in which every key has a default
/// implements `Default`.
///
/// [`SettingValue::read`]: super::value::SettingValue::read
macro_rules! table {
    (
        $(#[doc = $means:literal])*
        $(#[derive($($derive:ident),*)])?
        pub struct $name:ident {$(
            $(#[doc = $doc:literal])*
            $key:ident: $type:ty $(= $default:expr)? $(, $read:expr $(, $kind:expr)?)?;
        )*}
    ) => {
        $(#[doc = $means])*
        #[derive(Debug, Clone, PartialEq $(, $($derive),*)?)]
        pub struct $name {$(
            $(#[doc = $doc])*
            pub $key: $type,
        )*}

        impl $crate::settings::value::SettingValue for $name {
            fn kind() -> $crate::settings::kind::ValueKind {
                use $crate::settings::kind::{KeySpec, TableSpec, ValueKind};
                use $crate::settings::value::{SettingValue, key_name};
                ValueKind::Table(TableSpec {
                    name: stringify!($name),
                    means: &[$($means),*],
                    keys: vec![$({
                        let default = None::<$type> $(.or(Some($default)))?;
                        KeySpec {
                            name: key_name(stringify!($key)),
                            means: &[$($doc),*],
                            kind: table!(@kind $type $($(, $kind)?)?),
                            is_required: default.is_none(),
                            default: default.and_then(|default| SettingValue::to_json(&default)),
                        }
                    }),*],
                })
            }

            fn read(
                field: &$crate::document::field::Field<'_>,
                reader: &mut $crate::settings::value::SettingsReader<'_>,
            ) -> Option<Self> {
                let mut table = reader.table(field, &[$(stringify!($key)),*])?;
                $(
                    let default = None::<$type> $(.or(Some($default)))?;
                    let $key = table.key(stringify!($key), default, table!(@read $type $(, $read)?), reader);
                )*
                Some(Self { $($key: $key?),* })
            }
        }

        table!(@default $name $($key $(= $default)?;)*);
    };
    (@kind $type:ty) => { <$type as $crate::settings::value::SettingValue>::kind() };
    (@kind $type:ty, $kind:expr) => { $kind };
    (@read $type:ty) => { <$type as $crate::settings::value::SettingValue>::read };
    (@read $type:ty, $read:expr) => { $read };
    (@default $name:ident $($key:ident = $default:expr;)*) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $($key: $default),* }
            }
        }
    };
    (@default $($some_required:tt)*) => {};
}
pub(crate) use table;
