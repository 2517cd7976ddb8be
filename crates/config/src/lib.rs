//! Settings in layers, each value with its origin.
