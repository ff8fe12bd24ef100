use std::fmt::Write as _;

use workforce_domain::attachment::Disposition;

/// The `Content-Disposition` of RFC 6266: the name once for everybody in plain
/// ASCII, and once as it is (RFC 5987) when that is not the same.
pub(super) fn header(disposition: Disposition, filename: Option<&str>) -> String {
    let mut header = disposition.to_string();
    if let Some(filename) = filename {
        let plain: String = filename
            .chars()
            .map(|c| if is_plain(c) { c } else { '_' })
            .collect();
        // Writing to a string cannot fail.
        let _written = write!(header, "; filename=\"{plain}\"");
        if plain != filename {
            header.push_str("; filename*=UTF-8''");
            for byte in filename.bytes() {
                if byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte) {
                    header.push(char::from(byte));
                } else {
                    let _written = write!(header, "%{byte:02X}");
                }
            }
        }
    }
    header
}

/// What stands for itself between quotes, whoever reads it: some undo percent
/// signs there.
const fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~') && !matches!(c, '"' | '\\' | '%' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_name_is_quoted() {
        let header = header(Disposition::Inline, Some("a b;c=d.txt"));
        assert_eq!(header, "inline; filename=\"a b;c=d.txt\"");
        assert_eq!(super::header(Disposition::Attachment, None), "attachment");
    }

    #[test]
    fn any_other_name_is_told_twice() {
        let header = header(Disposition::Attachment, Some("\u{e9}\"\\%.pdf"));
        assert_eq!(
            header,
            "attachment; filename=\"____.pdf\"; filename*=UTF-8''%C3%A9%22%5C%25.pdf"
        );
    }
}
