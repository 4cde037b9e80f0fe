"$BIN/c04_plain" plain
"$BIN/c04_large" large
cmp plain large
cmp plain.copy large.copy
is "$(outside cat plain.copy)" four
is "$(outside head -c 10 large)$(outside wc -c < large | tr -d ' ')" 0123four896100
python3 "$BIN/c04.py"
is "$(outside sha256sum < plain)" "$(outside sha256sum < python)"
