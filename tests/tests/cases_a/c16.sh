"$BIN/c16"
filler=$(printf '%080d' 0)
for process in 1 2 3 4; do
    bash -c 'for n in $(seq -w 1 250); do printf "%s %s %s\n" $0 $n $1 >> appended; done' $process $filler &
done
wait
is "$(wc -l < appended | tr -d ' ')" 1000
is "$(awk '{ print length($0) }' appended | sort -u)" 86
is "$(sort appended | md5sum)" "$(for p in 1 2 3 4; do for n in $(seq -w 1 250); do echo $p $n $filler; done; done | md5sum)"
# Each process in order of its own.
for process in 1 2 3 4; do is "$(grep "^$process " appended | sort -c && echo ordered)" ordered; done
rm appended
# By turns, each end of the pair with a descriptor of its own that stays open.
mkfifo ping pong
bash -c 'exec 5>> turns 6<> ping 7<> pong; for n in 1 2 3 4 5 6 7 8; do echo "a $n" >&5; echo >&6; read -r x <&7; done' &
bash -c 'exec 5>> turns 6<> ping 7<> pong; for n in 1 2 3 4 5 6 7 8; do read -r x <&6; echo "b $n" >&5; echo >&7; done' &
wait
rm ping pong
is "$(tr '\n' ',' < turns)" "a 1,b 1,a 2,b 2,a 3,b 3,a 4,b 4,a 5,b 5,a 6,b 6,a 7,b 7,a 8,b 8,"
