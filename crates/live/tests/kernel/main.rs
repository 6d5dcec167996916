//! The forwarder between interfaces of a real kernel: three namespaces, and a pair of virtual Ethernets between each two.
//!
//! ```text
//! sender eth0 ---- va middle vb ---- eth0 receiver
//! ```
//!
//! They need root and `ip`. Elsewhere they are skipped, and say so.
#![cfg(target_os = "linux")]

mod faults;
mod lab;
mod passing;
mod queueing;
