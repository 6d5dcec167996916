//! A handshake without cryptography: the messages of TLS 1.3 in the order and about the sizes that they have, with the
//! transport parameters that the two ends tell each other.

use crate::cipher;
use quinn_proto::crypto::{self, ExportKeyingMaterialError, KeyPair, Keys, PacketKey, UnsupportedVersion};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};
use std::any::Any;
use std::sync::Arc;

/// Bytes of the messages, without transport parameters: a key share each; a certificate chain of about 3 kB; a MAC.
const CLIENT_HELLO: usize = 250;
const SERVER_HELLO: usize = 90;
const SERVER_FLIGHT: usize = 3000;
const FINISHED: usize = 36;
/// Bytes of a message's length.
const LENGTH: usize = 4;

/// How far a handshake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The client has to send its hello, the server waits for it.
    Hello,
    /// The client waits for the server's hello; the server has to send it.
    Answer,
    /// The client has the server's hello and takes up the keys of the handshake.
    Keys,
    /// The client waits for the server's flight; the server has to send it.
    Flight,
    /// The client has to say that it has finished; the server waits for that.
    Finish,
    /// It is over.
    Done,
}

/// One end of a handshake.
pub struct Session {
    side: Side,
    stage: Stage,
    /// Own parameters, encoded.
    own: Vec<u8>,
    peer: Option<TransportParameters>,
    /// Bytes of messages that are not complete.
    partial: Vec<u8>,
}

impl Session {
    fn new(side: Side, params: &TransportParameters) -> Self {
        let mut own = Vec::new();
        params.write(&mut own);
        Self { side, stage: Stage::Hello, own, peer: None, partial: Vec::new() }
    }

    /// A message of about this size; those with parameters have them at their beginning.
    fn message(&self, bytes: usize, params: bool, out: &mut Vec<u8>) {
        let params: &[u8] = if params { &self.own } else { &[] };
        for length in [params.len() + bytes, params.len()] {
            out.extend((length as u32).to_be_bytes());
        }
        out.extend(params);
        out.resize(out.len() + bytes, 0);
    }

    /// What the next complete message says, if there is one.
    fn next_message(&mut self) -> Option<Vec<u8>> {
        let word = |at: usize| Some(u32::from_be_bytes(self.partial.get(at..at + LENGTH)?.try_into().ok()?) as usize);
        let (all, params) = (word(0)?, word(LENGTH)?);
        let end = 2 * LENGTH + all;
        let said = self.partial.get(2 * LENGTH..end)?[..params].to_vec();
        self.partial.drain(..end);
        Some(said)
    }

    fn take(&mut self, params: &[u8]) -> Result<(), TransportError> {
        if !params.is_empty() {
            self.peer = Some(TransportParameters::read(self.side, &mut &*params)?);
        }
        self.stage = match (self.side, self.stage) {
            (Side::Server, Stage::Hello) => Stage::Answer,
            (Side::Client, Stage::Answer) => Stage::Keys,
            (Side::Client, Stage::Flight) => Stage::Finish,
            (Side::Server, Stage::Finish) => Stage::Done,
            (_, stage) => stage,
        };
        Ok(())
    }
}

impl crypto::Session for Session {
    fn initial_keys(&self, _dst_cid: &ConnectionId, _side: Side) -> Keys {
        cipher::keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn crypto::HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.stage != Stage::Done
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.partial.extend_from_slice(buf);
        while let Some(params) = self.next_message() {
            self.take(&params)?;
        }
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let (next, keys) = match (self.side, self.stage) {
            (Side::Client, Stage::Hello) => {
                self.message(CLIENT_HELLO, true, buf);
                (Stage::Answer, None)
            }
            (Side::Server, Stage::Answer) => {
                self.message(SERVER_HELLO, false, buf);
                (Stage::Flight, Some(cipher::keys()))
            }
            (Side::Client, Stage::Keys) => (Stage::Flight, Some(cipher::keys())),
            (Side::Server, Stage::Flight) => {
                self.message(SERVER_FLIGHT, true, buf);
                (Stage::Finish, Some(cipher::keys()))
            }
            (Side::Client, Stage::Finish) => {
                self.message(FINISHED, false, buf);
                (Stage::Done, Some(cipher::keys()))
            }
            (_, stage) => (stage, None),
        };
        self.stage = next;
        keys
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(cipher::packet_keys())
    }

    fn is_valid_retry(&self, _orig_dst_cid: &ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        true
    }

    fn export_keying_material(
        &self,
        _output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

/// Begins sessions.
#[derive(Clone, Copy, Debug)]
pub struct Sessions;

impl crypto::ClientConfig for Sessions {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        Ok(Box::new(Session::new(Side::Client, params)))
    }
}

impl crypto::ServerConfig for Sessions {
    fn initial_keys(&self, _version: u32, _dst_cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(cipher::keys())
    }

    fn retry_tag(&self, _version: u32, _orig_dst_cid: &ConnectionId, _packet: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _version: u32, params: &TransportParameters) -> Box<dyn crypto::Session> {
        Box::new(Session::new(Side::Server, params))
    }
}
