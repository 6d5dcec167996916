//! `tune`: parameters of SVB and MSVB by Lemma 3.1.

use crate::request::{ByHand, Settings, Source, Tunable, Tune};
use crate::terminal::show;
use crate::terminal::show::say;
use crate::{Exit, ForPython, Outcome};
use crate::{Failure, reading};
use perhop_core::design::msvb::Bottleneck;
use perhop_core::units::{Packets, counted};
use perhop_scenario::tune::file::{Wanted, task};
use perhop_scenario::tune::{Kind, Stated, Task, Tuned, words};
use perhop_scenario::{Diagnostics, Scenario};
use serde_json::json;
use std::path::Path;

/// The same in words.
mod text;

/// Prints the answer; with `-o`, Python draws the picture.
///
/// # Errors
/// What is wrong with the request, or with its file.
pub fn tune(args: &Tune) -> Result<Outcome, Failure> {
    let picture = args.output.as_deref().map(show::text).transpose()?;
    let tuned = answer(args)?;
    match args.json {
        true => say!("{}", tuned.to_json()),
        false => say!("{}", text::Text(&tuned).to_string().trim_end()),
    }
    let request =
        |file: &str| ForPython { verb: "tune", arguments: json!({ "picture": tuned.picture(), "output": file }) };
    Ok(picture.map_or(Outcome::Done(Exit::Fine), |file| Outcome::Python(request(file))))
}

/// The parameters that a request asks for.
///
/// # Errors
/// What is wrong with it.
pub fn answer(args: &Tune) -> Result<Tuned, Failure> {
    let failure = |found: Diagnostics| Failure::from(found.at(args.door));
    unsuited(args).map_or(Ok(()), |found| Err(failure(found)))?;
    let mut asked = match &args.file {
        Some(file) => from_file(args, &scenario(args, file)?, file).map_err(failure)?,
        None => from_words(args).map_err(failure)?,
    };
    state(args, &mut asked).map_err(failure)?;
    Tuned::new(asked).map_err(failure)
}

/// What does not go together: a queue is a file's, or its load is stated.
fn unsuited(args: &Tune) -> Option<Diagnostics> {
    let ByHand { class, rate, .. } = &args.by_hand;
    let what = match &args.file {
        Some(_) if !class.is_empty() || rate.is_some() => {
            ["a file together with ⟨class⟩ or ⟨rate⟩", "give one of the two"]
        }
        None if class.is_empty() && rate.is_none() => {
            ["neither a file nor ⟨class⟩", "give a scenario file, or ⟨rate⟩ and ⟨class⟩"]
        }
        None if class.is_empty() || rate.is_none() => ["⟨class⟩ and ⟨rate⟩ need each other", "give both"],
        None if args.queue.is_some() => ["⟨queue⟩ without a file", "give the scenario file that has the queue"],
        None if !args.set.is_empty() => ["⟨set⟩ without a file", "give the scenario file that has the key"],
        _ => return None,
    };
    Some(Diagnostics::of_file("perhop tune", "E239", what.map(str::to_owned)))
}

fn kind(args: &Tune) -> Kind {
    match args.aqm {
        Tunable::Svb => Kind::Svb,
        Tunable::Msvb => Kind::Msvb,
    }
}

fn scenario(args: &Tune, file: &Path) -> Result<Scenario, Failure> {
    let settings = Settings { set: args.set.clone(), ..Settings::default() };
    let source = Source { file: file.to_owned(), settings };
    let (sweep, warnings) = reading::load(&source, &reading::options(file, &source.settings))?;
    reading::warn(&warnings);
    Ok(sweep.base)
}

fn from_file(args: &Tune, scenario: &Scenario, file: &Path) -> Result<Task, Diagnostics> {
    let reference = f64::from(args.reference.get());
    let name = file.to_string_lossy();
    task(scenario, Wanted { kind: kind(args), queue: args.queue.as_deref(), reference, file: &name })
}

fn from_words(args: &Tune) -> Result<Task, Diagnostics> {
    let rate = args.by_hand.rate.map_or(0.0, |rate| rate.bytes_s());
    if rate == 0.0 || args.by_hand.packet.get() == 0 || args.by_hand.limit.get() == 0 {
        return Err(refusal("perhop tune", "E201", ["`⟨rate⟩`, `⟨packet⟩` or `⟨limit⟩` is 0", "must be above 0"]));
    }
    let [limit, reference] = [args.by_hand.limit, args.reference].map(|n: Packets| f64::from(n.get()));
    Ok(Task {
        kind: kind(args),
        link: Bottleneck { capacity: rate / args.by_hand.packet.get() as f64, limit, reference },
        packet: args.by_hand.packet.get(),
        classes: words::classes(kind(args), &args.by_hand.class)?,
        stated: (Stated::default(), "stated"),
        queue: "bottleneck".into(),
        source: "--class".into(),
        notes: Vec::new(),
    })
}

/// What the options give, laid over what the file has.
fn state(args: &Tune, asked: &mut Task) -> Result<(), Diagnostics> {
    let (stated, origin) = &mut asked.stated;
    let packets = |n: Option<Packets>| n.map(|n| f64::from(n.get()));
    let classes = asked.classes.len();
    if ![0, 1, classes].contains(&args.alpha.len()) {
        let what = [
            format!(
                "{} of ⟨alpha⟩, {}",
                counted(args.alpha.len(), ["value", "values"]),
                counted(classes, ["class", "classes"])
            ),
            "give one value for all classes, or one for each".into(),
        ];
        return Err(Diagnostics::of_file("⟨alpha⟩", "E201", what));
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
        return Err(refusal("⟨v0⟩", "E201", ["V0 is 0", "must be above 0"]));
    }
    match stated.v0.zip(stated.floor) {
        Some((v0, floor)) if floor >= v0 => {
            Err(refusal("⟨floor⟩", "E214", ["the floor is not below V0", "lower ⟨floor⟩ or raise ⟨v0⟩"]))
        }
        _ => Ok(()),
    }
}

fn refusal(option: &str, code: &'static str, what: [&str; 2]) -> Diagnostics {
    Diagnostics::of_file(option, code, what.map(str::to_owned))
}
