//! The schema says of files what the parser says; that the one in docs/ is current is a test of the command line's crate.

use perhop_scenario::text::{json, toml};
use perhop_scenario::{policy_schema, schema};
use serde_json::Value;
use std::path::Path;

/// Validates with the keywords the schema uses; each error is the path of what is wrong.
struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    fn accepts(&self, schema: &Value, value: &Value) -> bool {
        let Some(schema) = schema.as_object() else { return false };
        schema.iter().all(|(keyword, want)| match keyword.as_str() {
            "$ref" => self.accepts(self.root.pointer(&want.as_str().unwrap()[1..]).unwrap(), value),
            "type" => want.as_array().map_or_else(|| is(value, want), |all| all.iter().any(|one| is(value, one))),
            "const" => value == want,
            "enum" => want.as_array().unwrap().contains(value),
            "oneOf" => want.as_array().unwrap().iter().filter(|one| self.accepts(one, value)).count() == 1,
            "anyOf" => want.as_array().unwrap().iter().any(|one| self.accepts(one, value)),
            "pattern" => value.as_str().is_none_or(|text| matches(want.as_str().unwrap(), text)),
            "minimum" => value.as_f64().is_none_or(|x| x >= want.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|x| x <= want.as_f64().unwrap()),
            "minProperties" => value.as_object().is_none_or(|o| o.len() as u64 >= want.as_u64().unwrap()),
            "minItems" => value.as_array().is_none_or(|a| a.len() as u64 >= want.as_u64().unwrap()),
            "items" => value.as_array().is_none_or(|a| a.iter().all(|item| self.accepts(want, item))),
            "required" => want.as_array().unwrap().iter().all(|k| value.get(k.as_str().unwrap()).is_some()),
            "properties" => self.properties(want, value),
            "additionalProperties" => self.others(schema, want, value),
            "patternProperties" | "$schema" | "$defs" | "title" | "description" | "default" | "examples" => true,
            other => panic!("keyword {other}"),
        })
    }

    fn properties(&self, want: &Value, value: &Value) -> bool {
        let known = value.as_object().into_iter().flatten().filter_map(|(k, v)| want.get(k).map(|s| (s, v)));
        known.into_iter().all(|(schema, value)| self.accepts(schema, value))
    }

    fn others(&self, schema: &serde_json::Map<String, Value>, want: &Value, value: &Value) -> bool {
        let known = |key: &str| schema.get("properties").is_some_and(|p| p.get(key).is_some());
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        value.as_object().into_iter().flatten().filter(|(key, _)| !known(key)).all(|(key, value)| {
            match patterns.and_then(|p| p.values().next()) {
                Some(link) => (key.contains(" - ") || key.contains("->")) && self.accepts(link, value),
                None => want != &Value::Bool(false) && self.accepts(want, value),
            }
        })
    }
}

fn is(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("type {other}"),
    }
}

/// The patterns of quantities: a number, then one of the units in the last parentheses; or what a series fills in,
/// braces anywhere (after `|`) or around the whole text (after `^`).
fn matches(pattern: &str, text: &str) -> bool {
    if let Some((quantity, _)) = pattern.split_once(r"|\{") {
        let braces = text.split_once('{').and_then(|(_, rest)| rest.find('}'));
        return braces.is_some_and(|length| length > 0) || matches(quantity, text);
    } else if pattern.starts_with(r"^\{") {
        return text.len() > 2 && text.rfind('{') == Some(0) && text.find('}') == Some(text.len() - 1);
    }
    let units = pattern.trim_end_matches(")$").trim_end_matches('$');
    let units: Vec<_> = units[units.rfind([')', '(', '*']).unwrap() + 1..].split('|').collect();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    digits.replace('_', "").parse::<f64>().is_ok() && units.contains(&text[digits.len()..].trim())
}

fn accepted(schema: &Value, text: &str) -> bool {
    let node = toml::parse(text, 0, &mut perhop_core::params::Problems::default()).unwrap();
    Validator { root: schema }.accepts(schema, &json::json(&node.tree))
}

#[test]
fn it_accepts_what_the_parser_accepts() {
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let schema = if path.to_str().unwrap().contains("policy") { policy_schema() } else { schema() };
        assert!(accepted(&schema, &text), "{}", path.display());
        let options = perhop_scenario::Options::new("x.toml");
        if let Ok((scenario, _)) = perhop_scenario::Scenario::parse(&text, &options) {
            assert!(accepted(&schema, &scenario.effective()), "{}", scenario.effective());
        }
    }
}

#[test]
fn it_refuses_what_the_parser_refuses() {
    let good = include_str!("../good/protected-tcp.toml");
    for (from, to) in [
        ("duration = \"105s\"", "duration = 105"),
        ("duration = \"105s\"", "duration = \"105B\""),
        ("warmup =", "warmpu ="),
        ("kind = \"f-sam\"\ncir", "kind = \"fsam\"\ncir"),
        ("aqm = \"rio\"", "aqm = \"redd\""),
        ("wq = 0.002", "wp = 0.002"),
        ("max-p = 0.02", "max-p = 2"),
        ("model = \"ftp\"", "model = \"fpt\""),
        ("\"E1 - C\"", "\"E1\""),
        ("from = \"s1\"\n", ""),
        ("at = \"E1 -> C\"\n", ""),
        ("flows = 10", "flows = \"10\""),
        ("per = \"flow\"", "per = \"host\""),
        ("[traffic.bulk]", "[trafic.bulk]"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        assert!(!accepted(&schema(), &bad), "{from} -> {to}");
        let options = perhop_scenario::Options::new("x.toml");
        assert!(perhop_scenario::Scenario::parse(&bad, &options).is_err(), "{from} -> {to}");
    }
}

/// What every plan of a template states, its entry need not.
#[test]
fn a_template_states_what_its_plans_do_not() {
    let per = "per = \"destination\", slots = 9";
    for (more, sound) in [
        (", rate = \"1Mbit/s\"", true),
        (", plans = [{ match = { destination = \"10.0.1.0/24\" }, rate = \"1Mbit/s\" }, { rate = \"2Mbit/s\" }]", true),
        ("", false),
    ] {
        let text = format!(
            "[scenario]\nduration = \"20s\"\n[links]\n\"a - b\" = {{ rate = \"10Mbit/s\", delay = \"1ms\" }}\n\"a -> b\" = \
             {{ queue = \"q\" }}\n[queue.q]\nscheduler = \"htb\"\nclasses = [{{ {per}{more} }}]\n[traffic.t]\nmodel = \
             \"ftp\"\nfrom = \"a\"\nto = \"b\"\n"
        );
        let options = perhop_scenario::Options::new("x.toml");
        assert_eq!(accepted(&schema(), &text), sound, "{text}");
        assert_eq!(perhop_scenario::Scenario::parse(&text, &options).is_ok(), sound, "{text}");
    }
}

#[test]
fn it_refuses_changes_that_the_parser_refuses() {
    let good = include_str!("../good/changes.toml");
    for (from, to) in [
        ("at = \"10s\"", "at = 10"),
        ("at = \"10s\"\n", ""),
        ("[[change]]\nat = \"10s\"", "[[change]]\nscenario.seed = 2\nat = \"10s\""),
        ("conditioner.core.cir", "conditioner.core.per"),
        ("conditioner.core.cir", "conditioner.core.crr"),
        (".window = \"500ms\"", ".window = \"500B\""),
        ("traffic.voice.rate", "traffic.voice.stop"),
        ("queue.max = ", "queue.aqm = "),
        ("links.\"A -> B\".rate", "links.\"A -> B\".delay"),
        ("links.\"A -> B\".rate", "links.\"A\".rate"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        assert!(!accepted(&schema(), &bad), "{from} -> {to}");
        let options = perhop_scenario::Options::new("x.toml");
        assert!(perhop_scenario::Scenario::parse(&bad, &options).is_err(), "{from} -> {to}");
    }
}

/// Each unit of a pattern is one that the parser takes, and none is missing.
#[test]
fn units_of_the_schema_are_those_of_the_parser() {
    let text = schema().to_string() + &policy_schema().to_string();
    let pattern = |units: &str| text.contains(&format!("({units})$"));
    let listed = |fault: String| fault.split_once(": ").unwrap().1.replace(", ", "|");
    let rate = "1x".parse::<perhop_core::units::BitRate>().unwrap_err().help;
    let size = "1x".parse::<perhop_core::units::Bytes>().unwrap_err().help;
    let time = "1x".parse::<perhop_core::units::Span>().unwrap_err().help;
    let (rate, size, time) = (listed(rate), listed(size), listed(time));
    assert!(pattern(&rate) && pattern(&size) && pattern(&time), "{rate} {size} {time}");
    assert!(pattern(&format!("p|%|{size}|{time}")));
}
