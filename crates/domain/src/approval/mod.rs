//! Approvals: what the board must agree to (specification section 3, contract
//! section 3.2).

mod lifecycle;

pub use lifecycle::*;
