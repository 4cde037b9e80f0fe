# In a mount namespace of its own, the directory becomes a file system that is then made read-only.
mkdir -p inside
unshare -m bash -c '
set -e
mount -t tmpfs -o size=8m inside "$PWD"
cd "$PWD"
bash -c "
exec 7> f
echo first >&7
echo second >&7
echo third >&7
mount -o remount,ro . 2> /dev/null || echo busy
echo fourth >&7
cat f
exec 7>&-
mount -o remount,ro . && echo read-only
cat f
(echo fifth >> f) 2> /dev/null || echo refused
exec 8< f
mount -o remount,rw . && echo writable
echo sixth >> f
cat <&8
exec 9>> f
echo seventh >&9
echo eighth >&9
mkdir d
umount -l .
echo ninth >&9
cat f
exec 9>&-
tail -n 1 f
"
'
ls
