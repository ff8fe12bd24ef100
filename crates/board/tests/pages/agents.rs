use serde_json::json;

use crate::issues::hire;
use crate::support::board_tests;

board_tests! {
    fn an_agent_is_woken_stopped_paused_and_resumed(board) {
        let home = board.found("Acme");
        hire(board, &home, "Ada");
        let ada = format!("{home}/agents/ada");
        assert!(board.get(&format!("{home}/agents")).ok().contains(&format!(r#"href="{ada}""#)));
        assert!(board.get(&ada).ok().contains("It did not run yet."));
        assert_eq!(board.send(&ada, &ada, &[("deed", "wake")]).leads_to(), ada);
        let page = board.get(&ada);
        assert!(page.ok().contains("woken by hand"), "{}", page.html);
        let runs = format!("{home}/runs");
        let list = board.get(&runs);
        let (_, rest) = list.ok().split_once(&format!("{runs}/")).unwrap();
        let run = format!("{runs}/{}", rest.split('"').next().unwrap());
        assert!(board.get(&run).ok().contains("Ada is to start"));
        assert_eq!(board.send(&run, &run, &[]).leads_to(), run);
        assert!(board.get(&run).ok().contains("Ada was stopped"));
        for (deed, shown) in [("pause", "Paused"), ("resume", "Idle")] {
            board.send(&ada, &ada, &[("deed", deed)]).leads_to();
            let page = board.get(&ada);
            assert!(page.ok().contains(shown), "{deed}: {}", page.html);
        }
    }

    fn a_limit_that_is_used_up_is_raised_or_overridden_where_it_stops_the_agent(board) {
        let home = board.found("Acme");
        let ada = format!("{home}/agents/ada");
        let id = hire(board, &home, "Ada");
        let company = board.told(&format!("/api/agents/{id}"))["companyId"].clone();
        let cost = json!({
            "agentId": id, "provider": "anthropic", "model": "claude-sonnet-4-5",
            "inputTokens": 1, "outputTokens": 1, "costCents": 9100,
        });
        let costs = format!("/api/companies/{}/cost-events", company.as_str().unwrap());
        board.call(&costs, &cost);
        let page = board.get(&ada);
        for shown in ["its budget is used up", "$91", "of $90", "Set the limit"] {
            assert!(page.ok().contains(shown), "{shown}: {}", page.html);
        }
        for (limit, status) in [("", 422), ("much", 422), ("90.00", 303)] {
            let fields = [("deed", "limit"), ("budgetMonthlyCents", limit)];
            assert_eq!(board.send(&ada, &ada, &fields).status, status, "{limit}");
        }
        let refused = board.send(&ada, &ada, &[("deed", "resume")]);
        assert_eq!(refused.status, 409);
        assert!(refused.html.contains("budget_exhausted"), "{}", refused.html);
        board.send(&ada, &ada, &[("deed", "override")]).leads_to();
        assert!(!board.get(&ada).ok().contains("its budget is used up"));
        board.send(&ada, &ada, &[("deed", "limit"), ("budgetMonthlyCents", "80")]).leads_to();
        assert!(board.get(&ada).ok().contains("its budget is used up"));
        board.send(&ada, &ada, &[("deed", "limit"), ("budgetMonthlyCents", "100")]).leads_to();
        assert!(board.get(&ada).ok().contains("nothing waits for it"));
        let costs = board.get(&format!("{ada}/costs"));
        assert!(costs.ok().contains("$91"), "{}", costs.html);
    }

    fn an_agent_is_terminated_by_its_name_alone(board) {
        let home = board.found("Acme");
        hire(board, &home, "Ada");
        let ada = format!("{home}/agents/ada");
        for deed in ["lift", "forget"] {
            assert_eq!(board.send(&ada, &ada, &[("deed", deed)]).leads_to(), ada);
        }
        let refused = board.send(&ada, &ada, &[("deed", "terminate"), ("confirm", "ada")]);
        assert_eq!(refused.status, 422);
        assert!(refused.html.contains("type the name"), "{}", refused.html);
        board.send(&ada, &ada, &[("deed", "terminate"), ("confirm", "Ada")]).leads_to();
        assert!(board.get(&ada).ok().contains("It is terminated"));
    }

    fn the_chart_shows_who_reports_to_whom_and_folds_many(board) {
        let home = board.found("Acme");
        let boss = hire(board, &home, "Bea <b>");
        let company = board.told(&format!("/api/agents/{boss}"))["companyId"].clone();
        let agents = format!("/api/companies/{}/agents", company.as_str().unwrap());
        for number in 1..=8 {
            let chart = board.get(&format!("{home}/agents?view=org"));
            assert!(!chart.ok().contains("<details"), "{number}");
            let name = format!("Worker {number}");
            board.call(&agents, &json!({ "name": name, "reportsTo": boss }));
        }
        let chart = board.get(&format!("{home}/agents?view=org"));
        assert!(chart.ok().contains("8 report to Bea &#60;b&#62;"), "{}", chart.html);
        assert_eq!(chart.html.matches("class=\"node").count(), 9);
        assert!(board.get(&format!("{home}/agents")).ok().contains("Worker 8"));
    }

    fn the_run_and_the_agent_of_another_company_are_not_there(board) {
        let home = board.found("Acme");
        hire(board, &home, "Ada");
        let other = board.found("Other");
        let ada = format!("{home}/agents/ada");
        board.send(&ada, &ada, &[("deed", "wake")]).leads_to();
        let list = board.get(&format!("{home}/runs"));
        let (_, rest) = list.ok().split_once(&format!("{home}/runs/")).unwrap();
        let run = rest.split('"').next().unwrap();
        let tabs = ["configuration", "instructions", "runs", "costs", "keys", "history"];
        for tab in tabs {
            assert_eq!(board.get(&format!("{ada}/{tab}")).status, 200, "{tab}");
            assert_eq!(board.get(&format!("{other}/agents/ada/{tab}")).status, 404, "{tab}");
        }
        for path in [format!("{other}/runs/{run}"), format!("{other}/agents/ada")] {
            assert_eq!(board.get(&path).status, 404, "{path}");
            assert_eq!(board.post(&path, &[("deed", "pause")]).status, 404, "{path}");
        }
        assert!(board.get(&format!("{home}/runs/{run}")).ok().contains("Ada is to start"));
    }
}
