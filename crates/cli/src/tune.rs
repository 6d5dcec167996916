//! `tune`: parameters of SVB and MSVB by Lemma 3.1.

use crate::args::{Cli, ForPython, Settings, Source, Tunable, Tune, Verb};
use crate::{Failure, reading, say, show};
use clap::Parser;
use perhop_core::design::msvb::Bottleneck;
use perhop_core::units::{Packets, counted};
use perhop_scenario::Diagnostics;
use perhop_scenario::tune::file::{Wanted, asked};
use perhop_scenario::tune::{Asked, Kind, Stated, Tuned, words};
use serde_json::json;
use std::ffi::OsString;

mod shown;

/// Prints the answer; with `-o`, Python draws the picture.
pub(crate) fn tune(args: &Tune) -> Result<Option<ForPython>, Failure> {
    let picture = args.output.as_deref().map(show::text).transpose()?;
    let tuned = tuned(args)?;
    match args.json {
        true => say!("{}", tuned.to_json()),
        false => say!("{}", shown::Shown(&tuned).to_string().trim_end()),
    }
    let request =
        |file: &str| ForPython { verb: "tune", arguments: json!({ "picture": tuned.picture(), "output": file }) };
    Ok(picture.map(request))
}

/// The answer to the arguments of `perhop tune` as JSON, and what its picture shows.
///
/// # Errors
/// What is wrong with them, in words.
pub fn numbers(args: impl IntoIterator<Item = OsString>) -> Result<[String; 2], String> {
    let words = ["perhop", "tune"].map(OsString::from).into_iter().chain(args);
    let cli = Cli::try_parse_from(words).map_err(|error| reason(&error.to_string()))?;
    let Verb::Tune(args) = cli.verb else { return Err("not `tune`".into()) };
    let tuned = tuned(&args).map_err(Failure::plain)?;
    Ok([tuned.to_json(), tuned.picture()].map(|value| value.to_string()))
}

/// What is wrong, without what only a terminal needs.
pub(crate) fn reason(message: &str) -> String {
    let end = ["\n\nUsage:", "\n\nFor more information"].into_iter().filter_map(|end| message.find(end)).min();
    let message = &message[..end.unwrap_or(message.len())];
    message.strip_prefix("error: ").unwrap_or(message).trim_end().to_owned()
}

fn tuned(args: &Tune) -> Result<Tuned, Failure> {
    let mut asked = match &args.file {
        Some(file) => from_file(args, file)?,
        None => from_words(args)?,
    };
    state(args, &mut asked)?;
    Tuned::new(asked).map_err(failure)
}

fn failure(found: Diagnostics) -> Failure {
    Failure::Error(format!("{found:#}").trim_end().to_owned())
}

fn kind(args: &Tune) -> Kind {
    match args.aqm {
        Tunable::Svb => Kind::Svb,
        Tunable::Msvb => Kind::Msvb,
    }
}

fn from_file(args: &Tune, file: &std::path::Path) -> Result<Asked, Failure> {
    let settings = Settings { set: args.set.clone(), ..Settings::default() };
    let source = Source { file: file.to_owned(), settings };
    let scenario = reading::load(&source, &reading::options(file, &source.settings))?.base;
    let reference = f64::from(args.reference.get());
    let name = file.to_string_lossy();
    asked(&scenario, Wanted { kind: kind(args), queue: args.queue.as_deref(), reference, file: &name }).map_err(failure)
}

fn from_words(args: &Tune) -> Result<Asked, Failure> {
    let refuse = |what: [&str; 2]| failure(Diagnostics::of_file("perhop tune", "E201", what.map(str::to_owned)));
    let rate = args.by_hand.rate.map_or(0.0, |rate| rate.bytes_s());
    if rate == 0.0 || args.by_hand.packet.get() == 0 || args.by_hand.limit.get() == 0 {
        return Err(refuse(["`--rate`, `--packet` or `--limit` is 0", "must be above 0"]));
    }
    let [limit, reference] = [args.by_hand.limit, args.reference].map(|n: Packets| f64::from(n.get()));
    Ok(Asked {
        kind: kind(args),
        link: Bottleneck { capacity: rate / args.by_hand.packet.get() as f64, limit, reference },
        packet: args.by_hand.packet.get(),
        classes: words::classes(kind(args), &args.by_hand.class).map_err(failure)?,
        stated: (Stated::default(), "stated"),
        queue: "bottleneck".into(),
        source: "--class".into(),
        notes: Vec::new(),
    })
}

/// What the options give, laid over what the file has.
fn state(args: &Tune, asked: &mut Asked) -> Result<(), Failure> {
    let (stated, origin) = &mut asked.stated;
    let packets = |n: Option<Packets>| n.map(|n| f64::from(n.get()));
    let classes = asked.classes.len();
    if ![0, 1, classes].contains(&args.alpha.len()) {
        let what = [
            format!(
                "{} of --alpha, {}",
                counted(args.alpha.len(), ["value", "values"]),
                counted(classes, ["class", "classes"])
            ),
            "give one value for all classes, or one for each".into(),
        ];
        return Err(failure(Diagnostics::of_file("--alpha", "E201", what)));
    }
    if args.v0.is_some() || args.floor.is_some() || !args.alpha.is_empty() {
        *origin = "stated";
    }
    stated.floor = packets(args.floor).or(stated.floor.filter(|_| args.v0.is_none()));
    stated.v0 = packets(args.v0).or(stated.v0);
    if !args.alpha.is_empty() {
        stated.alpha.clone_from(&args.alpha);
    }
    if stated.v0 == Some(0.0) {
        return Err(refusal("--v0", "E201", ["V0 is 0", "must be above 0"]));
    }
    match stated.v0.zip(stated.floor) {
        Some((v0, floor)) if floor >= v0 => {
            Err(refusal("--floor", "E214", ["the floor is not below V0", "lower --floor or raise --v0"]))
        }
        _ => Ok(()),
    }
}

fn refusal(option: &str, code: &'static str, what: [&str; 2]) -> Failure {
    failure(Diagnostics::of_file(option, code, what.map(str::to_owned)))
}
