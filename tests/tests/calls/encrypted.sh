seq 1 50000 > f
openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2> told
# A server that hands out the files of this directory, on a port of the kernel's choice.
mkfifo hold
openssl s_server -accept 127.0.0.1:0 -WWW -key key -cert cert > server < hold 2>&1 &
server=$!
exec 6> hold
for i in $(seq 200); do grep -q ^ACCEPT server && break; sleep 0.05; done
port=$(sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' server | head -n 1)
curl -s --cacert cert https://localhost:$port/f -o g; echo curl $?
cmp f g
curl -s --cacert cert https://127.0.0.1:$port/f > h; echo curl $?
cmp f h
curl -s https://127.0.0.1:$port/f > none || echo distrusting curl $?
exec 5>> log
printf 'GET /f HTTP/1.0\r\n\r\n' | gnutls-cli --x509cafile cert -p $port 127.0.0.1 > answer 2>> log || echo gnutls $?
grep -c '^49999$' answer
kill $server
wait $server || true
# The other library as the server, with a session kept in a file.
for try in 1 2 3 4 5; do
    port=$((20000 + RANDOM % 20000))
    gnutls-serv --http --x509keyfile key --x509certfile cert -p $port > other 2>&1 &
    server=$!
    for i in $(seq 100); do curl -s --cacert cert https://localhost:$port/ -o page && break 2; kill -0 $server 2> /dev/null || break; sleep 0.05; done
    kill $server 2> /dev/null || true
    wait $server || true
done
grep -ci '<html>' page > /dev/null && echo page
openssl s_client -connect 127.0.0.1:$port -CAfile cert -verify_return_error < /dev/null > talk 2>&1 && echo client
grep -c 'Verify return code: 0' talk > /dev/null && echo verified
kill $server
wait $server || true
rm key cert told server answer log other page talk hold none
