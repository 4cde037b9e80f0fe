# sqlite3 with a rollback journal, in its three ways to end one.
# needs: sqlite3

for mode in delete truncate persist; do
    sqlite3 $mode.db <<EOF
pragma journal_mode=$mode;
create table t(id integer primary key, v text, w blob);
begin;
with recursive n(i) as (select 1 union all select i+1 from n where i < 5000)
  insert into t select i, 'value ' || (i * 7919 % 1000), zeroblob(i % 300) from n;
commit;
create index tv on t(v);
begin; delete from t where id % 3 = 0; rollback;
begin; update t set v = v || '!' where id % 5 = 0; commit;
savepoint s; delete from t; rollback to s; release s;
pragma integrity_check;
EOF
    sqlite3 $mode.db 'select count(*), sum(length(w)), max(v) from t; vacuum; pragma integrity_check;'
    sqlite3 $mode.db .dump > $mode.sql
    sqlite3 restored-$mode.db < $mode.sql
    sqlite3 restored-$mode.db 'select count(*) from t where v like "%!"'
done
cmp delete.sql truncate.sql && echo same
sqlite3 delete.db '.backup copy.db'
sqlite3 copy.db 'pragma integrity_check; select sum(id) from t'
# The library's version stamp and the change counter are equal in both runs; the journal's nonce is not.
rm -f persist.db-journal truncate.db-journal restored-persist.db-journal restored-truncate.db-journal
