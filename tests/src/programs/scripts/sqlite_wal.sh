# sqlite3 with a write-ahead log: its index is a shared mapping.
# needs: sqlite3

sqlite3 w.db <<'EOF'
pragma journal_mode=wal;
create table t(id integer primary key, v text);
begin;
with recursive n(i) as (select 1 union all select i+1 from n where i < 5000)
  insert into t select i, 'value ' || (i * 7919 % 1000) from n;
commit;
pragma wal_checkpoint(truncate);
begin; delete from t where id % 3 = 0; rollback;
update t set v = v || '!' where id % 5 = 0;
pragma integrity_check;
EOF
sqlite3 w.db 'select count(*), max(v) from t; pragma journal_mode;'
for i in 1 2 3 4 5; do sqlite3 w.db "insert into t(v) values('late $i'); select count(*) from t;"; done
sqlite3 w.db 'pragma journal_mode=delete; pragma integrity_check;'
sqlite3 w.db .dump > dump.sql
tail -n 6 dump.sql
ls
