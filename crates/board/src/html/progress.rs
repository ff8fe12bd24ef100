//! How far issues have come.

use askama::Template;
use askama::filters::HtmlSafe;
use workforce_domain::dashboard::IssueTally;

/// How many of the issues are done, with a bar. Those that were cancelled do not count.
#[derive(Template)]
#[template(
    source = r#"{% if all == 0 %}<span class="dim">no issues</span>{% else %}<span class="money">{{ done }}<small> of {{ all }} done</small></span><svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="{{ percent }} % done"><rect class="t" width="100" height="6"/><rect class="f" width="{{ percent }}" height="6"/></svg>{% endif %}"#,
    ext = "html"
)]
pub(crate) struct Progress {
    done: i64,
    all: i64,
    percent: i64,
}

impl HtmlSafe for Progress {}

impl Progress {
    pub(crate) fn of(tally: IssueTally) -> Self {
        let all = tally.open + tally.done;
        let percent = (tally.done * 100).checked_div(all);
        Self {
            done: tally.done,
            all,
            percent: percent.unwrap_or_default(),
        }
    }
}
