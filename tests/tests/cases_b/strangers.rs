//! Programs that the library cannot be in, or that have another in front of it (C51 to C53).

use crate::twice::{has, Case};

/// `setid` becomes a set-user-id copy of another user's, which the loader preloads nothing into.
const SETUID: &str = "cp $(command -v cat) setid && chown 65534 setid && chmod 4755 setid && chmod 777 .\n";

#[test]
fn c51_set_user_id_programs_see_what_is_synced_and_closed() {
    if !has("c51_set_user_id_programs_see_what_is_synced_and_closed", "test $(id -u) = 0") {
        return;
    }
    let script = format!(
        "{SETUID}holder './setid f; echo'; echo a >g; ./setid g; ./setid g >h; cat h; ./setid <g; rm setid"
    );
    Case::new("c51_setuid", &script)
        .program("holder", &[])
        .prints("synced\nsystem(argv[1]) = 0\nsynced, closed\nsystem(argv[1]) = 0\na\na\na\n")
        .check();
    let sudo = "echo data >f; chmod 644 f; setpriv --reuid=65534 --regid=65534 --clear-groups cat f; setpriv --reuid=65534 --clear-groups sh -c 'cat f; echo x >g'; cat g";
    let script = format!("chmod 777 .\n{sudo}");
    if has("c51_set_user_id_programs_see_what_is_synced_and_closed", "setpriv --version") {
        Case::new("c51_setpriv", &script).prints("data\ndata\nx\n").check();
    }
}

#[test]
fn c52_programs_of_32_bits() {
    let test = "c52_programs_of_32_bits";
    if !has(test, "d=$(mktemp -d) && echo 'int main(void) { return 0; }' >$d/a.c && gcc -m32 -o $d/a $d/a.c; r=$?; rm -r $d; exit $r") {
        return;
    }
    // The loader says of a 32-bit program that the library is of the wrong class: on standard error, and never elsewhere.
    let script = "echo data >f; reader f f 2>/dev/null >out; cat out; cat f; echo more >>f; reader f 2>/dev/null; \
                  exec 5<>f; echo held >&5; reader /dev/fd/5 2>/dev/null >out; cat f; reader f </dev/fd/5 2>/dev/null";
    Case::new("c52_narrow", script)
        .program("reader", &["-m32"])
        .prints(
            "32-bit: 5 of 5 [data\n]\ndata\nappended\n32-bit: 19 of 19 [data\nappended\nmore\n]\n\
             held\nappended\nmore\n32-bit: 19 of 19 [held\nappended\nmore\n]\n",
        )
        .check();
}

/// The sanitizer's own library is named first where it wants to be.
fn sanitized(name: &'static str, flags: &[&'static str], script: &str) {
    Case::new(name, script)
        .program("checked", &[&["-pthread", "-g"], flags].concat())
        .prints("1 lines\nchild 0\n")
        .check();
}

#[test]
fn c53_address_sanitizer() {
    if has("c53_address_sanitizer", "d=$(mktemp -d) && echo 'int main(void) { return 0; }' >$d/a.c && gcc -fsanitize=address -o $d/a $d/a.c && $d/a; r=$?; rm -r $d; exit $r") {
        sanitized("c53_asan", &["-fsanitize=address"], "ASAN_OPTIONS=verify_asan_link_order=0 checked");
        sanitized("c53_asan_first", &["-fsanitize=address"], "LD_PRELOAD=$(gcc -print-file-name=libasan.so):$LD_PRELOAD ASAN_OPTIONS=detect_leaks=0 checked");
        sanitized("c53_asan_static", &["-fsanitize=address", "-static-libasan"], "ASAN_OPTIONS=verify_asan_link_order=0 checked");
    }
}

#[test]
fn c53_thread_sanitizer() {
    if has("c53_thread_sanitizer", "d=$(mktemp -d) && echo 'int main(void) { return 0; }' >$d/a.c && gcc -fsanitize=thread -o $d/a $d/a.c && $d/a; r=$?; rm -r $d; exit $r") {
        sanitized("c53_tsan", &["-fsanitize=thread"], "checked");
        sanitized("c53_tsan_first", &["-fsanitize=thread"], "LD_PRELOAD=$(gcc -print-file-name=libtsan.so):$LD_PRELOAD checked");
    }
}

#[test]
fn c53_undefined_behaviour_sanitizer() {
    if has("c53_undefined_behaviour_sanitizer", "d=$(mktemp -d) && echo 'int main(void) { return 0; }' >$d/a.c && gcc -fsanitize=undefined -o $d/a $d/a.c && $d/a; r=$?; rm -r $d; exit $r") {
        sanitized("c53_ubsan", &["-fsanitize=undefined"], "checked");
    }
}
