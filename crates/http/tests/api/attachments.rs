//! Files attached to issues: the routes and who may use them.

use serde_json::{Value, json};

use crate::support::{NOTHING, api_tests, id};
use crate::uploads::{FORM, Place, field, file, form, objects, part, path};

/// `printf 'hello' | sha256sum`
const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

api_tests! {
    fn a_file_is_attached_listed_read_and_removed(api) {
        let place = Place::of(api);
        let body = form(&[part(
            "Content-Disposition: form-data; name=\"file\"; filename=\"note.md\"\r\n\
             Content-Type: text/markdown; charset=utf-8",
            b"hello",
        )]);
        let attachment = place.send(api, &body).ok(201);
        let own = format!("/api/attachments/{}", id(&attachment));
        assert_eq!(
            attachment,
            json!({
                "id": attachment["id"],
                "companyId": place.company["id"],
                "issueId": place.issue["id"],
                "issueCommentId": null,
                "assetId": attachment["assetId"],
                "provider": "local_disk",
                "contentType": "text/plain",
                "declaredContentType": "text/markdown",
                "byteSize": 5,
                "sha256": HELLO,
                "originalFilename": "note.md",
                "disposition": "inline",
                "createdByType": "board",
                "createdById": "local-board",
                "createdByAgentId": null,
                "createdByUserId": null,
                "contentPath": format!("{own}/content"),
                "createdAt": attachment["createdAt"],
                "updatedAt": attachment["createdAt"],
            })
        );
        assert_eq!(place.list(api), json!([attachment]));
        assert_eq!(api.get(&own).ok(200), attachment);
        let content = api.get(&format!("{own}/content"));
        assert_eq!((content.status, content.text.as_str()), (200, "hello"));
        assert_eq!(objects(api), 1);

        assert_eq!(api.send("DELETE", &own, &[], b"").ok(200), json!({ "ok": true }));
        assert_eq!(objects(api), 0);
        assert_eq!(place.list(api), json!([]));
        for gone in [&own, &format!("{own}/content")] {
            api.get(gone).problem(404, "not_found");
        }
        api.send("DELETE", &own, &[], b"").problem(404, "not_found");
        let activity = format!("/api/companies/{}/activity", id(&place.company));
        let activity = api.get(&activity).ok(200);
        assert_eq!(activity[0]["action"], "issue.attachment_removed");
        assert_eq!(activity[1]["action"], "issue.attachment_added");
        assert_eq!(activity[1]["entityId"], place.issue["id"]);
        assert_eq!(activity[1]["details"]["attachmentId"], attachment["id"]);
    }

    fn the_issue_may_be_named_by_its_identifier(api) {
        let place = Place::of(api);
        let identifier = place.issue["identifier"].as_str().unwrap();
        let named = format!("/api/companies/{}/issues/{identifier}/attachments", id(&place.company));
        let body = form(&[file("a.txt", b"x")]);
        let attachment = api.send("POST", &named, &[("Content-Type", FORM)], &body).ok(201);
        let list = format!("/api/issues/{identifier}/attachments");
        assert_eq!(api.get(&list).ok(200), json!([attachment]));
    }

    fn a_list_is_a_page_newest_first(api) {
        let place = Place::of(api);
        let made: Vec<Value> =
            (0..3).map(|n| place.attach(api, &format!("{n}.txt"), &[b'a' + n])).collect();
        let list = format!("/api/issues/{}/attachments", id(&place.issue));
        let first = api.get(&format!("{list}?limit=2"));
        assert_eq!(first.ok(200), json!([made[2], made[1]]));
        let cursor = first.header("x-next-cursor").unwrap();
        let rest = api.get(&format!("{list}?limit=2&cursor={cursor}"));
        assert_eq!(rest.ok(200), json!([made[0]]));
        assert_eq!(rest.header("x-next-cursor"), None);
        api.get(&format!("{list}?cursor=x")).problem(400, "invalid_cursor");
        api.get(&format!("/api/issues/{NOTHING}/attachments")).problem(404, "not_found");
    }

    fn an_attachment_may_belong_to_a_comment_on_its_issue(api) {
        let place = Place::of(api);
        let comment = |issue: &Value| {
            let path = format!("/api/issues/{}/comments", id(issue));
            api.post(&path, &json!({ "body": "see" })).ok(201)
        };
        let own = comment(&place.issue);
        let body = form(&[field("issueCommentId", id(&own)), file("a.txt", b"x")]);
        assert_eq!(place.send(api, &body).ok(201)["issueCommentId"], own["id"]);
        let body = form(&[file("a.txt", b"x"), field("issueCommentId", "")]);
        assert_eq!(place.send(api, &body).ok(201)["issueCommentId"], Value::Null);

        let kept = objects(api);
        let other = comment(&api.issue(&place.company, &json!({ "title": "Other" })));
        for foreign in [id(&other), NOTHING] {
            let body = form(&[file("a.txt", b"y"), field("issueCommentId", foreign)]);
            let problem = place.send(api, &body).problem(422, "reference_not_found");
            assert_eq!(problem["details"][0]["pointer"], "/issueCommentId");
        }
        let body = form(&[field("issueCommentId", "x"), file("a.txt", b"y")]);
        place.send(api, &body).problem(400, "invalid_request");
        assert_eq!(objects(api), kept);
    }

    fn any_field_may_hold_the_file_and_file_comes_first(api) {
        let place = Place::of(api);
        let other = |content: &[u8]| part(
            "Content-Disposition: form-data; name=\"upload\"; filename=\"other.txt\"",
            content,
        );
        let only = place.send(api, &form(&[field("x", "y"), other(b"one"), other(b"two")])).ok(201);
        assert_eq!((&only["originalFilename"], &only["byteSize"]), (&json!("other.txt"), &json!(3)));
        let both = place.send(api, &form(&[other(b"other"), file("own.txt", b"own!")])).ok(201);
        assert_eq!((&both["originalFilename"], &both["byteSize"]), (&json!("own.txt"), &json!(4)));
        let unnamed = place.send(api, &form(&[field("file", "plain")])).ok(201);
        assert_eq!((&unnamed["originalFilename"], &unnamed["byteSize"]), (&Value::Null, &json!(5)));
        assert_eq!(objects(api), 3);
        place
            .send(api, &form(&[file("a", b"1"), file("b", b"2")]))
            .problem(400, "invalid_request");
        assert_eq!(objects(api), 3);
    }

    fn equal_bytes_of_a_company_are_kept_once(api) {
        let place = Place::of(api);
        let (first, second) =
            (place.attach(api, "a.txt", b"same"), place.attach(api, "b.txt", b"same"));
        assert_eq!(first["assetId"], second["assetId"]);
        assert_ne!(first["id"], second["id"]);
        assert_eq!(objects(api), 1);
        // Another company does not learn of it, and keeps its own.
        let other = Place::of(api);
        let foreign = other.attach(api, "a.txt", b"same");
        assert_ne!(foreign["assetId"], first["assetId"]);
        assert_eq!(objects(api), 2);
        let remove = |attachment: &Value| {
            api.send("DELETE", &format!("/api/attachments/{}", id(attachment)), &[], b"").ok(200)
        };
        remove(&first);
        assert_eq!(objects(api), 2);
        assert_eq!(api.get(second["contentPath"].as_str().unwrap()).text, "same");
        remove(&second);
        remove(&foreign);
        assert_eq!(objects(api), 0);
        let again = place.attach(api, "a.txt", b"same");
        assert_ne!(again["assetId"], first["assetId"]);
        assert_eq!(api.get(again["contentPath"].as_str().unwrap()).text, "same");
    }

    fn bytes_that_were_lost_come_back_with_an_equal_upload(api) {
        let place = Place::of(api);
        let first = place.attach(api, "a.txt", b"lost bytes");
        let path = first["contentPath"].as_str().unwrap();
        let file = api.objects.path().join(
            format!("{}/{}", id(&place.company), first["assetId"].as_str().unwrap()),
        );
        let missing = || api.get("/api/health/ready").ok(200)["missingAttachments"].clone();
        for left in [None, Some("lost"), Some("")] {
            match left {
                Some(left) => std::fs::write(&file, left).unwrap(),
                None => std::fs::remove_file(&file).unwrap(),
            }
            api.get(path).problem(410, "attachment_missing");
            assert_eq!(missing(), 1);
            let again = place.attach(api, "b.txt", b"lost bytes");
            assert_eq!(again["assetId"], first["assetId"]);
            assert_eq!(missing(), 0);
            assert_eq!(api.get(path).text, "lost bytes");
            assert_eq!(objects(api), 1);
        }
    }

    fn agents_of_another_company_see_nothing(api) {
        let place = Place::of(api);
        let attachment = place.attach(api, "a.txt", b"secret");
        let other = api.company("Other");
        let key = api.key(&api.agent(&other, "Eve"));
        let eve = api.bearing(&key);
        let own = format!("/api/attachments/{}", id(&attachment));
        for path in [
            own.clone(),
            format!("{own}/content"),
            format!("/api/issues/{}/attachments", id(&place.issue)),
            format!("/api/issues/{}/attachments", place.issue["identifier"].as_str().unwrap()),
        ] {
            eve.get(&path).problem(404, "not_found");
        }
        eve.send("DELETE", &own, &Value::Null).problem(404, "not_found");
        let authorization = format!("Bearer {key}");
        let headers = [("Content-Type", FORM), ("Authorization", authorization.as_str())];
        let body = form(&[file("a.txt", b"x")]);
        api.send("POST", &place.path, &headers, &body).problem(403, "company_forbidden");
        // The own company with the foreign issue, for an agent and for the board.
        let mixed = path(&other, &place.issue);
        api.send("POST", &mixed, &headers, &body).problem(404, "not_found");
        api.send("POST", &mixed, &headers[..1], &body).problem(404, "not_found");
        assert_eq!(objects(api), 1);
    }

    fn uploader_assignee_and_board_remove(api) {
        let place = Place::of(api);
        let (ada, bob, cid) = (
            api.agent(&place.company, "Ada"),
            api.agent(&place.company, "Bob"),
            api.agent(&place.company, "Cid"),
        );
        let issue = format!("/api/issues/{}", id(&place.issue));
        api.patch(&issue, &json!({ "assigneeAgentId": id(&bob) })).ok(200);
        let by_ada = || {
            let authorization = format!("Bearer {}", api.key(&ada));
            let headers = [("Authorization", authorization.as_str())];
            let made = place.send_with(api, &headers, &form(&[file("a.txt", b"x")])).ok(201);
            assert_eq!(made["createdByAgentId"], ada["id"]);
            format!("/api/attachments/{}", id(&made))
        };
        for allowed in [&ada, &bob] {
            let own = by_ada();
            api.bearing(&api.key(&cid)).send("DELETE", &own, &Value::Null).problem(403, "forbidden");
            api.bearing(&api.key(allowed)).send("DELETE", &own, &Value::Null).ok(200);
        }
        api.send("DELETE", &by_ada(), &[], b"").ok(200);
        assert_eq!(objects(api), 0);
    }

    fn an_archived_company_is_readable_by_the_board(api) {
        let place = Place::of(api);
        let attachment = place.attach(api, "a.txt", b"kept");
        let key = api.key(&api.agent(&place.company, "Ada"));
        api.post(&format!("/api/companies/{}/archive", id(&place.company)), &json!({})).ok(200);
        assert_eq!(place.list(api), json!([attachment]));
        assert_eq!(api.get(attachment["contentPath"].as_str().unwrap()).text, "kept");
        let authorization = format!("Bearer {key}");
        let headers = [("Authorization", authorization.as_str())];
        let refused = place.send_with(api, &headers, &form(&[file("b.txt", b"x")]));
        assert!((400..500).contains(&refused.status), "{}", refused.text);
        assert_eq!(objects(api), 1);
    }

    fn a_repeated_upload_is_answered_like_the_first(api) {
        let place = Place::of(api);
        let keyed = [("Idempotency-Key", "k-1")];
        let body = form(&[file("a.txt", b"once")]);
        let first = place.send_with(api, &keyed, &body);
        // The same file under another boundary is the same request.
        let text = String::from_utf8(body.clone()).unwrap().replace("a-boundary-of", "another-of");
        let headers = [
            ("Content-Type", "multipart/form-data; boundary=another-of-the-tests"),
            keyed[0],
        ];
        let again = api.send("POST", &place.path, &headers, text.as_bytes());
        assert_eq!(again.ok(201), first.ok(201));
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        let changed = place.send_with(api, &keyed, &form(&[file("a.txt", b"twice")]));
        changed.problem(422, "idempotency_key_reused");
        assert_eq!(place.list(api).as_array().unwrap().len(), 1);
        assert_eq!(objects(api), 1);
        let other = place.send_with(api, &[("Idempotency-Key", "k-2")], &body).ok(201);
        assert_ne!(other["id"], first.ok(201)["id"]);
        assert_eq!(objects(api), 1);
    }
}
