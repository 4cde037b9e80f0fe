echo one > f
for i in 1 2 3; do echo "$i" >> f; done
# Who is killed leaves bytes to the coordinator.
{ bash -c 'exec 3> g; echo first >&3; echo second >&3; kill -9 $$' || true; } 2> /dev/null
for _ in $(seq 50); do
    [ "$(outside cat g)" = "$(printf 'first\nsecond')" ] && break
    sleep 0.1
done
cat f g
