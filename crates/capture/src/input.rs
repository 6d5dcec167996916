//! Where a capture comes from: a file or standard input, plain or compressed with gzip.

use std::fs::File;
use std::io::{self, Cursor, IsTerminal, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::CaptureError;

/// A capture's bytes.
pub type Input = Box<dyn Read>;

/// The name of standard input.
pub const STANDARD_INPUT: &str = "-";

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The bytes of a file, or of standard input for `-`; what begins as gzip is decompressed.
pub(crate) fn open(path: &Path) -> Result<Input, CaptureError> {
    let failed = |cause| CaptureError::Open { path: path.into(), cause };
    let plain = if path.as_os_str() == STANDARD_INPUT { standard() } else { file(path) };
    decompressed(plain.map_err(failed)?).map_err(|cause| CaptureError::Read { offset: 0, cause })
}

fn file(path: &Path) -> io::Result<Input> {
    Ok(Box::new(File::open(path)?))
}

fn standard() -> io::Result<Input> {
    let input = io::stdin();
    if input.is_terminal() {
        return Err(io::Error::other(
            "it is the terminal; pipe a capture into it, as in `tcpdump -w - | perhop meter -`",
        ));
    }
    Ok(Box::new(input))
}

fn decompressed(mut input: Input) -> io::Result<Input> {
    let mut start = Vec::new();
    input.by_ref().take(GZIP.len() as u64).read_to_end(&mut start)?;
    let packed = start == GZIP;
    let whole = Cursor::new(start).chain(input);
    Ok(if packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
}
