//! `[scenario]`: times, names, sizes.

use crate::bounds::REPLICATIONS;
use crate::resolve::offered;
use crate::resolve::ports::File;
use crate::sections::settings::Settings;
use perhop_core::params::{Problems, Spanned};
use perhop_core::units::NS_PER_S;
use perhop_sim::engine::{MAX_DURATION, most_components};
use perhop_sim::plan;

/// Most classes.
const MOST_CLASSES: usize = 1 << 16;

/// Times and counts of `[scenario]`, and its name.
pub fn check_settings(settings: &Spanned<Settings>, problems: &mut Problems) {
    if *settings.duration > MAX_DURATION {
        let message = format!("`duration` is {}", *settings.duration);
        let seconds = MAX_DURATION.ns() / NS_PER_S;
        let help = format!(
            "must be at most {seconds}s, about {:.1} h: the simulator's clock holds no more",
            seconds as f64 / 3600.0
        );
        problems.error("E204", settings.duration.place, message).help(help);
    }
    if *settings.warmup >= *settings.duration {
        let message = format!("warm-up of {} is not below the duration of {}", *settings.warmup, *settings.duration);
        let stated = settings.warmup.place != settings.place;
        let place = if stated { settings.warmup.place } else { settings.duration.place };
        let help = "lower `warmup` (default: 10s) or raise `duration`: statistics cover the time after the warm-up";
        problems.error("E203", place, message).help(help);
    }
    if !REPLICATIONS.range().contains(&u64::from(*settings.replications)) {
        let message = format!("`replications` is {}", *settings.replications);
        problems.error("E201", settings.replications.place, message).help(REPLICATIONS.help());
    }
    if let Some(sample) = settings.sample.filter(|every| every.ns() == 0) {
        problems.error("E201", sample.place, "`sample` is 0").help("must be above 0");
    }
    if let Some(name) = &settings.name {
        check_name(name, problems);
    }
}

/// Ports that series are requested for.
pub fn check_sampled(file: File<'_>, problems: &mut Problems) {
    let settings = &file.model.settings;
    if settings.sample.is_none() && !settings.sample_ports.is_empty() {
        let message = "`sample-ports` without `sample`: there are no series";
        let place = settings.sample_ports.place;
        problems.error("E239", place, message).help("add the interval of the series, as in sample = \"100ms\"");
    }
    for port in settings.sample_ports.iter().filter(|p| file.topology.link(p).is_none() && !file.topology.is_faulty(p))
    {
        problems.error("E235", port.place, format!("unknown port `{}`", **port)).help(file.nearest_port(port));
    }
}

/// The name of a scenario or policy has to be fit for a directory.
pub fn check_name(name: &Spanned<String>, problems: &mut Problems) {
    if let Some(fault) = unfit(name) {
        let help = "use letters, digits, `-`, `_`, `.` and inner spaces: the name becomes that of a directory";
        problems.error("E011", name.place, format!("name {fault}")).help(help);
    }
}

/// Longest name of a directory, bytes; file systems hold 255, and points add theirs.
const LONGEST_NAME: usize = 100;

/// Why a name cannot be that of a directory.
pub fn unfit(name: &str) -> Option<String> {
    let bad = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    if name.is_empty() {
        return Some("is empty".into());
    }
    if let Some(c) = name.chars().find(|&c| bad(c)) {
        return Some(format!("holds {c:?}"));
    }
    if name.starts_with(['.', ' ']) || name.ends_with(['.', ' ']) {
        return Some("begins or ends with a dot or a space".into());
    }
    (name.len() > LONGEST_NAME).then(|| format!("is {} bytes long; at most {LONGEST_NAME} are allowed", name.len()))
}

/// A packet's class has 16 bits; the engine numbers three events per link and one per source, and two ends per flow.
pub fn check_size(file: File<'_>, links: &[plan::Link], problems: &mut Problems) {
    let classes = offered::classes(file.model).len();
    if classes > MOST_CLASSES {
        let help = "give several `[traffic]` one `class`: a table without `class` is a class of its own";
        problems
            .error("E205", None, format!("{classes} classes are too many: at most {MOST_CLASSES} are allowed"))
            .help(help);
    }
    let sources: u64 = offered::tables(file.traffic).map(|f| u64::from(f.offered.flows)).sum();
    let duration = *file.model.settings.duration;
    let most = most_components(duration.min(MAX_DURATION));
    if 3 * links.len() as u64 + sources < most && 2 * sources < most {
        return;
    }
    let message = format!("{} links and {sources} sources are too many for a run of {duration}", links.len());
    let help = format!(
        "lower `flows` or `duration`: sources must be fewer than {}, and 3 x links + sources below {most}",
        most / 2
    );
    problems.error("E205", None, message).help(help);
}
