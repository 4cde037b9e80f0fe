//! The list of ratios to reach, each measured plain and shimmed in one run.

pub mod case;
pub mod hot;
pub mod report;
pub mod run;
pub mod shared;
pub mod small;
pub mod startup;
pub mod stream;
pub mod worker;
