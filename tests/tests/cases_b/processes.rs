//! Making and ending processes and threads (C43 to C45).

use crate::twice::{has, Case};

#[test]
fn c43_spawned_children() {
    let c = "c".repeat(10);
    let parent = format!("dirty c.{}.{c}.{c}.{c}.{} end", "c".repeat(10), "c".repeat(9));
    let printed =
        format!("lseek(f, 0, SEEK_CUR) = {}\nparent: {} [{parent}]\n", parent.len() - 4, parent.len());
    Case::new("c43_spawn", "out=$(spawn); head -n 2 <<<\"$out\"")
        .program("spawn", &[])
        .prints(&printed)
        .check();
    Case::new("c43_spawn_all", "spawn").program("spawn", &[]).check();
}

#[test]
fn c43_python_subprocesses() {
    let script = r#"
cat >p.py <<'END'
import subprocess
f = open('f', 'w+b', buffering=0)
f.write(b'start\n')
for i in range(300):
    r = subprocess.run(['/bin/sh', '-c', 'echo %d' % i], stdout=f, close_fds=i % 2 == 0)
    assert r.returncode == 0
    if i % 100 == 0:
        f.write(b'parent\n')
f.seek(0)
lines = f.read().split()
print(len(lines), lines[:3], lines[-1], f.tell())
for i in range(700):
    assert subprocess.call(['/bin/true'], stdin=f) == 0
print(subprocess.check_output(['cat', 'f'])[:12])
END
python3 p.py
"#;
    if has("c43_python_subprocesses", "python3 -c 'import subprocess'") {
        Case::new("c43_python", script)
            .prints("304 [b'start', b'0', b'parent'] b'299' 1117\nb'start\\n0\\npare'\n")
            .check();
    }
}

#[test]
fn c43_make_of_fifty_files() {
    let script = r#"
for i in $(seq 50); do echo "int f$i(void) { return $i; }" >s$i.c; done
printf 'all: $(patsubst %%.c,%%.o,$(wildcard s*.c))\n\tar rD all.a $^ 2>/dev/null; nm all.a | grep -c " T "\n%%.o: %%.c\n\t@gcc -c $< -o $@\n' >Makefile
make -s -j8 | tail -n 1
rm *.o all.a
"#;
    if has("c43_make_of_fifty_files", "make --version && gcc --version && ar --version") {
        Case::new("c43_make", script).prints("50\n").memory_only().check();
    }
}

#[test]
fn c44_forks_while_threads_write() {
    Case::new("c44_forks", "threads 2000")
        .program("threads", &["-pthread"])
        .prints("bad 0, each within 5 s: 1\n")
        .memory_only()
        .check();
    Case::new("c44_forks_disk", "threads 200")
        .program("threads", &["-pthread"])
        .prints("bad 0, each within 5 s: 1\n")
        .check();
}

#[test]
fn c45_everything_that_writes_at_the_end() {
    let script = "LD_LIBRARY_PATH=$BIN $BIN/ending; echo $? >code; cat code f";
    Case::new("c45_end", script)
        .library("late")
        .program("ending", &["-pthread", "-L$BIN", "-llate"])
        .prints("standard output\n0\nthread local\nkey\nthread local\natexit\nglobal\ndestructor of the library\nlibrary\n")
        .check();
}

#[test]
fn c45_programs_with_libraries_that_end_late() {
    if has("c45_programs_with_libraries_that_end_late", "curl --version") {
        let script =
            "curl -s file://$PWD/f >g; echo $?; curl -s -o h file://$PWD/f; echo $?; cmp f g && cmp f h; \
                      curl -s https://127.0.0.1:1/ >>g; echo $?";
        Case::new("c45_curl", script).file("f", "text\n".repeat(5000)).prints("0\n0\n7\n").check();
    }
}

#[test]
fn c44_flushes_by_descriptors_that_others_close() {
    let script = "for i in 1 2 3 4 5 6; do borrow; done";
    let printed = "bad 0\n".repeat(6);
    Case::new("c44_borrow", script).program("borrow", &["-pthread"]).prints(&printed).check();
}
