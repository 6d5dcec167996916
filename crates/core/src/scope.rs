//! What an algorithm is given about its surroundings when it is built.

use crate::params::ParamError;
use crate::units::{BitRate, Bytes, Length};

/// The surroundings of an algorithm: known to the host, needed to check parameters and to turn
/// thresholds into packets or bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// Largest packet of the traffic it will see, as meters count it.
    pub largest_packet: Bytes,
    /// Whose packet that is, for messages: "traffic `web`".
    pub largest_of: String,
    /// Rate of the link behind the queue, the whole link's even if a scheduler shares it; `None` for a conditioner, or if
    /// unknown.
    pub link_rate: Option<BitRate>,
    /// Limit of the queue: packets or bytes.
    pub limit: Option<Length>,
    /// Bytes a packet counts beyond what the link sends of it (`accounting`).
    pub overhead: u32,
}

impl Default for Scope {
    /// Ethernet's largest packet, and nothing else known.
    fn default() -> Self {
        let largest_packet = Bytes::new(1500);
        Self { largest_packet, largest_of: "Ethernet".into(), link_rate: None, limit: None, overhead: 0 }
    }
}

impl Scope {
    /// # Errors
    /// E212 when a bucket is smaller than the largest packet, which could then never take tokens from it.
    pub fn holds_largest_packet(&self, field: &'static str, depth: Bytes) -> Result<(), ParamError> {
        if depth >= self.largest_packet {
            return Ok(());
        }
        let error = ParamError::new(field, "E212", format!("`{field}` is smaller than one packet"))
            .label(format!("the largest packet of {} is {}", self.largest_of, self.largest_packet))
            .help(format!("such packets could never conform; at least {}", self.largest_packet));
        Err(error)
    }
}
