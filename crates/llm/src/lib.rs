//! Models behind one contract: wires as sans-I/O codecs, errors, retries, the catalog.
