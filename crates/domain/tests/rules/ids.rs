//! Typed ids.

use proptest::prelude::*;
use uuid::Uuid;
use workforce_domain::id::{AgentId, Id, IssueId};

const TEXT: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

#[test]
fn an_id_is_read_and_printed_hyphenated() {
    let id: IssueId = TEXT.parse().unwrap();
    assert_eq!(id.to_string(), TEXT);
    assert_eq!(TEXT.to_uppercase().parse::<IssueId>(), Ok(id));
    assert_eq!(IssueId::KIND, "issue");
}

#[test]
fn every_other_spelling_is_refused() {
    let simple = TEXT.replace('-', "");
    for text in [
        String::new(),
        "ABC-12".into(),
        simple,
        format!("{{{TEXT}}}"),
        format!("urn:uuid:{TEXT}"),
        format!(" {TEXT}"),
        format!("{TEXT}\n"),
        TEXT.replace('-', "_"),
        TEXT.replace('0', "g"),
    ] {
        assert!(text.parse::<AgentId>().is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn ids_read_back_and_keep_their_order(one in any::<u128>(), other in any::<u128>()) {
        let (one, other): (AgentId, AgentId) =
            (Uuid::from_u128(one).into(), Uuid::from_u128(other).into());
        prop_assert_eq!(one.to_string().parse(), Ok(one));
        prop_assert_eq!(one.cmp(&other), one.to_string().cmp(&other.to_string()));
    }

    #[test]
    fn nothing_makes_it_panic(text in "\\PC{0,40}") {
        let _ = text.parse::<AgentId>();
    }
}
