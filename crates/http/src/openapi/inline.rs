//! Puts the schemas of changes into the fields that are changed: a name of its own would tell
//! nothing.

use std::collections::BTreeMap;

use utoipa::openapi::schema::{ArrayItems, Schema};
use utoipa::openapi::{Ref, RefOr};
use workforce_domain::openapi::{CHANGE, REPLACE};

/// The schemas by name, each as it stands in the document.
pub(super) fn fields(named: Vec<(String, RefOr<Schema>)>) -> BTreeMap<String, RefOr<Schema>> {
    let (changes, mut schemas): (BTreeMap<_, _>, BTreeMap<_, _>) =
        named.into_iter().partition(|(name, _)| is_change(name));
    for schema in schemas.values_mut() {
        replace(schema, &changes);
    }
    schemas
}

fn is_change(name: &str) -> bool {
    [CHANGE, REPLACE].iter().any(|kind| {
        name.strip_prefix(kind)
            .is_some_and(|rest| rest.starts_with('_'))
    })
}

fn replace(schema: &mut RefOr<Schema>, changes: &BTreeMap<String, RefOr<Schema>>) {
    match schema {
        RefOr::Ref(reference) => {
            let name = reference
                .ref_location
                .rsplit('/')
                .next()
                .unwrap_or_default();
            if let Some(change) = changes.get(name) {
                *schema = described(change.clone(), reference);
            }
        }
        RefOr::T(Schema::Object(object)) => {
            for property in object.properties.values_mut() {
                replace(property, changes);
            }
        }
        RefOr::T(Schema::Array(array)) => {
            if let ArrayItems::RefOrSchema(items) = &mut array.items {
                replace(items, changes);
            }
        }
        RefOr::T(Schema::AllOf(all)) => {
            for item in &mut all.items {
                replace(item, changes);
            }
        }
        RefOr::T(_) => {}
    }
}

/// The schema with the description that its field gives it.
fn described(mut schema: RefOr<Schema>, field: &Ref) -> RefOr<Schema> {
    let description = (!field.description.is_empty()).then(|| field.description.clone());
    match &mut schema {
        RefOr::Ref(reference) => reference.description.clone_from(&field.description),
        RefOr::T(Schema::Object(object)) => object.description = description,
        RefOr::T(Schema::Array(array)) => array.description = description,
        RefOr::T(Schema::OneOf(choice)) => choice.description = description,
        RefOr::T(_) => {}
    }
    schema
}
