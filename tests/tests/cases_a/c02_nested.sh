# Five generations of shells, each exec'd or forked, write on one description.
exec 7> chain
printf 1 >&7
bash -c 'printf 2 >&7; exec bash -c "printf 3 >&7; sh -c \"printf 4 >&7\"; exec sh -c \"printf 5 >&7\""'
printf 6 >&7
( printf 7 >&7; ( printf 8 >&7 ) & wait )
is "$(cat chain)" 12345678
outside sh -c 'printf 9 >&7'
printf A >&7
exec 7>&-
is "$(outside cat chain)" 123456789A
# The other direction: one description read by several programs in turn.
printf 'line %s\n' 1 2 3 4 > lines
{ read -r a; b=$(bash -c 'read -r x; echo $x'); c=$(head -n 1); } < lines
is "$a/$b/$c" "line 1/line 2/line 3"
