//! The routes, one module per resource: request bodies, answers, handlers.

mod health;

use crate::registry::Endpoints;

/// Every route of the server.
pub fn all() -> Endpoints {
    health::register(Endpoints::new())
}
