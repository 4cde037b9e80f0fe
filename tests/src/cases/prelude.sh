# For the scripts of the cases: what fails ends the script and says where.
set -eu -o pipefail
trap 'echo "case script: line $((LINENO - PRELUDE)): $BASH_COMMAND" >&2' ERR
# is SEEN WANTED
is() { [ "$1" = "$2" ] || { echo "case script: '$1' is not '$2'" >&2; return 1; }; }
# outside COMMAND: run by a static shell, which nothing can preload
outside() { busybox "$@"; }
