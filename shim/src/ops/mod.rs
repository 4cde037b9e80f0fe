//! The operations behind the rows, by group of `symbols`: each looks the descriptor up and serves the call or lets it by.

pub mod cancel;
pub mod copies;
pub mod data;
pub mod descriptors;
pub mod direct;
pub mod durability;
pub mod judged;
pub mod listing;
pub mod locks;
pub mod mapping;
pub mod metadata;
pub mod open;
pub mod position;
pub mod processes;
pub mod raw;
pub mod rings;
pub mod sockets;
pub mod unseen;
pub mod vectors;
pub mod watches;
