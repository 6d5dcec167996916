//! The application at the end that sends data: it answers the one request with as much as it is there for.

use bytes::Bytes;
use perhop_sim::transport::Supply;
use quinn_proto::{Connection, Dir, Event, StreamEvent, StreamId, VarInt};

/// What is written at a time.
static BLOCK: [u8; 1 << 16] = [0; 1 << 16];

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// Bytes not yet written; `None`: without end.
    left: Option<u64>,
    /// On which it answers, once it has been asked.
    stream: Option<StreamId>,
    /// It has written all.
    ended: bool,
    /// All of it has been acknowledged.
    pub finished: bool,
}

impl Server {
    /// One that has this to send.
    pub fn new(supply: Supply) -> Self {
        let left = match supply {
            Supply::Bytes(bytes) => Some(bytes),
            Supply::Unlimited | Supply::Offered => None,
        };
        Self { left, stream: None, ended: false, finished: false }
    }

    /// The connection says something.
    pub fn on(&mut self, event: &Event, connection: &mut Connection) {
        match event {
            Event::Stream(StreamEvent::Opened { .. }) => {
                self.stream = connection.streams().accept(Dir::Bi);
                self.write(connection);
            }
            Event::Stream(StreamEvent::Readable { .. } | StreamEvent::Writable { .. }) => self.write(connection),
            Event::Stream(StreamEvent::Finished { .. }) => self.finished = true,
            _ => {}
        }
    }

    /// Writes as much as the connection takes, once the whole request is there.
    fn write(&mut self, connection: &mut Connection) {
        let Some(id) = self.stream.filter(|id| !self.ended && asked(connection, *id)) else { return };
        let mut stream = connection.send_stream(id);
        while self.left != Some(0) {
            let most = self.left.map_or(BLOCK.len(), |left| left.min(BLOCK.len() as u64) as usize);
            let Ok(written) = stream.write_chunks(&mut [Bytes::from_static(&BLOCK[..most])]) else { return };
            self.left = self.left.map(|left| left - written.bytes as u64);
        }
        self.ended = stream.finish().is_ok();
    }

    /// It is told to stop: nothing more is sent, and nothing repaired.
    pub fn stop(&mut self, connection: &mut Connection) {
        if let Some(id) = self.stream.filter(|_| !self.ended) {
            self.ended = connection.send_stream(id).reset(VarInt::from_u32(0)).is_ok();
        }
    }
}

/// Reads the request; whether it is complete.
fn asked(connection: &mut Connection, id: StreamId) -> bool {
    let mut stream = connection.recv_stream(id);
    // a stream that has been read to its end is gone
    let Ok(mut chunks) = stream.read(true) else { return true };
    loop {
        match chunks.next(usize::MAX) {
            Ok(Some(_)) => {}
            Ok(None) => {
                let _ = chunks.finalize();
                return true;
            }
            Err(_) => {
                let _ = chunks.finalize();
                return false;
            }
        }
    }
}
