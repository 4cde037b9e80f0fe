//! Where bytes are: vectors, far offsets, huge counts, existing files (C31 to C34).

use crate::twice::{has, Case};

#[test]
fn c31_existing_files_and_short_reads() {
    let printed = "write(f, x, 100) = 100\nlseek(f, 290, SEEK_SET) = 290\nread(f, back, 100) = 10\n\
                   read(f, back, 100) = 0\npread(f, back, 100, 1LL << 40) = 0\npread(f, back, 400, 0) = 300\n\
                   all(back, 'x', 100) && all(back + 100, 'o', 200): yes\nread(f, NULL, 8) = 0\n\
                   lseek(f, 0, SEEK_SET) = 0\nread(f, NULL, 8) = EFAULT\nlseek(f, 0, SEEK_CUR) = 0\nclose(f) = 0\n";
    Case::new("c31_existing", "existing")
        .program("existing", &[])
        .file("f", "o".repeat(300))
        .prints(printed)
        .check();
}

#[test]
fn c31_h5py_create_append_verify() {
    if !has("c31_h5py_create_append_verify", "python3 -c 'import h5py'") {
        return;
    }
    let script = r#"
export HDF5_USE_FILE_LOCKING=FALSE
python3 -c "
import h5py
with h5py.File('f.h5', 'w') as f:
    f.create_dataset('a', data=range(1000), maxshape=(None,), chunks=(256,))
"
python3 -c "
import h5py
with h5py.File('f.h5', 'a') as f:
    f['a'].resize((3000,)); f['a'][1000:] = range(1000, 3000); f.attrs['n'] = 3
"
python3 -c "
import h5py
with h5py.File('f.h5') as f:
    print(list(f['a'][:]) == list(range(3000)), f.attrs['n'])
"
rm f.h5
"#;
    Case::new("c31_h5py", script).prints("True 3\n").check();
}

#[test]
fn c32_vectors_and_gaps() {
    Case::new("c32_vectors", "vectors").program("vectors", &[]).check();
}

#[test]
fn c32_vectors_in_order() {
    let printed = "readv(f, v, 3) = 12\n  [hello, world] at 12\npreadv(f, v, 3, 2) = 12\n  [llo, worldly] at 12\n\
                   preadv2(f, v, 3, 1, 0) = 12\n  [ello, worldl] at 12\npreadv2(f, v, 3, -1, 0) = 12\n  [lo, worldly ] at 15\n";
    Case::new("c32_in_order", "out=$(vectors); head -n 8 <<<\"$out\"")
        .program("vectors", &[])
        .prints(printed)
        .check();
}

#[test]
fn c33_offsets_above_4_gib() {
    Case::new("c33_far", "far").program("far", &[]).check();
    let told = "out=$(far); grep -e '^size' -e '^read [0-9]' <<<\"$out\"; grep -c '^  hi' <<<\"$out\"; grep -c ': no' <<<\"$out\"; stat -c %s f";
    let printed = "size 4294967305\nread 67108864, then 0\n2\n0\n4294967305\n";
    Case::new("c33_size", told).program("far", &[]).prints(printed).check();
}

#[test]
fn c33_a_file_of_exactly_4_gib_ends() {
    let printed = "pwrite(g, \"e\", 1, (1LL << 32) - 1) = 1\nread 4294967296, then 0\n";
    Case::new("c33_whole", "whole").program("whole", &[]).prints(printed).check();
}

#[test]
fn c34_huge_counts() {
    let script = "huge | tee out; grep -c 2147479552 out; rm out";
    Case::new("c34_huge", script).program("huge", &[]).check();
    Case::new("c34_huge_write", "huge write").program("huge", &[]).memory_only().check();
}
