use alloc::string::ToString;
use alloc::vec;
use std::collections::BTreeSet;

use super::words::MAX_WORD;
use super::*;

fn company() -> CompanyId {
    CompanyId::from(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001))
}

/// True when a text is found by what is typed.
fn finds(typed: &str, text: &str) -> bool {
    let terms = comment_terms(company(), text);
    let terms: BTreeSet<&str> = terms.split(' ').collect();
    let query = SearchQuery::parse(typed).unwrap();
    !query.terms().is_empty()
        && query.terms().iter().all(|term| {
            let term = term.within(company(), Field::Text);
            terms.contains(term.text.as_str())
                || (term.prefix && terms.iter().any(|it| it.starts_with(&term.text)))
        })
}

#[test]
fn words_are_found_whatever_their_case_and_accents() {
    for (typed, text) in [
        ("printer", "Fix the PRINTER!"),
        ("print", "Fix the printer"),
        ("PRINTER fix", "Fix the printer"),
        ("creme brulee", "Crème brûlée"),
        ("Crème", "creme"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("ёлка", "елка"),
        ("istanbul", "İSTANBUL"),
        ("ﬁle", "file"),
        ("ｆｕｌｌ", "full"),
        ("foo_bar.rs", "see src/foo_bar.rs:12"),
        ("rs", "see src/foo_bar.rs:12"),
        ("v2", "release v2"),
        ("12", "only 12 left"),
        ("🚀", "ship it 🚀 now"),
        ("👍🏽", "👍"),
        ("हिन्दी", "यह हिन्दी है"),
    ] {
        assert!(finds(typed, text), "{typed} in {text}");
    }
    for (typed, text) in [
        ("printers", "Fix the printer"),
        ("rinter", "Fix the printer"),
        ("fi", "file"),
        ("fix scanner", "Fix the printer"),
        ("!!!", "what!!!"),
        ("", "anything"),
        ("👎", "👍"),
    ] {
        assert!(!finds(typed, text), "{typed} in {text}");
    }
}

#[test]
fn text_without_spaces_is_found_by_its_parts() {
    for (typed, text) in [
        ("打印机", "请修理打印机谢谢"),
        ("印", "请修理打印机谢谢"),
        ("谢", "请修理打印机谢谢"),
        ("로그인", "로그인을 고쳐 주세요"),
        ("그인을", "로그인을 고쳐 주세요"),
        ("プリンタ", "このプリンターを直す"),
        ("ﾌﾟﾘﾝﾀ", "このプリンターを直す"),
        ("เครื่อง", "ซ่อมเครื่องพิมพ์"),
        ("iphone手机", "我的iPhone手机坏了"),
    ] {
        assert!(finds(typed, text), "{typed} in {text}");
    }
    assert!(!finds("打机", "请修理打印机谢谢"));
    assert!(!finds("が", "か"));
}

#[test]
fn what_is_typed_is_text_and_no_query() {
    for typed in [
        "\"printer",
        "printer*",
        "printer OR scanner",
        "NOT printer",
        "title:printer",
        "(printer",
        "printer & scanner",
        "printer | !scanner",
        "printer:*",
        "a'b\\c",
        "NEAR(printer, 2)",
    ] {
        let query = SearchQuery::parse(typed).unwrap();
        for term in query.terms() {
            assert!(
                term.text.chars().all(|c| c.is_ascii_alphanumeric()),
                "{typed}: {term:?}"
            );
        }
    }
    assert!(!finds("printer OR scanner", "the printer"));
    assert!(finds("printer OR scanner", "scanner or printer"));
}

#[test]
fn identifiers_are_told_from_other_text() {
    for (typed, identifier, term) in [
        ("abc-12", Some("ABC-12"), Some("abc\u{b7}12")),
        (" A1-007 ", Some("A1-007"), Some("a1\u{b7}007")),
        ("abc-", None, None),
        ("abc", None, None),
        ("-12", None, None),
        ("ab c-1", None, None),
        ("abc-1a", None, None),
    ] {
        let query = SearchQuery::parse(typed).unwrap();
        assert_eq!(query.identifier(), identifier, "{typed}");
        assert_eq!(
            query.identifier_term().map(|it| it.text.as_str()),
            term,
            "{typed}"
        );
    }
}

#[test]
fn an_issue_has_its_terms_by_field() {
    let terms = own_terms(company(), "ABC-12", "Fix it", Some("the printer"));
    let tag: String = start_of(company()).iter().collect();
    let expected: BTreeSet<String> = [
        "iabc\u{b7}12",
        "tabc",
        "t12",
        "tfix",
        "tit",
        "wabc",
        "w12",
        "wfix",
        "wit",
        "wthe",
        "wprinter",
    ]
    .iter()
    .map(|term| alloc::format!("{tag}{term}"))
    .collect();
    let found: BTreeSet<String> = terms.split(' ').map(ToString::to_string).collect();
    assert_eq!(found, expected);
    let other = CompanyId::from(Uuid::from_u128(2));
    assert!(!own_terms(other, "ABC-12", "Fix it", None).contains(&tag));
}

#[test]
fn a_query_is_bounded() {
    assert!(SearchQuery::parse(&"x".repeat(500)).is_ok());
    let error = SearchQuery::parse(&"x".repeat(501)).unwrap_err();
    assert_eq!(
        error,
        TextError::TooLong {
            max: 500,
            unit: "characters"
        }
    );
    assert!(SearchQuery::parse(&"界".repeat(501)).is_err());
    let many: Vec<String> = (0..150).map(|n| alloc::format!("{n:03}")).collect();
    let query = SearchQuery::parse(&many.join(" ")[..499]).unwrap();
    assert_eq!(query.terms().len(), SearchQuery::MAX_TERMS);
    let same = SearchQuery::parse("Fix fix FIX").unwrap();
    assert_eq!(
        same.terms(),
        [Term {
            text: "fix".into(),
            prefix: true
        }]
    );
}

#[test]
fn hostile_texts_stay_below_the_limits_of_databases() {
    let han: String = (0..68_000_u32)
        .filter_map(|n| char::from_u32(0x4e00 + n.wrapping_mul(7919) % 20_000))
        .collect();
    let texts = vec![
        "x".repeat(200 * 1024),
        han,
        "\u{301}".repeat(100_000),
        "\u{fdfa}".repeat(68_000),
        "\u{3300}".repeat(68_000),
        (0..40_000).map(|n| alloc::format!("{n:x} ")).collect(),
    ];
    for text in texts {
        let terms = own_terms(company(), "ABC-1", "t", Some(&text));
        assert!(terms.len() <= MAX_TERM_BYTES, "{}", terms.len());
        assert!(terms.split(' ').all(|term| term.len() <= 5 + MAX_WORD * 4));
    }
}

proptest::proptest! {
    #[test]
    fn every_text_is_found_by_each_of_its_words(text in "\\PC{0,80}", at in 0..20_usize) {
        let words: Vec<&str> = text.split_whitespace().collect();
        if let Some(word) = words.get(at % words.len().max(1)) {
            let query = SearchQuery::parse(word).unwrap();
            proptest::prop_assert!(query.terms().is_empty() || finds(word, &text), "{word:?}");
        }
        if words.len() > 1 {
            let query = SearchQuery::parse(&text).unwrap();
            proptest::prop_assert!(query.terms().is_empty() || finds(&text, &text));
        }
    }

    #[test]
    fn a_place_is_the_one_that_an_index_answers(
        typed in "(A-[12]{1,2}|[abABé界人🚀 -]{0,6})",
        number in 1..30,
        title in "[abcABCéÉ界人로🚀\u{301} .-]{0,12}",
        description in "[abcABCéÉ界人로🚀\u{301} .-]{0,12}",
    ) {
        let identifier = alloc::format!("A-{number}");
        let terms = own_terms(company(), &identifier, &title, Some(&description));
        let query = SearchQuery::parse(&typed).unwrap();
        let has = |field, asked: &[Term]| {
            !asked.is_empty() && asked.iter().all(|term| {
                let term = term.within(company(), field);
                terms.split(' ').any(|it| term.is_met_by(it))
            })
        };
        let start: Vec<Term> = query.identifier_term().cloned().into_iter().collect();
        let expected = if query.identifier() == Some(&*identifier) {
            Some(FoundIn::Identifier)
        } else if has(Field::Identifier, &start) {
            Some(FoundIn::IdentifierStart)
        } else if has(Field::Title, query.terms()) {
            Some(FoundIn::Title)
        } else {
            has(Field::Text, query.terms()).then_some(FoundIn::OwnText)
        };
        let sighting = query.sighted_in(&identifier, &title, Some(&description));
        proptest::prop_assert_eq!(sighting.place, expected);
        for (index, term) in query.terms().iter().enumerate() {
            let is_missing = sighting.missing & (1 << index) != 0;
            proptest::prop_assert_eq!(is_missing, !has(Field::Text, core::slice::from_ref(term)));
        }
    }

    #[test]
    fn plain_texts_are_cut_as_all_others(text in "[ -~\\t\\n]{0,60}") {
        let (mut plain, mut folded) = (Vec::new(), Vec::new());
        each_word(&text, &mut |word| word.indexed(&mut |it| plain.push(it.to_string())));
        each_word(&alloc::format!("{text} é"), &mut |word| {
            word.indexed(&mut |it| folded.push(it.to_string()));
        });
        proptest::prop_assert_eq!(folded.pop(), Some("e".to_string()));
        proptest::prop_assert_eq!(plain, folded);
    }

    #[test]
    fn terms_hold_nothing_that_a_database_could_read(text in proptest::prelude::any::<String>()) {
        for term in comment_terms(company(), &text).split(' ').filter(|term| !term.is_empty()) {
            for c in term.chars() {
                let plain = c.is_ascii_alphanumeric() || !c.is_ascii();
                proptest::prop_assert!(plain && !c.is_whitespace(), "{c:?}");
            }
        }
    }
}
