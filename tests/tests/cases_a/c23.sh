printf '#!/bin/sh\necho ran $1\n' > s.sh
chmod +x s.sh
is "$(./s.sh one)" "ran one"
cp /bin/true bt
./bt
cp /bin/echo be
is "$(./be two)" two
for n in 1 2 3 4 5 6 7 8; do
    printf '#include <stdio.h>\nint main(void) { return printf("hello %%d\\n", %d) < 0; }\n' $n > hello.c
    gcc -o hello hello.c
    is "$(./hello)" "hello $n"
done
gcc -static -o static hello.c
is "$(./static)" "hello 8"
printf '#!/usr/bin/env python3\nimport sys; sys.exit(int(open(__file__).readlines()[2][1:]))\n#9\n' > p.py
chmod 755 p.py
status=0
./p.py || status=$?
is $status 9
# A library that was just written.
printf 'int seven(void) { return 7; }\n' > lib.c
gcc -shared -fPIC -o libseven.so lib.c
is "$(python3 -c 'import ctypes; print(ctypes.CDLL("./libseven.so").seven())')" 7
rm hello static libseven.so
