//! Real counterparts for tests: a model server that can misbehave, a fake Service, projects, a runner for the binary.
