//! One end of a connection: quinn's endpoint and connection, told what happened in simulated time.

use crate::client::Client;
use crate::clock::{instant, span, time};
use crate::config::Transport;
use crate::ids::Numbers;
use crate::server::Server;
use bytes::BytesMut;
use perhop_core::packet::Ecn;
use perhop_core::units::Time;
use perhop_sim::transport::datagram::{Known, Opened, Peer};
use quinn_proto::{Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, Incoming, Transmit};
use std::collections::VecDeque;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;

/// Addresses that quinn is told; those of the network are not its business (RFC 5737).
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 49152);
const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 443);

/// What is done with a connection.
#[derive(Clone, Copy, Debug)]
enum Application {
    Client(Client),
    Server(Server),
}

/// One end.
pub struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    application: Application,
    /// What the endpoint itself has to say, outside connections.
    answers: VecDeque<Vec<u8>>,
    peer: SocketAddr,
    datagram: u16,
    /// Cuts of its window; `None` for a controller whose window shrinks for other reasons than losses and marks.
    cuts: Option<u64>,
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("End").field("application", &self.application).finish_non_exhaustive()
    }
}

impl End {
    /// The end that sends data: it waits for a connection.
    pub fn server(transport: &Transport, opened: &Opened) -> Self {
        let endpoint = transport.server(Numbers::new(opened.seed, 0));
        Self::new(transport, endpoint, (Application::Server(Server::new(opened.supply)), CLIENT))
    }

    /// The end that receives them: it opens one.
    pub fn client(transport: &Transport, opened: &Opened) -> Self {
        let (mut endpoint, config) = transport.client(Numbers::new(opened.seed, 1));
        let connection = endpoint.connect(instant(opened.now), config, SERVER, "perhop");
        let connection = connection.expect("an endpoint of its own has room for a connection");
        let it = Self::new(transport, endpoint, (Application::Client(Client::default()), SERVER));
        Self { connection: Some(connection), ..it }
    }

    fn new(transport: &Transport, endpoint: Endpoint, (application, peer): (Application, SocketAddr)) -> Self {
        let datagram = transport.datagram;
        let cuts = transport.cuts.then_some(0);
        Self { endpoint, connection: None, application, answers: VecDeque::new(), peer, datagram, cuts }
    }

    /// The peer wants a connection.
    fn accept(&mut self, now: Instant, incoming: Incoming) {
        let mut out = Vec::new();
        match self.endpoint.accept(incoming, now, &mut out, None) {
            Ok(connection) => self.connection = Some(connection),
            Err(error) => self.answer(error.response, out),
        }
    }

    fn answer(&mut self, transmit: Option<Transmit>, mut out: Vec<u8>) {
        if let Some(transmit) = transmit {
            out.truncate(transmit.size);
            self.answers.push_back(out);
        }
    }

    /// Tells the connection what happened, and sees whether it cuts its window for it. quinn's own count is of losses
    /// detected, of which several belong to a cut.
    fn tell(&mut self, what: impl FnOnce(&mut Connection)) {
        let Some((_, connection)) = &mut self.connection else { return };
        let before = connection.congestion_state().window();
        what(connection);
        let cut = connection.congestion_state().window() < before;
        self.cuts.iter_mut().for_each(|cuts| *cuts += u64::from(cut));
    }

    /// Hands events between connection, endpoint and application until there are none.
    fn drive(&mut self) {
        let Self { endpoint, connection: Some((handle, connection)), application, .. } = self else { return };
        loop {
            while let Some(event) = connection.poll_endpoint_events() {
                let answer = endpoint.handle_event(*handle, event);
                answer.into_iter().for_each(|answer| connection.handle_event(answer));
            }
            let Some(event) = connection.poll() else { return };
            match application {
                Application::Client(client) => client.on(&event, connection),
                Application::Server(server) => server.on(&event, connection),
            }
        }
    }
}

impl Peer for End {
    fn handle(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        let now = instant(now);
        let mut out = Vec::new();
        match self.endpoint.handle(now, self.peer, None, marked(ecn), BytesMut::from(datagram), &mut out) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => self.tell(|connection| connection.handle_event(event)),
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(now, incoming),
            Some(DatagramEvent::Response(transmit)) => self.answer(Some(transmit), out),
            None => {}
        }
        self.drive();
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Ecn> {
        if let Some(answer) = self.answers.pop_front() {
            out.extend(answer);
            return Some(Ecn::NotEct);
        }
        let (_, connection) = self.connection.as_mut()?;
        let transmit = connection.poll_transmit(instant(now), 1, out)?;
        self.drive();
        Some(field(transmit.ecn))
    }

    fn timer_at(&mut self) -> Option<Time> {
        self.connection.as_mut()?.1.poll_timeout().map(time)
    }

    fn on_timer(&mut self, now: Time) {
        self.tell(|connection| connection.handle_timeout(instant(now)));
        self.drive();
    }

    fn close(&mut self, _now: Time) {
        if let (Application::Server(server), Some((_, connection))) = (&mut self.application, &mut self.connection) {
            server.stop(connection);
        }
    }

    fn delivered(&self) -> u64 {
        match self.application {
            Application::Client(client) => client.delivered,
            Application::Server(_) => 0,
        }
    }

    fn finished(&self) -> bool {
        matches!(self.application, Application::Server(server) if server.finished)
    }

    fn known(&self) -> Known {
        let Some((_, connection)) = &self.connection else { return Known::default() };
        let window = connection.congestion_state().window() as f64 / f64::from(self.datagram);
        // until then quinn shows the value that it assumes
        let srtt = (!connection.is_handshaking()).then(|| span(connection.rtt()));
        Known { cuts: self.cuts, window: Some(window), srtt }
    }
}

fn marked(ecn: Ecn) -> Option<EcnCodepoint> {
    EcnCodepoint::from_bits(ecn as u8)
}

fn field(ecn: Option<EcnCodepoint>) -> Ecn {
    ecn.map_or(Ecn::NotEct, |ecn| Ecn::from_bits(ecn as u8))
}
