//! Markdown that anybody may have written. What it would do beyond text is left out: no markup of
//! its own, no picture, no link to anything but pages and addresses of mail.

use std::fmt::{self, Display};

use askama::filters::HtmlSafe;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// Deeper nesting is flattened.
const DEEPEST: usize = 32;

/// A text in Markdown as markup.
#[derive(Clone, Default)]
pub(crate) struct Prose(String);

impl HtmlSafe for Prose {}

impl Display for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Prose {
    pub(crate) fn new(text: &str) -> Self {
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        let mut open = Vec::new();
        let events = Parser::new_ext(text, options).filter_map(|event| admitted(event, &mut open));
        let mut markup = String::with_capacity(text.len() * 3 / 2);
        html::push_html(&mut markup, events);
        Self(markup)
    }
}

/// What becomes of an event. `open` tells of every open tag whether it is written.
fn admitted<'a>(event: Event<'a>, open: &mut Vec<bool>) -> Option<Event<'a>> {
    match event {
        // Markup is text like any other.
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(tag) => {
            let is_deep = open.len() >= DEEPEST;
            let written = match tag {
                Tag::HtmlBlock => Some(Event::Start(Tag::Paragraph)),
                Tag::Image { .. } => None,
                Tag::Link { dest_url, .. } => link(&dest_url),
                Tag::Heading { level, .. } => Some(Event::Start(Tag::Heading {
                    level,
                    id: None,
                    classes: Vec::new(),
                    attrs: Vec::new(),
                })),
                tag => Some(Event::Start(tag)),
            };
            let written = written.filter(|_| !is_deep);
            open.push(written.is_some());
            written
        }
        Event::End(end) => {
            let is_written = open.pop().unwrap_or(false);
            is_written.then_some(match end {
                TagEnd::HtmlBlock => Event::End(TagEnd::Paragraph),
                TagEnd::Link => Event::InlineHtml(CowStr::Borrowed("</a>")),
                end => Event::End(end),
            })
        }
        other => Some(other),
    }
}

/// The beginning of a link; `None` for one that is not followed.
fn link<'a>(address: &str) -> Option<Event<'a>> {
    let lower = address.to_ascii_lowercase();
    let is_outside = ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| lower.starts_with(scheme));
    // `//host` is another host.
    let is_here = address.starts_with('/') && !address.starts_with("//");
    (is_outside || is_here).then(|| {
        let address = escaped(address);
        let markup = format!(r#"<a href="{address}" rel="noopener noreferrer nofollow">"#);
        Event::InlineHtml(markup.into())
    })
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // A browser takes it for a slash.
            '\\' => escaped.push_str("%5C"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_text_whatever_it_says() {
        for (text, expected) in [
            ("*a* `b`", "<p><em>a</em> <code>b</code></p>\n"),
            (
                "<b onclick=x>a</b>",
                "<p>&lt;b onclick=x&gt;a&lt;/b&gt;</p>\n",
            ),
            ("![a](http://x/y.png)", "<p>a</p>\n"),
            ("[a](javascript:x)", "<p>a</p>\n"),
            ("[a](//x)", "<p>a</p>\n"),
            ("[a](agent://x)", "<p>a</p>\n"),
        ] {
            assert_eq!(Prose::new(text).to_string(), expected, "{text}");
        }
        let block = Prose::new("<script>\nalert(1)\n</script>").to_string();
        assert!(!block.contains("<script"), "{block}");
        let link = Prose::new("[a](https://x/\"y)").to_string();
        assert!(
            link.contains(r#"href="https://x/&quot;y" rel="noopener"#),
            "{link}"
        );
    }

    #[test]
    fn what_nests_deep_is_flattened_and_takes_no_longer() {
        for text in [
            ">".repeat(100_000),
            "*a ".repeat(30_000),
            "[".repeat(100_000),
        ] {
            let markup = Prose::new(&text).to_string();
            let depth = markup.matches("<blockquote>").count();
            assert!(depth <= DEEPEST, "{depth}");
        }
    }
}
