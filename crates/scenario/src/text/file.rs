//! Files on disk.

use super::diagnostics::Diagnostics;
use std::path::Path;

/// The text of a scenario or policy file.
///
/// # Errors
/// It cannot be read, or is not UTF-8.
pub fn text(path: &Path) -> Result<String, Diagnostics> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        let help = "give the path of a scenario or policy file";
        Diagnostics::of_file(&name, "E007", [format!("cannot read the file: {error}"), help.into()])
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() + 1;
        let message = format!("not UTF-8 text: byte {at}, line {line}");
        Diagnostics::of_file(&name, "E008", [message, "save the file as UTF-8".into()])
    })
}
