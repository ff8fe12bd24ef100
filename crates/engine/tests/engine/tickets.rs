//! Governed tickets after their pull request was opened, with real repositories and an
//! imitated forge.

mod activity;
mod broken;
mod clean_up;
mod drift;
mod hanging;
mod repositories;
pub(crate) mod site;
mod watches;
mod webhook;
