mkdir -p root/lib64 root/lib
cp "$BIN/chrooted" root
for library in $(ldd "$BIN/chrooted" | grep -oE "/[^ ]*(libc[.]|ld-linux)[^ ]*"); do
    mkdir -p "root${library%/*}"
    cp "$library" "root$library"
done
exec 3> root/f
echo one >&3
printf abc > root/g
exec 4<> root/g
read -rn 1 -u 4 letter
is "$letter" a
unshare -r chroot root /chrooted
# By the C library from within a shimmed program, too.
"$BIN/chrooted" root
echo three >&3
cat root/f root/g
