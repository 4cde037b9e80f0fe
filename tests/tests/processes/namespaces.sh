cat > $BIN/in.sh <<'X'
echo "in $$" > pid; for i in 1 2 3 4 5 6; do echo "line $i" >> log; (echo "sub $i" >> log); sleep 0.2; done; sh -c 'echo deeper >> log; (sleep 0.3; echo late >> log) & wait'
exec 5> held; echo first >&5; sleep 1.3; echo second >&5; cat held; exec 5>&-
X
unshare -pf bash $BIN/in.sh; cat log pid held
rm log; unshare -pf --mount-proc bash $BIN/in.sh; cat log pid
rm log; unshare -Urpf --mount-proc bash $BIN/in.sh; cat log pid
rm log; unshare -mnui bash $BIN/in.sh; cat log; rm pid
rm log; unshare -pf sh -c "unshare -pf bash $BIN/in.sh"; cat log
rm log; bwrap --bind / / --dev-bind /dev /dev --proc /proc --unshare-all bash $BIN/in.sh; cat log
cat > $BIN/kill.sh <<'X'
exec 5> killed; i=0; while [ $i -lt 200 ]; do echo "k $i" >&5; i=$((i+1)); done; echo ready > ready; while :; do echo more >> more; done
X
unshare -pf --kill-child bash $BIN/kill.sh & u=$!; while [ ! -s ready ]; do sleep 0.05; done; kill -9 $u; wait $u 2>/dev/null || true; sleep 1.2; outside tail -n 1 killed; rm more
echo x >> killed; tail -n 2 killed
