//! From what a scenario states to what quinn takes.
//!
//! Decision: docs/decisions/052-quic-without-encryption.md

use crate::cipher::Plain;
use crate::ids::Numbers;
use crate::session::Sessions;
use perhop_sim::traffic::UDP_HEADERS;
use perhop_sim::traffic::quic::{Controller, Params};
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TransportConfig, VarInt};
use std::sync::Arc;

/// Unacknowledged bytes that a sender keeps, in windows of the receiver: quinn's default.
const KEPT: u64 = 8;

/// What all connections of a `[traffic]` have in common.
#[derive(Clone, Debug)]
pub struct Transport {
    config: Arc<TransportConfig>,
    /// UDP payload of the largest packet.
    pub datagram: u16,
    /// Its window shrinks for losses and marks only: not BBR's.
    pub cuts: bool,
}

impl Transport {
    /// What `params` state, which a scenario has checked.
    pub fn new(params: &Params) -> Self {
        let datagram = (params.mtu.get() - u64::from(UDP_HEADERS)) as u16;
        let mut config = TransportConfig::default();
        let window = params.receive_window.get();
        config
            .initial_mtu(datagram)
            .min_mtu(datagram)
            .mtu_discovery_config(None)
            .enable_segmentation_offload(false)
            .max_idle_timeout(None)
            .stream_receive_window(VarInt::from_u64(window).unwrap_or(VarInt::MAX))
            .send_window(KEPT * window)
            .congestion_controller_factory(controller(params, datagram));
        Self { config: Arc::new(config), datagram, cuts: params.congestion != Controller::Bbr }
    }

    /// An endpoint that opens connections, and how.
    pub fn client(&self, mut numbers: Numbers) -> (Endpoint, ClientConfig) {
        let mut config = ClientConfig::new(Arc::new(Sessions));
        let first = numbers.first_id();
        config.transport_config(self.config.clone()).initial_dst_cid_provider(Arc::new(move || first));
        (self.endpoint(None, numbers), config)
    }

    /// An endpoint that accepts them.
    pub fn server(&self, numbers: Numbers) -> Endpoint {
        let mut config = ServerConfig::new(Arc::new(Sessions), Arc::new(Plain));
        config.transport_config(self.config.clone());
        self.endpoint(Some(Arc::new(config)), numbers)
    }

    fn endpoint(&self, server: Option<Arc<ServerConfig>>, mut numbers: Numbers) -> Endpoint {
        let mut config = EndpointConfig::new(Arc::new(Plain));
        config.rng_seed(Some(numbers.seed())).cid_generator(move || Box::new(numbers.clone()));
        config.max_udp_payload_size(self.datagram).expect("a scenario's `mtu` is within QUIC's bounds");
        Endpoint::new(Arc::new(config), server, false, None)
    }
}

fn controller(params: &Params, datagram: u16) -> Arc<dyn ControllerFactory + Send + Sync> {
    let initial = params.initial_window.map(|packets| u64::from(packets) * u64::from(datagram));
    macro_rules! of {
        ($Config:ident) => {{
            let mut config = $Config::default();
            initial.into_iter().for_each(|bytes| _ = config.initial_window(bytes));
            Arc::new(config)
        }};
    }
    match params.congestion {
        Controller::Cubic => of!(CubicConfig),
        Controller::NewReno => of!(NewRenoConfig),
        Controller::Bbr => of!(BbrConfig),
    }
}
