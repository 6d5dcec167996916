//! `explain`: every effective value, every queue, and the times that follow from them.

use crate::configured::OF_THE_LOAD;
use crate::request::{Explain, System, platform};
use crate::terminal::show::{complain, say};
use crate::{Exit, Failure, reading};
use perhop_config::as_ios::Target;
use perhop_config::import_options::Platform;
use perhop_config::ios::defaults;
use perhop_config::{as_ios, as_tc};
use perhop_core::units::counted;
use perhop_scenario::{Diagnostic, Document, Sweep, explain_sweep, facts};
use serde_json::json;

/// Carries it out, and prints the answer.
///
/// # Errors
/// What is wrong with the request, or with what it reads.
pub fn explain(args: &Explain) -> Result<Exit, Failure> {
    let file = &args.source.file;
    let options = reading::options(file, &args.source.settings);
    if let Some(wrong) = unsuited(args) {
        return Err(wrong.into());
    }
    if let Some(system) = args.written_as {
        // What is written of ports alone is the same whatever the load is.
        let ports = system == System::Ios || args.port.is_some();
        let sweep = reading::load_without(&args.source, &options, if ports { OF_THE_LOAD } else { &[] })?;
        return match (system, &args.port) {
            (System::Tc, None) => network(&sweep, args.json),
            (System::Tc, Some(port)) => one_port(&sweep, port, args),
            (System::Ios, _) => routers(&sweep, args),
        };
    }
    let read = reading::text(file).and_then(|text| Document::read(&text, &options));
    let (document, warnings) = reading::accepted(read, "nothing was run")?;
    reading::warn(&warnings);
    match document {
        document if args.json => say!("{}", facts(&document)),
        Document::Policy(policy) => say!("{}", policy.effective()),
        Document::Scenario(sweep) => say!("{}", explain_sweep(&sweep)),
    }
    Ok(Exit::Fine)
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

fn network(sweep: &Sweep, json: bool) -> Result<Exit, Failure> {
    let linux = as_tc::of_sweep(sweep).map_err(|refused| Failure::of_call(refused.join("\n"), ""))?;
    match json {
        true => say!("{}", json!(linux)),
        false => say!("{}", linux.script()),
    }
    Ok(Exit::Fine)
}

fn one_port(sweep: &Sweep, port: &str, args: &Explain) -> Result<Exit, Failure> {
    let linux = as_tc::port_of_sweep(sweep, port, args.dev.as_deref())?;
    match args.json {
        true => say!("{}", json!(linux)),
        false => say!("{}", linux.script()),
    }
    Ok(lost(linux.lost.len(), ("commands", "the port"), '#'))
}

/// Of a platform whose configuration has another syntax.
fn other_syntax() -> Diagnostic {
    let message = "no lines for --platform ncs: an NCS has IOS-XR, which writes `police rate`, units behind each number and \
                   `end-policy-map`";
    Diagnostic::error("E296", message, "--platform ios or ios-xe; `perhop import` reads both")
}

fn routers(sweep: &Sweep, args: &Explain) -> Result<Exit, Failure> {
    let platform = platform(args.platform.as_deref());
    if platform == Platform::Ncs {
        return Err(other_syntax().into());
    }
    let (interval, _) = defaults::interval(platform);
    let asked = Target { port: args.port.as_deref(), device: args.dev.as_deref(), interval };
    let ios = as_ios::of_sweep(sweep, asked)?;
    match args.json {
        true => say!("{}", json!(ios)),
        false => say!("{}", ios.text()),
    }
    let whose = if ios.ports.len() == 1 { "the port" } else { "the ports" };
    Ok(lost(ios.lost.len(), ("lines", whose), '!'))
}

/// Says that this many things could not be written.
fn lost(count: usize, (written, whose): (&str, &str), mark: char) -> Exit {
    if count == 0 {
        return Exit::Fine;
    }
    let lost = counted(count, ["line", "lines"]);
    complain!("warning: the {written} are not all of {whose}: see the {lost} `{mark} lost:` at their head");
    Exit::Warnings
}
