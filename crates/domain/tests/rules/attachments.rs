//! Names and kinds of attached files.

use proptest::prelude::*;
use workforce_domain::attachment::{Disposition, delivery, harmless_filename};
use workforce_domain::text::{FileName, MediaType};

fn name_of(sent: &str) -> Option<String> {
    harmless_filename(sent).map(String::from)
}

#[test]
fn a_name_loses_its_folders() {
    for sent in [
        "report.pdf",
        "/etc/report.pdf",
        "../../report.pdf",
        "..\\..\\report.pdf",
        "C:\\Users\\me\\report.pdf",
        "a/b\\c/report.pdf",
        "  report.pdf\t",
        "\u{202e}report.pdf",
        "rep\0ort\r\n.pdf",
        "report\u{200b}.pdf",
    ] {
        assert_eq!(name_of(sent).as_deref(), Some("report.pdf"), "{sent:?}");
    }
}

#[test]
fn nothing_is_left_of_some_names() {
    for sent in [
        "", " ", ".", "..", "...", "/", "a/..", "\\", "\r\n", "\u{feff}", "x/.",
    ] {
        assert_eq!(name_of(sent), None, "{sent:?}");
    }
}

#[test]
fn a_long_name_keeps_its_extension() {
    let long = format!("{}.tar.gz", "\u{1f980}".repeat(300));
    let name = name_of(&long).unwrap();
    assert_eq!(name.chars().count(), FileName::MAX);
    assert!(name.ends_with(".gz"));
    let no_extension = format!("a.{}", "b".repeat(300));
    assert_eq!(
        name_of(&no_extension).unwrap().chars().count(),
        FileName::MAX
    );
    let fitting = "\u{e9}".repeat(FileName::MAX);
    assert_eq!(name_of(&fitting), Some(fitting));
}

#[test]
fn only_harmless_kinds_are_shown() {
    let disposition = |name: &str| delivery(&MediaType::parse(name).unwrap()).disposition;
    for shown in [
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "application/pdf",
        "text/plain",
    ] {
        assert_eq!(disposition(shown), Disposition::Inline, "{shown}");
    }
    for saved in [
        "text/html",
        "image/svg+xml",
        "application/xhtml+xml",
        "text/javascript",
        "application/octet-stream",
        "image/tiff",
        "application/zip",
    ] {
        assert_eq!(disposition(saved), Disposition::Attachment, "{saved}");
    }
}

#[test]
fn what_could_act_is_served_as_opaque_bytes() {
    for active in ["text/html", "image/svg+xml", "text/xml", "application/zip"] {
        let kind = MediaType::parse(active).unwrap();
        assert_eq!(delivery(&kind).content_type, "application/octet-stream");
    }
    let film = MediaType::parse("video/mp4").unwrap();
    assert_eq!(delivery(&film).content_type, "video/mp4");
    let text = MediaType::plain_text();
    assert_eq!(delivery(&text).content_type, "text/plain; charset=utf-8");
}

#[test]
fn a_media_type_has_two_names() {
    assert_eq!(
        MediaType::parse(" Image/PNG ").unwrap().as_str(),
        "image/png"
    );
    for odd in [
        "",
        "image",
        "image/",
        "/png",
        "a/b; c=d",
        "a/b\r\nX: y",
        "a/b/c",
        "\u{e9}/b",
    ] {
        assert!(MediaType::parse(odd).is_err(), "{odd:?}");
    }
}

proptest! {
    #[test]
    fn whatever_is_sent_becomes_a_plain_name(sent in any::<String>()) {
        if let Some(name) = harmless_filename(&sent) {
            prop_assert!(name.chars().count() <= FileName::MAX);
            prop_assert!(!name.contains(['/', '\\']));
            prop_assert!(!name.chars().any(char::is_control));
            let again = harmless_filename(&name);
            prop_assert_eq!(again.as_deref(), Some(&*name));
        }
    }
}
