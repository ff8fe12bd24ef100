use crate::support::{Page, board_tests};

/// The address in a page that begins so.
fn address<'a>(page: &'a Page, begin: &str) -> &'a str {
    let (before, rest) = page.html.split_once(begin).unwrap();
    let start = before.len();
    let end = start + begin.len() + rest.find('"').unwrap();
    &page.html[start..end]
}

board_tests! {
    fn the_fields_of_a_company_are_changed(board) {
        let home = board.found("Acme");
        let settings = format!("{home}/settings");
        let changed = [
            ("name", "Acme & Sons"),
            ("description", "Makes <things>."),
            ("budgetMonthlyCents", "600"),
            ("budgetBasis", "estimated"),
            ("attachmentMaxBytes", "3"),
            ("locale", "en"),
            ("brandColor", "#0a6354"),
            ("reviewRequired", "on"),
        ];
        assert_eq!(board.send(&settings, &settings, &changed).leads_to(), settings);
        let told = &board.told("/api/companies")[0];
        assert_eq!(told["name"], "Acme & Sons");
        assert_eq!(told["budgetMonthlyCents"], 60_000);
        assert_eq!(told["budgetBasis"], "estimated");
        assert_eq!(told["attachmentMaxBytes"], 3 * 1024 * 1024);
        assert_eq!(told["reviewRequired"], true);
        assert_eq!(told["requireBoardApprovalForNewAgents"], false);
        let page = board.get(&settings);
        assert!(page.ok().contains("Makes &#60;things&#62;."), "{}", page.html);
        let refused = board.send(&settings, &settings, &[("name", "Acme"), ("attachmentMaxBytes", "big")]);
        assert_eq!(refused.status, 422);
        assert!(refused.html.contains("whole number of MiB"), "{}", refused.html);
        assert!(refused.html.contains(r#"value="big""#));
        // What was left empty is emptied.
        board.send(&settings, &settings, &[("name", "Acme")]).leads_to();
        let told = &board.told("/api/companies")[0];
        assert_eq!(told["attachmentMaxBytes"], serde_json::Value::Null);
        assert_eq!(told["budgetMonthlyCents"], 0);
    }

    fn labels_are_made_changed_and_deleted(board) {
        let home = board.found("Acme");
        let settings = format!("{home}/settings");
        let labels = format!("{settings}/labels");
        let made = [("name", "bug <1>"), ("color", "#ff0000")];
        board.send(&settings, &labels, &made).leads_to();
        let taken = board.send(&settings, &labels, &made);
        assert_eq!(taken.status, 409, "{}", taken.html);
        let page = board.get(&settings);
        assert!(page.ok().contains("bug &#60;1&#62;"), "{}", page.html);
        let label = address(&page, &format!("{labels}/")).to_owned();
        let changed = [("name", "Bug"), ("color", "#00ff00")];
        board.send(&settings, &label, &changed).leads_to();
        let path = format!("/api/companies/{}/labels", board.company());
        let told = board.told(&path);
        assert_eq!((&told[0]["name"], &told[0]["color"]), (&"Bug".into(), &"#00ff00".into()));
        let refused = board.send(&settings, &label, &[("name", ""), ("color", "red")]);
        assert_eq!(refused.status, 400);
        // A label of another company is not there.
        let other = format!("{}/settings", board.found("Other"));
        let theirs = label.replace(&settings, &other);
        assert_eq!(board.send(&other, &theirs, &[("deed", "delete")]).status, 404);
        board.send(&settings, &label, &[("deed", "delete")]).leads_to();
        assert_eq!(board.told(&path).as_array().unwrap().len(), 0);
    }

    fn a_company_is_paused_archived_and_deleted_by_its_name(board) {
        let home = board.found("Acme");
        let settings = format!("{home}/settings");
        let state = format!("{settings}/state");
        let path = format!("/api/companies/{}", board.company());
        for (deed, status) in [
            ("pause", "paused"),
            ("resume", "active"),
            ("archive", "archived"),
            ("unarchive", "active"),
        ] {
            assert_eq!(board.send(&settings, &state, &[("deed", deed)]).leads_to(), settings);
            assert_eq!(board.told(&path)["status"], status, "{deed}");
        }
        let deletion = [("deed", "delete"), ("typed", "Acme")];
        assert_eq!(board.send(&settings, &state, &deletion).status, 409);
        board.send(&settings, &state, &[("deed", "archive")]).leads_to();
        let wrong = board.send(&settings, &state, &[("deed", "delete"), ("typed", "acme")]);
        assert_eq!(wrong.status, 422);
        assert!(wrong.html.contains("must be the name of the company"), "{}", wrong.html);
        assert_eq!(board.send(&settings, &state, &deletion).leads_to(), "/");
        assert_eq!(board.get(&settings).status, 404);
    }
}
