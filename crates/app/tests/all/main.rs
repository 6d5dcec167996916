//! Verbs as functions of typed requests.

mod request;
