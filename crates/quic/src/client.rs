//! The application at the end that asks for data: it asks once, and reads all that comes.

use quinn_proto::{Connection, Dir, Event, StreamEvent};

/// Bytes of a request.
const REQUEST: [u8; 300] = [0; 300];

/// What it has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Client {
    /// Bytes read, in order.
    pub delivered: u64,
}

impl Client {
    /// The connection says something.
    pub fn on(&mut self, event: &Event, connection: &mut Connection) {
        match event {
            Event::Connected => ask(connection),
            Event::Stream(StreamEvent::Readable { id }) => {
                let mut stream = connection.recv_stream(*id);
                let Ok(mut chunks) = stream.read(true) else { return };
                while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                    self.delivered += chunk.bytes.len() as u64;
                }
                let _ = chunks.finalize();
            }
            _ => {}
        }
    }
}

/// Sends a request; the peer has granted a stream and more bytes than it has in its handshake.
fn ask(connection: &mut Connection) {
    let Some(id) = connection.streams().open(Dir::Bi) else { return };
    let mut stream = connection.send_stream(id);
    let written = stream.write(&REQUEST);
    debug_assert_eq!(written.ok(), Some(REQUEST.len()));
    let _ = stream.finish();
}
