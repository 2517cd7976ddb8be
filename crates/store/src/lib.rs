//! Sessions on disk: the journal, artifacts and blobs.
