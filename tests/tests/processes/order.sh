# Programs that nothing can preload read what was written, in every order.
exec 3> a; echo one >&3; echo two >&3; echo three >&3; exec 3>&-; outside cat a
exec 3>> a; echo four >&3; outside cat a | sed -n 1p; exec 3>&-; outside cat a
outside sh -c 'echo by outside >> a'; cat a; echo five >> a; outside cat a
outside sh -c 'echo b1 > b; exec 4>> b; echo b2 >&4; '"$(command -v cat)"' b; echo b3 >&4'; cat b
echo c1 > c; outside sed -i s/c1/C1/ c; cat c; (echo d1; outside echo d2; echo d3) > d; cat d
{ echo e1; outside echo e2; echo e3; } >> e; outside cat < e; cat e | outside wc -c
cp $(command -v cat) $BIN/suid; chown 1:1 $BIN/suid; chmod 6755 $BIN/suid; (umask 0; echo f1 > f; chmod 666 f; $BIN/suid f; exec 3>> f; echo f2 >&3; $BIN/suid < f; $BIN/suid >> f <<< f3); cat f
cp $(command -v cat) $BIN/caps; setcap cap_net_raw+ep $BIN/caps && { echo g1 > g; $BIN/caps g; exec 6>> g; echo g2 >&6; $BIN/caps <<< g3 >&6; echo g4 >&6; exec 6>&-; $BIN/caps g; cat g; }
