use super::super::examples::report;
use super::*;

const PAGE: &str = "# Page\n\n<!-- results -->\nold\n<!-- /results -->\n\nMore\n";

#[test]
fn the_results_take_the_place_between_the_marks() {
    let report = report();
    // As the file of results has them.
    let json = serde_json::to_string(&report).unwrap();
    let read: Report = serde_json::from_str(&json).unwrap();
    let page = page(PAGE, &[read], Some("a.svg")).unwrap();
    assert_eq!(
        page,
        "# Page\n\n<!-- results -->\n\
         \n\
         ![Latency by number of issues](a.svg)\n\
         \n\
         | Measured | 2026-01-01T00:00:00Z |\n\
         |---|---|\n\
         | Processor | A B, 2 cores |\n\
         | Kernel | Linux 6.1 |\n\
         | File system | unknown |\n\
         | Load average before and after | 0.5, unknown |\n\
         | Each figure | 3.0 s in 5 rounds, each after 0.2 s of warming up |\n\
         \n\
         ### SQLite, 100,000 issues\n\
         \n\
         Start-up 300 ms; resident memory 20.0 MiB, at most 30.0, without mapped files 10.0.\n\
         \n\
         | Figure | Clients | per second | p50 ms | p99 ms | Limit or baseline | Ratio | Shared commits | Ratio |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|\n\
         | GET agent me | 8 | 1,000 | 1.00 | 2.00 |  |  |  |  |\n\
         | POST issue | 8 | 1,000 | 1.00 | 2.00 | 2,000 | 0.50 |  |  |\n\
         \n\
         ### Claims\n\
         \n\
         | Database | Due wakes | per second | p50 ms | p99 ms |\n\
         |---|--:|--:|--:|--:|\n\
         | SQLite | 10,000 | 2,000 | 1.00 | 1.00 |\n\
         \n\
         ### Targets\n\
         \n\
         2 of 4 are met; these are not:\n\
         \n\
         | What | Measured | Target |\n\
         |---|--:|--:|\n\
         | SQLite, 100,000 issues: POST issue, 8 clients, part of the baseline | 0.50 | at least 0.6 |\n\
         | SQLite, 100,000 issues: start-up | 300.00 ms | below 300 |\n\
         \n\
         <!-- /results -->\n\nMore\n"
    );
    // Writing the same again changes nothing.
    assert_eq!(super::page(&page, &[report], Some("a.svg")).unwrap(), page);
}

#[test]
fn a_page_without_marks_is_left_alone() {
    assert!(page("# Page\n", &[report()], None).is_err());
}
