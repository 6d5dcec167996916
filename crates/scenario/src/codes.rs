//! The diagnostic codes of this crate.

use perhop_core::codes::Code;

/// By the folder of their pages.
pub const LIST: &[Code] = perhop_core::codes! {
    ".": E241 E269 E270;
    "change": W311;
    "check": E011 E203 E204 E205 E206 E232 E236 E237 E251 E252 E276;
    "check": W301 W302 W305 W306 W307 W312 W313 W315 W317 W318 W320 W321 W322 W328 W331 W332 W337 W338 W339 W340 W344;
    "check": W350 W352 W355 W356 W358 W360 W361;
    "expand": E009 E010 E012 E240 E250;
    "policy": E245 E255 E263 W314;
    "resolve": E217 E228 E230 E233 E234 E235 E238 E239 E242 E244 E246 E262 E264 E265 E291 E293 W330;
    "sections": E224 E226 E243 E247 E248;
    "text": E001 E002 E007 E008 E027;
    "tune": E260;
};

/// What passes packets through conditioners and queues. What it knows of their senders decides which warnings mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The simulator: all senders are stated.
    Simulator,
    /// Captures: senders are unknown, and `inside` says which side they are on.
    Captures,
    /// Interfaces, live or recorded: senders are unknown, and each side has an interface.
    Interfaces,
}

/// Warnings of this crate that mean something to other hosts than the simulator, and to which. All of perhop-core are about
/// the parameters of one algorithm: they mean the same to each host.
const ELSEWHERE: [(&str, &[Host]); 2] = [("W314", &[Host::Captures]), ("W332", &[Host::Captures, Host::Interfaces])];

impl Host {
    /// Whether a warning of this code means something to it.
    pub fn has_use_for(self, code: &str) -> bool {
        let elsewhere = || ELSEWHERE.iter().any(|(known, hosts)| *known == code && hosts.contains(&self));
        let of_an_algorithm = || perhop_core::codes::LIST.iter().any(|known| known.name == code);
        self == Self::Simulator || elsewhere() || of_an_algorithm()
    }
}

#[cfg(test)]
mod tests {
    use crate::codes::{ELSEWHERE, Host, LIST};

    #[test]
    fn each_host_has_the_warnings_it_can_act_on() {
        let has = |code| [Host::Simulator, Host::Captures, Host::Interfaces].map(|host| host.has_use_for(code));
        assert_eq!(has("W302"), [true, false, false], "a stated load");
        assert_eq!(has("W314"), [true, true, false], "which side senders are on");
        assert_eq!(has("W332"), [true; 3], "labels without a writer");
        assert_eq!(has("W316"), [true; 3], "a parameter of an AQM");
    }

    /// A code that is made known to other hosts is one of this crate's.
    #[test]
    fn elsewhere_are_codes_of_the_list() {
        assert!(ELSEWHERE.iter().all(|(code, _)| LIST.iter().any(|known| known.name == *code)));
    }
}
