use serde_json::{Value, json};
use workforce_app::conventions::{MAX_LAYER, project_layer};
use workforce_domain::conventions::{Compact, CompactOrigin, Conventions};
use workforce_domain::id::{CompanyId, ProjectId};
use workforce_domain::text::{CompactContext, Description};

/// The short form of other conventions.
const STALE: [u8; 32] = [7; 32];

fn told(
    story: &str,
    rules: &str,
    references: Value,
    compact: Option<(&str, CompactOrigin)>,
) -> Option<String> {
    let nil = uuid();
    let mut conventions = Conventions::none(CompanyId::from(nil), ProjectId::from(nil));
    conventions.backstory = Description::parse(story).unwrap();
    conventions.conventions_md = Description::parse(rules).unwrap();
    conventions.extra_references = references;
    conventions.compact = compact.map(|(text, origin)| Compact {
        text: CompactContext::parse(text).unwrap(),
        origin,
        source_hash: STALE,
    });
    project_layer(&conventions)
}

fn uuid() -> uuid::Uuid {
    uuid::Uuid::nil()
}

#[test]
fn story_and_rules_are_told_independently() {
    assert_eq!(told("", " \n", json!([]), None), None);
    assert_eq!(
        told("Once.", "", json!([]), None).unwrap(),
        "# Project context\n\nOnce.\n"
    );
    assert_eq!(
        told("", "- x\n", json!([]), None).unwrap(),
        "# Project conventions\n\n- x\n"
    );
    let both = "# Project context\n\nOnce.\n\n# Project conventions\n\n- x\n";
    assert_eq!(told("Once.", "- x", json!([]), None).unwrap(), both);
    let manual = Some(("- short", CompactOrigin::Manual));
    let short = "# Project context\n\nOnce.\n\n# Project conventions\n\n- short\n";
    assert_eq!(told("Once.", "- x", json!([]), manual).unwrap(), short);
    let empty = Some(("  ", CompactOrigin::Manual));
    assert_eq!(told("Once.", "- x", json!([]), empty).unwrap(), both);
}

#[test]
fn a_story_is_not_told_twice() {
    let manual = Some(("Once.\n\n- short", CompactOrigin::Manual));
    let layer = told("Once.", "- x", json!([]), manual).unwrap();
    assert_eq!(layer, "# Project conventions\n\nOnce.\n\n- short\n");
    let generated = Some(("old", CompactOrigin::Generated { max_chars: 400 }));
    let layer = told("Once.", "- x", json!([]), generated).unwrap();
    assert_eq!(layer, "# Project conventions\n\nOnce.\n\n- x\n");
}

#[test]
fn a_stale_generated_text_is_made_anew() {
    let generated = |max_chars| Some(("- old", CompactOrigin::Generated { max_chars }));
    let layer = told(
        "",
        &"- Never push to `main`. It rains.\n".repeat(100),
        json!([]),
        generated(400),
    )
    .unwrap();
    assert!(
        !layer.contains("old") && layer.contains("Never push") && layer.len() < 450,
        "{layer}"
    );
    let layer = told("", "- new", json!([]), generated(-1)).unwrap();
    assert_eq!(layer, "# Project conventions\n\n- new\n");
}

#[test]
fn references_are_a_bounded_list() {
    let references = json!([
        "docs/one.md", {"title": "Two", "url": "https://two.example"}, {"path": "three.rs"},
        {"x": 1}, 5, "a\nb", "y".repeat(1000),
    ]);
    let layer = told("", "", references, None).unwrap();
    let long = format!("- {}…\n", "y".repeat(300));
    assert_eq!(
        layer,
        format!(
            "# References\n\n- docs/one.md\n- Two: https://two.example\n- three.rs\n- {{\"x\":1}}\n- 5\n- a b\n{long}"
        )
    );
    let many: Vec<String> = (0..100)
        .map(|n| format!("{n} {}", "z".repeat(90)))
        .collect();
    let layer = told("", "", json!(many), None).unwrap();
    assert!(
        layer.len() <= 2 * 1024 && layer.contains("- [cut: "),
        "{layer}"
    );
}

#[test]
fn references_of_any_shape_are_told() {
    let list = |references: Value| {
        told("", "", references, None).map(|layer| layer.replace("# References\n\n", ""))
    };
    for nothing in [json!(null), json!([]), json!({}), json!(" "), json!([""])] {
        assert_eq!(list(nothing), None);
    }
    let one = [
        (json!("docs/\na.md"), "- docs/ a.md\n"),
        (json!(7), "- 7\n"),
        (
            json!({ "title": "Style", "url": "https://x.example" }),
            "- Style: https://x.example\n",
        ),
        (
            json!({ "style": "docs/style.md", "api": { "path": "docs/api.md" }, "n": [1] }),
            "- style: docs/style.md\n- api: docs/api.md\n- n: [1]\n",
        ),
    ];
    for (references, told) in one {
        let lines = list(references).unwrap();
        let mut lines: Vec<&str> = lines.lines().collect();
        let mut told: Vec<&str> = told.lines().collect();
        // An object has no order.
        lines.sort_unstable();
        told.sort_unstable();
        assert_eq!(lines, told);
    }
}

#[test]
fn the_layer_is_bounded_and_says_what_is_cut() {
    let long = "규칙 ".repeat(20_000);
    let references: Vec<String> = (0..100)
        .map(|n| format!("reference {n} {}", "z".repeat(200)))
        .collect();
    let layer = told(&long, &long.replace('규', "교"), json!(references), None).unwrap();
    assert!(layer.len() <= MAX_LAYER, "{}", layer.len());
    assert_eq!(layer.matches("[cut: ").count(), 3, "{layer}");
    for part in ["# Project context", "# Project conventions", "# References"] {
        assert!(layer.contains(part));
    }
}
