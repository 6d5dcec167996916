//! docs/ says what the code does: generated pages are current, examples in the text are parsed, links lead somewhere.

use clap::Parser;
use perhop::args::Cli;
use perhop_scenario::{Options, Policy, Scenario};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn generated_pages_are_current() {
    let docs = root().join("docs");
    let files = perhop::docs::files();
    let current = |(name, made): &&(String, String)| std::fs::read_to_string(docs.join(name)).is_ok_and(|t| t == *made);
    let stale: Vec<_> = files.iter().filter(|file| !current(file)).map(|file| file.0.as_str()).collect();
    assert!(stale.is_empty(), "make renew WHAT=docs: {}", stale.join(", "));
    for entry in std::fs::read_dir(docs.join("reference/algorithms")).unwrap() {
        let name = format!("reference/algorithms/{}", entry.unwrap().file_name().to_string_lossy());
        assert!(files.iter().any(|f| f.0 == name), "docs/{name} is of no algorithm");
    }
}

/// Written to be read in a difference: a key a line where a line would be long.
#[test]
fn schemas_are_whole_in_short_lines() {
    let whole = [("scenario", perhop_scenario::schema()), ("policy", perhop_scenario::policy_schema())];
    for (name, schema) in whole {
        let text = text(&root().join(format!("docs/reference/{name}.schema.json")));
        assert!(serde_json::from_str::<serde_json::Value>(&text).unwrap() == schema, "{name}");
        let long: Vec<_> = text.lines().filter(|line| line.len() > 160).collect();
        assert!(long.is_empty(), "{name}: {long:?}");
    }
}

/// Every page that people read.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<_> = files(&root()).filter(|path| is_page(path)).collect();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        folders.extend(files(&folder).filter(|path| path.is_dir()));
        pages.extend(files(&folder).filter(|path| is_page(path)));
    }
    assert!(pages.len() > 100, "{} pages", pages.len());
    pages
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md")
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())
}

/// The blocks of a page that are fenced as `language`, with the line each begins at.
fn blocks(page: &str, language: &str) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = Vec::new();
    let mut fence: Option<bool> = None;
    for (i, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), fence) {
            (Some(info), None) => {
                fence = Some(info == language);
                out.extend((info == language).then(|| (i + 2, String::new())));
            }
            (Some(_), Some(_)) => fence = None,
            (None, Some(true)) => out.last_mut().expect("it began").1 += &format!("{line}\n"),
            _ => {}
        }
    }
    out
}

/// A file, or a policy if it has no traffic; without errors or warnings.
fn parses(toml: &str, place: &str) {
    let options = Options::new("page.toml").captures(&perhop_capture::replay::Files);
    let policy = !toml.contains("[traffic") && !toml.contains("[dumbbell");
    let found = match policy {
        true => Policy::parse(toml, &options).map(|p| p.1),
        false => Scenario::parse(toml, &options).map(|s| s.1),
    };
    let said = found.unwrap_or_else(|errors| errors);
    assert!(said.list.is_empty(), "{place}:\n{said}\n{toml}");
}

/// Blocks marked `toml` are whole files; those of docs/reference/scenario.md, one after the other, are one scenario, but for
/// blocks whose first line says that they are a separate file. Those that are steps of a page, and say so in their first
/// line, are read by the tests that follow the page (tests/python/walkthrough.py).
#[test]
fn scenarios_in_the_text_are_sound() {
    // Captures in the text are found from the checkout.
    std::env::set_current_dir(root()).unwrap();
    let mut seen = 0;
    for page in pages() {
        let (name, mut joined) = (page.file_name().unwrap().to_str().unwrap().to_owned(), String::new());
        for (line, block) in blocks(&text(&page), "toml") {
            seen += 1;
            if ["# file: ", "# add to ", "# in "].iter().any(|step| block.starts_with(step)) {
                continue;
            }
            match name == "scenario.md" && !block.starts_with("# a separate file") {
                true => joined += &block,
                false => parses(&block, &format!("{name}:{line}")),
            }
        }
        if !joined.is_empty() {
            parses(&joined, &name);
        }
    }
    assert!(seen >= 10, "{seen} blocks");
}

/// docs/reference/scenario.md names every section and every key that is not an algorithm's own.
#[test]
fn the_guide_names_every_key() {
    use perhop_core::params::{Field, Params};
    use perhop_scenario::expand::dumbbell;
    use perhop_scenario::sections::{conditioner, link, model, queue, settings, tcp, traffic};
    let guide = text(&root().join("docs/reference/scenario.md"));
    let fields: [&[Field]; 10] = [
        settings::Settings::FIELDS,
        settings::PolicySettings::FIELDS,
        link::NodeSection::FIELDS,
        link::LinkSection::FIELDS,
        queue::QueueCommon::FIELDS,
        conditioner::Placement::FIELDS,
        conditioner::Actions::FIELDS,
        traffic::TrafficCommon::FIELDS,
        tcp::TcpSection::FIELDS,
        dumbbell::Dumbbell::FIELDS,
    ];
    let keys = fields.into_iter().flat_map(Field::all).map(|f| format!("`{}`", f.name));
    let sections = model::SECTIONS.iter().map(|s| format!("`[{s}"));
    let named = |word: &String| guide.contains(word) || guide.contains(&word.replacen("`[", "`[[", 1));
    let missing: Vec<_> = keys.chain(sections).filter(|word| !named(word)).collect();
    assert!(missing.is_empty(), "{}", missing.join(", "));
}

/// docs/reference/results.md names every column of every table.
#[test]
fn the_columns_are_explained() {
    let page = text(&root().join("docs/reference/results.md"));
    let options = Options::new("x.toml").setting("duration", "2s").setting("warmup", "1s");
    let (scenario, _) = Scenario::load(&root().join("examples/dumbbell.toml"), &options).unwrap();
    let mut plan = scenario.plan(1, 0);
    plan.sampling = Some(perhop_sim::plan::Sampling::all("500ms".parse().unwrap()));
    let outcome = perhop_sim::Simulation::new(plan.clone(), Default::default()).unwrap().run(|_| true).unwrap();
    for table in perhop_results::tables::tables(&plan, &outcome) {
        assert!(page.contains(&format!("`{}`", table.name)), "{}", table.name);
        for (column, _) in &table.columns {
            assert!(explained(&page, column), "docs/reference/results.md does not explain {}.{column}", table.name);
        }
    }
}

/// By its name, or with others: `arrived_packets`, `_bytes`; `delay_{mean,sd,p50,p99,p999,max}_ms`.
fn explained(page: &str, column: &str) -> bool {
    let written = |name: &str| page.contains(&format!("`{name}`"));
    let stem = column.strip_suffix("_bytes").is_some_and(|stem| written(&format!("{stem}_packets`, `_bytes")));
    let quantile = ["mean", "sd", "p50", "p99", "p999", "max"].iter().any(|q| {
        column
            .strip_suffix(&format!("_{q}_ms"))
            .is_some_and(|stem| written(&format!("{stem}_{{mean,sd,p50,p99,p999,max}}_ms")))
    });
    written(column) || stem || quantile
}

/// Commands in the text are ones that the command line takes, and the files they name are there.
#[test]
fn commands_in_the_text_are_accepted() {
    let mut seen = 0;
    for page in pages() {
        for (line, block) in blocks(&text(&page), "console") {
            for command in block.lines().filter_map(|l| l.strip_prefix("$ perhop ")) {
                let place = format!("{}:{line}: perhop {command}", page.display());
                let words = words(command.split("#").next().and_then(|c| c.split(" > ").next()).unwrap());
                let cli = Cli::try_parse_from(std::iter::once("perhop".to_owned()).chain(words.clone()));
                if let Err(error) = cli {
                    assert!(!error.use_stderr(), "{place}\n{error}");
                }
                let files =
                    words.iter().filter(|w| ["examples/", "tests/", "python/"].iter().any(|d| w.starts_with(d)));
                files.for_each(|f| assert!(root().join(f).exists(), "{place}: no {f}"));
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "{seen} commands");
}

/// Words of a command line, single quotes understood.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut quoted, mut word) = (Vec::new(), false, None::<String>);
    for c in command.trim().chars().chain([' ']) {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words
}

/// Links to files of the repository lead to files.
#[test]
fn links_lead_somewhere() {
    let mut dead = Vec::new();
    for page in pages() {
        let text = text(&page);
        let targets = text.split("](").skip(1).filter_map(|t| t.split(')').next());
        for target in targets.filter(|t| !t.contains("://") && !t.starts_with('#')) {
            let path = page.parent().unwrap().join(target.split('#').next().unwrap());
            if !path.exists() {
                dead.push(format!("{} -> {target}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}
