"$BIN/deny" "$BIN/served"
is "$(sort child | uniq -c | tr -s ' \n' ' ')" ' 50 line 5 shell '
is "$(cat stream)" 'one two three'
exec 5<> shared
echo served >&5
"$BIN/deny" bash -c 'cat shared; echo denied >> shared; exec 6<> other; echo other >&6; read x < other; echo $x'
is "$(cat shared)" "$(printf 'served\ndenied')"
"$BIN/deny" bash -c 'echo by denied >&5'
echo by served >&5
cat shared
is "$(outside cat shared)" "$(cat shared)"
