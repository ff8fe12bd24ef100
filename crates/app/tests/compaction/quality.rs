use workforce_app::compaction::compact;

const SERVICE: &str = include_str!("texts/service.md");
const KOREAN: &str = include_str!("texts/korean.md");
const MIXED: &str = include_str!("texts/mixed.md");
const STORY: &str = "Shops trust us with their books. An error costs them money, and us their \
    trust. We have grown from two people to forty in three years. Lunch is at noon.";

#[test]
fn a_service() {
    insta::assert_snapshot!(compact(STORY, SERVICE, 1000));
}

#[test]
fn a_korean_project() {
    insta::assert_snapshot!(compact(
        "결제를 맡은 팀입니다. 상점은 우리를 믿습니다. 점심은 열두 시입니다.",
        KOREAN,
        400
    ));
}

#[test]
fn offices_of_several_languages() {
    insta::assert_snapshot!(compact("", MIXED, 700));
}

#[test]
fn rules_are_kept_before_stories() {
    let short = compact(STORY, SERVICE, 1200);
    for rule in [
        "never `unwrap`",
        "Never assert a duration",
        "never in code, logs",
        "must not import",
    ] {
        assert!(short.contains(rule), "{rule}: {short}");
    }
    for chatter in [
        "photograph",
        "cake",
        "badge",
        "Reviewed every",
        "title:",
        "Lunch",
        "is_balanced()",
    ] {
        assert!(!short.contains(chatter), "{chatter}: {short}");
    }
}

#[test]
fn what_fits_is_kept_word_for_word() {
    let rules = "---\nfront: matter\n---\n\n\n# A   b\n\n<!-- kept -->\n* x  \n";
    assert_eq!(
        compact("  Our story.\n", rules, 400),
        "  Our story.\n\n---\nfront: matter\n---\n\n# A b\n\n<!-- kept -->\n* x"
    );
    assert_eq!(compact("Our story.", "", 400), "Our story.");
    assert_eq!(compact("", "- x\n", 400), "- x");
    // Conventions that tell the story themselves are told alone.
    assert_eq!(
        compact("Our story.", "Our story.\n\n- x", 400),
        "Our story.\n\n- x"
    );
    assert_eq!(compact("", "", 400), "");
    assert_eq!(compact(" \n", "\t\r\n", 8000), "");
}

#[test]
fn a_long_story_leaves_the_rules_whole() {
    let story = "It began in May. Then it went on. ".repeat(100);
    assert_eq!(
        compact(&story, "# Rules\n\n- Never push.\n", 400),
        "It began in May. Then it went on.\n\n# Rules\n\n- Never push."
    );
}

#[test]
fn what_says_the_same_is_said_once() {
    let rules = format!(
        "{}- Never push to main!\n- **never push** to `main`\n- Push to main never\n",
        "It rains. ".repeat(60)
    );
    let short = compact("", &rules, 400);
    assert_eq!(short.to_lowercase().matches("push").count(), 1, "{short}");
}
