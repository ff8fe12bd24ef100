//! What agents are told to call is there.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};
use workforce_app::prompt::{self, SKILL, SKILL_FILE};
use workforce_domain::run::RunKind;

use crate::scene::{Scene, input, numbered};

/// The document of the interface.
fn paths() -> Map<String, Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi.json");
    let document: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    document["paths"].as_object().unwrap().clone()
}

/// The calls that a text names, each with its method where it says one.
fn calls(text: &str) -> Vec<(Option<String>, String)> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '?');
    text.match_indices("/api/")
        .map(|(start, _)| {
            let path = text[start..].split(ends).next().unwrap();
            let before = text[..start].trim_end_matches(['"', '\'', ' ']);
            let word = before.rsplit([' ', '`', '\n']).next().unwrap();
            let is_method = ["get", "post", "patch", "put"].contains(&word.to_lowercase().as_str());
            let method = is_method.then(|| word.to_lowercase());
            (method, path.trim_end_matches('.').to_owned())
        })
        .collect()
}

fn is_variable(segment: &str) -> bool {
    segment.starts_with(['{', '$']) || segment.starts_with("ID-")
}

/// A call is that of a route where both agree, variable by variable.
fn matches(route: &str, path: &str) -> bool {
    let (route, path): (Vec<_>, Vec<_>) = (route.split('/').collect(), path.split('/').collect());
    route.len() == path.len()
        && route
            .iter()
            .zip(&path)
            .all(|(one, other)| one == other || is_variable(one) && is_variable(other))
}

#[track_caller]
fn assert_there(text: &str) {
    let paths = paths();
    let calls = calls(text);
    assert!(!calls.is_empty());
    for (method, path) in calls {
        let found = paths.iter().any(|(route, methods)| {
            matches(route, &path) && method.as_ref().is_none_or(|it| methods.get(it).is_some())
        });
        assert!(found, "{method:?} {path}");
    }
}

#[test]
fn the_skill_names_routes_that_there_are() {
    assert_there(SKILL);
    assert!(SKILL.contains("workforce api GET /api/agents/me"));
    assert!(SKILL.lines().count() < 150);
    assert_eq!(SKILL_FILE, "workforce.md");
}

#[test]
fn a_prompt_names_routes_that_there_are() {
    let scene = Scene::new();
    scene.world.todo_for(&scene.ada, "Fix the printer");
    let mut claimed = scene.claim();
    let mut facts = scene.facts(&claimed);
    facts.comments.older = true;
    assert_there(&numbered(&prompt::compose(&input(&claimed, &facts)).user));
    claimed.run.kind = RunKind::Consult;
    assert_there(&numbered(&prompt::compose(&input(&claimed, &facts)).user));
    claimed.run.issue = None;
    assert_there(&numbered(&prompt::compose(&input(&claimed, &facts)).user));
}
