export GOCACHE=$BIN/cache GO111MODULE=off GOFLAGS= GOTOOLCHAIN=local
go build -o "$BIN/c26_static" "$BIN/c26.go"
. "$BIN/c26.sh"
