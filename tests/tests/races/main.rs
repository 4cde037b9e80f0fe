//! Two things at once on one file, each a race that once was lost: the programs say what would be wrong, and say the same plain and shimmed.

use millpond_tests::cases::Case;

const HEADER: &str = include_str!("race.h");

macro_rules! races {
    ($($name:ident $(, $pool:literal)?;)*) => {
        $(
            #[test]
            fn $name() {
                let case = Case::new(stringify!($name), concat!("$BIN/", stringify!($name)))
                    .file("race.h", HEADER)
                    .program(stringify!($name), include_str!(concat!(stringify!($name), ".c")), &["-pthread"]);
                $(let case = case.pool($pool);)?
                case.check();
            }
        )*
    };
}

races! {
    append_beside_sync_downs;
    exec_of_threads;
    last_two_closes;
    outside_change;
    mapping_beside_write;
    reader_without_writer;
    size_beside_opens;
    truncating_open;
}
