//! Keys that encrypt nothing: packets keep their sizes, a tag of 16 bytes included (RFC 9001 section 5.3).
//!
//! Decision: docs/decisions/052-quic-without-encryption.md

use bytes::BytesMut;
use quinn_proto::crypto::{AeadKey, CryptoError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair, Keys, PacketKey};

/// Bytes of an AEAD's tag.
const TAG: usize = 16;
/// Bytes that header protection samples (RFC 9001 section 5.4.3).
const SAMPLE: usize = 16;
/// Packets of a key of AES-128-GCM (RFC 9001 section 6.6).
const CONFIDENTIALITY_LIMIT: u64 = 1 << 23;
/// Forged packets that it may see.
const INTEGRITY_LIMIT: u64 = 1 << 52;

/// A key of any kind.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// Keys of a packet number space.
pub fn keys() -> Keys {
    let header = KeyPair::<Box<dyn HeaderKey>> { local: Box::new(Plain), remote: Box::new(Plain) };
    Keys { header, packet: packet_keys() }
}

/// Keys of the next key phase.
pub fn packet_keys() -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(Plain), remote: Box::new(Plain) }
}

impl PacketKey for Plain {
    fn encrypt(&self, _packet: u64, buf: &mut [u8], _header_len: usize) {
        let tag = buf.len() - TAG;
        buf[tag..].fill(0);
    }

    fn decrypt(&self, _packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let plain = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(plain);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        CONFIDENTIALITY_LIMIT
    }

    fn integrity_limit(&self) -> u64 {
        INTEGRITY_LIMIT
    }
}

impl HeaderKey for Plain {
    fn decrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        SAMPLE
    }
}

/// Signs stateless resets. A signature is never 0, as the tags are: no packet looks like a reset.
impl HmacKey for Plain {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        let signed = data.iter().chain(std::iter::repeat(&0));
        signature_out.iter_mut().zip(signed).for_each(|(out, byte)| *out = byte | 1);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut own = vec![0; signature.len()];
        self.sign(data, &mut own);
        if own == signature { Ok(()) } else { Err(CryptoError) }
    }
}

/// Seals tokens of address validation, which no end here sends.
impl HandshakeTokenKey for Plain {
    fn aead_from_hkdf(&self, _random_bytes: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Self)
    }
}

impl AeadKey for Plain {
    fn seal(&self, data: &mut Vec<u8>, _additional_data: &[u8]) -> Result<(), CryptoError> {
        data.resize(data.len() + TAG, 0);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _additional_data: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let plain = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..plain])
    }
}
