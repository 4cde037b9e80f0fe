"$BIN/c18"
is "$(cat one two | sha256sum)" "$(outside cat one two | sha256sum)"
cp one three
outside cmp one three
rm two three
# Two processes at once.
cp one left & cp one right & wait
outside cmp one left
outside cmp one right
rm left right
