//! Mentions of agents in texts.

use proptest::prelude::*;
use uuid::Uuid;
use workforce_domain::id::AgentId;
use workforce_domain::mention::{MAX_MENTIONS, MentionIndex, Mentionable, Mentions};

/// Every agent that the examples speak of; its number is its id.
const AGENTS: &[(&str, &str)] = &[
    ("Ada", "ada"),
    ("Code Reviewer", "code-reviewer"),
    ("Code", "code"),
    ("QA-Lead", "qa-lead"),
    ("Renée", "renee"),
    ("김철수", "kim"),
    ("C++ Expert", "cpp"),
    ("Twin", "twin"),
    ("Twin", "twin-2"),
    ("Head of Growth", "growth"),
    ("ops@night", "ops-night"),
    ("Σοφός", "sofos"),
    ("李", "li"),
];

fn id(number: usize) -> AgentId {
    Uuid::from_u128(u128::try_from(number).unwrap_or(0)).into()
}

fn index() -> MentionIndex {
    AGENTS
        .iter()
        .zip(1..)
        .map(|(&(name, url_key), number)| Mentionable {
            id: id(number),
            name: name.into(),
            url_key: url_key.into(),
        })
        .collect()
}

#[track_caller]
fn check(body: &str, expected: &[&str]) {
    let found: Vec<&str> = index()
        .mentions(body)
        .agents
        .into_iter()
        .map(|agent| {
            let number = (1..=AGENTS.len()).find(|number| id(*number) == agent);
            number.map_or("?", |number| AGENTS[number - 1].1)
        })
        .collect();
    assert_eq!(found, expected, "{body:?}");
}

#[test]
fn a_name_after_an_at_sign() {
    check("@Ada", &["ada"]);
    check("please look, @ada!", &["ada"]);
    check("(@ADA) **@Code** “@qa-lead”", &["ada", "code", "qa-lead"]);
    check("Ada", &[]);
    check("@ Ada", &[]);
    check("@Nobody", &[]);
    check("", &[]);
    check("@", &[]);
    check("@@Ada", &["ada"]);
}

#[test]
fn the_longest_name_wins() {
    check("@Code Reviewer please", &["code-reviewer"]);
    check("@Code Review please", &["code"]);
    check("@code-reviewer and @code_reviewer", &["code-reviewer"]);
    check("@Code\u{a0}Reviewer", &["code-reviewer"]);
    check("@QA Lead", &["qa-lead"]);
    check("@Head of Growth", &["growth"]);
    check("@growth", &["growth"]);
    check("@Head of", &[]);
}

#[test]
fn a_name_ends_where_a_word_ends() {
    check("@Adam @Ada1 @Ada_x @Adaé", &[]);
    check("@Ada's @Code.", &["ada", "code"]);
    check("@Ada-Code", &["ada"]);
    check("@Ada\u{301}", &[]);
    check("@C++ Expert: ok", &["cpp"]);
    check("@Codes", &[]);
}

#[test]
fn another_script_may_follow_a_latin_name() {
    check("@Ada님 확인", &["ada"]);
    check("@Code Reviewer에게", &["code-reviewer"]);
    check("@Adaさん", &["ada"]);
    check("@김철수님", &[]);
    check("@김철수 님", &["kim"]);
    check("@kim은", &["kim"]);
    check("@李明", &[]);
}

#[test]
fn an_at_sign_inside_a_word_is_none() {
    check("mail ada@Ada.example", &[]);
    check("x_@Ada 1@Ada é@Ada", &[]);
    check("e\u{301}@Ada", &[]);
    check("/@Ada", &["ada"]);
}

#[test]
fn after_a_letter_of_a_script_without_addresses_it_is_one() {
    check("交给@Ada处理", &["ada"]);
    check("カナ@Ada", &["ada"]);
    check("ひらがな@李 님@kim", &["li", "kim"]);
    check("확인@김철수 님", &["kim"]);
    check("ให้@Ada ดู", &["ada"]);
    check("को@Ada", &["ada"]);
    check("ל@Ada و@Code", &["ada", "code"]);
    // These are written in addresses.
    check("почта@Ada σ@Ada ա@Ada ｘ@Ada ٣@Ada", &[]);
}

#[test]
fn other_commercial_ats_count() {
    for at in ["＠", "﹫"] {
        let body = format!("see {at}Ada");
        assert!(MentionIndex::may_mention(&body));
        check(&body, &["ada"]);
    }
    assert!(!MentionIndex::may_mention("see Ada"));
}

#[test]
fn a_word_that_names_nobody_is_told() {
    let unknown = |body: &str| index().mentions(body).unknown;
    assert_eq!(
        unknown("@Scot, @Ada, @scot and @Mary-Ann."),
        ["scot", "mary-ann"]
    );
    assert_eq!(unknown("@Adam's 交给@小明"), ["adam", "小明"]);
    let link = format!("[@Gone](agent://{})", id(99));
    assert_eq!(unknown(&link), ["gone"]);
    for body in [
        "ada@nowhere.example",
        "`@decorator` and @2x, @ home",
        "> @quoted",
        "import @types/node",
        "@Ada @Code",
    ] {
        assert_eq!(unknown(body), Vec::<String>::new(), "{body}");
    }
    let long = format!("@{}", "a".repeat(1000));
    assert_eq!(unknown(&long)[0].len(), 64);
    let many: String = (0..50).map(|n| format!("@nobody{n} ")).collect();
    assert_eq!(unknown(&many).len(), 20);
}

#[test]
fn what_looks_alike_compares_alike() {
    check("@Rene\u{301}e", &["renee"]);
    check("@RENÉE", &["renee"]);
    check("＠Ａｄａ", &["ada"]);
    check("@ΣΟΦΌΣ and @σοφός", &["sofos"]);
}

#[test]
fn entities_are_decoded_once() {
    check("&#64;Ada", &["ada"]);
    check("&#x40;Ada &commat;Code", &["ada", "code"]);
    check("@Code&nbsp;Reviewer", &["code-reviewer"]);
    check(
        "@Ada&amp;Code &lt;@Code&gt; &quot;@QA Lead&quot;",
        &["ada", "code", "qa-lead"],
    );
    check("&amp;#64;Ada", &[]);
    check("&#64Ada &#+64;Ada &#;Ada &#0;@Code &#xffffffff;", &["code"]);
    check("&unknown;@Ada", &["ada"]);
}

#[test]
fn code_mentions_nobody() {
    check("`@Ada` @Code", &["code"]);
    check("``a ` @Ada`` @Code", &["code"]);
    check("a `span\nover @Ada two` lines", &[]);
    check("an open ` does not hide @Ada", &["ada"]);
    check(
        "an open ` does not reach\n\nanother ` @Ada ` paragraph ` @Code",
        &["code"],
    );
    check("- an open `\n- item @Ada `", &["ada"]);
    check("\\`@Ada\\`", &["ada"]);
    check("\\\\`@Ada` @Code", &["code"]);
    check("@Ada`code`", &["ada"]);
    check("`code`@Ada", &["ada"]);
}

#[test]
fn fences_mention_nobody() {
    check("```\n@Ada\n```\n@Code", &["code"]);
    check("~~~ text\n@Ada\n```\n@Ada\n~~~~\n@Code", &["code"]);
    check("````\n```\n@Ada\n````\n@Code", &["code"]);
    check("```\r\n@Ada\r\n```\r\n@Code\r\n", &["code"]);
    check(
        "- item\n\n  ```sh\n  @Ada\n\n  @Ada\n  ```\n@Code",
        &["code"],
    );
    check("@Code\n```\n@Ada", &["code"]);
    check("```inline``` @Ada", &["ada"]);
}

#[test]
fn quotes_mention_nobody() {
    check("> @Ada\n@Code", &["code"]);
    check("  > @Ada\n> > @Ada\nfine > @Code", &["code"]);
    check("&gt; @Ada\n\n@Code", &["code"]);
    check("> ```\n@Code", &["code"]);
}

#[test]
fn a_link_names_an_id() {
    let link = |number| format!("agent://{}", id(number));
    check(&format!("[@Somebody]({}) @Code", link(1)), &["ada", "code"]);
    check(&format!("[@Code]({}?i=star)", link(1)), &["ada"]);
    check(&format!("[@Code]({})", link(99)), &[]);
    check(&format!("[@Code]({} x)", link(1)), &["code"]);
    check("[@Code](agent://ada)", &["code"]);
    check("[@Code]", &["code"]);
    check(&format!("[@Code [@x]({})", link(1)), &["code", "ada"]);
    check(&format!("`[@Code]({})`", link(1)), &[]);
    check(&format!("[@Twin]({}) @Ada", link(9)), &["twin-2", "ada"]);
}

#[test]
fn an_ambiguous_name_means_all() {
    check("@twin", &["twin", "twin-2"]);
    check("@twin-2", &["twin-2"]);
}

#[test]
fn a_name_with_an_at_sign_has_its_short_name() {
    check("@ops-night", &["ops-night"]);
    check("@ops@night", &[]);
}

#[test]
fn everybody_counts_once_in_order_of_appearance() {
    check(
        "@Code @Ada @Code @ada @QA Lead",
        &["code", "ada", "qa-lead"],
    );
}

#[test]
fn at_most_twenty_are_mentioned() {
    let crowd = MentionIndex::new((1..=50).map(|number| Mentionable {
        id: id(number),
        name: format!("agent {number}"),
        url_key: format!("agent-{number}"),
    }));
    let body: String = (1..=50).map(|number| format!("@agent-{number} ")).collect();
    let expected: Vec<AgentId> = (1..=MAX_MENTIONS).map(id).collect();
    assert_eq!(crowd.mentions(&body).agents, expected);

    let twins = MentionIndex::new((1..=50).map(|number| Mentionable {
        id: id(number),
        name: "Twin".into(),
        url_key: format!("twin-{number}"),
    }));
    assert_eq!(twins.mentions("@Twin").agents, expected);
}

#[test]
fn an_index_of_nobody_finds_nobody() {
    assert_eq!(MentionIndex::new([]).mentions("@Ada").agents, []);
    let nameless = Mentionable {
        id: id(1),
        name: " @ ".into(),
        url_key: String::new(),
    };
    assert_eq!(
        MentionIndex::new([nameless]).mentions("@ @@ @ "),
        Mentions::default()
    );
}

/// Pieces of Markdown that mean something to the scanner.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(
            &[
                "@",
                "@Ada",
                "@Code Reviewer",
                "`",
                "``",
                "```\n",
                "~~~\n",
                "\n",
                "> ",
                "- ",
                "\\",
                "&#64;",
                "&amp;",
                "&",
                ";",
                "[@",
                "](agent://",
                ")",
                "\r\n",
                "\u{301}",
                "님",
                "_",
                " ",
            ][..]
        )
        .prop_map(str::to_owned),
        "\\PC{0,6}",
    ]
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(pieces in proptest::collection::vec(piece(), 0..60)) {
        let found = index().mentions(&pieces.concat()).agents;
        prop_assert!(found.len() <= MAX_MENTIONS);
        for (place, agent) in found.iter().enumerate() {
            prop_assert!(!found[..place].contains(agent), "each once");
            prop_assert!((1..=AGENTS.len()).any(|number| id(number) == *agent));
        }
    }

    #[test]
    fn no_name_makes_it_panic_and_every_plain_one_is_found(name in "\\PC{1,40}", body in "\\PC{0,80}") {
        let agents = || [Mentionable { id: id(1), name: name.clone(), url_key: "x".into() }];
        let index = MentionIndex::new(agents());
        let _ = index.mentions(&body);
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ');
        if plain && !name.trim().is_empty() {
            let body = format!("hello @{}, {body}", name.trim());
            prop_assert!(index.mentions(&body).agents.contains(&id(1)));
        }
    }
}
