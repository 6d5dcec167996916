//! `--ef 'PORT,rate=2Mbit/s,for=EF+CS5'`, read for a scenario.

use super::sure::{self, Port};
use perhop_core::Scope;
use perhop_core::dscp::Dscp;
use perhop_core::framing::Framing;
use perhop_core::params::suggest;
use perhop_core::units::BitRate;
use perhop_scenario::Diagnostic;
use perhop_scenario::scenario::Scenario;
use perhop_sim::plan::{Aggregate, EfCheck, Plan};

/// What may follow the port.
const KEYS: [&str; 3] = ["rate", "for", "class"];
/// The recommended code point of EF (RFC 3246 section 2.7).
const DEFAULT: &str = "EF";

/// What `texts` ask of a scenario, each `PORT[,rate=RATE][,for=DSCP+DSCP][,class=NAME]`. Without `rate` it is the rate that
/// the port's scheduler makes the aggregate sure of.
///
/// # Errors
/// The first text that will not do: E004, E005, E006, E107, E201, E220 or E235, with what to write instead.
pub fn checks(texts: &[String], scenario: &Scenario) -> Result<Vec<EfCheck>, Diagnostic> {
    let plan = scenario.common();
    texts.iter().map(|text| Query::read(text).and_then(|asked| asked.check(plan)).map_err(|it| it.of(text))).collect()
}

/// Why a text will not do.
struct Refused {
    code: &'static str,
    message: String,
    help: String,
}

impl Refused {
    fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into() }
    }

    fn of(self, text: &str) -> Diagnostic {
        Diagnostic::error(self.code, format!("`ef` '{text}': {}", self.message), self.help)
    }
}

/// The parts of a text.
#[derive(Default)]
struct Query<'a> {
    port: &'a str,
    rate: Option<&'a str>,
    code_points: Option<&'a str>,
    class: Option<&'a str>,
}

impl<'a> Query<'a> {
    fn read(text: &'a str) -> Result<Self, Refused> {
        let mut parts = text.split(',').map(str::trim);
        let mut asked = Self { port: parts.next().unwrap_or_default(), ..Self::default() };
        for part in parts {
            let (key, value) = part.split_once('=').map_or((part, None), |(k, v)| (k.trim(), Some(v.trim())));
            let place = match key {
                "rate" => &mut asked.rate,
                "for" => &mut asked.code_points,
                "class" => &mut asked.class,
                _ => return Err(Refused::new("E004", format!("unknown key `{key}`"), suggest(key, &KEYS))),
            };
            let Some(value) = value.filter(|value| !value.is_empty()) else {
                return Err(Refused::new(
                    "E005",
                    format!("`{key}` has no value"),
                    "write it as in 'C -> E2,rate=2Mbit/s,for=EF'",
                ));
            };
            if place.replace(value).is_some() {
                return Err(Refused::new("E002", format!("`{key}` is stated twice"), "state it once"));
            }
        }
        Ok(asked)
    }

    fn check(&self, plan: &Plan) -> Result<EfCheck, Refused> {
        let (link, of) = (self.link(plan)?, self.aggregate(plan)?);
        let port = Port { link: &plan.links[link], accounting: plan.accounting };
        let (rate, framing) = match self.rate {
            Some(text) => (port.stated(text)?, Framing::default()),
            None => sure::rate(port, &of).ok_or_else(|| port.unknown_rate())?,
        };
        let scope = Scope { accounting: plan.accounting, ..Scope::default() };
        let frame = framing.build(&scope).expect("the port was built with it");
        Ok(EfCheck { link, of, rate, frame })
    }

    fn link(&self, plan: &Plan) -> Result<usize, Refused> {
        plan.links.iter().position(|link| link.name == self.port).ok_or_else(|| {
            let names: Vec<_> = plan.links.iter().map(|link| link.name.as_str()).collect();
            Refused::new("E235", format!("no port `{}` in this scenario", self.port), suggest(self.port, &names))
        })
    }

    fn aggregate(&self, plan: &Plan) -> Result<Aggregate, Refused> {
        match (self.class, self.code_points) {
            (Some(_), Some(_)) => {
                let help = "name packets either by their code points or by their class";
                Err(Refused::new("E239", "`for` together with `class`", help))
            }
            (Some(class), None) => plan.classes.iter().position(|name| name == class).map_or_else(
                || {
                    let names: Vec<_> = plan.classes.iter().map(String::as_str).collect();
                    Err(Refused::new("E006", format!("no class `{class}`"), suggest(class, &names)))
                },
                |class| Ok(Aggregate::Class(class as u16)),
            ),
            (None, code_points) => {
                let each = code_points.unwrap_or(DEFAULT).split('+').map(|text| text.trim().parse::<Dscp>());
                let all: Result<Vec<_>, _> = each.collect();
                all.map(Aggregate::CodePoints).map_err(|[message, help]| Refused::new("E220", message, help))
            }
        }
    }
}

impl Port<'_> {
    /// A rate that is stated for it, in bytes as `accounting` counts them.
    fn stated(&self, text: &str) -> Result<BitRate, Refused> {
        let rate: BitRate = text.parse().map_err(|error: perhop_core::units::UnitError| {
            Refused::new("E107", format!("rate: {}", error.message), error.help)
        })?;
        let most = self.most();
        if rate == BitRate::bps(0) {
            return Err(Refused::new(
                "E201",
                "`rate` is 0",
                format!("must be above 0 and at most {most}: beyond that every packet is early"),
            ));
        }
        if rate > most {
            let help = format!("must be at most {most}, the rate of `{}`", self.link.name);
            return Err(Refused::new("E201", format!("`rate` is {rate}, more than the port has"), help));
        }
        Ok(rate)
    }

    fn unknown_rate(&self) -> Refused {
        let message = format!("the rate is missing: nothing at `{}` guarantees these packets one", self.link.name);
        let help = format!(
            "state the rate that they should get, as in '{},rate=2Mbit/s', at most {}; a class of `strict-priority` or `htb` \
         whose `for` names them has one",
            self.link.name,
            self.most()
        );
        Refused::new("E005", message, help)
    }

    fn most(&self) -> BitRate {
        sure::most(*self)
    }
}
