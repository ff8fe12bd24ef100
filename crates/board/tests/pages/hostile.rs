use serde_json::json;

use crate::support::{Board, board_tests};

/// Markup with which Markdown may be made to take long or to grow.
const REPEATED: [&str; 8] = [">", "[", "*", "|a", "<b>", "- ", "`", "![a]("];

/// What a description may have at most.
const LONG: usize = 100_000;

fn company(board: &Board) -> String {
    board.found("Acme");
    let company = board.told("/api/companies")[0]["id"].clone();
    format!("/api/companies/{}/issues", company.as_str().unwrap())
}

/// How long a text is where all that means something in HTML is spelled out.
fn escaped(text: &str) -> usize {
    let lengths = text.chars().map(|it| match it {
        '<' | '>' | '&' | '"' | '\'' => 5,
        it => it.len_utf8(),
    });
    lengths.sum()
}

board_tests! {
    fn long_texts_make_no_longer_pages(board) {
        let issues = company(board);
        for repeated in REPEATED {
            let text = repeated.repeat(LONG / repeated.len());
            let issue = board.call(&issues, &json!({ "title": "Long", "description": text }));
            let page = board.get(&format!("/c/ACM/issues/{}", issue["identifier"].as_str().unwrap()));
            // It is shown, and stands in the form that changes it.
            let more = page.ok().len().saturating_sub(2 * escaped(&text));
            assert!(more < LONG, "{repeated}: {more}");
        }
    }

    fn no_hostile_text_becomes_markup(board) {
        let issues = company(board);
        let texts: Vec<String> = serde_json::from_str(include_str!("../hostile.json")).unwrap();
        for text in &texts {
            let title = text.replace('\n', " ");
            let issue = json!({ "title": title, "description": text });
            let made = board.call(&issues, &issue);
            let page = board.get(&format!("/c/ACM/issues/{}", made["identifier"].as_str().unwrap()));
            for tag in ["<script>", "<img", "<iframe", "<style", "<svg onload", "<base", "<meta http",
                "<object", "<embed", "<template", "<math", "<a href=\"java", "<form action=h"] {
                assert!(!page.ok().contains(tag), "{text}: {tag}");
            }
        }
    }
}
