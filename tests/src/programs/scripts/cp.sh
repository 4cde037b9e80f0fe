# cp: plain, preserving, recursive, linking, over existing files.
# needs: cp cmp stat mkdir touch
# inputs: text bin small

cp in/bin copy
cmp in/bin copy && echo same
chmod 640 copy
touch -d '2001-02-03 04:05:06.789' copy
cp -p copy preserved
stat -c '%n %s %a %Y' copy preserved
cp --reflink=never in/text text
cp --reflink=auto in/text text2
cp in/small text2
cp -f in/small readonly; chmod 400 readonly; cp -f in/bin readonly
mkdir -p tree/a/b; cp in/small tree/a/one; cp in/bin tree/a/b/two; ln -s one tree/a/link
cp -r tree tree-r
cp -a tree tree-a
cp -l in/bin hard
cp -s in/bin soft 2>&1 || echo "soft: $?"
cp -n in/small copy || true
cp -u in/small copy2
cp -b in/text copy2
cp --parents in/small tree
cp in/small /dev/stdout | cmp - in/small && echo to-stdout
cmp in/small tree/in/small && echo parents
# Just written, not yet seen by anything else.
echo fresh > fresh; cp fresh fresh2; cat fresh2
