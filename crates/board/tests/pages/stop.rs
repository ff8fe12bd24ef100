//! What ends all work of a company, and what finds things in it.

use crate::issues::hire;
use crate::support::board_tests;

board_tests! {
    fn everything_is_stopped_and_set_going_again(board) {
        let home = board.found("Acme");
        let stop = format!("{home}/stop");
        let shown = board.get(&stop);
        assert!(shown.ok().contains("Stop everything?"), "{}", shown.html);
        assert_eq!(board.send(&stop, &stop, &[("deed", "stop")]).leads_to(), stop);
        assert_eq!(board.told("/api/companies")[0]["status"], "paused");
        let shown = board.get(&stop);
        assert!(shown.ok().contains("Everything is stopped"), "{}", shown.html);
        assert!(shown.html.contains("No process of an agent is alive."));
        // Twice is told, not done.
        let again = board.send(&stop, &stop, &[("deed", "stop")]);
        assert!(again.status == 409 || again.status == 303, "{}", again.html);
        assert_eq!(board.send(&stop, &stop, &[("deed", "resume")]).leads_to(), home);
        assert_eq!(board.told("/api/companies")[0]["status"], "active");
    }

    fn words_find_issues_people_and_places(board) {
        let home = board.found("Acme");
        hire(board, &home, "Ada <b>");
        let new = format!("{home}/issues/new");
        for title in ["Paint the ladder", "Sell it"] {
            board.send(&new, &new, &[("title", title), ("status", "backlog")]).leads_to();
        }
        let found = |q: &str| board.get(&format!("{home}/search?q={q}")).ok().to_owned();
        let by_word = found("ladder");
        assert!(by_word.contains("Paint the ladder") && !by_word.contains("Sell it"), "{by_word}");
        let by_key = found("acm-2");
        assert!(by_key.contains("Sell it"), "{by_key}");
        assert!(found("ada").contains("Ada &#60;b&#62;"));
        assert!(found("stop").contains(&format!("{home}/stop")));
        assert!(found("nothing+like+this").contains("has these words"));
        assert!(found("%3Cscript%3E").contains("&#60;script&#62;"));
    }
}
