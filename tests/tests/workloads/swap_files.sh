# The signature is written by a program that is still running and has the file open.
"$BIN/swap_files"
