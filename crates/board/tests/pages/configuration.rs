use serde_json::json;

use crate::issues::hire;
use crate::support::{Board, Page, board_tests};

const CANARY: &str = "canary-value-of-a-variable";

/// What a browser would send of the form of a page: its fields with what stands in them.
fn fields_of(page: &Page) -> Vec<(String, String)> {
    let form = page
        .html
        .split("<form")
        .find(|it| it.contains(r#"name="revision""#));
    let mut fields: Vec<(String, Option<String>)> = Vec::new();
    for tag in form.unwrap().split('<').skip(1) {
        let attribute = |name: &str| {
            let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
            rest.split('"').next().map(str::to_owned)
        };
        if tag.starts_with("input") && !tag.contains("checkbox") {
            let value = attribute("value").unwrap_or_default();
            fields.push((attribute("name").unwrap(), Some(value)));
        } else if tag.starts_with("textarea") {
            let text = tag.split_once('>').unwrap().1;
            let text = text.strip_prefix('\n').unwrap_or(text);
            fields.push((attribute("name").unwrap(), Some(text.to_owned())));
        } else if tag.starts_with("select") {
            fields.push((attribute("name").unwrap(), None));
        } else if tag.starts_with("option") {
            let (_, chosen) = fields.last_mut().unwrap();
            // Without a choice the first one counts.
            if tag.contains(" selected") || chosen.is_none() {
                *chosen = attribute("value");
            }
        }
    }
    let sent = fields.into_iter();
    sent.map(|(name, value)| (name, value.unwrap_or_default()))
        .collect()
}

/// Sends the form of a page with other values in some of its fields.
fn send(board: &Board, path: &str, page: &Page, changed: &[(&str, &str)]) -> Page {
    let mut fields = fields_of(page);
    for (name, value) in changed {
        fields.retain(|(its, _)| its != name);
        fields.push(((*name).to_owned(), (*value).to_owned()));
    }
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    board.post(path, &fields)
}

board_tests! {
    fn an_agent_is_set_up_and_what_is_left_alone_stays(board) {
        let home = board.found("Acme");
        let id = hire(board, &home, "Ada");
        let path = format!("{home}/agents/ada/configuration");
        let before = board.told(&format!("/api/agents/{id}"));
        // Sent as it is shown, nothing changes.
        send(board, &path, &board.get(&path), &[]).leads_to();
        assert_eq!(board.told(&format!("/api/agents/{id}")), before);
        let changed = [
            ("title", "Painter"),
            ("budgetMonthlyCents", "12.50"),
            ("permissions/canCreateAgents", "true"),
            ("adapterConfig/args", "-x\r\ntwo words"),
            ("adapterConfig/timeoutSec", "90"),
            ("adapterConfig/shell", "true"),
            ("runtimeConfig/heartbeat/intervalSec", "300"),
            ("env/0/name", "MODE"),
            ("env/0/value", CANARY),
        ];
        send(board, &path, &board.get(&path), &changed).leads_to();
        let agent = board.told(&format!("/api/agents/{id}"));
        assert_eq!(agent["title"], "Painter");
        assert_eq!(agent["budgetMonthlyCents"], 1250);
        assert_eq!(agent["permissions"]["canCreateAgents"], true);
        assert_eq!(agent["runtimeConfig"]["heartbeat"]["intervalSec"], 300);
        assert_eq!(
            agent["adapterConfig"],
            json!({
                "command": "true", "args": ["-x", "two words"], "timeoutSec": 90, "shell": true,
                "env": { "MODE": { "type": "plain", "value": CANARY } },
            })
        );
        // An empty field is no longer said, and the value of the variable is kept.
        let changed = [("adapterConfig/timeoutSec", ""), ("adapterConfig/shell", "")];
        send(board, &path, &board.get(&path), &changed).leads_to();
        let config = board.told(&format!("/api/agents/{id}"))["adapterConfig"].clone();
        assert_eq!(
            config,
            json!({
                "command": "true", "args": ["-x", "two words"],
                "env": { "MODE": { "type": "plain", "value": CANARY } },
            })
        );
        for tab in ["configuration", "history", ""] {
            let page = board.get(&format!("{home}/agents/ada/{tab}"));
            assert!(!page.html.contains(CANARY), "{tab}: {}", page.html);
        }
        let history = board.get(&format!("{home}/agents/ada/history"));
        assert!(history.ok().contains("<del>$90.00</del>"), "{}", history.html);
        assert!(history.html.contains("<ins>$12.50</ins>"), "{}", history.html);
    }

    fn what_is_wrong_is_told_at_its_field_and_no_value_comes_back(board) {
        let home = board.found("Acme");
        hire(board, &home, "Ada");
        let path = format!("{home}/agents/ada/configuration");
        for (name, value) in [
            ("adapterConfig/timeoutSec", "soon"),
            ("adapterConfig/graceSec", "-1"),
            ("runtimeConfig/heartbeat/intervalSec", "5"),
            ("budgetMonthlyCents", "much"),
            ("name", ""),
            ("env/0/name", "NO NAME"),
        ] {
            let changed = [("env/0/name", "MODE"), ("env/0/value", CANARY), (name, value)];
            let refused = send(board, &path, &board.get(&path), &changed);
            assert!([400, 422].contains(&refused.status), "{name}: {}", refused.html);
            assert!(refused.html.contains(r#"aria-invalid="true""#), "{name}: {}", refused.html);
            assert!(!refused.html.contains(CANARY), "{name}");
            let shown = format!(r#"value="{value}""#);
            assert!(refused.html.contains(&shown), "{name}: {}", refused.html);
        }
        // A new variable needs its value, also after a page that did not show it again.
        let refused = send(board, &path, &board.get(&path), &[("env/0/name", "MODE")]);
        assert_eq!(refused.status, 422);
        assert!(refused.html.contains("type its value"), "{}", refused.html);
    }

    fn the_program_is_checked_without_being_saved(board) {
        let home = board.found("Acme");
        let id = hire(board, &home, "Ada");
        let before = board.told(&format!("/api/agents/{id}"));
        let path = format!("{home}/agents/ada/configuration");
        for (command, found) in [("missing", "could not run"), ("there", "It could run")] {
            let changed = [("deed", "check"), ("adapterConfig/command", command)];
            let page = send(board, &path, &board.get(&path), &changed);
            assert!(page.ok().contains(found), "{command}: {}", page.html);
            assert!(page.html.contains(&format!(r#"value="{command}""#)), "{}", page.html);
            assert!(page.html.contains("#adapterConfig/command"), "{}", page.html);
            // What it shows is not in the store.
            assert!(!page.html.contains(r#"id="main" data-region"#));
        }
        assert_eq!(board.told(&format!("/api/agents/{id}")), before);
        // The fields are those of the program that is chosen.
        let changed = [("deed", "adapter"), ("adapterType", "http"), ("title", "Painter")];
        let page = send(board, &path, &board.get(&path), &changed);
        assert!(page.ok().contains("adapterConfig/url"), "{}", page.html);
        assert!(page.html.contains(r#"value="Painter""#) && !page.html.contains("maxMemoryMb"));
        let new = format!("{home}/agents/new");
        let fields = [
            ("deed", "check"), ("name", "Bea"), ("adapterType", "process"),
            ("adapterConfig/command", "missing"),
        ];
        let page = board.send(&new, &new, &fields);
        assert!(page.ok().contains("could not run"), "{}", page.html);
        assert_eq!(board.get(&format!("{home}/agents/bea")).status, 404);
    }

    fn the_second_of_two_editors_sees_both_values(board) {
        let home = board.found("Acme");
        let id = hire(board, &home, "Ada");
        let path = format!("{home}/agents/ada/configuration");
        let (one, other) = (board.get(&path), board.get(&path));
        let theirs = [("title", "Theirs"), ("role", "designer")];
        send(board, &path, &one, &theirs).leads_to();
        let yours = [("title", "Yours"), ("capabilities", "Paints")];
        let page = send(board, &path, &other, &yours);
        assert_eq!(page.status, 412, "{}", page.html);
        for shown in ["What changed meanwhile", "Theirs", "Yours", "Paints", "Taken over"] {
            assert!(page.html.contains(shown), "{shown}: {}", page.html);
        }
        assert_eq!(board.told(&format!("/api/agents/{id}"))["title"], "Theirs");
        // Sent again it holds, and nothing of theirs is lost that was left alone.
        send(board, &path, &page, &[]).leads_to();
        let agent = board.told(&format!("/api/agents/{id}"));
        assert_eq!(agent["title"], "Yours");
        assert_eq!(agent["role"], "designer");
        assert_eq!(agent["capabilities"], "Paints");
    }

    fn a_revision_is_rolled_back_to_once_it_was_seen(board) {
        let home = board.found("Acme");
        let id = hire(board, &home, "Ada");
        let path = format!("{home}/agents/ada/configuration");
        let history = format!("{home}/agents/ada/history");
        send(board, &path, &board.get(&path), &[("title", "<i>Painter</i>")]).leads_to();
        let page = board.get(&history);
        assert!(page.ok().contains("<ins>&#60;i&#62;Painter&#60;/i&#62;</ins>"), "{}", page.html);
        let first = page.hidden("revisionId").to_owned();
        let seen = page.hidden("revision").to_owned();
        send(board, &path, &board.get(&path), &[("title", "Sculptor")]).leads_to();
        let back = |seen: &str| {
            board.send(&history, &history, &[("revisionId", &first), ("revision", seen)])
        };
        let refused = back(&seen);
        assert_eq!(refused.status, 412, "{}", refused.html);
        let now = board.get(&history).hidden("revision").to_owned();
        back(&now).leads_to();
        assert_eq!(board.told(&format!("/api/agents/{id}"))["title"], json!(null));
        assert!(board.get(&history).ok().contains("was rolled back"));
    }

    fn a_value_of_a_variable_becomes_a_secret(board) {
        let home = board.found("Acme");
        let id = hire(board, &home, "Ada");
        let path = format!("{home}/agents/ada/configuration");
        let changed = [("env/0/name", "A_TOKEN"), ("env/0/value", CANARY)];
        send(board, &path, &board.get(&path), &changed).leads_to();
        let fields = [("deed", "secret"), ("variable", "A_TOKEN"), ("name", "forge")];
        board.send(&path, &path, &fields).leads_to();
        let env = board.told(&format!("/api/agents/{id}"))["adapterConfig"]["env"].clone();
        assert_eq!(env["A_TOKEN"]["type"], "secret_ref", "{env}");
        let list = board.get(&format!("{home}/secrets"));
        assert!(list.ok().contains("forge"), "{}", list.html);
        let refused = board.send(&path, &path, &fields);
        assert_eq!(refused.status, 422, "{}", refused.html);
        // A variable is bound to a version, and removed.
        let secret = env["A_TOKEN"]["secretId"].as_str().unwrap();
        send(board, &path, &board.get(&path), &[("env/0/version", "1")]).leads_to();
        let env = board.told(&format!("/api/agents/{id}"))["adapterConfig"]["env"].clone();
        assert_eq!(env["A_TOKEN"]["version"], "1", "{env}");
        let page = board.get(&format!("{home}/secrets/{secret}"));
        assert!(page.ok().contains("version 1"), "{}", page.html);
        send(board, &path, &board.get(&path), &[("env/0/remove", "on")]).leads_to();
        let env = board.told(&format!("/api/agents/{id}"))["adapterConfig"]["env"].clone();
        assert_eq!(env, json!({}));
        for page in [path, format!("{home}/agents/ada/history")] {
            assert!(!board.get(&page).ok().contains(CANARY), "{page}");
        }
    }
}
