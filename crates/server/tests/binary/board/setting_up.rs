//! A company, its agents and its first project.

use serde_json::json;
use workforce_model_imitation::Program;

use super::site::Site;
use crate::tickets::repositories::file_url;

impl Site {
    /// Whoever opens an empty server is led to the form that founds a company.
    pub(super) fn found(&self) {
        let browser = &self.browser;
        browser.open("/");
        browser.until_at("/companies/new");
        browser.write("#name", "Acme Robotics");
        browser.go("main .btn-go");
        browser.until_at("/c/ACM");
    }

    /// Ada is a real program, or a command where that is not installed; Bo is a command.
    pub(super) fn hire(&self) {
        match &self.cast.claude {
            Some(_) => self.hire_claude(),
            None => self.hire_command("Ada"),
        }
        self.hire_command("Bo");
    }

    fn hire_claude(&self) {
        let browser = &self.browser;
        self.begin_to_hire("Ada", "claude_local");
        browser.write("[name='adapterConfig/model']", "claude-sonnet-4-5");
        let mut variables = self.cast.imitation.environment_for(Program::Claude);
        variables.truncate(2);
        variables.push(("IS_SANDBOX".to_owned(), "1".to_owned()));
        for (row, (name, _)) in variables.iter().enumerate() {
            browser.write(&format!("[name='env/{row}/name']"), name);
        }
        let write_values = || {
            for (row, (_, value)) in variables.iter().enumerate() {
                browser.write(&format!("[name='env/{row}/value']"), value);
            }
        };
        write_values();
        self.check();
        // They are not kept on a page.
        write_values();
        self.end_to_hire("Ada");
    }

    fn hire_command(&self, name: &str) {
        let browser = &self.browser;
        self.begin_to_hire(name, "process");
        let command = self.cast.command(&name.to_lowercase());
        browser.write("[name='adapterConfig/command']", &command);
        browser.choose("[name='adapterConfig/shell']", "true");
        self.check();
        self.end_to_hire(name);
    }

    fn begin_to_hire(&self, name: &str, adapter: &str) {
        let browser = &self.browser;
        browser.open("/c/ACM/agents/new");
        browser.write("#name", name);
        browser.write("#role", "engineer");
        browser.choose("#adapterType", adapter);
        browser.go("main [value=adapter]");
        browser.until(&format!(
            "document.querySelector('#adapterType').value === {}",
            json!(adapter)
        ));
        // Some do not stop when they are asked to.
        browser.write("[name='adapterConfig/graceSec']", "0.5");
    }

    /// Has the program looked at before somebody is hired to it.
    fn check(&self) {
        let browser = &self.browser;
        browser.go("main .form .row [value=check]");
        let found = browser.text(".form [role=status]");
        assert!(found.starts_with("It could run like this"), "{found}");
    }

    fn end_to_hire(&self, name: &str) {
        let browser = &self.browser;
        browser.go("main .form .row [value=hire]");
        browser.until_at("/c/ACM/agents");
        assert!(browser.text("main").contains(name));
    }

    /// Makes a project with the address of its repository; its name.
    pub(super) fn begin_project(&self) -> String {
        let browser = &self.browser;
        browser.open("/c/ACM/projects");
        browser.go("main .head .btn-go");
        browser.write("#name", "House");
        browser.write("[name='workspace/repoUrl']", &file_url(&self.remote));
        browser.go("main .btn-go");
        browser.until("document.querySelector('h1').textContent === 'House'");
        "House".to_owned()
    }
}
