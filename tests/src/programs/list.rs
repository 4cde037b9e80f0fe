//! The list of rows. It exists once; the tests and the table are both made from it.

use super::row::Row;

/// Calls the macro `$callback` with all rows: `name("script", "shell")`.
#[macro_export]
macro_rules! for_each_program {
    ($callback:ident) => {
        $callback! {
            bash_redirections("sh_redirections", "bash"),
            bash_here_documents("sh_here_documents", "bash"),
            bash_append_loops("sh_append_loops", "bash"),
            bash_pipelines("sh_pipelines", "bash"),
            bash_background("sh_background", "bash"),
            bash_descriptors("bash_descriptors", "bash"),
            dash_redirections("sh_redirections", "dash"),
            dash_here_documents("sh_here_documents", "dash"),
            dash_append_loops("sh_append_loops", "dash"),
            dash_pipelines("sh_pipelines", "dash"),
            dash_background("sh_background", "dash"),
            dd("dd", "bash"),
            cat("cat", "bash"),
            cp("cp", "bash"),
            cp_sparse("cp_sparse", "bash"),
            mv("mv", "bash"),
            tee("tee", "bash"),
            sort_spill("sort_spill", "bash"),
            sed_in_place("sed_in_place", "bash"),
            tar("tar", "bash"),
            gzip("gzip", "bash"),
            xz("xz", "bash"),
            sha256sum("sha256sum", "bash"),
            split("split", "bash"),
            head_tail("head_tail", "bash"),
            tail_follow("tail_follow", "bash"),
            truncate("truncate", "bash"),
            install("install", "bash"),
            ln("ln", "bash"),
            find("find", "bash"),
            rm("rm", "bash"),
            git_commit("git_commit", "bash"),
            git_clone_gc("git_clone_gc", "bash"),
            sqlite_journal("sqlite_journal", "bash"),
            sqlite_wal("sqlite_wal", "bash"),
            sqlite_two_writers_journal("sqlite_two_writers_journal", "bash"),
            sqlite_two_writers_wal("sqlite_two_writers_wal", "bash"),
            python_files("python_files", "bash"),
            python_text("python_text", "bash"),
            python_tempfile("python_tempfile", "bash"),
            python_archives("python_archives", "bash"),
            python_dbm("python_dbm", "bash"),
            python_multiprocessing("python_multiprocessing", "bash"),
            python_subprocess("python_subprocess", "bash"),
            python_mmap("python_mmap", "bash"),
            python_copies("python_copies", "bash"),
            python_pickle("python_pickle", "bash"),
            python_threads("python_threads", "bash"),
            python_fork("python_fork", "bash"),
            perl_in_place("perl_in_place", "bash"),
            awk_outputs("awk_outputs", "bash"),
            gcc_build_run("gcc_build_run", "bash"),
            static_library("static_library", "bash"),
            make_parallel("make_parallel", "bash"),
            rsync("rsync", "bash"),
            cpio("cpio", "bash"),
            zip("zip", "bash"),
            vim("vim", "bash"),
            ed("ed", "bash"),
            fio_psync("fio_psync", "bash"),
            fio_pvsync("fio_pvsync", "bash"),
            fio_mmap("fio_mmap", "bash"),
            fio_libaio("fio_libaio", "bash"),
            fio_io_uring("fio_io_uring", "bash"),
            h5py("h5py", "bash"),
            static_reader("static_reader", "bash"),
            empty_environment("empty_environment", "bash"),
            killed_writer("killed_writer", "bash"),
        }
    };
}

macro_rules! rows {
    ($($name:ident($script:literal, $shell:literal),)*) => {
        /// All rows, in the order of the table.
        pub const ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            shell: $shell,
            script: include_str!(concat!("scripts/", $script, ".sh")),
        }),*];
    };
}

for_each_program!(rows);

/// The row of that name.
pub fn row(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}
