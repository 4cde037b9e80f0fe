s=$BIN/c26_static d=$BIN/c26_dynamic
# Both orders; the second program reads what the first has closed.
"$d" write f shimmed
is "$("$s" read f)" shimmed
"$s" write f static
is "$("$d" read f)" static
is "$(cat f)" static
# With a copy of it cached, and the reader's descriptor open all the time.
exec 5< f
is "$(head -c 3 <&5)" sta
"$s" patch f STA
is "$("$d" read f)" STAtic
for n in 1 2 3 4 5; do
    "$d" append log "d$n "
    "$s" append log "s$n "
    is "$("$d" read log | wc -c)" "$(outside wc -c < log)"
    echo "b$n" >> log
    outside sh -c "echo o$n >> log"
done
is "$(cat log)" "$(outside cat log)"
is "$(tr '\n' ' ' < log)" "d1 s1 b1 o1 d2 s2 b2 o2 d3 s3 b3 o3 d4 s4 b4 o4 d5 s5 b5 o5 "
# In pipelines and with redirections that the shell opens.
"$s" read f > copied
is "$(cat copied)" STAtic
"$d" read copied > again
is "$("$s" read again)" STAtic
{ echo one; outside echo two; echo three; outside echo four; } > mixed
is "$(tr '\n' ' ' < mixed)" "one two three four "
{ read -r a; b=$(outside head -n 1); } < mixed
is "$a" one
exec 6>> held
echo first >&6
outside sh -c 'echo second >&6'
echo third >&6
outside sh -c 'echo fourth >> held'
exec 6>&-
is "$(tr '\n' ' ' < held)" "first second third fourth "
# The same file name, another file.
outside sh -c 'echo replaced > f.new; mv f.new f'
is "$("$d" read f)" replaced
outside truncate -s 4 f
is "$("$d" read f)" repl
is "$(stat -c %s f)" 4
