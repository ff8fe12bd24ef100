//! How a person wants pages to look, kept in a cookie so that they come right at once.

use actix_web::HttpResponse;
use workforce_http::door::{Access, Pages, Visit};

use crate::answer;
use crate::form::Form;

const COOKIE: &str = "board_look";
/// Whether keys of one letter do something (WCAG 2.1.4).
const KEYS_COOKIE: &str = "board_keys";
const OFF: &str = "off";
/// A year.
const KEPT_SECONDS: u32 = 365 * 24 * 60 * 60;

/// The themes that can be chosen, and what comes after each; none is as the system says.
const THEMES: [(&str, &str); 3] = [("", "light"), ("light", "dark"), ("dark", "")];

/// How pages look.
#[derive(Clone, Copy, Default)]
pub(crate) struct Look {
    /// `light` or `dark`; empty for what the system says.
    pub(crate) theme: &'static str,
    /// Whether keys of one letter do nothing.
    pub(crate) has_no_keys: bool,
}

impl Look {
    pub(crate) fn of(visit: &Visit) -> Self {
        let wanted = visit.cookie(COOKIE).unwrap_or_default();
        let theme = THEMES.iter().map(|(theme, _)| *theme);
        Self {
            theme: theme.into_iter().find(|it| *it == wanted).unwrap_or(""),
            has_no_keys: visit.cookie(KEYS_COOKIE) == Some(OFF),
        }
    }

    /// The theme that the button of the header leads to.
    pub(crate) fn next_theme(self) -> &'static str {
        let next = THEMES.iter().find(|(theme, _)| *theme == self.theme);
        next.map_or("", |(_, next)| next)
    }

    /// The themes that can be chosen, each with what it says and whether it is the present one.
    pub(crate) fn choices(self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        let words = ["As the system says", "Light", "Dark"];
        let choices = THEMES.iter().zip(words);
        choices.map(move |((theme, _), word)| (*theme, word, *theme == self.theme))
    }

    /// The present theme in words.
    pub(crate) fn theme_in_words(self) -> &'static str {
        match self.theme {
            "" => "as the system says",
            theme => theme,
        }
    }
}

pub(crate) fn register(pages: Pages) -> Pages {
    pages.post("/look", Access::Public, choose)
}

/// Keeps another look, and leads back.
async fn choose(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let wanted = form.text("theme");
    let known = THEMES.iter().find(|(theme, _)| *theme == wanted);
    let theme = known.map_or("", |(theme, _)| theme);
    let led = answer::lead_to(own_path(form.text("back")));
    let led = answer::with_cookie(led, &kept(COOKIE, theme));
    // The button of the header says nothing about keys.
    match form.text("keys") {
        "" => led,
        keys => answer::with_cookie(
            led,
            &kept(KEYS_COOKIE, if keys == OFF { OFF } else { "on" }),
        ),
    }
}

fn kept(cookie: &str, value: &str) -> String {
    format!("{cookie}={value}; Path=/; Max-Age={KEPT_SECONDS}; SameSite=Lax; HttpOnly")
}

/// A path of this server; the first page for everything else.
pub(crate) fn own_path(path: &str) -> &str {
    let is_own = path.starts_with('/')
        && !path.starts_with("//")
        && path.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    if is_own { path } else { "/" }
}
