# tar: create, list, append, update, extract, compressed.
# needs: tar gzip cmp mkdir
# bytes: 3000000
# inputs: text bin small

mkdir -p d/e
cp in/text in/bin d; cp in/small d/e; ln -s ../text d/e/link; ln d/bin d/e/hard
: > d/empty
touch -d 2020-01-01 d/text
T="tar --sort=name --mtime=2020-01-01 --owner=0 --group=0 --numeric-owner --format=gnu"
$T -cf a.tar d
tar tvf a.tar
mkdir x; tar xf a.tar -C x
cmp d/text x/d/text; cmp d/bin x/d/e/hard; cmp d/e/small x/d/e/small
echo more > more
$T --append -f a.tar more
tar xf a.tar more -O
$T -czf a.tgz d; gzip -dc a.tgz | tar tf - | wc -l
cat a.tgz | tar xzf - -C x d/text -O | cmp - in/text && echo piped
$T -cf - d | tar xf - -C tmp; cmp tmp/d/bin in/bin && echo through-pipe
tar --delete -f a.tar d/e/small; tar tf a.tar
tar df a.tar d/text && echo no-difference
$T --sparse -cf s.tar d/empty more; tar tf s.tar
tar --concatenate -f a.tar s.tar; tar tf a.tar | wc -l
