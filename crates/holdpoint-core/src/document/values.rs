//! Reads nodes into the caller's types.

use super::fault::Fault;
use super::node::{Entry, Node, Step, Value};
use super::quote::{cite, quote};
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::borrow::Cow;
use std::{iter, slice};

/// Reads the whole tree into `T`.
pub(super) fn read<T: DeserializeOwned>(root: &Node<'_>) -> Result<T, Fault> {
    T::deserialize(Reader(root)).map_err(|fault| fault.settle(root))
}

#[derive(Clone, Copy)]
struct Reader<'n, 'de>(&'n Node<'de>);

impl<'n, 'de> Reader<'n, 'de> {
    fn array<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Value::Array(items) = &self.0.value else {
            return Err(self.wrong_type(&visitor));
        };
        let mut access = Items(items.iter().enumerate());
        let value = visitor
            .visit_seq(&mut access)
            .map_err(|fault| fault.settle(self.0))?;
        match access.0.next() {
            None => Ok(value),
            Some((index, extra)) => {
                let problem = format!("this array takes {index} values, not {}", items.len());
                Err(Fault::from_sentence(problem)
                    .with_hint("remove the others")
                    .at(extra.span)
                    .within(Step::Index(index)))
            }
        }
    }

    fn object<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Value::Object(entries) = &self.0.value else {
            return Err(self.wrong_type(&visitor));
        };
        let mut access = Entries {
            entries: entries.iter(),
            last: None,
        };
        let value = visitor
            .visit_map(&mut access)
            .map_err(|fault| fault.settle_repeated(access.last).settle(self.0))?;
        match access.entries.next() {
            None => Ok(value),
            Some(extra) => {
                let problem = format!("key {} has no place here", cite(&quote(&extra.key)));
                Err(Fault::from_sentence(problem)
                    .with_hint("remove it")
                    .at_key(extra)
                    .within(Step::Key(extra.key.clone())))
            }
        }
    }

    fn number<V: Visitor<'de>>(self, text: &str, visitor: V) -> Result<V::Value, Fault> {
        if let Ok(number) = text.parse::<u64>() {
            return visitor.visit_u64(number);
        }
        match text.parse::<i64>() {
            // Only a float keeps the sign of `-0`.
            Ok(number) if number != 0 => return visitor.visit_i64(number),
            Ok(_) | Err(_) => {}
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => visitor.visit_f64(number),
            Ok(_) | Err(_) => Err(Fault::custom("is a number too large to be read")),
        }
    }

    /// Reads a number for a type that takes whole numbers only.
    fn whole_number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Value::Number(text) = self.0.value else {
            return self.deserialize_any(visitor);
        };
        if text.contains(['.', 'e', 'E']) {
            return Err(self.wrong_type(&visitor));
        }
        let result = match (text.parse::<u64>(), text.parse::<i64>()) {
            (Ok(number), _) => visitor.visit_u64(number),
            (_, Ok(number)) => visitor.visit_i64(number),
            (Err(_), Err(_)) => Err(Fault::out_of_range(&visitor)),
        };
        result.map_err(|fault| fault.settle(self.0))
    }

    fn large_number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let Value::Number(text) = self.0.value else {
            return self.whole_number(visitor);
        };
        let result: Result<V::Value, Fault> = match (text.parse::<u128>(), text.parse::<i128>()) {
            (Ok(number), _) if number > u128::from(u64::MAX) => visitor.visit_u128(number),
            (_, Ok(number)) if number < i128::from(i64::MIN) => visitor.visit_i128(number),
            _ => return self.whole_number(visitor),
        };
        result.map_err(|fault| fault.settle(self.0))
    }

    fn wrong_type<V: Visitor<'de>>(self, visitor: &V) -> Fault {
        let unexpected = match &self.0.value {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Number(_) => Unexpected::Other("number"),
            Value::Text(text) => Unexpected::Str(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Object(_) => Unexpected::Map,
        };
        Fault::invalid_type(unexpected, visitor).at(self.0.span)
    }
}

macro_rules! whole_numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            self.whole_number(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Reader<'_, 'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let result = match &self.0.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(text) => self.number(text, visitor),
            Value::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Value::Text(Cow::Owned(text)) => visitor.visit_str(text),
            Value::Array(_) => self.array(visitor),
            Value::Object(_) => self.object(visitor),
        };
        result.map_err(|fault| fault.settle(self.0))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let result = match self.0.value {
            Value::Null => visitor.visit_none(),
            Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::Array(_)
            | Value::Object(_) => visitor.visit_some(self),
        };
        result.map_err(|fault| fault.settle(self.0))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor
            .visit_newtype_struct(self)
            .map_err(|fault| fault.settle(self.0))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.array(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.array(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.array(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.object(visitor)
    }

    /// Derived types would take an array of their fields too; a document names them.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.object(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let result = match &self.0.value {
            Value::Text(word) => visitor.visit_enum(Word(word)),
            Value::Object(entries) => match entries.as_slice() {
                [entry] => visitor.visit_enum(Tagged(entry)),
                _ => Err(Fault::not_a_word(variants)),
            },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                Err(Fault::not_a_word(variants))
            }
        };
        result.map_err(|fault| fault.settle(self.0))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.large_number(visitor)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.large_number(visitor)
    }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    forward_to_deserialize_any! {
        bool f32 f64 char str string bytes byte_buf unit unit_struct identifier
    }
}

struct Items<'n, 'de>(iter::Enumerate<slice::Iter<'n, Node<'de>>>);

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        let Some((index, node)) = self.0.next() else {
            return Ok(None);
        };
        seed.deserialize(Reader(node))
            .map(Some)
            .map_err(|fault| fault.settle(node).within(Step::Index(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'n, 'de> {
    entries: slice::Iter<'n, Entry<'de>>,
    /// The entry whose key was read last.
    last: Option<&'n Entry<'de>>,
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        let Some(entry) = self.entries.next() else {
            return Ok(None);
        };
        self.last = Some(entry);
        read_key(entry, seed).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        match self.last {
            Some(entry) => read_value(entry, seed),
            None => Err(Fault::custom("is read without its key")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

fn read_key<'de, S: DeserializeSeed<'de>>(entry: &Entry<'de>, seed: S) -> Result<S::Value, Fault> {
    seed.deserialize(Name(&entry.key))
        .map_err(|fault| fault.at_key(entry).within(Step::Key(entry.key.clone())))
}

fn read_value<'de, S: DeserializeSeed<'de>>(
    entry: &Entry<'de>,
    seed: S,
) -> Result<S::Value, Fault> {
    seed.deserialize(Reader(&entry.value)).map_err(|fault| {
        fault
            .settle(&entry.value)
            .within(Step::Key(entry.key.clone()))
    })
}

/// A key, or a word that names a variant.
struct Name<'n, 'de>(&'n Cow<'de, str>);

impl<'de> Deserializer<'de> for Name<'_, 'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Cow::Borrowed(text) => BorrowedStrDeserializer::new(text).deserialize_any(visitor),
            Cow::Owned(text) => {
                let text: StrDeserializer<'_, Fault> = text.as_str().into_deserializer();
                text.deserialize_any(visitor)
            }
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(Word(self.0))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// A variant written as a word: `"deny"`.
struct Word<'n, 'de>(&'n Cow<'de, str>);

impl<'n, 'de> EnumAccess<'de> for Word<'n, 'de> {
    type Error = Fault;
    type Variant = Word<'n, 'de>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), Fault> {
        Ok((seed.deserialize(Name(self.0))?, self))
    }
}

impl Word<'_, '_> {
    fn needs_value(&self, value: &str) -> Fault {
        let word = quote(self.0);
        Fault::from_sentence(format!("{} needs a value", cite(&word)))
            .with_hint(format!("write `{{\"{word}\": {value}}}`"))
    }
}

impl<'de> VariantAccess<'de> for Word<'_, 'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _seed: S) -> Result<S::Value, Fault> {
        Err(self.needs_value("…"))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        _length: usize,
        _visitor: V,
    ) -> Result<V::Value, Fault> {
        Err(self.needs_value("[ … ]"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Fault> {
        Err(self.needs_value("{ … }"))
    }
}

/// A variant written as an object with one key: `{"match": "*.rs"}`.
struct Tagged<'n, 'de>(&'n Entry<'de>);

impl<'n, 'de> EnumAccess<'de> for Tagged<'n, 'de> {
    type Error = Fault;
    type Variant = Tagged<'n, 'de>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), Fault> {
        Ok((read_key(self.0, seed)?, self))
    }
}

impl Tagged<'_, '_> {
    fn within(&self, fault: Fault) -> Fault {
        fault
            .settle(&self.0.value)
            .within(Step::Key(self.0.key.clone()))
    }
}

impl<'de> VariantAccess<'de> for Tagged<'_, 'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.0.value.value {
            Value::Null => Ok(()),
            Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::Array(_)
            | Value::Object(_) => {
                let word = quote(&self.0.key);
                Err(self.within(
                    Fault::from_sentence(format!("{} takes no value", cite(&word)))
                        .with_hint(format!("write `\"{word}\"` alone")),
                ))
            }
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        read_value(self.0, seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value, Fault> {
        Reader(&self.0.value)
            .array(visitor)
            .map_err(|fault| self.within(fault))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        Reader(&self.0.value)
            .object(visitor)
            .map_err(|fault| self.within(fault))
    }
}
