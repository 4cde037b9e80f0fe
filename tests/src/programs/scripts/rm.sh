# rm of trees, of open files, of files just written.
# needs: rm rmdir mkdir
# inputs: bin small

for d in a a/b a/b/c; do mkdir $d; cp in/small $d/s; cp in/bin $d/b1; echo x > $d/x; done
rm a/x; rm -r a/b; ls a
cp in/bin open; exec 3<> open; rm open
head -c 10 <&3 | wc -c
echo written after the unlink >&3
exec 3>&-
exec 3> again; echo lost >&3; rm again; echo new > again; echo lost too >&3; exec 3>&-
cat again
rm -f not-there; rm not-there || echo "status $?"
rm -rf a; ls
i=0; while [ $i -lt 200 ]; do i=$((i + 1)); echo $i > n$i; rm n$i; done
rmdir in 2>/dev/null || echo not-empty
rm -rf in
