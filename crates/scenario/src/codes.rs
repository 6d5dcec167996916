//! The diagnostic codes of this crate.

use perhop_core::codes::Code;

/// By the folder of their pages.
pub const LIST: &[Code] = perhop_core::codes! {
    ".": E241 E269 E270;
    "as_ios": E296;
    "as_tc": E295;
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
