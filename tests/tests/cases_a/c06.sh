export TMPDIR=$PWD
"$BIN/c06"
is "$(outside cat stdout.txt | tr '\n' ' ')" "into the file by child and more "
is "$(outside cat early)" "into the file"
