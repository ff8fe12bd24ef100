//! References that break while a transaction runs, because what they lead to, or what leads to it,
//! came or went meanwhile.

use workforce_testkit::on_both_databases;
use workforce_testkit::store::TestStore;

use crate::company::{Never, company};
use crate::raw::{Raw, Reference};
use crate::rows::{COMPANY, WORKER, insert_company, key};

/// Leads to nothing.
const NOWHERE: &str = "00000000-0000-7000-8000-00000000dead";

/// Lets every insertion of a company run this statement, within the same transaction.
fn run_with_each_company(raw: &mut Raw, statement: &str) {
    if raw.is_postgres() {
        raw.run(&format!(
            "CREATE OR REPLACE FUNCTION meanwhile() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN {statement}; RETURN NULL; END $$"
        ));
        raw.run("DROP TRIGGER IF EXISTS meanwhile ON companies");
        raw.run(
            "CREATE TRIGGER meanwhile AFTER INSERT ON companies
             FOR EACH ROW EXECUTE FUNCTION meanwhile()",
        );
    } else {
        raw.run("DROP TRIGGER IF EXISTS meanwhile");
        raw.run(&format!(
            "CREATE TRIGGER meanwhile AFTER INSERT ON companies BEGIN {statement}; END"
        ));
    }
}

/// How often a transaction is run of which only the first run does what the database refuses.
#[track_caller]
fn runs(store: &TestStore, what: &str) -> usize {
    let mut runs = 0;
    let outcome: Result<(), Never> = store.write(|tx| {
        runs += 1;
        if runs == 1 {
            tx.companies_mut().insert(company("NEW"))?;
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{what}: {error:?}");
    }
    runs
}

/// Leads a reference of company 0 nowhere.
fn mislead(reference: &Reference) -> String {
    let own = key(0, COMPANY);
    let column = reference.columns.rsplit(',').next().unwrap();
    format!(
        "UPDATE {} SET {column} = '{NOWHERE}' WHERE company_id = '{own}' AND {column} IS NOT NULL",
        reference.child
    )
}

on_both_databases! {
    #![beneath_the_rules]

    fn whatever_leads_to_nothing_is_looked_for_again(store: &TestStore) {
        let mut raw = Raw::of(store);
        insert_company(&mut raw, 0);
        let references = raw.references();
        assert!(references.len() > 60, "{} references", references.len());
        for reference in references {
            run_with_each_company(&mut raw, &mislead(&reference));
            assert_eq!(runs(store, &format!("{reference:?}")), 2, "{reference:?}");
        }
    }

    fn what_is_led_to_meanwhile_is_looked_at_again(store: &TestStore) {
        let mut raw = Raw::of(store);
        insert_company(&mut raw, 0);
        let delete = format!("DELETE FROM agents WHERE id = '{}'", key(0, WORKER));
        run_with_each_company(&mut raw, &delete);
        assert_eq!(runs(store, "an agent with tasks"), 2);
    }
}
