# git: init, add, commit, branch, merge, checkout, stash; a clean status afterwards.
# needs: git
# inputs: text bin small lines

git init -q -b main --template= repo
cd repo
cp ../in/text ../in/bin ../in/small .
git add .
git commit -q -m "First"
git status --porcelain
echo changed >> text; git diff --stat
git commit -qam "Second"
git checkout -q -b side
cp ../in/lines lines; git add lines; git commit -q -m "Lines"
git checkout -q main
git mv small smaller; rm bin; git add -A; git commit -q -m "Moves"
git merge -q --no-edit side
git log --format='%H %s' --stat
echo dirty >> text; git stash -q; git status --porcelain; git stash pop -q; git status --porcelain
git checkout -q -- text
git tag -a -m "Tag" v1; git cat-file -p v1^{tree}
git reset -q --hard HEAD~1; git reset -q --hard v1; git status --porcelain
git fsck --full --strict
git archive --format=tar v1 > ../archive.tar
git show v1:lines | cmp - ../in/lines && echo same
git blame -s lines | tail -n 1
git rev-parse HEAD
git format-patch -q -1 HEAD~1 -o ../patches --no-signature
# The index holds times and inode numbers.
rm .git/index
