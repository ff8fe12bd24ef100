//! What a person keeps in hand: money, secrets, what agents are told, and the end of all work.

use super::site::Site;
use crate::harness::wait_for_pid;

const SECRET: &str = "correct-horse-battery-staple";

impl Site {
    /// An agent is stopped by its limit in the midst of a run, and goes on with a higher one.
    pub(super) fn stop_at_the_limit(&self) {
        let browser = &self.browser;
        let title = "Polish it, which costs a lot";
        browser.open("/c/ACM/costs");
        browser.choose_words("#whose", "Ada");
        browser.write("#budgetMonthlyCents", "0.50");
        browser.go("#limits .btn-go");
        // A command tells itself what it costs.
        let spend = match self.cast.claude {
            Some(_) => "",
            None => {
                r#"api POST "$company/cost-events" "{\"agentId\": \"$WORKFORCE_AGENT_ID\",
                \"provider\": \"none\", \"model\": \"large\", \"costCents\": 90}""#
            }
        };
        let begin = format!("api POST \"$issue/checkout\" '{{}}'; {spend}");
        self.cast
            .put("ada", title, "issue_assigned", &[&begin, "wait_for never"]);
        self.cast
            .put("ada", title, "budget_resumed", &["set_status done"]);
        let issue = self.make_issue(title, "Ada", None);
        browser.open("/c/ACM/agents/ada");
        self.begin_to_watch();
        self.until_in("main .why", "its budget is used up");
        self.end_to_watch();
        let why = browser.text("main .why");
        assert!(why.contains("of $0.50 are spent"), "{why}");
        browser.open("/c/ACM/inbox");
        let row = "#budget li";
        self.until_in(row, "Ada is stopped: its budget is used up");
        browser.write_anew(&format!("{row} input.in"), "50");
        browser.go(&format!("{row} .btn"));
        browser.until(&format!("!document.querySelector('{row}')"));
        browser.open(&issue);
        self.until_in("aside .facts", "Done");
    }

    /// A run is given a secret, whose value is on no page.
    pub(super) fn keep_a_secret(&self) {
        let browser = &self.browser;
        browser.open("/c/ACM/secrets");
        browser.write("#name", "paint shop");
        browser.write("#value", SECRET);
        browser.go("aside .btn-go");
        assert_eq!(browser.text("h1"), "paint shop");
        browser.open("/c/ACM/agents/bo/configuration");
        browser.write("[name='env/0/name']", "PAINT_SHOP");
        browser.choose("[name='env/0/kind']", "secret");
        browser.choose_words("[name='env/0/secret']", "paint shop");
        browser.go("main .form .btn-go");
        let given = [
            "api POST \"$issue/checkout\" '{}'",
            "printf %s \"$PAINT_SHOP\" > \"$mine/given\"; echo \"I was given $PAINT_SHOP.\"",
            "say \"I was given $PAINT_SHOP.\"; set_status done",
        ];
        let title = "Order the paint";
        self.cast.put("bo", title, "issue_assigned", &given);
        let issue = self.make_issue(title, "Bo", None);
        self.until_in("aside .facts", "Done");
        self.until_in(".thread .run-l", "Succeeded");
        let told = std::fs::read_to_string(self.cast.folder().join("bo/given")).unwrap();
        assert_eq!(told, SECRET);
        assert!(browser.text(".thread").contains("I was given"));
        browser.go(".thread .run-l");
        let run = browser.place();
        assert!(browser.text("#log").contains("I was given"));
        let raw = format!("{run}?view=raw");
        let pages = [
            &issue,
            &run,
            &raw,
            "/c/ACM/secrets",
            "/c/ACM/activity",
            "/c/ACM/agents/bo",
            "/c/ACM/agents/bo/configuration",
            "/c/ACM/agents/bo/history",
            "/c/ACM/search?q=given",
        ];
        for page in pages {
            browser.open(page);
            browser.until("document.querySelector('h1')");
            assert!(!browser.source().contains(SECRET), "{page}");
        }
        browser.open("/c/ACM/secrets");
        browser.go("main .tbl a.b");
        let shown = browser.text("main");
        assert!(shown.contains("PAINT_SHOP"), "{shown}");
        assert!(!browser.source().contains(SECRET), "{shown}");
    }

    /// What an agent is told is changed, and then as it was before.
    pub(super) fn roll_back(&self) {
        let browser = &self.browser;
        for title in ["Painter", "Plumber"] {
            browser.open("/c/ACM/agents/bo/configuration");
            browser.write_anew("#title", title);
            browser.go("main .form .btn-go");
            browser.open("/c/ACM/agents/bo/configuration");
            assert_eq!(
                browser.value("document.querySelector('#title').value"),
                title
            );
        }
        browser.go("main .tabs a[href$='/history']");
        let row = "main .form .card:nth-of-type(2) details";
        browser.click(&format!("{row} summary"));
        let told = browser.text(row);
        assert!(told.contains("Painter"), "{told}");
        browser.go(&format!("{row} .btn-bad"));
        browser.open("/c/ACM/agents/bo/configuration");
        assert_eq!(
            browser.value("document.querySelector('#title').value"),
            "Painter"
        );
    }

    /// All that is alive is ended, and the page counts it down.
    pub(super) fn stop_everything(&self) {
        let browser = &self.browser;
        let linger = ["trap '' TERM; echo $$ > \"$mine/pid\"; wait_for never"];
        for (who, name) in [("ada", "Ada"), ("bo", "Bo")] {
            let title = format!("Watch it dry, {name}");
            self.cast.put(who, &title, "issue_assigned", &linger);
            self.make_issue(&title, name, None);
        }
        for who in ["ada", "bo"] {
            wait_for_pid(&self.cast.folder().join(who).join("pid"));
        }
        assert!(self.cast.is_at_work());
        browser.open("/c/ACM");
        browser.go(".btn-stop");
        self.until_in("main [role=status]", "2 processes of agents are alive.");
        browser.go("main [value=stop]");
        self.begin_to_watch();
        self.until_in("main [role=status]", "No process of an agent is alive.");
        self.until_in("h1", "Everything is stopped");
        self.end_to_watch();
        assert!(!self.cast.is_at_work());
    }
}
