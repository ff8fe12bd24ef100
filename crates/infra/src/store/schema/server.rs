diesel::table! {
    use crate::store::columns::Key;
    use diesel::sql_types::*;

    installation (id) {
        id -> Integer,
        installation_id -> Key,
        attachments -> Nullable<Text>,
    }
}
