use crate::issues::hire;
use crate::support::board_tests;

board_tests! {
    fn an_agent_is_woken_stopped_paused_and_resumed(board) {
        let home = board.found("Acme");
        hire(board, &home, "Ada");
        let ada = format!("{home}/agents/ada");
        assert!(board.get(&format!("{home}/agents")).ok().contains(&format!(r#"href="{ada}""#)));
        assert!(board.get(&ada).ok().contains("It did not run yet."));
        assert_eq!(board.send(&ada, &ada, &[("deed", "wake")]).leads_to(), ada);
        let page = board.get(&ada);
        assert!(page.ok().contains("woken by hand"), "{}", page.html);
        let runs = format!("{home}/runs");
        let list = board.get(&runs);
        let (_, rest) = list.ok().split_once(&format!("{runs}/")).unwrap();
        let run = format!("{runs}/{}", rest.split('"').next().unwrap());
        assert!(board.get(&run).ok().contains("Ada is to start"));
        assert_eq!(board.send(&run, &run, &[]).leads_to(), run);
        assert!(board.get(&run).ok().contains("Ada was stopped"));
        for (deed, shown) in [("pause", "Paused"), ("resume", "Idle")] {
            board.send(&ada, &ada, &[("deed", deed)]).leads_to();
            let page = board.get(&ada);
            assert!(page.ok().contains(shown), "{deed}: {}", page.html);
        }
    }

    fn the_run_and_the_agent_of_another_company_are_not_there(board) {
        let home = board.found("Acme");
        hire(board, &home, "Ada");
        let other = board.found("Other");
        let ada = format!("{home}/agents/ada");
        board.send(&ada, &ada, &[("deed", "wake")]).leads_to();
        let list = board.get(&format!("{home}/runs"));
        let (_, rest) = list.ok().split_once(&format!("{home}/runs/")).unwrap();
        let run = rest.split('"').next().unwrap();
        for path in [format!("{other}/runs/{run}"), format!("{other}/agents/ada")] {
            assert_eq!(board.get(&path).status, 404, "{path}");
            assert_eq!(board.post(&path, &[("deed", "pause")]).status, 404, "{path}");
        }
        assert!(board.get(&format!("{home}/runs/{run}")).ok().contains("Ada is to start"));
    }
}
