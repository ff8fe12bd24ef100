use super::super::examples::{report, row, run};
use super::*;
use crate::report::{POSTGRES, SQLITE};

/// Every figure on both databases with three sizes and two numbers of clients.
fn whole() -> Report {
    let mut whole = report();
    whole.runs = [SQLITE, POSTGRES]
        .into_iter()
        .flat_map(|database| [1_000, 10_000, 100_000].map(|issues| (database, issues)))
        .map(|(database, issues)| {
            let rows = Figure::ALL
                .into_iter()
                .flat_map(|figure| [8, 64].map(|clients| row(figure, clients, None)))
                .collect();
            let database = database.to_owned();
            Run {
                database,
                issues,
                rows,
                ..run()
            }
        })
        .collect();
    whole
}

/// Fails unless every element ends in order and every attribute is quoted.
fn check_well_formed(xml: &str) {
    let mut open = Vec::new();
    let mut rest = xml;
    while let Some(begin) = rest.find('<') {
        assert!(!rest[..begin].contains('>'), "{}", &rest[..begin]);
        let end = begin + rest[begin..].find('>').unwrap();
        let tag = &rest[begin + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert!(!tag.contains('<'), "{tag}");
        let name = tag
            .trim_start_matches('/')
            .split([' ', '/'])
            .next()
            .unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert_eq!(open, [""; 0]);
    assert_eq!(rest.trim(), "");
    for reference in xml.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;"];
        assert!(
            known.iter().any(|it| reference.starts_with(it)),
            "{reference}"
        );
    }
}

#[test]
fn each_database_has_a_cell_for_each_figure() {
    let drawn = chart(&whole()).unwrap();
    check_well_formed(&drawn);
    assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    for database in [SQLITE, POSTGRES] {
        assert_eq!(drawn.matches(&format!(">{database}</text>")).count(), 1);
    }
    for figure in Figure::ALL {
        let title = format!(">{}</text>", figure.title());
        assert_eq!(drawn.matches(&title).count(), 2, "{title}");
    }
    let cells = 2 * Figure::ALL.len();
    // Two numbers of clients with two percentiles in each cell, and in the legend.
    assert_eq!(drawn.matches("<polyline").count(), cells * 4 + 4);
    assert_eq!(drawn.matches("<circle").count(), cells * 4 * 3 + 4);
}

#[test]
fn one_size_and_one_figure_are_a_chart_too() {
    let drawn = chart(&report()).unwrap();
    check_well_formed(&drawn);
    assert!(!drawn.contains("NaN"), "{drawn}");
    assert!(drawn.contains(">100k</text>"), "{drawn}");
}

#[test]
fn without_figures_there_is_no_chart() {
    let mut report = report();
    report.runs.clear();
    assert!(chart(&report).is_none());
}
