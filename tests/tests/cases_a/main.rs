//! Known bugs of programs of this kind, cases C01 to C27: each a small test of the right result.

mod descriptors;
mod early;
mod files;
mod interfaces;
mod other_user;
mod strangers;
mod together;
