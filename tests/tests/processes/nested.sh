set +e
cat > $BIN/work.sh <<'X'
echo a > w; for i in 1 2 3; do echo $i >> w; done; cat w; (echo s; echo t) | sort -r > v; cat v; grep -c . w v; sed -i s/2/two/ w; cat w; stat -c %s w v; cp w x; mv x y; cat y
X
L=/usr/lib/x86_64-linux-gnu
echo stdbuf; stdbuf -oL -i0 bash $BIN/work.sh; stdbuf -o0 cat w > z; cat z
for f in fakeroot-sysv fakeroot-tcp; do echo $f; $f bash $BIN/work.sh; $f sh -c 'echo f > own; chown 12:13 own; stat -c "%u %g %s" own; cat own'; done
echo eatmydata; eatmydata bash $BIN/work.sh; eatmydata sh -c 'dd if=/dev/zero of=dd bs=1000 count=7 conv=fsync 2>/dev/null; wc -c < dd'
echo faketime; faketime '2020-01-01 00:00:00' bash $BIN/work.sh; faketime '2020-01-01 00:00:00' sh -c 'echo f > ft; cat ft; date +%Y'; touch ft
for l in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do ls $L/$l >/dev/null || continue; echo $l before; LD_PRELOAD="$L/$l ${LD_PRELOAD:-}" bash $BIN/work.sh; echo $l after; LD_PRELOAD="${LD_PRELOAD:-} $L/$l" bash $BIN/work.sh; LD_PRELOAD="$L/$l" bash $BIN/work.sh; done
rm -f own ft
true
