//! Files on disk.

use super::diagnostics::Diagnostics;
use perhop_capture::is_capture;
use std::path::Path;

/// The text of a scenario or policy file.
///
/// # Errors
/// It cannot be read, is a capture, or is not UTF-8.
pub fn text(path: &Path) -> Result<String, Diagnostics> {
    decoded(&path.display().to_string(), std::fs::read(path).as_deref())
}

/// What was read of the file `name`, as text.
///
/// # Errors
/// As [`text`].
pub fn decoded(name: &str, read: Result<&[u8], &std::io::Error>) -> Result<String, Diagnostics> {
    let bytes = read.map_err(|error| {
        let help = "give the path of a scenario or policy file";
        Diagnostics::of_file(name, "E007", [format!("cannot read the file: {error}"), help.into()])
    })?;
    if is_capture(bytes) {
        let what = "a capture where a scenario or a policy is needed";
        let help = "use `perhop meter` or `perhop mark` for a capture, with the policy as --policy";
        return Err(Diagnostics::of_file(name, "E027", [what.into(), help.into()]));
    }
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
        let at = error.valid_up_to();
        let line = bytes[..at].iter().filter(|&&b| b == b'\n').count() + 1;
        let message = format!("not UTF-8 text: byte {at}, line {line}");
        Diagnostics::of_file(name, "E008", [message, "save the file as UTF-8".into()])
    })
}
