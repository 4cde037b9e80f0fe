# A static program reads, right after close, what others wrote; and the other way round.
# needs: busybox
# inputs: bin text

cat in/bin > copy; busybox sha256sum copy in/bin
echo one > f; busybox cat f; echo two >> f; busybox cat f
cat in/text in/bin > big; busybox wc -c big; busybox cmp big big
for i in 1 2 3 4 5 6 7 8 9 10; do echo "$i" > n; busybox cat n; done
busybox dd if=in/bin of=by-busybox bs=47008 2> /dev/null; cmp by-busybox in/bin && echo seen
cat by-busybox > again; busybox sh -c 'echo changed > by-busybox'; cat by-busybox
busybox sh -c 'cat in/text > g; echo tail >> g'; tail -n 1 g
echo more >> g; busybox tail -n 2 g
# Inherited: the static program is handed a file with bytes that are not yet in it.
exec 3<> handed
echo "first line" >&3
busybox echo second >&3
busybox cat handed
echo third >&3
exec 3>&-
busybox cat handed
{ echo before; busybox echo between; echo after; } > mixed; cat mixed
{ read -r line; busybox cat; } < in/text | busybox tail -n 1
