//! The bytes of a capture, plain or compressed with gzip.

use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;

/// A capture's bytes.
pub type Input<'a> = Box<dyn Read + 'a>;

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What begins as gzip is decompressed as it is read.
pub(crate) fn decompressed(mut input: Input<'_>) -> io::Result<Input<'_>> {
    let mut start = Vec::new();
    input.by_ref().take(GZIP.len() as u64).read_to_end(&mut start)?;
    let packed = start == GZIP;
    let whole = Cursor::new(start).chain(input);
    Ok(if packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn bytes_in_memory_are_plain_or_gzip() {
        for plain in [&b""[..], &GZIP[..1], b"bytes"] {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(plain).unwrap();
            for input in [plain.to_vec(), packed.finish().unwrap()] {
                let mut read = Vec::new();
                decompressed(Box::new(&input[..])).unwrap().read_to_end(&mut read).unwrap();
                assert_eq!(read, plain);
            }
        }
    }
}
