//! Work that a person looks at.

use super::site::Site;

impl Site {
    /// An issue is made, and worked on while its page is open; then its run is read.
    pub(super) fn watch_work(&self, project: &str) {
        let title = "Look at the door";
        self.cast.put(
            "ada",
            title,
            "issue_assigned",
            &[
                "echo 'I open the box.'; api POST \"$issue/checkout\" '{}'",
                "wait_for look; say 'It is **grey**.'",
                "wait_for finish; set_status done; echo 'I close the box.'",
            ],
        );
        let browser = &self.browser;
        let issue = self.make_issue(title, "Ada", Some(project));
        self.begin_to_watch();
        self.until_in(".thread .run-l", "Running");
        self.until_in("aside .facts", "In progress");
        self.cast.let_go("look");
        self.until_in(".thread .say", "It is grey.");
        self.cast.let_go("finish");
        self.until_in("aside .facts", "Done");
        self.until_in(".thread .run-l", "Succeeded");
        browser.until_it_happens("!document.querySelector('main [value=stop]')");
        self.end_to_watch();
        assert_eq!(browser.place(), issue);
        browser.go(".thread .run-l");
        browser.until("document.querySelector('#log')");
        browser.unfold("#log");
        let read = browser.text("main");
        assert!(read.contains("I close the box."), "{read}");
        assert!(read.contains("woken by the assignment"), "{read}");
    }

    /// Who is mentioned in a comment is woken, and answers.
    pub(super) fn mention(&self) {
        let browser = &self.browser;
        let answer = ["say 'Two coats.'"];
        self.cast
            .put("bo", "Look at the door", "issue_comment_mentioned", &answer);
        browser.open("/c/ACM/issues/ACM-1");
        browser.write("#body", "@Bo, how many coats?");
        browser.go("form[action$='/comments'] [type=submit]");
        browser.until_at("/c/ACM/issues/ACM-1");
        self.begin_to_watch();
        self.until_in(".thread .say", "Two coats.");
        self.until_in(".thread .run-l", "woken by a mention");
        self.end_to_watch();
    }
}
