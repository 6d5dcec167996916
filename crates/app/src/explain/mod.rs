//! `explain`: every effective value, every queue, and the times that follow from them; or the same as a device takes it.

/// The answer on a terminal.
mod print;

use crate::configured::OF_THE_LOAD;
use crate::request::{Explain, System, platform};
use crate::{Failure, reading};
use perhop_config::as_ios::{Ios, Target};
use perhop_config::as_tc::{Linux, LinuxPort};
use perhop_config::import_options::Platform;
use perhop_config::ios::defaults;
use perhop_config::{as_ios, as_tc};
use perhop_scenario::{Diagnostic, Diagnostics, Document, Sweep};

pub use print::explain;

/// What a file says.
#[derive(Debug)]
pub enum Explanation {
    /// A scenario or a policy, with every effective value.
    Values(Document),
    /// A network of namespaces and its ports as commands of Linux.
    Network(Linux),
    /// A port as commands of tc.
    Port(LinuxPort),
    /// Ports as lines of IOS.
    Routers(Ios),
}

/// What the file of a request says. `warn` is given the warnings of what was read, before that is written as another system
/// takes it.
///
/// # Errors
/// What is wrong with the request or with the file; what that system lacks.
pub fn answer(args: &Explain, warn: impl FnOnce(&Diagnostics)) -> Result<Explanation, Failure> {
    if let Some(wrong) = unsuited(args) {
        return Err(wrong.into());
    }
    let file = &args.source.file;
    let options = reading::options(file, &args.source.settings);
    let Some(system) = args.written_as else {
        let read = reading::text(file).and_then(|text| Document::read(&text, &options));
        let (document, warnings) = reading::accepted(read, "nothing was run")?;
        warn(&warnings);
        return Ok(Explanation::Values(document));
    };
    let (sweep, mut warnings) = reading::load(&args.source, &options)?;
    if system == System::Ios || args.port.is_some() {
        // What is written of ports alone is the same whatever the load is.
        warnings.list.retain(|it| !OF_THE_LOAD.contains(&it.code));
    }
    warn(&warnings);
    match (system, &args.port) {
        (System::Tc, None) => network(&sweep).map(Explanation::Network),
        (System::Tc, Some(port)) => Ok(Explanation::Port(as_tc::port_of_sweep(&sweep, port, args.dev.as_deref())?)),
        (System::Ios, _) => routers(&sweep, args).map(Explanation::Routers),
    }
}

/// An option that needs another one.
fn unsuited(args: &Explain) -> Option<Diagnostic> {
    let (message, help) = match args {
        Explain { port: None, dev: Some(dev), .. } => {
            (format!("--dev {dev} without a port"), format!("say which, as in --as tc --port 'a -> b' --dev {dev}"))
        }
        Explain { port: Some(port), written_as: None, .. } => {
            (format!("--port '{port}' without --as tc"), format!("write --as tc --port '{port}'"))
        }
        Explain { platform: Some(platform), written_as, .. } if *written_as != Some(System::Ios) => {
            (format!("--platform {platform} without --as ios"), format!("write --as ios --platform {platform}"))
        }
        _ => return None,
    };
    Some(Diagnostic::error("E295", message, help))
}

fn network(sweep: &Sweep) -> Result<Linux, Failure> {
    as_tc::of_sweep(sweep).map_err(|refused| Failure::of_call(refused.join("\n"), ""))
}

fn routers(sweep: &Sweep, args: &Explain) -> Result<Ios, Failure> {
    let platform = platform(args.platform.as_deref());
    if platform == Platform::Ncs {
        return Err(other_syntax().into());
    }
    let (interval, _) = defaults::interval(platform);
    let target = Target { port: args.port.as_deref(), device: args.dev.as_deref(), interval };
    Ok(as_ios::of_sweep(sweep, target)?)
}

/// Of a platform whose configuration has another syntax.
fn other_syntax() -> Diagnostic {
    let message = "no lines for --platform ncs: an NCS has IOS-XR, which writes `police rate`, units behind each number and \
                   `end-policy-map`";
    Diagnostic::error("E296", message, "--platform ios or ios-xe; `perhop import` reads both")
}
