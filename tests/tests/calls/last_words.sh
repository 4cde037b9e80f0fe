ulimit -c 0
# A message stands behind what was written before, whether the file was truncated, appended to or shared with standard output.
for what in overflow stack heap fatal assert herror addresses; do
    for way in 1 2 3; do
        status=0
        case $way in
        1) "$BIN/last_words" $what 2> err || status=$? ;;
        2) "$BIN/last_words" $what 2>> err || status=$? ;;
        3) { "$BIN/last_words" $what && status=0 || status=$?; echo "after $what"; } > both 2>&1 ;;
        esac 2> /dev/null
        echo "$what $way $status"
        { cat err; if test -f both; then cat both; fi; } | sed '/script.sh: line/d; s/^.*last_words\(.c:[0-9]*\)*/PROGRAM/'
    done
    outside cat err | md5sum | cut -c1-32 > sum
    is "$(cat sum)" "$(md5sum < err | cut -c1-32)"
done
rm err both sum
