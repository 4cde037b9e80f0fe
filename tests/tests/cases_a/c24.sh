exec 9> open
head -c 5000 /dev/zero >&9
sizes() {
    is "$(stat -c %s open)" $1
    is "$(ls -l open | awk '{ print $5 }')" $1
    is "$(find . -name open -size -$(($1 + 1))c -size +$(($1 - 1))c)" ./open
    is "$(find . -name open -printf %s)" $1
    is "$(du -b open | cut -f 1)" $1
    is "$(wc -c < open | tr -d ' ')" $1
    is "$(python3 -c 'import os; print(os.stat("open").st_size, os.path.getsize("open"), next(e.stat().st_size for e in os.scandir() if e.name == "open"))')" "$1 $1 $1"
    [ open -nt /proc/self/exe ] && [ -s open ]
    "$BIN/c24" open $1
}
sizes 5000
head -c 3000 /dev/zero >&9
sizes 8000
exec 9>&-
sizes 8000
mkdir -p tree/a/b/c
for n in 1 2 3; do seq $n 2000 > tree/$n; seq $n 900 > tree/a/b/$n; ln -s ../1 tree/a/link$n; done
chmod 600 tree/1
exec 9>> tree/a/b/1
echo unflushed >&9
cp -a tree copy
outside cmp copy/a/b/1 tree/a/b/1
exec 9>&-
diff -r tree copy
is "$(du -b -s copy | cut -f 1)" "$(outside find copy -exec stat -c %s {} + | awk '{ sum += $1 } END { print sum }')"
exec 9>> copy/2
echo doomed >&9
rm -r copy
exec 9>&-
[ ! -e copy ]
