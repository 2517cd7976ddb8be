//! Requests as the provider's documentation wants them.
