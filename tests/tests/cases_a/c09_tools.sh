mkdir repository work
cd work
git init -q -b main .
for n in 1 2 3 4 5; do seq $n 3000 > file$n; done
git add .
git -c user.name=M -c user.email=m@example.org commit -q -m first --date=@0
git repack -q -a -d
cd ..
git clone -q --no-local work clone 2>&1
git -C clone fsck --full 2>&1
diff -r -x .git work clone
is "$(git -C clone rev-parse HEAD^{tree})" "$(git -C work rev-parse HEAD^{tree})"
rm -rf repository work clone/.git
# The linker maps its output.
printf 'int main(void) { return 42; }' > p.c
gcc -g -o p p.c
status=0
./p || status=$?
is $status 42
ld -r -o joined.o -b binary p.c
objdump -s joined.o | grep -q 'int main'
rm p joined.o
# sqlite with a memory map.
sqlite3 db 'PRAGMA mmap_size=268435456; CREATE TABLE t(a INTEGER PRIMARY KEY, b);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT i, hex(i * i) FROM n;
  UPDATE t SET b = b || a WHERE a % 7 = 0; PRAGMA integrity_check; SELECT count(*), sum(length(b)) FROM t;'
sqlite3 db 'PRAGMA mmap_size=268435456; DELETE FROM t WHERE a > 100; VACUUM; PRAGMA integrity_check;'
sqlite3 db 'PRAGMA mmap_size=0; SELECT count(*), sum(length(b)), max(a) FROM t'
sqlite3 db .dump > dump
rm db
