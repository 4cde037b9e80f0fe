# Two processes write into one sqlite3 database, each waiting for the other's locks; mode delete.
# needs: sqlite3 seq

sqlite3 db 'pragma journal_mode=delete; create table t(w integer, i integer, primary key(w, i));'
writer() {
    {
        echo '.timeout 60000'
        for i in $(seq 1 60); do echo "begin immediate; insert into t values($1, $i); commit;"; done
    } | sqlite3 db
}
writer 1 & one=$!
writer 2 & two=$!
for i in 1 2 3 4 5; do sqlite3 -cmd '.timeout 60000' db 'select count(*) <= 120 from t'; done
wait $one; wait $two
sqlite3 db 'select w, count(*), sum(i) from t group by w; pragma integrity_check;'
sqlite3 db 'select * from t order by w, i' > rows
wc -l < rows
# Page order inside depends on who came first.
sqlite3 db 'pragma journal_mode=delete'
rm -f db db-*
