use serde_json::json;
use workforce_domain::port::LogStream::{Stderr, Stdout, System};

use crate::support::{Board, board_tests};

/// Asks for a run of a new agent with this program; its id.
fn run_of(board: &Board, name: &str, adapter: &str) -> String {
    let company = board.told("/api/companies")[0]["id"].clone();
    let agents = format!("/api/companies/{}/agents", company.as_str().unwrap());
    let config = match adapter {
        "process" => json!({ "command": "true" }),
        _ => json!({}),
    };
    let body = json!({ "name": name, "role": "engineer", "adapterType": adapter,
        "adapterConfig": config });
    let agent = board.call(&agents, &body);
    let invoke = format!(
        "/api/agents/{}/heartbeat/invoke",
        agent["id"].as_str().unwrap()
    );
    let run = board.call(&invoke, &json!({}));
    let run = run.get("run").unwrap_or(&run);
    run["id"].as_str().unwrap().to_owned()
}

fn recorded(program: &str, case: &str) -> String {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../agent-programs/tests/recorded"
    );
    std::fs::read_to_string(format!("{folder}/{program}/{case}.jsonl")).unwrap()
}

board_tests! {
    fn the_output_of_each_program_can_be_read(board) {
        let home = board.found("Acme");
        for (program, adapter, tool) in [
            ("claude", "claude_local", "Bash"),
            ("codex", "codex_local", "exec_command"),
            ("gemini", "gemini_local", "run_shell_command"),
            ("opencode", "opencode_local", "bash"),
            ("pi", "pi_local", "bash"),
        ] {
            let run = run_of(board, program, adapter);
            board.logs.write(&run, System, "You are an agent.\n");
            board.logs.write(&run, Stdout, &recorded(program, "full"));
            board.logs.write(&run, Stdout, "{\"type\":\"from_tomorrow\"}\n");
            board.logs.write(&run, Stderr, "a warning\n");
            let page = board.get(&format!("{home}/runs/{run}"));
            for shown in [
                "I will report.",
                &format!(r#"<span class="tool">{tool}</span>"#),
                "curl -sS -X POST",
                r#"{"ok": true}"#,
                r#"{"type":"from_tomorrow"}"#,
                "You are an agent.",
                "a warning",
                " in, ",
            ] {
                assert!(page.ok().contains(shown), "{program}: {shown}: {}", page.html);
            }
        }
    }

    fn hostile_output_is_text(board) {
        let home = board.found("Acme");
        let run = run_of(board, "Ada", "claude_local");
        let hostile = "</pre></li><script>alert(1)</script><img src=x onerror=alert(2)>";
        board.logs.write(&run, Stdout, &format!("\u{1b}[31m{hostile}\u{1b}[0m\n"));
        let line = json!({ "type": "assistant", "message": { "content": [
            { "type": "text", "text": hostile },
            { "type": "tool_use", "id": "1", "name": hostile, "input": { "command": hostile } },
        ] } });
        board.logs.write(&run, Stdout, &format!("{line}\n"));
        board.logs.write(&run, Stdout, &format!("{}\n", "<".repeat(1_000_000)));
        for query in ["", "?view=raw", "?before=900", "?view=raw&before=900", "?before=x"] {
            let page = board.get(&format!("{home}/runs/{run}{query}"));
            for markup in ["<script>alert", "<img", "</pre></li>", "\u{1b}"] {
                assert!(!page.ok().contains(markup), "{query}: {markup}");
            }
            assert!(page.html.len() < 100_000, "{query}: {}", page.html.len());
        }
        let page = board.get(&format!("{home}/runs/{run}?before=900"));
        assert!(page.ok().contains("&lt;script&gt;alert(1)"), "{}", page.html);
    }

    fn a_long_log_comes_in_pieces(board) {
        let home = board.found("Acme");
        let run = run_of(board, "Ada", "process");
        let lines: String = (0..40_000).map(|number| format!("line {number}\n")).collect();
        board.logs.write(&run, Stdout, &lines);
        let path = format!("{home}/runs/{run}");
        for view in ["", "?view=raw"] {
            let (mut address, mut pages, mut seen) = (format!("{path}{view}"), 0, 40_000);
            while seen > 36_000 {
                let page = board.get(&address);
                assert!(page.ok().len() < 100_000, "{address}");
                let last = format!("line {}\n", seen - 1);
                let row = format!("<p>line {}</p>", seen - 1);
                assert!(page.html.contains(&last) || page.html.contains(&row), "{address}");
                let numbers = page.html.split("line ").skip(1).filter_map(|rest| {
                    rest.split(['\n', '<']).next()?.parse::<usize>().ok()
                });
                let first = numbers.min().unwrap();
                assert!(first < seen && seen - first <= 5000, "{address}: {first}");
                let (_, rest) = page.html.split_once(r#"href=""#).unwrap();
                let links = rest.split(r#"href=""#).filter_map(|it| it.split('"').next());
                let mut earlier = links.filter(|link| link.contains("before="));
                address = earlier.next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
                (seen, pages) = (first, pages + 1);
            }
            assert!(pages > 0);
        }
        let whole = board.get(&format!("{path}/log"));
        assert_eq!(whole.ok(), lines);
        assert!(whole.header("content-type").starts_with("text/plain"));
        assert!(whole.header("content-disposition").starts_with("attachment"));
    }

    fn a_run_is_stopped_and_asked_for_again(board) {
        let home = board.found("Acme");
        let run = run_of(board, "Ada", "process");
        let page = format!("{home}/runs/{run}");
        assert!(board.get(&page).ok().contains("Ada is to start"));
        assert_eq!(board.send(&page, &page, &[("deed", "stop")]).leads_to(), page);
        let shown = board.get(&page);
        assert!(shown.ok().contains("Ada was stopped"), "{}", shown.html);
        let again = board.send(&page, &page, &[("deed", "again")]).leads_to().to_owned();
        assert_ne!(again, page);
        assert!(board.get(&again).ok().contains("Ada is to start"));
        // What has ended is not stopped once more.
        let refused = board.send(&page, &page, &[("deed", "stop")]);
        assert_eq!(refused.status, 409);
        assert!(refused.html.contains("run_not_live"), "{}", refused.html);
    }

    fn the_runs_are_narrowed_down_in_the_address(board) {
        let home = board.found("Acme");
        let runs = [run_of(board, "Ada", "process"), run_of(board, "Bo", "process")];
        let stopped = format!("{home}/runs/{}", runs[0]);
        board.send(&stopped, &stopped, &[("deed", "stop")]).leads_to();
        let shown = |query: &str| {
            let page = board.get(&format!("{home}/runs{query}"));
            runs.each_ref().map(|run| page.ok().contains(run.as_str()))
        };
        assert_eq!(shown(""), [true, true]);
        assert_eq!(shown("?agent=bo"), [false, true]);
        assert_eq!(shown("?status=cancelled"), [true, false]);
        assert_eq!(shown("?agent=bo&status=cancelled"), [false, false]);
        assert_eq!(board.get(&format!("{home}/runs?issue=ACM-9")).status, 404);
    }

    fn the_run_of_another_company_is_not_there(board) {
        let home = board.found("Acme");
        let run = run_of(board, "Ada", "process");
        let other = board.found("Other");
        for path in ["", "/log"] {
            assert_eq!(board.get(&format!("{other}/runs/{run}{path}")).status, 404);
            assert_eq!(board.get(&format!("{home}/runs/{run}{path}")).status, 200);
        }
        assert_eq!(board.post(&format!("{other}/runs/{run}"), &[("deed", "stop")]).status, 404);
    }
}
