use crate::issues::hire;
use crate::support::board_tests;

board_tests! {
    fn a_key_is_shown_once_and_revoked(board) {
        let home = board.found("Acme");
        hire(board, &home, "Ada");
        let path = format!("{home}/agents/ada/keys");
        let made = board.send(&path, &path, &[("deed", "make"), ("name", "deploy <b>")]);
        assert!(made.ok().contains("deploy &#60;b&#62;"), "{}", made.html);
        let (_, rest) = made.html.split_once("<pre").unwrap();
        let (_, rest) = rest.split_once('>').unwrap();
        let key = rest.split('<').next().unwrap();
        let prefix = key.get(..6).unwrap();
        assert!(key.len() > 30, "{key}");
        // The page is not fetched anew while the key stands on it.
        assert!(!made.html.contains(r#"id="main" data-region"#));
        let page = board.get(&path);
        assert!(page.ok().contains(prefix) && !page.html.contains(key), "{}", page.html);
        for elsewhere in ["agents/ada", "agents/ada/history", ""] {
            assert!(!board.get(&format!("{home}/{elsewhere}")).html.contains(key));
        }
        let refused = board.send(&path, &path, &[("deed", "make"), ("name", "")]);
        assert_eq!(refused.status, 400, "{}", refused.html);
        assert_eq!(board.send(&path, &path, &[("deed", "revoke"), ("keyId", "x")]).status, 404);
        let id = page.hidden("keyId");
        board.send(&path, &path, &[("deed", "revoke"), ("keyId", id)]).leads_to();
        assert!(board.get(&path).ok().contains("revoked"));
        let asked = board.get_with("/api/agents/me", &[("Authorization", &format!("Bearer {key}"))]);
        assert_eq!(asked.status, 401);
    }
}
