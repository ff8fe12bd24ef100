//! A ticket from its plan to its push.

use super::site::Site;
use crate::tickets::repositories::git;

const TITLE: &str = "Paint the door";

impl Site {
    /// The agent proposes how to work, and the board agrees; where the issue's page is.
    pub(super) fn plan(&self, project: &str) -> String {
        self.cast.put(
            "ada",
            TITLE,
            "issue_assigned",
            &[
                "api POST \"$issue/checkout\" '{}'",
                r#"api POST "$company/approvals" "{\"type\": \"approve_issue_plan\", \"payload\": {
                    \"issueId\": \"$WORKFORCE_TASK_ID\", \"workspace\": {},
                    \"plan\": \"1. Sand it\\n2. Paint it **blue**\" }}""#,
            ],
        );
        self.cast.put(
            "ada",
            TITLE,
            "approval_approved",
            &[
                "wait_for paint; echo blue > door.txt; git add door.txt",
                "git -c user.name=Ada -c user.email=ada@acme.example commit -q -m 'Paint it blue'",
                "set_status done",
            ],
        );
        let browser = &self.browser;
        let issue = self.make_issue(TITLE, "Ada", Some(project));
        browser.open("/c/ACM/approvals");
        self.begin_to_watch();
        self.until_in("main .lines", "Plan: ACM-2 Paint the door");
        self.end_to_watch();
        browser.go("main .lines a");
        let asked = browser.text("main");
        assert!(asked.contains("Paint it blue"), "{asked}");
        assert!(asked.contains("feature/ACM-2"), "{asked}");
        assert!(asked.contains("Ready"), "{asked}");
        browser.write("#decisionNote", "Dark blue, please.");
        browser.go("[value=approve]");
        browser.until("document.querySelector('aside .facts').innerText.includes('Approved')");
        browser.open(&issue);
        let shown = browser.text("main");
        assert!(shown.contains("Worktree"), "{shown}");
        assert!(shown.contains("feature/ACM-2"), "{shown}");
        assert!(shown.contains("workforce made a worktree"), "{shown}");
        assert!(!shown.contains("gone"), "{shown}");
        issue
    }

    /// The work is done, looked at, and pushed.
    pub(super) fn deliver(&self, issue: &str) {
        let browser = &self.browser;
        self.begin_to_watch();
        self.cast.let_go("paint");
        self.until_in("aside .facts", "In review");
        self.until_in("main .card", "Waits for you");
        self.end_to_watch();
        let pushed = || git(&self.remote, &["branch", "--list", "feature/*"]);
        assert_eq!(pushed(), "");
        browser.go("main .card .lines a[href*='/approvals/']");
        self.until_in(".pr .diff", "blue");
        let shown = browser.text("main");
        assert!(shown.contains("door.txt"), "{shown}");
        // In words, and not as agents read it.
        assert!(!shown.contains("changedFiles"), "{shown}");
        browser.go("[value=approve]");
        browser.until("document.querySelector('aside .facts').innerText.includes('Approved')");
        assert_eq!(
            git(&self.remote, &["show", "feature/ACM-2:door.txt"]),
            "blue"
        );
        let commits = git(&self.remote, &["log", "--format=%an: %s", "feature/ACM-2"]);
        assert!(commits.contains("Ada: Paint it blue"), "{commits}");
        browser.open(issue);
        self.until_in("aside .facts", "Done");
    }
}
