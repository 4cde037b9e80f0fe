"$BIN/c27" posix
"$BIN/c27" native
"$BIN/c27" ring
is "$(cat ring native posix | md5sum)" "$(outside cat ring native posix | md5sum)"
