# Programs started with an empty environment are caught as well. The variables that the shim puts back are not compared.
# needs: env sh

env -i /bin/sh -c 'echo "with no environment" > f; cat f'
env -i PATH=/usr/bin:/bin bash -c 'for i in 1 2 3 4 5; do echo $i >> g; done; cat g; env | sort | cut -d= -f1 | grep -v -e ^_ -e ^MILLPOND_ -e ^LD_PRELOAD' > names
cat names
env -u LD_PRELOAD sh -c 'head -c 100000 /dev/zero | tr "\0" x > x; wc -c x'
env -i sh -c 'exec env -i sh -c "echo twice > t; cat t"'
exec 3> inherited; echo one >&3; env -i sh -c 'echo two >&3'; echo three >&3; exec 3>&-; cat inherited
env -i sh -c 'head -c 50000 x > y; cat y x > z; wc -c z'
