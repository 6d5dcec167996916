//! `init`: a first scenario.

use crate::request::Init;
use crate::terminal::show::say;
use crate::{Exit, Failure, places};
use perhop_capture::STANDARD_INPUT as STANDARD_OUTPUT;

/// Writes a template.
///
/// # Errors
/// The file cannot be written; there is one that stays.
pub(crate) fn init(args: &Init) -> Result<Exit, Failure> {
    let (file, template) = (args.output.display(), args.template);
    if args.output.as_os_str() == STANDARD_OUTPUT {
        say!("{}", template.text("scenario.toml").trim_end());
        return Ok(Exit::Fine);
    }
    places::write(&args.output, template.text(&file.to_string()).as_bytes(), places::existing(args.force))?;
    say!("wrote {file}; next: perhop {} {file}", template.verb());
    Ok(Exit::Fine)
}
