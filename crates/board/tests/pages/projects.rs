use serde_json::Value;

use crate::issues::hire;
use crate::support::{Board, board_tests};

/// Makes a project, and tells where its page is.
fn make(board: &Board, home: &str, fields: &[(&str, &str)]) -> String {
    let new = format!("{home}/projects/new");
    board.send(&new, &new, fields).leads_to().to_owned()
}

fn id(page: &str) -> &str {
    page.rsplit('/').next().unwrap()
}

board_tests! {
    fn an_issue_is_made_in_its_project(board) {
        let home = board.found("Acme");
        let new = format!("{home}/issues/new");
        assert!(!board.get(&new).ok().contains("projectId"));
        let project = make(board, &home, &[("name", "Shop")]);
        let fields = [("title", ""), ("projectId", id(&project))];
        let refused = board.send(&new, &new, &fields);
        let chosen = format!(r#"<option value="{}" selected>Shop</option>"#, id(&project));
        assert!(refused.html.contains(&chosen), "{}", refused.html);
        board.send(&new, &new, &[("title", "Paint it"), ("projectId", id(&project))]).leads_to();
        assert_eq!(board.told("/api/issues/ACM-1")["projectId"], id(&project));
    }

    fn a_project_is_made_with_its_first_workspace_changed_and_deleted(board) {
        let home = board.found("Acme");
        let ada = hire(board, &home, "Ada");
        let new = format!("{home}/projects/new");
        let typed = [("name", "Shop <1>"), ("workspace/repoUrl", "https://u:secret@forge.example/a")];
        let refused = board.send(&new, &new, &typed);
        assert_eq!(refused.status, 422, "{}", refused.html);
        assert!(refused.html.contains("leave the password out"), "{}", refused.html);
        assert!(refused.html.contains(r#"value="Shop &#60;1&#62;""#));
        let project = make(board, &home, &[
            ("name", "Shop <1>"),
            ("leadAgentId", &ada),
            ("workspace/cwd", "/srv/shop"),
            ("workspace/defaultBaseBranch", "main"),
        ]);
        let told = board.told(&format!("/api/projects/{}", id(&project)));
        assert_eq!(told["workspaces"][0]["cwd"], "/srv/shop");
        let list = board.get(&format!("{home}/projects"));
        assert!(list.ok().contains("Shop &#60;1&#62;"), "{}", list.html);
        assert!(list.html.contains(&format!("{home}/issues?project={}", id(&project))));
        let changed = [
            ("name", "Shop"),
            ("status", "in_progress"),
            ("targetDate", "2026-12-24"),
            ("budgetMonthlyCents", "12.50"),
            ("governance", "required"),
            ("reviewRequired", "on"),
        ];
        assert_eq!(board.send(&project, &project, &changed).leads_to(), project);
        let told = board.told(&format!("/api/projects/{}", id(&project)));
        for (field, value) in [
            ("status", Value::from("in_progress")),
            ("targetDate", "2026-12-24".into()),
            ("budgetMonthlyCents", 1250.into()),
            ("governance", "required".into()),
            ("reviewRequired", true.into()),
            ("leadAgentId", Value::Null),
        ] {
            assert_eq!(told[field], value, "{field}");
        }
        let refused = board.send(&project, &project, &[("name", "Shop"), ("targetDate", "soon")]);
        assert_eq!(refused.status, 400);
        assert!(refused.html.contains(r#"value="soon""#), "{}", refused.html);
        let gone = board.send(&project, &format!("{project}/delete"), &[]);
        assert_eq!(gone.leads_to(), format!("{home}/projects"));
        assert_eq!(board.get(&project).status, 404);
    }

    fn workspaces_are_added_changed_made_primary_and_removed(board) {
        let home = board.found("Acme");
        let project = make(board, &home, &[("name", "Shop"), ("workspace/cwd", "/srv/shop")]);
        let page = format!("{project}/workspaces");
        let refused = board.send(&page, &page, &[("name", "Nowhere")]);
        assert_eq!(refused.status, 422);
        assert!(refused.html.contains("at least one of cwd and repoUrl"), "{}", refused.html);
        let added = [("repoUrl", "https://forge.example/acme/shop.git")];
        assert_eq!(board.send(&page, &page, &added).leads_to(), page);
        let path = format!("/api/projects/{}/workspaces", id(&project));
        let told = board.told(&path);
        let second = format!("{page}/{}", told[1]["id"].as_str().unwrap());
        board.send(&page, &second, &[("deed", "primary")]).leads_to();
        let told = board.told(&path);
        assert_eq!(told[0]["repoUrl"], "https://forge.example/acme/shop.git");
        assert_eq!(told[0]["isPrimary"], true);
        let changed = [("name", "Site"), ("repoUrl", "https://elsewhere.example/shop.git")];
        board.send(&page, &second, &changed).leads_to();
        assert_eq!(board.told(&path)[0]["name"], "Site");
        let emptied = board.send(&page, &second, &[("name", "Site")]);
        assert_eq!(emptied.status, 422);
        let tried = board.send(&page, &format!("{second}/adopt"), &[("deed", "try")]);
        assert!(tried.ok().contains("No open ticket has another address."), "{}", tried.html);
        board.send(&page, &second, &[("deed", "remove")]).leads_to();
        assert_eq!(board.told(&path).as_array().unwrap().len(), 1);
    }

    fn conventions_are_written_and_have_a_short_form_that_goes_stale(board) {
        let home = board.found("Acme");
        let project = make(board, &home, &[("name", "Shop")]);
        let page = format!("{project}/conventions");
        let written = [("backstory", "A shop."), ("conventionsMd", "# Rules\r\n- Never <b>push</b>.")];
        assert_eq!(board.send(&page, &page, &written).leads_to(), page);
        let path = format!("/api/projects/{}/conventions", id(&project));
        assert_eq!(board.told(&path)["conventionsMd"], "# Rules\n- Never <b>push</b>.");
        let refused = board.send(&page, &page, &[("deed", "compact"), ("maxChars", "12")]);
        assert_eq!(refused.status, 422);
        assert!(refused.html.contains("from 400 to 8000"), "{}", refused.html);
        assert!(refused.html.contains("# Rules"), "{}", refused.html);
        board.send(&page, &page, &[("deed", "compact"), ("maxChars", "500")]).leads_to();
        assert_eq!(board.told(&path)["compactSource"], "generated");
        assert!(!board.get(&page).ok().contains("Stale"));
        board.send(&page, &page, &[("backstory", "Another."), ("conventionsMd", "- None.")]);
        let stale = board.get(&page);
        assert!(stale.ok().contains("Stale"), "{}", stale.html);
        assert!(!stale.html.contains("<b>push"));
        board.send(&page, &page, &[("deed", "shorten"), ("compactContext", "Be kind.")]);
        assert_eq!(board.told(&path)["compactContext"], "Be kind.");
        assert_eq!(board.told(&path)["compactSource"], "manual");
    }

    fn a_project_of_another_company_is_not_there(board) {
        let home = board.found("Acme");
        let project = make(board, &home, &[("name", "Shop")]);
        let other = board.found("Other");
        let path = format!("{other}/projects/{}", id(&project));
        for path in [path.clone(), format!("{path}/workspaces"), format!("{path}/conventions")] {
            assert_eq!(board.get(&path).status, 404, "{path}");
            assert_eq!(board.post(&path, &[("name", "Mine")]).status, 404, "{path}");
        }
        let told = board.told(&format!("/api/projects/{}", id(&project)));
        assert_eq!(told["name"], "Shop");
    }
}
