//! Answers written after the provider's documentation.
