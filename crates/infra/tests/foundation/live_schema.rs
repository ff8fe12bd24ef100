//! The tables as they are, against the tables as the queries see them.

use std::collections::BTreeMap;

use workforce_testkit::on_both_databases;
use workforce_testkit::store::{postgres_store, sqlite_store};

use crate::raw::{Column, Raw};

/// Every source of the schema, joined.
fn schema() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/schema");
    let mut sources: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    sources.sort();
    sources.concat()
}

/// How a type of the queries is spelled by each database.
const TYPES: [(&str, &str, &str); 9] = [
    ("BigInt", "integer", "bigint"),
    ("Binary", "blob", "bytea"),
    ("Bool", "integer", "boolean"),
    ("Instant", "integer", "timestamp with time zone"),
    ("Integer", "integer", "integer"),
    ("Json", "text", "jsonb"),
    ("Key", "text", "uuid"),
    ("SmallInt", "integer", "smallint"),
    ("Text", "text", "text"),
];

/// The tables that the source declares, with their columns by name.
fn declared(postgres: bool) -> BTreeMap<String, Vec<Column>> {
    let mut tables = BTreeMap::new();
    for block in schema().split("diesel::table! {").skip(1) {
        let mut table = None;
        let mut columns = Vec::new();
        let mut renamed = None;
        for line in block
            .lines()
            .map(str::trim)
            .take_while(|line| !line.starts_with("diesel::"))
        {
            if let Some(name) = line.strip_prefix("#[sql_name = \"") {
                renamed = name.strip_suffix("\"]").map(str::to_owned);
            } else if let Some((name, keys)) = line.split_once(" (")
                && let Some(keys) = keys.strip_suffix(") {")
            {
                let keys: Vec<String> = keys.split(", ").map(str::to_owned).collect();
                table = Some((name.to_owned(), keys));
            } else if let Some((name, kind)) = line.split_once(" -> ") {
                let kind = kind.trim_end_matches(',');
                let nullable = kind
                    .strip_prefix("Nullable<")
                    .and_then(|it| it.strip_suffix('>'));
                let known = TYPES.iter().find(|it| it.0 == nullable.unwrap_or(kind));
                let (_, in_sqlite, in_postgres) = known.unwrap_or_else(|| panic!("{line}"));
                let name = renamed.take().unwrap_or_else(|| name.to_owned());
                let keys = table.as_ref().map_or(&[][..], |(_, keys)| keys);
                let key_place = keys
                    .iter()
                    .position(|key| *key == name)
                    .map_or(0, |it| it + 1);
                columns.push(Column {
                    key_place: key_place.try_into().unwrap(),
                    name,
                    kind: (if postgres { in_postgres } else { in_sqlite }).to_string(),
                    not_null: nullable.is_none(),
                });
            }
        }
        columns.sort_by(|one, other| one.name.cmp(&other.name));
        tables.insert(table.unwrap().0, columns);
    }
    tables
}

on_both_databases! {
    #![beneath_the_rules]
    fn the_live_tables_are_those_of_the_queries(store: &TestStore) {
        let mut raw = Raw::of(store);
        let declared = declared(raw.is_postgres());
        assert!(declared.len() > 20, "{} tables", declared.len());
        assert_eq!(raw.tables(), declared.keys().cloned().collect::<Vec<_>>());
        for (table, columns) in declared {
            assert_eq!(raw.columns(&table), columns, "{table}");
        }
    }
}

#[test]
fn both_databases_have_the_same_indexes_and_references() {
    let sqlite = sqlite_store();
    let Some(postgres) = postgres_store() else {
        return;
    };
    let (mut sqlite, mut postgres) = (Raw::of(&sqlite), Raw::of(&postgres));
    let indexes = sqlite.indexes();
    assert!(indexes.len() > 20, "{} indexes", indexes.len());
    assert_eq!(indexes, postgres.indexes());
    let sorted = |raw: &mut Raw| {
        let mut references = raw.references();
        references.sort_by_key(|it| (it.child.clone(), it.columns.clone()));
        references
    };
    assert_eq!(sorted(&mut sqlite), sorted(&mut postgres));
}
