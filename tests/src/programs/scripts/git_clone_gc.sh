# git: many commits, gc, clone, fetch, push, bundle, fsck.
# needs: git
# inputs: text lines

git init -q -b main --template= a
cd a
git config pack.threads 1
git config gc.auto 0
for i in 1 2 3 4 5 6 7 8; do
    head -n $((i * 5000)) ../in/text > text
    sed "s/pond/pond $i/" ../in/lines > "lines-$i"
    git add .
    git commit -q -m "Commit $i"
done
git gc -q --prune=now
git count-objects -v | grep -E '^(count|in-pack|packs)'
git fsck --full
cd ..
git clone -q --no-hardlinks --template= a b
git clone -q --bare --template= "file://$PWD/a" c 2>&1
cd b
git log --oneline | wc -l
echo new > new; git add new; git commit -q -m "From the clone"
git push -q ../c HEAD:main
git fsck --full
git status --porcelain
git bundle create -q ../bundle main
git repack -q -a -d
git fsck --full
git rev-parse HEAD
cd ../a
git pull -q ../b main
git status --porcelain
git rev-parse HEAD
git worktree add -q ../w HEAD; cmp ../w/text text && echo worktree
cd ..
git -C a bundle verify -q ../bundle 2>&1 || echo "bundle: $?"
git -C c rev-parse main
# Absolute paths, times and inode numbers stand in these.
rm -rf b/.git w c/config c/FETCH_HEAD a/.git/index a/.git/logs a/.git/FETCH_HEAD a/.git/worktrees bundle
