//! Configurations of devices: read for `import`, `check` and `predict`, and spoken of by their own lines.

mod findings;

use crate::request::Configuration;
#[cfg(not(target_family = "wasm"))]
use crate::terminal::show::complain;
use crate::{Failure, reading};
use perhop_config::account::Verdict;
use perhop_config::dialect::Dialect;
use perhop_config::finding::{Fault, Finding, Refused};
use perhop_config::import::{Imported, import};
use perhop_config::load::Load;
use perhop_config::text::Text;
use perhop_core::door::Door;
use perhop_core::params::{Problems, Severity};
use perhop_core::units::counted;
use perhop_scenario::text::printable::printable;
use perhop_scenario::text::source::Sources;
use perhop_scenario::text::{diagnostics::Diagnostic, toml};
use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

pub(crate) use findings::{Findings, OF_THE_LOAD, check, findings};

/// A configuration in a file.
pub(crate) struct File<'a> {
    /// In messages.
    pub(crate) name: &'a str,
    /// Its bytes.
    pub(crate) bytes: &'a [u8],
    /// In whose words options are named.
    door: Door,
    /// Its text once places in it were looked up.
    sources: OnceCell<Arc<Sources>>,
}

impl<'a> File<'a> {
    /// A file that was read.
    pub(crate) const fn new(name: &'a str, bytes: &'a [u8], door: Door) -> Self {
        Self { name, bytes, door, sources: OnceCell::new() }
    }

    /// Reads it, and says what it was taken for if that was guessed.
    ///
    /// # Errors
    /// What is wrong with it.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn read(&self, asked: &Configuration) -> Result<Imported, Failure> {
        let imported = self.import(asked)?;
        if imported.guessed {
            complain!("{}", guessed(self.name, &imported));
        }
        Ok(imported)
    }

    /// The same whatever port is meant.
    ///
    /// # Errors
    /// What is wrong with it.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn read_all(&self, asked: &Configuration) -> Result<Imported, Failure> {
        let read = perhop_config::import::read(self.bytes, asked.from.as_deref(), &asked.import_options());
        let imported = read.map_err(|refused| self.refused(refused))?;
        if imported.guessed {
            complain!("{}", guessed(self.name, &imported));
        }
        Ok(imported)
    }

    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn import(&self, asked: &Configuration) -> Result<Imported, Failure> {
        import(self.bytes, asked.from.as_deref(), &asked.import_options()).map_err(|refused| self.refused(refused))
    }

    /// Why it cannot be read.
    pub(crate) fn refused(&self, refused: impl Into<Refused>) -> Failure {
        let Refused { fault, text } = refused.into();
        self.diagnostic(&text, Severity::Error, fault).into()
    }

    /// A fault or finding as everything that perhop finds.
    pub(crate) fn diagnostic(&self, text: &Text, severity: Severity, fault: Fault) -> Diagnostic {
        let spot = fault.place.filter(|place| place.end > place.start);
        let spot = spot.and_then(|place| self.sources(text).spot(place));
        let [message, help] = [fault.message, fault.help].map(|words| printable(&words).into_owned());
        let file = self.name.to_owned();
        Diagnostic { severity, file, spot, ..Diagnostic::error(fault.code, message, help) }.at(self.door)
    }

    /// A finding as a warning, or as the error that its code says it is.
    pub(crate) fn finding(&self, text: &Text, finding: Finding) -> Diagnostic {
        let Finding { code, place, message, instead, .. } = finding;
        let severity = if code.starts_with('E') { Severity::Error } else { Severity::Warning };
        self.diagnostic(text, severity, Fault { code, place: Some(place), message, help: instead })
    }

    /// Its text, to look places up.
    pub(crate) fn sources(&self, text: &Text) -> &Arc<Sources> {
        self.sources.get_or_init(|| {
            let mut sources = Sources::default();
            sources.add(self.name, &text.text);
            sources.into()
        })
    }
}

/// What a file was taken for, and of what dialect other lines of it are.
pub(crate) fn guessed(name: &str, imported: &Imported) -> String {
    let Dialect { name: from, title, .. } = imported.dialect;
    let mut text = format!("{name}: read as {title} (--from {from})");
    for (other, lines) in imported.others() {
        let (count, from) = (counted(lines, ["line of it looks", "lines of it look"]), other.name);
        text += &format!("; {count} like {}, which --from {from} reads", other.title);
    }
    text
}

/// How many lines the model says otherwise, or not at all; empty if it is none.
pub(crate) fn not_taken(imported: &Imported) -> String {
    let account = &imported.read.account;
    let count = |verdict, nouns: [&str; 2]| match account.count(&verdict) {
        0 => None,
        n => Some(counted(n, nouns)),
    };
    let near = count(Verdict::Approximated, ["line is approximated", "lines are approximated"]);
    let none = count(Verdict::NotModelled, ["line is not modelled", "lines are not modelled"]);
    [near, none].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A load in a file.
pub(crate) struct Stated {
    /// What it states.
    pub(crate) load: Load,
    /// Its text.
    sources: Arc<Sources>,
}

/// The load in a file.
///
/// # Errors
/// The file cannot be read, is no TOML, or holds something else.
pub(crate) fn load(path: &Path) -> Result<Stated, Failure> {
    let text = reading::accepted(reading::text(path), "nothing was run")?;
    let mut problems = Problems::default();
    let root = toml::parse(&text, 0, &mut problems);
    let name = path.to_string_lossy().into_owned();
    let mut sources = Sources::default();
    sources.add(&name, &text);
    let refused = |fault| {
        let own = Refused { fault, text: Box::new(Text::of(text.clone())) };
        File::new(&name, text.as_bytes(), Door::default()).refused(own)
    };
    let Some(root) = root.filter(|_| !problems.has_errors()) else {
        let problem = problems.list.into_iter().next();
        let (code, place, message, help) = problem
            .map_or(("E001", None, "no TOML".into(), String::new()), |it| (it.code, it.place, it.message, it.help));
        return Err(refused(Fault { code, place, message, help }));
    };
    let load = Load::stated(&root).map_err(refused)?;
    Ok(Stated { load, sources: sources.into() })
}
