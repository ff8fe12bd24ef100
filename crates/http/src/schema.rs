//! Schemas of the domain's values, under which the OpenAPI document names
//! them. Each type here stands for the domain's type of the same name in
//! `#[schema(value_type = ...)]`.

use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    AnyOfBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type,
};
use utoipa::{PartialSchema, ToSchema};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::{
    activity, actor, agent, approval, attachment, company, conventions, cost, goal, instructions,
    issue, project, revision, run, secret, text, wake,
};

fn string_enum<W: StringEnum>() -> RefOr<Schema> {
    let words = W::ALL.iter().map(|word| Value::from(word.as_str()));
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(words))
        .into()
}

/// Text of 1 to `max` characters. White space around it does not count, so the
/// schema cannot say more.
fn line(max: usize) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(max))
        .pattern(Some(r"\S"))
        .into()
}

/// Text bounded by its bytes; a schema counts characters, so that this is the
/// outer bound.
fn prose(max: usize) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .max_length(Some(max))
        .into()
}

fn slug(max: usize) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .max_length(Some(max))
        .pattern(Some("^[a-z][a-z0-9_-]*$"))
        .into()
}

fn color() -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some("^#[0-9A-Fa-f]{6}$"))
        .into()
}

/// One event of a stream: what stands in its lines, of which there may be
/// others.
fn server_sent_event() -> RefOr<Schema> {
    let line = || ObjectBuilder::new().schema_type(Type::String);
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("One event of the stream, by the names of its lines."))
        .property("id", line())
        .property("event", line())
        .property("data", line().description(Some("A JSON text.")))
        .property("retry", ObjectBuilder::new())
        .into()
}

fn formatted(format: SchemaFormat) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(format))
        .into()
}

/// A date, or an instant.
fn day_or_instant() -> RefOr<Schema> {
    let form = |format| formatted(SchemaFormat::KnownFormat(format));
    AnyOfBuilder::new()
        .item(form(KnownFormat::Date))
        .item(form(KnownFormat::DateTime))
        .into()
}

macro_rules! schemas {
    ($($name:ident = $schema:expr;)+) => {$(
        #[doc = concat!("Stands for the domain's `", stringify!($name), "`.")]
        pub(crate) enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                $schema
            }
        }

        impl ToSchema for $name {}
    )+};
}

schemas! {
    Id = formatted(SchemaFormat::Custom("uuid".to_owned()));
    Timestamp = formatted(SchemaFormat::KnownFormat(KnownFormat::DateTime));
    TargetDate = day_or_instant();
    Document = ObjectBuilder::new().schema_type(Type::Object).into();

    ServerSentEvent = server_sent_event();

    Name = line(text::Name::MAX);
    Title = line(text::Title::MAX);
    Label = line(text::Label::MAX);
    LabelName = line(text::LabelName::MAX);
    Color = color();
    Location = line(text::Location::MAX);
    Description = prose(text::Description::MAX);
    CompactContext = prose(text::CompactContext::MAX);
    CommentBody = line(text::CommentBody::MAX);
    DecisionNote = prose(text::DecisionNote::MAX);
    FileName = line(text::FileName::MAX);
    MediaType = line(text::MediaType::MAX);
    SecretName = line(text::SecretName::MAX);
    SecretValue = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(secret::SecretValue::MAX))
        .into();
    ExternalRef = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(secret::ExternalRef::MAX))
        .into();
    Role = slug(text::Role::MAX);

    Code = string_enum::<workforce_app::Code>();
    CompanyStatus = string_enum::<company::CompanyStatus>();
    PauseReason = string_enum::<company::PauseReason>();
    AgentStatus = string_enum::<agent::AgentStatus>();
    AdapterType = string_enum::<agent::AdapterType>();
    RevisionSource = string_enum::<revision::RevisionSource>();
    BundleMode = string_enum::<instructions::BundleMode>();
    ApprovalType = string_enum::<approval::ApprovalType>();
    ApprovalStatus = string_enum::<approval::ApprovalStatus>();
    ApprovalHistoryKind = string_enum::<approval::ApprovalHistoryKind>();
    ReviewFlagKind = string_enum::<approval::ReviewFlagKind>();
    GoalLevel = string_enum::<goal::GoalLevel>();
    GoalStatus = string_enum::<goal::GoalStatus>();
    ProjectStatus = string_enum::<project::ProjectStatus>();
    CompactSource = string_enum::<conventions::CompactSource>();
    IssueStatus = string_enum::<issue::IssueStatus>();
    Priority = string_enum::<issue::Priority>();
    RunStatus = string_enum::<run::RunStatus>();
    RunKind = string_enum::<run::RunKind>();
    RunErrorCode = string_enum::<run::RunErrorCode>();
    WakeSource = string_enum::<wake::WakeSource>();
    WakeReason = string_enum::<wake::WakeReason>();
    TriggerDetail = string_enum::<workforce_app::runs::TriggerDetail>();
    BillingType = string_enum::<cost::BillingType>();
    SecretProvider = string_enum::<secret::SecretProvider>();
    CostSource = string_enum::<cost::CostSource>();
    Provider = string_enum::<attachment::Provider>();
    Disposition = string_enum::<attachment::Disposition>();
    Action = string_enum::<activity::Action>();
    Entity = string_enum::<activity::Entity>();
    EventKind = string_enum::<activity::EventKind>();
    ActorKind = string_enum::<actor::ActorKind>();
    AuthMode = string_enum::<workforce_app::authenticate::AuthMode>();
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_vocabulary_lists_its_words() {
        let schema = serde_json::to_value(Priority::schema()).unwrap();
        assert_eq!(
            schema,
            json!({"type": "string", "enum": ["critical", "high", "medium", "low"]})
        );
    }

    #[test]
    fn a_text_tells_its_bounds() {
        let schema = serde_json::to_value(Title::schema()).unwrap();
        assert_eq!(schema["maxLength"], json!(500));
        assert_eq!(Title::name(), "Title");
    }
}
