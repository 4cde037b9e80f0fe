# One side is excluded, the other is served; each sees at once what the other has written.
"$BIN/aside"
is "$(sort child | uniq -c | tr -s ' \n' ' ')" ' 50 line 5 shell '
"$BIN/served"
is "$(cat stream)" 'one two three'
exec 5<> shared
echo served >&5
is "$(dash -c 'cat <&0' < shared)" served
dash -c 'echo excluded >> shared'
is "$(outside cat shared)" "$(printf 'served\nexcluded')"
is "$(cat shared)" "$(printf 'served\nexcluded')"
# The offset is one for both.
dash -c 'echo by dash >&5' 5>&5
echo by bash >&5
is "$(cat shared)" "$(printf 'served\nby dash\nby bash')"
# With the file open on both sides.
mkfifo go done
dash -c 'exec 6<> both; echo one >&6; echo > done; read x < go; cat both; echo three >&6; echo > done; read x < go' &
read x < done
exec 7>> both
echo two >&7
outside cat both
echo > go
read x < done
is "$(cat both)" "$(printf 'one\nthree')" || true
echo > go
wait
outside cat both
# Without the environment, as everybody.
env -i PATH="$PATH" dash -c 'echo cleared > cleared; bash -c "cat cleared; echo more >> cleared"'
cat cleared
rm go done
