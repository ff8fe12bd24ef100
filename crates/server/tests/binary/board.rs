//! A person runs a company from a browser: the real server, a real Chromium, and agents that are a
//! real program and a command. Whatever a person does is done by forms of pages.

mod cast;
mod control;
mod kills;
mod setting_up;
mod site;
mod ticket;
mod work;

use crate::office::{Database, on_both};

use site::Site;

on_both! {
    fn a_company_is_run_from_a_browser(database) {
        run_a_company(database, true);
    }

    fn a_company_is_run_from_a_browser_without_any_script(database) {
        run_a_company(database, false);
    }

    fn a_company_is_shown_at_work(database) {
        let Some(site) = Site::open(database, true) else {
            return;
        };
        site.browser.open("/companies/new");
        site.browser.click("form[action='/companies/demo'] button");
        site.browser.until_at("/c/MOR");
        site.browser.until_told("Eli Engineer");
        site.browser.open("/c/MOR/issues/MOR-1");
        site.browser.until("document.querySelector('aside .facts').innerText.includes('Done')");
        site.browser.until_told("Reviewed: reads well. Done.");
    }
}

fn run_a_company(database: &Database, has_scripts: bool) {
    let Some(site) = Site::open(database, has_scripts) else {
        return;
    };
    site.found();
    site.hire();
    let project = site.begin_project();
    site.watch_work(&project);
    site.mention();
    let ticket = site.plan(&project);
    site.deliver(&ticket);
    site.stop_at_the_limit();
    site.keep_a_secret();
    site.roll_back();
    site.stop_everything();
}
