//! What lies beside reading and writing: events, exit codes, descriptors, `/proc` (C35, C46 to C48).

use crate::twice::{has, Case};

#[test]
fn c35_regular_files_are_always_ready() {
    let printed = "write(f, \"ready\", 5) = 5\nepoll_ctl(e, EPOLL_CTL_ADD, f, &event) = EPERM\n\
                   epoll_ctl(e, EPOLL_CTL_DEL, f, &event) = EPERM\npoll(&p, 1, 5000) = 1\n\
                   p.revents == (POLLIN | POLLOUT): yes\nselect(f + 1, &r, &w, NULL, &bound) = 2\n\
                   FD_ISSET(f, &r) && FD_ISSET(f, &w): yes\nbound.tv_sec == 5 || bound.tv_usec > 900000: yes\n\
                   syscall(SYS_epoll_ctl, e, EPOLL_CTL_ADD, g, &event) = EPERM\nsyscall(SYS_read, g, b, sizeof b) = 5\n\
                   fcntl(g, F_SETFL, fcntl(g, F_GETFL) & ~O_NONBLOCK) = 0\nread(g, b, sizeof b) = 0\n";
    Case::new("c35_ready", "ready").program("ready", &[]).prints(printed).check();
}

#[test]
fn c46_exit_codes_of_small_programs() {
    let script = r#"
ps >/dev/null; echo ps $?
uname >/dev/null; echo uname $?
ls >/dev/null; echo ls $?
ls nothing 2>/dev/null; echo ls nothing $?
true; echo true $?
false; echo false $?
cat f >/dev/full; echo full $?
cat f >g; echo cat $?
cat f - <&- >/dev/null; echo closed $?
echo x >>f; grep -q nothing f; echo grep $?
cmp -s f g; echo cmp $?
sort -o f f; echo sort $?
"#;
    Case::new("c46_codes", script)
        .file("f", "line\n".repeat(100))
        .prints("ps 0\nuname 0\nls 0\nls nothing 2\ntrue 0\nfalse 1\nfull 1\ncat 0\nclosed 1\ngrep 1\ncmp 1\nsort 0\n")
        .check();
}

#[test]
fn c46_error_numbers_are_kept() {
    let script = "out=$(errno); grep -c 'errno: 1' <<<\"$out\"; grep 'errno: 0' <<<\"$out\"; true";
    Case::new("c46_errno", "errno").program("errno", &[]).check();
    Case::new("c46_errno_kept", script).program("errno", &[]).prints("18\n").check();
}

#[test]
fn c47_no_descriptors_to_see() {
    if !has("c47_no_descriptors_to_see", "busybox true") {
        return;
    }
    // Written into a file that the shell has had open all the while: everything of ours is at work.
    let script = "exec 5>log; echo line >&5; cat log; ls /proc/self/fd | awk '$1 < 200'; busybox ls /proc/self/fd; bash -c 'cat log; echo again >&5; busybox ls /proc/self/fd; cat log'";
    Case::new("c47_see", script).check();
}

#[test]
fn c47_no_descriptor_is_lost() {
    let printed = "same count: 1\nthen EMFILE, a few less than the limit: 1\npread(20, &c, 1, 0) = 1\n\
                   pwrite(20, \"X\", 1, 4000) = 1\nopen(\"b\", O_RDWR) = 3\nwrite(3, \"after\", 5) = 5\n";
    Case::new("c47_lost", "many 20000").program("many", &[]).memory_only().prints(printed).check();
    Case::new("c47_lost_disk", "many 2000").program("many", &[]).prints(printed).check();
}

#[test]
fn c48_files_by_their_descriptors_names() {
    let printed = "read(g, back, 3) = 3\n  NEW\nlseek(f, 0, SEEK_CUR) = 5\nlseek(g, 0, SEEK_CUR) = 3\n\
                   write(g, \"+\", 1) = 1\npread(f, back, 5, 0) = 5\n  NEW+t\n\
                   !strncmp(path, cwd, strlen(cwd)) && !strcmp(path + strlen(cwd), \"/f\"): yes\n\
                   !strcmp(path + strlen(cwd), \"/f (deleted)\"): yes\npread(h, back, 5, 0) = 5\n\
                   pwrite(h, \"deleted\", 7, 0) = 7\npread(f, back, 7, 0) = 7\n  deleted\n\
                   linkat(AT_FDCWD, name, AT_FDCWD, \"back\", AT_SYMLINK_FOLLOW) = ENOENT\n";
    Case::new("c48_proc", "proc").program("proc", &[]).prints(printed).check();
}

#[test]
fn c48_shell_uses_of_dev_fd() {
    let script =
        "cat /dev/fd/3 3<f; diff <(cat f) f && echo same; exec 7<>f; echo X >&7; cat /proc/self/fd/7; \
                  cat <&7; cat /dev/fd/7; echo stdin | cat /dev/stdin >g; cat g";
    if has("c48_shell_uses_of_dev_fd", "diff --version") {
        Case::new("c48_dev_fd", script)
            .file("f", "1\n2\n3\n")
            .prints("1\n2\n3\nsame\nX\n2\n3\n2\n3\nX\n2\n3\nstdin\n")
            .check();
    }
}
