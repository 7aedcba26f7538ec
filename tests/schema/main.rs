//! JSON Schema: what each keyword accepts, and what is refused.

#[path = "../support/mod.rs"]
mod support;

mod contains;
mod contradictions;
mod dependent_required;
mod docs_page;
mod documents;
mod hostile_sources;
mod keyword_cases;
mod known_mistakes;
mod negated_formats;
mod official_suite;
mod plain_spelling;
mod rival_cases;
mod unnamed_members;
