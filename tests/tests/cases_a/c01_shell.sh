{ echo 1; echo 2; } > g
exec 3<> g
read -r x <&3
is "$x" 1
echo X >&3
exec 3>&-
is "$(cat g)" "$(printf '1\nX')"
{ echo a; { echo b; } >&4; echo c; } > h 4>&1
is "$(cat h | tr '\n' ' ')" "a b c "
touch t
touch -d @1000000000 t
is "$(stat -c %Y t)" 1000000000
