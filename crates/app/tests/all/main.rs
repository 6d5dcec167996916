//! Verbs as functions of typed requests.

mod captures;
mod request;
