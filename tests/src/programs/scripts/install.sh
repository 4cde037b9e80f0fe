# install: copies with mode, directories on the way, backups.
# needs: install stat
# inputs: bin small

install -m 750 in/bin a
install -D -m 644 in/small deep/er/file
install -d -m 711 dir
install -t dir in/bin in/small
install -b in/small a
install -C in/small a
install -p in/small kept
stat -c '%n %a' dir
stat -c '%n %a %s' a a~ deep/er/file dir/bin kept
cmp a in/small && echo same
