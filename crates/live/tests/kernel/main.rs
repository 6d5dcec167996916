//! The forwarder between interfaces of a real kernel: three namespaces, and a pair of virtual Ethernets between each two.
//!
//! ```text
//! sender eth0 ---- va middle vb ---- eth0 receiver
//! ```
//!
//! They need root and `ip`. Elsewhere they are skipped, and say so.
//! A process of their own: they measure time, and the busy threads of other tests would be in it.
#![cfg(target_os = "linux")]

mod faults;
#[allow(dead_code)] // what other tests need
#[path = "../all/frames.rs"]
mod frames;
mod lab;
mod lengths;
mod passing;
mod queueing;
