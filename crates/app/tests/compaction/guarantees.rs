use proptest::prelude::*;
use workforce_app::compaction::{LONGEST_LIMIT, SHORTEST_LIMIT, compact, compact_counting};

/// The longest text that a field admits.
const FULL: usize = 200 * 1024;

#[track_caller]
fn assert_guarantees(story: &str, rules: &str, limit: usize) {
    let short = compact(story, rules, limit);
    let length = short.chars().count();
    assert!(length <= limit, "{length} characters of {limit}");
    // The two are joined by a blank line.
    let given = story.chars().count() + rules.chars().count() + 2;
    assert!(length <= given, "{length} characters of {given}");
    assert_eq!(compact(story, rules, limit), short, "the same every time");
    assert_eq!(compact("", &short, limit), short, "summed up again");
    assert_eq!(compact(story, &short, limit), short, "as conventions");
    assert_eq!(compact(&short, "", limit), short, "as a story");
    if story.trim().is_empty() && rules.trim().is_empty() {
        assert_eq!(short, "");
    }
}

/// Pieces that mean something in Markdown, or break a naive reader.
fn fragment() -> impl Strategy<Value = String> {
    let fixed = [
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "  ",
        "\t",
        "# ",
        "### ",
        "- ",
        "* ",
        "1. ",
        "> ",
        ">",
        "`",
        "```",
        "```rust\n",
        "~~~\n",
        "---\n",
        "+++\n",
        "===\n",
        "| ",
        "|---|\n",
        "[",
        "](",
        ")",
        "![",
        "<!--",
        "-->",
        "<div>",
        "</div>",
        "&amp;",
        "&#0;",
        "\\",
        "*",
        "**",
        "_",
        "~~",
        "[x]: y\n",
        "a: b\n",
        "Never push.",
        "must not ",
        "금지. ",
        "必ず。",
        "e.g. ",
        "`code`",
        "…",
        "\u{a0}",
        "\u{2028}",
        "\u{feff}",
        "\u{200b}",
        "é",
        "e\u{301}",
        "👩‍👩‍👧",
        "\u{b}",
        "- [ ] ",
        "[^1]: ",
        "$$",
    ];
    prop_oneof![
        6 => proptest::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        2 => "[a-zA-Z ]{1,60}",
        1 => "\\PC{1,20}",
    ]
}

fn markdown() -> impl Strategy<Value = String> {
    proptest::collection::vec(fragment(), 0..150).prop_map(|fragments| fragments.concat())
}

proptest! {
    #[test]
    fn any_markdown_is_summed_up_within_its_limits(
        story in markdown(),
        rules in markdown(),
        limit in SHORTEST_LIMIT..=LONGEST_LIMIT,
    ) {
        assert_guarantees(&story, &rules, limit);
        assert_guarantees(&story, &rules, SHORTEST_LIMIT);
    }
}

/// Text of the full length that repeats something.
fn full_of(part: &str) -> String {
    part.repeat(FULL / part.len())
}

fn hostile() -> Vec<(&'static str, String)> {
    let half = FULL / 2;
    let mut texts: Vec<_> = [
        "[",
        "![[",
        "[]((",
        "*",
        "*a ",
        "**a_b ",
        "_a",
        ">",
        "> ",
        ">\n",
        "- ",
        "1. ",
        "> 1. ",
        "-\t",
        "`",
        "`a ``b ",
        "<",
        "<!--",
        "<a ",
        "<?",
        "&",
        "~~a ",
        "~~~a\n",
        "|x|y\n",
        "|a|b|\n|-|-|\n",
        "\n",
        " ",
        "\t",
        "a",
        "한",
        "。",
        ". ",
        "a. ",
        "- a\n",
        "# a\n",
        "a\n===\n",
        "<div>\n",
        "\\[",
        "[a]: /b\n",
        "[^a]: b\n",
        "---\n",
        "a: b\n",
        "never ",
        "- never `a/b`\n",
        "\u{a0}",
        "\r",
    ]
    .into_iter()
    .map(|part| (part, full_of(part)))
    .collect();
    texts.push((
        "deep list, lazy lines",
        format!("{}x\n{}", "- ".repeat(half / 2), "a\n".repeat(half / 2)),
    ));
    texts.push((
        "deep quote, lazy lines",
        format!("{}x\n{}", ">".repeat(half), "a\n".repeat(half / 2)),
    ));
    texts.push((
        "deep list, blank lines",
        format!("{}x\n{}", "- ".repeat(half / 2), "\n".repeat(half)),
    ));
    texts.push((
        "wide table",
        format!(
            "{}\n{}\n{}",
            "|a".repeat(half / 3),
            "|-".repeat(half / 3),
            "|x\n".repeat(half / 3)
        ),
    ));
    texts.push((
        "stairs",
        (0..400)
            .map(|n| format!("{}- x\n", "  ".repeat(n % 200)))
            .collect(),
    ));
    texts.push((
        "runs of backticks",
        (1..600).map(|n| format!("{} ", "`".repeat(n))).collect(),
    ));
    texts.push(("front matter", format!("---\na: b\n{}", full_of("c\n"))));
    texts.push((
        "rules of every kind",
        (0..4000)
            .map(|n| format!("- Never use thing {n}.\n\n## H{n}\n"))
            .collect(),
    ));
    texts
}

#[test]
fn hostile_text_takes_time_in_proportion() {
    let texts = hostile();
    let stories = texts
        .iter()
        .take(4)
        .map(|(name, text)| (*name, text.as_str(), text.as_str()));
    let all = texts
        .iter()
        .map(|(name, text)| (*name, "", text.as_str()))
        .chain(stories);
    for (name, story, rules) in all {
        let mut steps = 0_usize;
        let short = compact_counting(story, rules, 2000, &mut |work| steps += work);
        // A table is filled up with empty cells, a bounded number of them.
        let bound = 16 * (story.len() + rules.len()) + (1 << 20);
        assert!(steps <= bound, "{name}: {steps} steps of {bound}");
        assert!(short.chars().count() <= 2000, "{name}");
    }
}

#[test]
fn hostile_text_is_summed_up_within_its_limits() {
    for (_name, text) in hostile() {
        let part = &text[..text.floor_char_boundary(20_000)];
        assert_guarantees("", part, 2000);
        assert_guarantees(part, "Never push.", 400);
    }
}

#[test]
fn one_endless_word_is_cut_and_told() {
    let short = compact("", &full_of("a"), 400);
    assert!(
        short.starts_with("- aaa") && short.ends_with('…'),
        "{short}"
    );
}
