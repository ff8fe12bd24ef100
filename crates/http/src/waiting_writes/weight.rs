//! How much memory a body takes while it waits.

/// For each byte, since it is kept as it came, in a buffer of up to twice its length, and as it was
/// read.
const BYTE: usize = 4;
/// An object, however little is in it: a node of a tree, with room for eleven entries.
const OBJECT: usize = 640;
/// A list, or a further part of a list or an object.
const PART: usize = 144;

/// About how many bytes this body takes, as it came and as it was read, and not much less. What has
/// many parts takes a hundred times its length.
pub(super) fn of(body: &[u8]) -> usize {
    let mut weight = body.len().saturating_mul(BYTE);
    let mut bytes = body.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_text(&mut bytes),
            b'{' => weight += OBJECT,
            b'[' | b',' => weight += PART,
            _ => {}
        }
    }
    weight
}

/// Goes behind the end of a text.
fn skip_text<'a>(bytes: &mut impl Iterator<Item = &'a u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            // Whatever is escaped does not end it.
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_weigh_more_than_text() {
        let parts = [r#"{"":[1,2]}"#, r#"[{},{}]"#, r#"["\\",[]]"#];
        let weights = parts.map(|json| of(json.as_bytes()) - BYTE * json.len());
        assert_eq!(
            weights,
            [OBJECT + 2 * PART, 2 * OBJECT + 2 * PART, 3 * PART]
        );
    }

    #[test]
    fn what_is_in_a_text_is_text() {
        for json in [
            r#"" {[,]} ""#,
            r#""\"{,""#,
            r#""\\\"{[,""#,
            r#""{[,"#,
            r#""{\"#,
        ] {
            assert_eq!(of(json.as_bytes()), BYTE * json.len(), "{json}");
        }
    }
}
