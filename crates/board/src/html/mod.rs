//! Parts of pages, each of which is markup by construction.

pub(crate) mod action;
pub(crate) mod approval;
pub(crate) mod change;
pub(crate) mod changes;
pub(crate) mod chart;
pub(crate) mod deed;
pub(crate) mod diff;
pub(crate) mod icon;
pub(crate) mod lane;
mod log_lines;
pub(crate) mod markdown;
pub(crate) mod meter;
pub(crate) mod money;
pub(crate) mod need;
pub(crate) mod output;
pub(crate) mod people;
pub(crate) mod progress;
pub(crate) mod size;
pub(crate) mod status;
pub(crate) mod steps;
pub(crate) mod transcript;
pub(crate) mod when;

/// Filters of the templates.
#[expect(unreachable_pub, reason = "the macro makes them so")]
pub(crate) mod filters {
    use askama::Values;

    use super::icon::Icon;

    /// The icon of this name.
    #[askama::filter_fn]
    pub(crate) fn icon(name: &str, _: &dyn Values) -> askama::Result<Icon> {
        Ok(Icon::named(name, false))
    }

    /// The same, smaller.
    #[askama::filter_fn]
    pub(crate) fn small_icon(name: &str, _: &dyn Values) -> askama::Result<Icon> {
        Ok(Icon::named(name, true))
    }
}
