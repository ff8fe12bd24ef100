use crate::issues::hire;
use crate::support::board_tests;

board_tests! {
    fn a_file_is_made_written_and_deleted(board) {
        let home = board.found("Acme");
        hire(board, &home, "Ada");
        let path = format!("{home}/agents/ada/instructions");
        let first = board.get(&path);
        let entry = first.hidden("path").to_owned();
        let new = [("deed", "new"), ("newPath", "notes/style.md")];
        let file = board.send(&path, &path, &new).leads_to().to_owned();
        assert_eq!(file, format!("{path}?file=notes%2Fstyle.md"));
        let refused = board.send(&path, &path, &new);
        assert_eq!(refused.status, 422, "{}", refused.html);
        let refused = board.send(&path, &path, &[("deed", "new"), ("newPath", "../up.md")]);
        assert_eq!(refused.status, 422, "{}", refused.html);
        let page = board.get(&file);
        let text = "\n  Two blanks, </textarea><script>alert(1)</script>\n";
        let fields = [
            ("deed", "save"), ("path", "notes/style.md"), ("content", text),
            ("ifMatch", page.hidden("ifMatch")),
        ];
        board.send(&path, &path, &fields).leads_to();
        let page = board.get(&file);
        let shown = "\n\n  Two blanks, &#60;/textarea&#62;&#60;script&#62;alert(1)";
        assert!(page.ok().contains(shown), "{}", page.html);
        let refused = board.send(&path, &path, &[("deed", "delete"), ("path", &entry)]);
        assert_eq!(refused.status, 422, "{}", refused.html);
        board.send(&path, &path, &[("deed", "delete"), ("path", "notes/style.md")]).leads_to();
        assert!(board.get(&file).ok().contains("There is no such file"));
    }

    fn whoever_saves_second_sees_both_texts(board) {
        let home = board.found("Acme");
        hire(board, &home, "Ada");
        let path = format!("{home}/agents/ada/instructions");
        let shown = board.get(&path);
        let (entry, seen) = (shown.hidden("path"), shown.hidden("ifMatch"));
        let save = |content: &str, seen: &str| {
            let fields = [
                ("deed", "save"), ("path", entry), ("content", content), ("ifMatch", seen),
            ];
            board.send(&path, &path, &fields)
        };
        save("what they wrote", seen).leads_to();
        let page = save("what you wrote", seen);
        assert_eq!(page.status, 409, "{}", page.html);
        assert!(page.html.contains("what they wrote") && page.html.contains("what you wrote"));
        save("what you wrote", page.hidden("ifMatch")).leads_to();
        let page = board.get(&path);
        assert!(page.ok().contains("what you wrote") && !page.html.contains("what they wrote"));
    }
}
