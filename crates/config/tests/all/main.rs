//! Configurations of Linux and Cisco IOS, read and written: line by line, key by key, and there and back.

#[macro_use]
mod keys;
mod as_ios;
mod as_ios_keys;
mod as_tc_keys;
mod as_tc_police;
mod as_tc_port;
mod growth;
mod ios;
mod lab;
mod leaks;
mod places;
mod round_trip;
mod rules;
mod sorted;
mod stubs;
mod tc;
