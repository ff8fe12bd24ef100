//! The tables of a month as a file for spreadsheets.

use std::fmt::Write as _;

use actix_web::HttpResponse;
use workforce_app::Context;
use workforce_app::costs;
use workforce_domain::cost::CostTotal;
use workforce_domain::port::{Reads, Spender};
use workforce_http::door::{Access, Pages, Visit};

use super::{About, window};
use crate::answer;
use crate::pages::{Gathered, Told as _};

pub(super) fn register(pages: Pages) -> Pages {
    pages.get("/c/{prefix}/costs.csv", Access::Board, file)
}

const HEAD: &str = "cost_cents,estimated_cost_cents,unknown_costs,input_tokens,output_tokens,\
                    cached_input_tokens,cache_write_tokens";

async fn file(visit: Visit) -> HttpResponse {
    let about = About::of(&visit);
    let name = match about.query.by.as_str() {
        by @ ("agent" | "project" | "model") => by,
        _ => "day",
    };
    let name = format!("costs-{}-by-{name}.csv", about.month(visit.now()));
    match visit.look(move |reads, ctx| text(reads, ctx, &about)).await {
        Ok(text) => answer::file(&name, "text/csv; charset=utf-8", text),
        Err(problem) => answer::refused(&visit, &problem),
    }
}

fn text(reads: &mut dyn Reads, ctx: &Context<'_>, about: &About) -> Gathered<String> {
    let company = about.asked.company(reads, ctx)?.id;
    let window = window(about.month(ctx.now));
    Ok(match about.query.by.as_str() {
        "agent" => {
            let rows = costs::by_agent(reads, ctx, company, window).told()?;
            let rows = rows.iter().map(|row| (cell(&row.agent.name), row.total));
            table("agent", rows)
        }
        "project" => {
            let rows = costs::by_project(reads, ctx, company, window).told()?;
            let rows = rows.iter().map(|row| {
                let name = row.project.as_ref().map(|(_, name)| cell(name));
                (name.unwrap_or_default(), row.total)
            });
            table("project", rows)
        }
        "model" => {
            let rows = costs::by_model(reads, ctx, company, window).told()?;
            let rows = rows.iter().map(|row| {
                let name = format!("{},{}", cell(&row.provider), cell(&row.model));
                (name, row.total)
            });
            table("provider,model", rows)
        }
        _ => {
            let rows = costs::by_day(reads, ctx, company, Spender::Company, window).told()?;
            table(
                "date_utc",
                rows.iter().map(|(day, total)| (day.to_string(), *total)),
            )
        }
    })
}

fn table(first: &str, rows: impl Iterator<Item = (String, CostTotal)>) -> String {
    let mut text = format!("{first},{HEAD}\r\n");
    for (name, total) in rows {
        let (cost, estimated, unknown) = (total.cost, total.estimated, total.unknown);
        let tokens = total.tokens;
        // To write into memory cannot fail.
        let _ = write!(
            text,
            "{name},{cost},{estimated},{unknown},{},{},{},{}\r\n",
            tokens.input, tokens.output, tokens.cached_input, tokens.cache_write,
        );
    }
    text
}

/// A text in quotes. Spreadsheets take what begins with some characters for a formula, which the
/// apostrophe forbids.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if is_formula { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_name_is_no_formula() {
        assert_eq!(cell("Ada"), r#""Ada""#);
        assert_eq!(cell(r#"=HYPERLINK("x")"#), r#""'=HYPERLINK(""x"")""#);
        assert_eq!(cell("a,\nb"), "\"a,\nb\"");
    }
}
