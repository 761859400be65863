//! Serialises values as JSON.

use serde::{
    Serialize,
    ser::{
        SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant, Serializer,
    },
};

use super::{Error, escape::write_text};

#[derive(Default)]
pub(super) struct JsonWriter {
    out: Vec<u8>,
    writes: Part,
}

#[derive(Default, PartialEq)]
enum Part {
    #[default]
    Value,
    /// As by `serde_json`, numbers and `bool`s become texts.
    Name,
    /// A text that is JSON already.
    Raw,
}

impl JsonWriter {
    /// Returns what was written.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// Begins an array or an object, which ends with `end`.
    fn begin(&mut self, begin: &[u8], end: &'static str) -> Compound<'_> {
        self.out.extend_from_slice(begin);
        Compound { writer: self, is_first: true, end }
    }

    /// Begins the object of a variant that holds an array or an object.
    fn begin_variant(&mut self, variant: &str, begin: u8, end: &'static str) -> Compound<'_> {
        self.out.push(b'{');
        self.write_text(variant);
        self.begin(&[b':', begin], end)
    }

    fn write_text(&mut self, text: &str) {
        if self.writes == Part::Raw {
            self.out.extend_from_slice(text.as_bytes());
        } else {
            write_text(&mut self.out, text);
        }
    }

    fn write_scalar(&mut self, scalar: &impl Serialize) -> Result<(), Error> {
        self.quote_name();
        // A scalar can always be written, and memory, too.
        let _ = serde_json::to_writer(&mut self.out, scalar);
        self.quote_name();
        Ok(())
    }

    fn quote_name(&mut self) {
        if self.writes == Part::Name {
            self.out.push(b'"');
        }
    }

    fn write_name<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Error> {
        let start = self.out.len();
        self.writes = Part::Name;
        name.serialize(&mut *self)?;
        self.writes = Part::Value;
        if self.out.get(start) != Some(&b'"') {
            return Err(Error("key must be a string".into()));
        }
        self.out.push(b':');
        Ok(())
    }
}

/// An array or an object that has begun.
pub(super) struct Compound<'w> {
    writer: &'w mut JsonWriter,
    is_first: bool,
    end: &'static str,
}

impl Compound<'_> {
    fn separate(&mut self) {
        if !self.is_first {
            self.writer.out.push(b',');
        }
        self.is_first = false;
    }

    fn write_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.separate();
        value.serialize(&mut *self.writer)
    }

    fn write_member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        if self.writer.writes != Part::Raw {
            self.separate();
            self.writer.write_text(name);
            self.writer.out.push(b':');
        }
        value.serialize(&mut *self.writer)
    }

    fn finish(self) -> Result<(), Error> {
        self.writer.out.extend_from_slice(self.end.as_bytes());
        self.writer.writes = Part::Value;
        Ok(())
    }
}

/// Names of the structures by which `RawValue` and numbers of any length pass their text to `serde_json`.
const RAW: [&str; 2] = ["$serde_json::private::RawValue", "$serde_json::private::Number"];

/// Methods for scalars, which `serde_json` writes.
macro_rules! scalars {
    ($($method:ident $scalar:ty),*) => {$(
        fn $method(self, value: $scalar) -> Result<(), Error> {
            self.write_scalar(&value)
        }
    )*};
}

/// Methods for integers that are written as wider ones, which keeps guests small.
macro_rules! widened {
    ($wide:ident: $($method:ident $integer:ty),*) => {$(
        fn $method(self, value: $integer) -> Result<(), Error> {
            self.$wide(value.into())
        }
    )*};
}

impl<'w> Serializer for &'w mut JsonWriter {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'w>;
    type SerializeTuple = Compound<'w>;
    type SerializeTupleStruct = Compound<'w>;
    type SerializeTupleVariant = Compound<'w>;
    type SerializeMap = Compound<'w>;
    type SerializeStruct = Compound<'w>;
    type SerializeStructVariant = Compound<'w>;

    scalars!(serialize_bool bool, serialize_i64 i64, serialize_i128 i128, serialize_u64 u64, serialize_u128 u128);
    scalars!(serialize_f32 f32, serialize_f64 f64);
    widened!(serialize_i64: serialize_i8 i8, serialize_i16 i16, serialize_i32 i32);
    widened!(serialize_u64: serialize_u8 u8, serialize_u16 u16, serialize_u32 u32);

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.write_text(value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let mut object = self.begin(b"{", "}");
        object.write_member(variant, value)?;
        object.finish()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'w>, Error> {
        Ok(self.begin(b"[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'w>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'w>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w>, Error> {
        Ok(self.begin_variant(variant, b'[', "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'w>, Error> {
        Ok(self.begin(b"{", "}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Compound<'w>, Error> {
        if RAW.contains(&name) {
            self.writes = Part::Raw;
            return Ok(self.begin(b"", ""));
        }
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w>, Error> {
        Ok(self.begin_variant(variant, b'{', "}}"))
    }
}

/// The traits of serde by which the elements of one kind of compound arrive.
macro_rules! elements {
    ($($kind:ident $write:ident),*) => {$(
        impl $kind for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn $write<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.write_element(value)
            }

            fn end(self) -> Result<(), Error> {
                self.finish()
            }
        }
    )*};
}

/// The same for members of an object.
macro_rules! members {
    ($($kind:ident),*) => {$(
        impl $kind for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
                self.write_member(name, value)
            }

            fn end(self) -> Result<(), Error> {
                self.finish()
            }
        }
    )*};
}

elements!(SerializeSeq serialize_element, SerializeTuple serialize_element);
elements!(SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field);
members!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.separate();
        self.writer.write_name(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}
