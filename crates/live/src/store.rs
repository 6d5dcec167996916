//! The bytes of frames that wait in the queue, by the number that the edge gives to their place.

use perhop_edge::IpHeaders;

/// A frame in the queue.
#[derive(Clone, Debug)]
pub(crate) struct QueuedFrame {
    pub(crate) bytes: Vec<u8>,
    pub(crate) headers: IpHeaders,
}

/// Buffers; each keeps its memory for the next frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    kept: Vec<QueuedFrame>,
}

impl Store {
    pub(crate) fn keep(&mut self, place: u32, bytes: &[u8], headers: &IpHeaders) {
        match self.kept.get_mut(place as usize) {
            Some(kept) => {
                kept.bytes.clear();
                kept.bytes.extend_from_slice(bytes);
                kept.headers = *headers;
            }
            None => {
                debug_assert_eq!(place as usize, self.kept.len(), "places are given out in order");
                self.kept.push(QueuedFrame { bytes: bytes.to_vec(), headers: *headers });
            }
        }
    }

    pub(crate) fn get(&mut self, place: u32) -> &mut QueuedFrame {
        &mut self.kept[place as usize]
    }
}
