use serde_json::json;
use workforce_domain::time::{Month, Timestamp};
use workforce_testkit::ports;

use crate::issues::hire;
use crate::support::{Board, board_tests};

fn now() -> Timestamp {
    ports::clock().now()
}

/// Reports a cost of an agent.
fn spend(board: &Board, agent: &str, cents: f64, at: Timestamp, model: &str) {
    let cost = json!({
        "agentId": agent,
        "provider": "forge",
        "model": model,
        "inputTokens": 1000,
        "costCents": cents,
        "occurredAt": at,
    });
    board.call(
        &format!("/api/companies/{}/cost-events", board.company()),
        &cost,
    );
}

/// The cells of the table below the chart: day, amount, and sum.
fn table(html: &str) -> Vec<Vec<String>> {
    let (_, rest) = html.split_once("<details class=\"more-d\"").unwrap();
    let (table, _) = rest.split_once("</table>").unwrap();
    let rows = table.split("<tr>").skip(2);
    rows.map(|row| {
        let cells = row
            .split("</td>")
            .map(|cell| cell.rsplit('>').find(|it| !it.is_empty()));
        cells
            .flatten()
            .map(|cell| cell.split('<').next().unwrap().to_owned())
            .collect()
    })
    .collect()
}

board_tests! {
    fn chart_table_and_interface_tell_the_same(board) {
        let home = board.found("Acme");
        let ada = hire(board, &home, "Ada");
        let costs = format!("{home}/costs");
        assert!(board.get(&costs).ok().contains("Nothing was spent in this month."));
        let month = Month::of(now());
        spend(board, &ada, 125.0, month.start(), "fable");
        spend(board, &ada, 4875.0, now(), "fable");
        let page = board.get(&costs);
        let sums: Vec<String> = table(page.ok()).into_iter().filter_map(|row| row.get(2).cloned()).collect();
        assert_eq!(sums.last().map(String::as_str), Some("$50"), "{}", page.html);
        // Both pictures say so, and the last point of the line has the same sum.
        assert_eq!(page.html.matches(": $50\"").count(), 2, "{}", page.html);
        assert_eq!(page.html.matches(">$50</text></svg>").count(), 2, "{}", page.html);
        let series = board.told(&format!("/api/companies/{}/costs/series", board.company()));
        let days = series.as_array().unwrap();
        let sum: f64 = days.iter().map(|day| day["costCents"].as_f64().unwrap()).sum();
        assert!((sum - 5000.0).abs() < f64::EPSILON, "{series}");
        assert_eq!(days[0]["date"], json!(format!("{month}-01")));
        let models = board.told(&format!("/api/companies/{}/costs/by-model", board.company()));
        assert_eq!(models[0]["model"], "fable");
        assert_eq!(models[0]["costCents"], 5000);
        let file = board.get(&format!("{costs}.csv?by=model"));
        assert!(file.header("content-type").starts_with("text/csv"));
        assert!(file.ok().contains("\"forge\",\"fable\",5000,5000,0,2000,0,0,0\r\n"), "{}", file.html);
    }

    fn a_month_ends_at_midnight_in_utc(board) {
        let home = board.found("Acme");
        let ada = hire(board, &home, "Ada");
        let month = Month::of(now());
        let before = month.start().minus(std::time::Duration::from_micros(1));
        spend(board, &ada, 700.0, before, "fable");
        spend(board, &ada, 1100.0, month.start(), "fable");
        let costs = format!("{home}/costs");
        let last = Month::of(before);
        for (address, shown, hidden) in [
            (costs.clone(), "$11", "$7"),
            (format!("{costs}?month={month}"), "$11", "$7"),
            (format!("{costs}?month={last}"), "$7", "$11"),
            // What is no month, or is to come, is the present one.
            (format!("{costs}?month=2026-13"), "$11", "$7"),
            (format!("{costs}?month=9999-12"), "$11", "$7"),
        ] {
            let page = board.get(&address);
            assert!(page.ok().contains(&format!("{shown}</td>")), "{address}: {}", page.html);
            assert!(!page.html.contains(&format!("{hidden}</td>")), "{address}: {}", page.html);
        }
        let page = board.get(&format!("{costs}?month={last}"));
        assert!(page.ok().contains(&format!("{costs}?month={month}\" rel=\"next\"")), "{}", page.html);
        assert!(!board.get(&costs).ok().contains("rel=\"next\""));
    }

    fn an_unknown_cost_is_not_nothing(board) {
        let home = board.found("Acme");
        let ada = hire(board, &home, "Ada");
        spend(board, &ada, 0.0, now(), "<secret-model>");
        let page = board.get(&format!("{home}/costs"));
        assert!(page.ok().contains("unknown</td>"), "{}", page.html);
        assert!(page.html.contains("one cost of unknown amount"), "{}", page.html);
        assert!(page.html.contains("&#60;secret-model&#62;"), "{}", page.html);
        let path = format!("/api/companies/{}/costs/by-model", board.company());
        assert_eq!(board.told(&path)[0]["unknownCostCount"], 1);
        spend(board, &ada, 200.0, now(), "<secret-model>");
        let page = board.get(&format!("{home}/costs"));
        assert!(page.ok().contains("$2 and unknown</td>"), "{}", page.html);
    }

    fn limits_of_company_and_agent_are_set_from_here(board) {
        let home = board.found("Acme");
        let ada = hire(board, &home, "Ada");
        let costs = format!("{home}/costs");
        let refused = board.send(&costs, &costs, &[("whose", &ada), ("budgetMonthlyCents", "")]);
        assert_eq!(refused.status, 422);
        assert!(refused.html.contains(&format!(r#"<option value="{ada}" selected>"#)), "{}", refused.html);
        let set = [("whose", ada.as_str()), ("budgetMonthlyCents", "45.50")];
        assert_eq!(board.send(&costs, &costs, &set).leads_to(), costs);
        assert_eq!(board.told(&format!("/api/agents/{ada}"))["budgetMonthlyCents"], 4550);
        board.send(&costs, &costs, &[("whose", ""), ("budgetMonthlyCents", "600")]).leads_to();
        assert_eq!(board.told("/api/companies")[0]["budgetMonthlyCents"], 60_000);
        let other = format!("{}/costs", board.found("Other"));
        let theirs = board.send(&other, &other, &set);
        assert_eq!(theirs.status, 404, "{}", theirs.html);
        assert_eq!(board.told(&format!("/api/agents/{ada}"))["budgetMonthlyCents"], 4550);
    }
}
