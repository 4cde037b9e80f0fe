//! Each real program is a test of its own; what is run stands in `src/programs/`.

use millpond_tests::for_each_program;
use millpond_tests::programs::{list, runner};

macro_rules! tests {
    ($($name:ident($script:literal, $shell:literal),)*) => {
        $(
            #[test]
            fn $name() {
                runner::check(list::row(stringify!($name)).expect("the row is in the list"));
            }
        )*
    };
}

for_each_program!(tests);
