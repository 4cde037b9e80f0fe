echo input > input
"$BIN/c22" 3 ooo none < input
"$BIN/c22" 0 -oo in <&-
"$BIN/c22" 1 o-- outerr < input >&- 2>&-
"$BIN/c22" 1 o-o out < input >&-
"$BIN/c22" 2 oo- err < input 2>&-
"$BIN/c22" 0 --- all <&- >&- 2>&-
is "$(outside cat none in outerr out err all | tr '\n' ' ')" "fd 3 fd 0 fd 1 fd 1 fd 2 fd 0 "
# Standard output and error of programs in managed files hold what the programs said and nothing else.
sh -c 'echo said; echo told >&2; cat none' > said 2> told
is "$(outside cat said told | tr '\n' ' ')" "said fd 3 told "
cat <&- > nothing 2> complaint && exit 1
is "$(outside cat nothing)" ""
is "$(outside cat complaint | wc -l)" "$(cat complaint | wc -l)"
