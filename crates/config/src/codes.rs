//! The diagnostic codes of this crate.

use perhop_core::codes::Code;

/// By the folder of their pages.
pub const LIST: &[Code] = perhop_core::codes! {
    "as_ios": E296;
    "as_tc": E295;
    "tc": E300 E302 W400 W401 W402 W403 W404 W405 W406 W448 W450;
    "import": E310 E311 E312 E313 E314 E315 E316 E317;
    "ios": E305 E306 E307 E308 W410 W411 W412 W413;
    "load": E318;
    "rules": W427 W440 W443 W446 W447 W451;
    "ios/rules": W420 W421 W422 W425 W426 W428 W429 W430;
    "tc/rules": W407 W423 W424 W431 W432 W433 W434 W435 W437 W438 W439 W441 W442 W444 W445 W449 W452 W453;
};
