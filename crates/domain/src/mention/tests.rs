use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use std::collections::BTreeMap;

use uuid::Uuid;

use super::{MAX_MENTIONS, MentionIndex, Mentionable, mentioned_projects};
use crate::id::{AgentId, ProjectId};

/// Agents with the given names and short names, numbered from 1.
fn index(agents: &[(&str, &str)]) -> MentionIndex {
    agents
        .iter()
        .zip(1..)
        .map(|(&(name, url_key), number)| Mentionable {
            id: agent(number),
            name: name.into(),
            url_key: url_key.into(),
        })
        .collect()
}

fn agent(number: u128) -> AgentId {
    Uuid::from_u128(number).into()
}

/// How many characters a scan of `body` looks at.
fn work(index: &MentionIndex, body: &str) -> usize {
    let mut steps = 0;
    index.scan(body, &mut |more| steps += more);
    steps
}

const SIZE: usize = 100 * 1024;

/// `pattern` repeated to 100 KB.
fn filled(pattern: &str) -> String {
    pattern.repeat(SIZE / pattern.len())
}

fn hostile_bodies() -> BTreeMap<&'static str, String> {
    // Runs of 1, 2, 3, ... backticks: no two are partners.
    let growing_runs: String = (1..440).map(|length| "`".repeat(length) + " ").collect();
    BTreeMap::from([
        ("only @", filled("@")),
        ("@ and spaces", filled("@ ")),
        ("@ after letters", filled("@a@a")),
        ("prefix of a name", filled("@aaaaaaaaaaaaaaaa")),
        (
            "almost the longest name",
            filled(&format!("@{} ", "a".repeat(199))),
        ),
        ("names of nobody", filled("@nobody ")),
        ("marks and ats", filled("\u{301}@")),
        ("one word", filled("a")),
        ("one word after @", format!("@{}", filled("a"))),
        ("backticks", filled("`")),
        ("backticks and spaces", filled("` `` ")),
        ("growing runs of backticks", growing_runs),
        ("escaped backticks", filled("\\`")),
        ("backslashes", filled("\\")),
        ("unclosed fence", format!("```\n{}", filled("@aaaa "))),
        ("many openings of fences", filled("```a\n")),
        ("many unclosed fences", filled("~~~~\n```\n")),
        ("one long fence", filled("~")),
        ("link openings", filled("[@a")),
        ("link openings with a bracket", filled("[@a]")),
        ("link targets", filled("[@a](agent://")),
        ("link targets with a query", {
            filled(&format!("[@a](agent://{}?", Uuid::from_u128(1)))
        }),
        ("ampersands", filled("&")),
        ("unfinished entities", filled("&#64")),
        ("entities", filled("&#64;")),
        ("entities of entities", filled("&amp;amp;#64;")),
        ("combining marks", filled("\u{301}")),
        (
            "combining marks out of order",
            filled("\u{301}\u{323}\u{5b0}"),
        ),
        ("letters that grow", filled("\u{fdfa}")),
        ("@ and letters that grow", filled("@\u{fdfa}")),
        ("quotes", filled("> @a\n")),
        ("line breaks", filled("\n")),
        ("returns", filled("\r")),
        ("list items", filled("- `\n")),
        ("NUL", filled("\0@")),
    ])
}

#[test]
fn work_is_linear_in_the_body_whatever_it_contains() {
    let long_name = "a".repeat(200);
    let few = index(&[("a", "a-1"), (&long_name, "long")]);
    for (what, body) in hostile_bodies() {
        // A character may become eighteen by compatibility composition.
        let grown = if what.contains("grow") { 18 } else { 1 };
        let steps = work(&few, &body);
        assert!(
            steps <= 16 * grown * SIZE,
            "{what}: {steps} steps for {} bytes",
            body.len()
        );
    }
}

#[test]
fn work_does_not_grow_with_the_number_of_agents() {
    let names: Vec<String> = (0..2000).map(|number| format!("aaaa {number}")).collect();
    let many = MentionIndex::new(names.iter().zip(1..).map(|(name, number)| Mentionable {
        id: agent(number),
        name: name.clone(),
        url_key: name.replace(' ', "-"),
    }));
    let one = index(&[("aaaa 1000", "aaaa-1000")]);
    for (what, body) in hostile_bodies() {
        let (many, one) = (work(&many, &body), work(&one, &body));
        assert!(
            many <= 2 * one,
            "{what}: {many} steps with many agents, {one} with one"
        );
    }
}

#[test]
fn work_doubles_with_the_body() {
    let few = index(&[("a", "a-1"), ("aaaa bbbb", "b")]);
    for (what, body) in hostile_bodies() {
        let half: String = body.chars().take(body.chars().count() / 2).collect();
        let (whole, half) = (work(&few, &body), work(&few, &half));
        assert!(
            whole <= 2 * half + half / 4 + 200,
            "{what}: {half} steps, then {whole}"
        );
    }
}

#[test]
fn a_hostile_body_does_not_hide_what_comes_first() {
    let agents = index(&[("Ada", "ada")]);
    for (what, body) in hostile_bodies() {
        let found = agents.mentions(&format!("@Ada, see:\n\n{body}")).agents;
        assert_eq!(found.first(), Some(&agent(1)), "{what}");
    }
}

#[test]
fn the_counter_sees_the_walk_along_a_name() {
    let agents = index(&[("abcdefgh", "x")]);
    let (walked, skipped) = (work(&agents, "@abcdefg!"), work(&agents, "%abcdefg!"));
    // Once along the names, once for what names nobody.
    assert_eq!(walked, skipped + "abcdefg!".len() + "abcdefg".len());
}

#[test]
fn projects_are_mentioned_by_links_in_prose() {
    let project = |n: u128| ProjectId::from(Uuid::from_u128(n));
    let link = |n: u128| alloc::format!("[Site](project://{})", project(n));
    let body = alloc::format!(
        "{} and {}, again {}, `{}`\n> {}\n\n[x](project://nothing) [y](project://{} z)",
        link(1),
        link(2).replace(')', "?a=b)"),
        link(1),
        link(3),
        link(4),
        project(5),
    );
    assert_eq!(mentioned_projects(&body), [project(1), project(2)]);
    let many: String = (0..40).map(link).collect();
    assert_eq!(mentioned_projects(&many).len(), MAX_MENTIONS);
    assert_eq!(mentioned_projects(&"](project://".repeat(20_000)), []);
}
