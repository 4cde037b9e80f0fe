//! How long a file is and where it has holes (C28 to C30), and how long it may be (C36).

use crate::twice::Case;

#[test]
fn c28_holes_are_where_no_data_is() {
    Case::new("c28_holes", "holes; rm -r x").program("holes", &[]).check();
    let held = "out=$(holes); grep -c ': yes' <<<\"$out\"; grep -c ': no' <<<\"$out\"; grep -c ') = 0' <<<\"$out\"; rm -r x";
    Case::new("c28_holes_hold", held).program("holes", &[]).prints("3\n0\n4\n").check();
}

#[test]
fn c29_preallocation_is_seen_by_all() {
    let sizes = "out=$(preallocate); grep ^here <<<\"$out\" | tr '\\n' ' '";
    Case::new("c29_sizes", sizes)
        .program("preallocate", &[])
        .prints("here 3 here 3 here 8192 here 200000 here 200000 ")
        .check();
    let sizes = "out=$(preallocate); grep ^there <<<\"$out\" | tr '\\n' ' '";
    Case::new("c29_sizes_there", sizes)
        .program("preallocate", &[])
        .prints("there 3 there 3 there 8192 there 200000 there 200000 ")
        .check();
    Case::new("c29_all", "preallocate").program("preallocate", &[]).check();
}

#[test]
fn c30_truncation_leaves_no_old_bytes() {
    let printed = "ftruncate(f, 64) = 0\nread(f, back, 100) = 64\nall(back, 0, 64): yes\nlseek(f, 0, SEEK_END) = 64\n\
                   read(f, back, 1) = 0\n5000 to 100: 5000 1 1\n70000 to 65537: 70000 1 1\n70000 to 65536: 70000 1 1\n\
                   70000 to 65535: 70000 1 1\n262144 to 4096: 262144 1 1\n200001 to 131071: 200001 1 1\n\
                   system(\"truncate -s 66000 f && truncate -s 140000 f\") = 0\npread(f, back, sizeof back, 0) = 140000\n\
                   all(back, 'A', 66000) && all(back + 66000, 0, 74000): yes\nsize 140000\n\
                   pread(f, back, sizeof back, 0) = 10\nlseek(f, 0, SEEK_END) = 10\nftruncate(f, -1) = EINVAL\n\
                   ftruncate(r, 5) = EINVAL\n";
    Case::new("c30_shrink", "shrink").program("shrink", &[]).prints(printed).check();
}

#[test]
fn c36_the_limit_on_file_sizes() {
    let script = "ulimit -c 0; { limit; } 2>/dev/null; echo $?";
    Case::new("c36_limit", script)
        .program("limit", &[])
        .prints("100 -1 1 -1 1 2 2 -1 0 100 0\n153\n")
        .check();
}
