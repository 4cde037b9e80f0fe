for ring in 0 1; do
    UV_USE_IO_URING=$ring node "$BIN/c27_node.js"
    is "$(outside cat renamed copied promised)" "$(printf 'LINE 0\nappendedLINE 0\nappendedLINE 0')"
done
