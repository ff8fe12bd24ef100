use serde_json::json;

use crate::issues::hire;
use crate::support::board_tests;

const CANARY: &str = "canary-value-of-a-secret";

board_tests! {
    fn a_secret_is_made_replaced_described_and_deleted(board) {
        let home = board.found("Acme");
        let list = format!("{home}/secrets");
        let fields = [
            ("name", "forge <b>"), ("provider", "local_encrypted"), ("value", CANARY),
            ("description", "for <i>pushes</i>"),
        ];
        let made = board.send(&list, &list, &fields);
        let secret = made.leads_to().to_owned();
        assert!(!secret.contains(CANARY));
        // Another of the same name is refused, and its value does not come back.
        let refused = board.send(&list, &list, &fields);
        assert_eq!(refused.status, 409, "{}", refused.html);
        assert!(refused.html.contains("forge &#60;b&#62;"), "{}", refused.html);
        let rotate = [("deed", "rotate"), ("value", "canary-value-of-a-secret-2\r\n")];
        board.send(&secret, &secret, &rotate).leads_to();
        let empty = board.send(&secret, &secret, &[("deed", "rotate"), ("value", "")]);
        assert_eq!(empty.status, 422);
        let change = [("deed", "change"), ("name", "forge"), ("description", "")];
        board.send(&secret, &secret, &change).leads_to();
        let wrong = board.send(&secret, &secret, &[("deed", "change"), ("name", "")]);
        assert_eq!(wrong.status, 400, "{}", wrong.html);
        let page = board.get(&secret);
        assert!(page.ok().contains("newest"), "{}", page.html);
        let delete = [("deed", "delete-version"), ("version", "2")];
        let newest = board.send(&secret, &secret, &delete);
        assert_eq!(newest.status, 422, "{}", newest.html);
        board.send(&secret, &secret, &[("deed", "delete-version"), ("version", "1")]).leads_to();
        for page in [&refused, &empty, &wrong, &newest, &page, &board.get(&list)] {
            assert!(!page.html.contains("canary"), "{}", page.html);
        }
        let refused = board.send(&secret, &secret, &[("deed", "delete"), ("confirm", "forg")]);
        assert_eq!(refused.status, 422);
        board.send(&secret, &secret, &[("deed", "delete"), ("confirm", "forge")]).leads_to();
        assert_eq!(board.get(&secret).status, 404);
    }

    fn whoever_breaks_without_a_secret_is_shown_before_it_is_deleted(board) {
        let home = board.found("Acme");
        let id = hire(board, &home, "Ada");
        let company = board.told(&format!("/api/agents/{id}"))["companyId"].clone();
        let list = format!("{home}/secrets");
        let made = board.send(&list, &list, &[("name", "forge"), ("value", CANARY)]);
        let secret = made.leads_to().to_owned();
        let seen = board.get(&secret);
        let reference = json!({
            "type": "secret_ref", "secretId": secret.rsplit('/').next().unwrap(), "version": 1,
        });
        let bea = json!({
            "name": "Bea", "adapterType": "process",
            "adapterConfig": { "command": "true", "env": { "FORGE": reference } },
        });
        let agents = format!("/api/companies/{}/agents", company.as_str().unwrap());
        board.call(&agents, &bea);
        // Nobody was shown when the page was looked at.
        let fields = [("deed", "delete"), ("confirm", "forge"), ("breaks", seen.hidden("breaks"))];
        let refused = board.send(&secret, &secret, &fields);
        assert_eq!(refused.status, 409, "{}", refused.html);
        for shown in ["Bea", "FORGE", "version 1", "The next runs of these agents fail"] {
            assert!(refused.html.contains(shown), "{shown}: {}", refused.html);
        }
        let breaks = refused.hidden("breaks");
        let fields = [("deed", "delete"), ("confirm", "forge"), ("breaks", breaks)];
        assert_eq!(board.send(&secret, &secret, &fields).leads_to(), list);
    }

    fn a_secret_of_another_company_is_not_there(board) {
        let home = board.found("Acme");
        let other = board.found("Other");
        let list = format!("{home}/secrets");
        let made = board.send(&list, &list, &[("name", "forge"), ("value", CANARY)]);
        let theirs = made.leads_to().replacen(&home, &other, 1);
        assert_eq!(board.get(&theirs).status, 404);
        let delete = [("deed", "delete"), ("confirm", "forge"), ("breaks", "0")];
        assert_eq!(board.post(&theirs, &delete).status, 404);
        assert_eq!(board.get(made.leads_to()).status, 200);
    }
}
