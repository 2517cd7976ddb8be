//! The session actor, the turn, dispatch, and what the model is sent.
