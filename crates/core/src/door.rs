//! How a message names an option: who types a command reads `--link 100Mbit/s`, who calls a function `link="100Mbit/s"`.
//!
//! | in a message      | command line       | Python              |
//! |-------------------|--------------------|---------------------|
//! | `⟨class⟩`         | `--class`          | `classes`           |
//! | `⟨link=⟩`         | `--link`           | `link=`             |
//! | `⟨link=1Mbit/s⟩`  | `--link 1Mbit/s`   | `link="1Mbit/s"`    |
//! | `⟨force!⟩`        | `--force`          | `force=True`        |

/// From where a request comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Door {
    /// Options of a command.
    #[default]
    CommandLine,
    /// Arguments of a function of Python.
    Python,
}

/// Arguments of Python that have other names than the options: keywords, and what is in the plural there.
const IN_PYTHON: [(&str, &str); 4] = [("as", "as_"), ("from", "from_"), ("class", "classes"), ("set", "overrides")];

/// The options that messages name. A user's own words between such brackets are no option and stay.
const OPTIONS: [&str; 24] = [
    "alpha",
    "as",
    "bursts",
    "by",
    "class",
    "direction",
    "floor",
    "flow-timeout",
    "force",
    "framing",
    "from",
    "interface",
    "limit",
    "link",
    "packet",
    "partial",
    "policy",
    "queue",
    "rate",
    "rtt",
    "samples",
    "set",
    "v0",
    "where",
];

impl Door {
    /// A message in the door's words.
    pub fn words(self, message: &str) -> String {
        let mut parts = message.split('⟨');
        let mut words = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part.split_once('⟩') {
                Some((option, rest)) if is_known(option) => words += &(self.option(option) + rest),
                _ => {
                    words.push('⟨');
                    words += part;
                }
            }
        }
        words
    }

    fn option(self, option: &str) -> String {
        let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let (name, is_flag) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
        if self == Self::CommandLine {
            return format!("--{name} {}", value.unwrap_or_default()).trim_end().to_owned();
        }
        let known = IN_PYTHON.iter().find(|(option, _)| *option == name);
        let name = known.map_or_else(|| name.replace('-', "_"), |(_, argument)| (*argument).to_owned());
        match value {
            _ if is_flag => name + "=True",
            None => name,
            Some("") => name + "=",
            Some(value) => format!("{name}=\"{value}\""),
        }
    }
}

fn is_known(option: &str) -> bool {
    OPTIONS.contains(&option.split(['=', '!']).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::Door;

    #[test]
    fn each_door_has_its_words() {
        let said = "give ⟨link=1Mbit/s⟩ or ⟨from=⟩, ⟨flow-timeout!⟩, of all ⟨class⟩: a < b";
        let command = "give --link 1Mbit/s or --from, --flow-timeout, of all --class: a < b";
        assert_eq!(Door::CommandLine.words(said), command);
        let python = "give link=\"1Mbit/s\" or from_=, flow_timeout=True, of all classes: a < b";
        assert_eq!(Door::Python.words(said), python);
        for own in ["a class `⟨x⟩` of the user", "no end ⟨link"] {
            assert_eq!([Door::CommandLine.words(own), Door::Python.words(own)], [own, own]);
        }
    }
}
