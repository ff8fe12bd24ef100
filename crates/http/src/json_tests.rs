use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{json, to_string};

use super::*;

#[derive(Serialize)]
enum Shape {
    Unit,
    Newtype(&'static str),
    Tuple(i32, bool),
    Struct { a: Option<u8> },
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Newtype(f64);

#[derive(Serialize)]
struct Pair(&'static str, char);

#[derive(Serialize)]
struct Everything {
    none: Option<&'static str>,
    shapes: [Shape; 4],
    unit: Unit,
    newtype: Newtype,
    pair: Pair,
    numbers: (u64, i64, i128, f32, f64),
    #[serde(flatten)]
    flattened: BTreeMap<&'static str, Vec<()>>,
    #[serde(rename = "in \"quotes\"")]
    quoted: (),
    raw: Box<RawValue>,
}

fn written(value: &impl Serialize) -> String {
    let mut out = b"before ".to_vec();
    write(&mut out, value).unwrap();
    String::from_utf8(out.split_off(b"before ".len())).unwrap()
}

fn is_the_same(value: &impl Serialize) {
    assert_eq!(written(value), to_string(value).unwrap());
}

#[test]
fn a_text_is_escaped_wherever_it_has_to_be() {
    for byte in 0..=u8::MAX {
        for before in 0..40 {
            for after in [0, 1, 15, 16, 17] {
                let special = char::from(byte);
                is_the_same(&format!(
                    "{}{special}{}",
                    "a".repeat(before),
                    "z".repeat(after)
                ));
            }
        }
    }
    is_the_same(&"ein Fluß, 河 and 🦀, and once more: ein Fluß, 河 and 🦀");
}

#[test]
fn every_kind_of_value_is_written_as_by_serde_json() {
    let shapes = [
        Shape::Unit,
        Shape::Newtype("new \n line"),
        Shape::Tuple(-7, true),
        Shape::Struct { a: Some(3) },
    ];
    is_the_same(&Everything {
        none: None,
        shapes,
        unit: Unit,
        newtype: Newtype(0.1),
        pair: Pair("\\", '"'),
        numbers: (u64::MAX, i64::MIN, i128::MAX, 1.5, f64::NAN),
        flattened: BTreeMap::from([("empty", vec![]), ("full", vec![(), ()])]),
        quoted: (),
        raw: RawValue::from_string(r#"{"as": "it is", "n": 1.10}"#.into()).unwrap(),
    });
    is_the_same(&json!({ "": [[], {}, [null, 1.0e300, "\u{7f}"], { "a": { "b": [false] } }] }));
    is_the_same(&BTreeMap::from([(-1, 'a'), (2, 'b')]));
    is_the_same(&BTreeMap::from([(true, 1)]));
    is_the_same(&BTreeMap::from([('"', 1)]));
    is_the_same(&b"bytes".as_slice());
}

#[test]
fn a_key_that_is_no_text_is_refused() {
    let mut out = Vec::new();
    assert!(write(&mut out, &BTreeMap::from([(vec![1], 1)])).is_err());
    assert!(write(&mut out, &BTreeMap::from([(None::<u8>, 1)])).is_err());
}
