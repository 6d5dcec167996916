//! Files on disk.

use super::diagnostics::Diagnostics;
use super::options::Captures;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a text: more are of no scenario, policy or configuration.
pub const MOST: usize = 64 << 20;

/// The bytes of a file; of an endless one, which is refused, one more than a text may have. A pipe is read to its end.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    head(File::open(path)?)
}

/// The same of what is open.
///
/// # Errors
/// It cannot be read.
pub fn head(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MOST as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What was read of the file `name`, unless it has more than [`MOST`] bytes.
///
/// # Errors
/// It has, or could not be read; `help` says what to do.
pub fn bounded<'a>(name: &str, read: Result<&'a [u8], &io::Error>, help: &str) -> Result<&'a [u8], Diagnostics> {
    let unread = |why: &str| Diagnostics::of_file(name, "E007", [format!("cannot read the file: {why}"), help.into()]);
    match read {
        Err(error) => Err(unread(&error.to_string())),
        Ok(bytes) if bytes.len() > MOST => Err(unread(&format!("it has more than {} MiB", MOST >> 20))),
        Ok(bytes) => Ok(bytes),
    }
}

/// The text of a scenario or policy file; `captures` knows those that are none.
///
/// # Errors
/// It cannot be read, is a capture, or is not UTF-8.
pub fn text(path: &Path, captures: Captures) -> Result<String, Diagnostics> {
    decoded(&path.display().to_string(), read(path).as_deref(), captures)
}

/// What was read of the file `name`, as text.
///
/// # Errors
/// As [`text`].
pub fn decoded(name: &str, read: Result<&[u8], &io::Error>, captures: Captures) -> Result<String, Diagnostics> {
    if read.is_ok_and(|bytes| captures.recognise(bytes)) {
        let what = "a capture where a scenario or a policy is needed";
        let help = "use `perhop meter` or `perhop mark` for a capture, with the policy as --policy";
        return Err(Diagnostics::of_file(name, "E027", [what.into(), help.into()]));
    }
    let bytes = bounded(name, read, "give the path of a scenario or policy file")?;
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
        let at = error.valid_up_to();
        let line = bytes[..at].iter().filter(|&&b| b == b'\n').count() + 1;
        let message = format!("not UTF-8 text: byte {at}, line {line}");
        Diagnostics::of_file(name, "E008", [message, "save the file as UTF-8".into()])
    })
}
