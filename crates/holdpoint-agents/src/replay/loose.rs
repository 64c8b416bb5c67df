//! Fields read without insisting on their type: a transcript is somebody else's, and a field that
//! is not what it should be is one that is not there.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::Timestamp;

/// A string, if it is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Option<Cow<'a, str>>);

impl Text<'_> {
    pub(crate) fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.get() == Some(text)
    }
}

/// True, or anything else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) bool);

/// A whole number, if it is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) Option<i64>);

/// A time: text as RFC 3339 has it, or milliseconds (or seconds) since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) Option<Timestamp>);

/// What a scalar may be read as; the rest of JSON is passed over.
trait Scalar<'de>: Default {
    fn from_text(_text: Cow<'de, str>) -> Self {
        Self::default()
    }

    fn from_number(_number: i64) -> Self {
        Self::default()
    }

    fn from_flag(_flag: bool) -> Self {
        Self::default()
    }
}

impl<'de> Scalar<'de> for Text<'de> {
    fn from_text(text: Cow<'de, str>) -> Self {
        Text(Some(text))
    }
}

impl<'de> Scalar<'de> for Flag {
    fn from_flag(flag: bool) -> Self {
        Flag(flag)
    }
}

impl<'de> Scalar<'de> for Number {
    fn from_number(number: i64) -> Self {
        Number(Some(number))
    }
}

impl<'de> Scalar<'de> for Time {
    fn from_text(text: Cow<'de, str>) -> Self {
        Time(Timestamp::parse(text.trim()))
    }

    fn from_number(number: i64) -> Self {
        Time(from_number(number))
    }
}

/// A number as agents write times: seconds up to the year 5000, milliseconds from 1973 on.
fn from_number(number: i64) -> Option<Timestamp> {
    let micros = match number {
        0..=99_999_999_999 => number.checked_mul(1_000_000)?,
        100_000_000_000..=99_999_999_999_999 => number.checked_mul(1_000)?,
        _ => return None,
    };
    Some(Timestamp::from_micros(u64::try_from(micros).ok()?))
}

struct Any<T>(PhantomData<T>);

impl<'de, T: Scalar<'de>> Visitor<'de> for Any<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::from_text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::from_text(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<T, E> {
        Ok(T::from_text(Cow::Owned(text)))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(T::from_flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(T::from_number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(i64::try_from(number).map_or_else(|_| T::default(), T::from_number))
    }

    fn visit_f64<E>(self, _number: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_none<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<T, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<T, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }
}

macro_rules! read_as_any {
    ($($name:ty),*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Any(PhantomData))
            }
        }
    )*};
}

read_as_any!(Flag, Number, Time);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any::<Text<'de>>(PhantomData))
    }
}

/// An object with these fields, if the value is one that can be read.
pub(crate) fn object<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    let text = raw?.get();
    // A sequence would be taken for an object, too.
    if !text.starts_with('{') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// The elements of an array, or none.
pub(crate) fn elements(raw: Option<&RawValue>) -> Vec<&RawValue> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

/// Whether a value is an object.
pub(crate) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    #[serde(default)]
    #[derive(Default)]
    struct Fields<'a> {
        #[serde(borrow)]
        text: Text<'a>,
        flag: Flag,
        number: Number,
        time: Time,
    }

    #[test]
    fn a_field_of_another_type_is_one_that_is_not_there() {
        for odd in ["null", "true", "[1,[2]]", r#"{"a":{"b":1}}"#, "1.5", "7"] {
            let text = format!(r#"{{"text":{odd},"number":"x","time":{odd}}}"#);
            let fields: Fields<'_> = serde_json::from_str(&text).unwrap();
            assert_eq!(fields.text.get(), None, "{odd}");
            assert_eq!(fields.number, Number(None));
            assert_eq!(fields.flag, Flag(false));
        }
        let fields: Fields<'_> =
            serde_json::from_str(r#"{"text":"a\n","flag":true,"number":-3,"time":1794800837539}"#)
                .unwrap();
        assert!(fields.text.is("a\n") && fields.flag.0);
        assert_eq!(fields.number.0, Some(-3));
        assert_eq!(fields.time.0, Timestamp::parse("2026-11-16T03:47:17.539Z"));
    }

    #[test]
    fn a_number_is_a_time_in_seconds_or_milliseconds() {
        let second = Timestamp::parse("2026-11-16T03:47:17Z");
        assert_eq!(from_number(1_794_800_837), second);
        assert_eq!(from_number(1_794_800_837_000), second);
        assert_eq!(from_number(0), Some(Timestamp::default()));
        for wrong in [-1, 100_000_000_000_000, i64::MIN, i64::MAX] {
            assert_eq!(from_number(wrong), None, "{wrong}");
        }
    }
}
