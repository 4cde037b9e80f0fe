# perl: in-place edits, read-write handles, seeks, truncation.
# needs: perl
# bytes: 6000000
# inputs: text lines

cp in/text t
perl -i -pe 's/pond/lake/g' t; tail -n 1 t
perl -i.orig -ne 'print unless $. % 3' t; wc -l t t.orig
cp in/lines a; cp in/lines b
perl -i -pe 's/^/$ARGV:/ if eof' a b; tail -qn 1 a b
perl -e '
    open(F, "+>", "rw") or die; print F "x" x 100000; seek(F, 500, 0); print F "HERE"; seek(F, 498, 0); read(F, $b, 8); print "$b\n";
    truncate(F, 600); print -s F, "\n"; close F;
    open(A, ">>", "rw"); print A "appended\n"; close A; print -s "rw", "\n";
    open(S, "<", "in/text"); @l = <S>; print scalar(@l), "\n"; open(O, ">", "rev"); print O reverse @l; close O;
    sysopen(Y, "sys", 66) or die; syswrite(Y, "system", 6); sysseek(Y, 2, 0); sysread(Y, $c, 3); print "$c\n"; close Y;
    open(D, ">&", STDOUT); print D "dup\n"; close D;
    open(P, "|-", "cat > piped"); print P "through a pipe\n"; close P; print `cat piped`;
'
