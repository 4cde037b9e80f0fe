//! Calls beside the everyday ones, each compared with what the kernel does: locks, passed descriptors, attributes, requests by ioctl, libc's last words,
//! programs that are left alone, errors and limits.

mod aside;
mod attributes;
mod descriptors;
mod ends;
mod errors;
mod last_words;
