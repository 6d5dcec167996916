//! `explain`: every effective value, every queue, and the times that follow from them.

use crate::args::{Explain, System};
use crate::{Exit, Failure, check, say};
use perhop_scenario::{Policy, explain_sweep};

pub(crate) fn explain(args: &Explain) -> Result<Exit, Failure> {
    let file = &args.source.file;
    let options = check::options(file, &args.source.settings);
    let text = check::text(file).map_err(|errors| Failure::Error(format!("{errors:#}")))?;
    if args.written_as == Some(System::Tc) {
        let sweep = check::load(&args.source, &options)?;
        match perhop_scenario::as_tc::of_sweep(&sweep) {
            Ok(linux) => say!("{}", linux.script()),
            Err(refused) => return Err(Failure::Error(refused.join("\n"))),
        }
    } else if check::is_policy(&text) {
        let policy = Policy::parse(&text, &options);
        let (policy, _) = policy.map_err(|errors| Failure::Error(format!("{errors:#}")))?;
        say!("{}", policy.effective());
    } else {
        say!("{}", explain_sweep(&check::load(&args.source, &options)?));
    }
    Ok(Exit::Fine)
}
