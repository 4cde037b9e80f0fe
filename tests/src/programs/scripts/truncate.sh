# Sizes set from outside.
# needs: truncate fallocate od stat
# inputs: bin small

cp in/bin f
truncate -s 100000 f; stat -c %s f
truncate -s 300000 f; tail -c 5 f | od -An -tx1
truncate -s +47008 f; stat -c %s f
truncate -s -1 f; stat -c %s f
truncate -s %4096 f; stat -c %s f
truncate -s 0 g; stat -c %s g
truncate -s 2M g; cat in/small >> g; stat -c %s g
truncate -r in/small f; cmp in/small f || true
truncate -c -s 5 not-there; ls
fallocate -l 50000 h && stat -c %s h
# While it is open, from another process.
exec 3> open
cat in/small >&3
truncate -s 10 open
echo after >&3
exec 3>&-
od -An -tx1 open | tail -n 2
exec 3>> append
echo first line >&3
truncate -s 3 append
echo second >&3
exec 3>&-
cat append
