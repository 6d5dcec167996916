//! perhop-sim: the engine that runs the algorithms of perhop-core over simulated links, hosts and traffic.

pub mod transport;
