// Reads or writes as told by its arguments, by system calls of its own.
package main

import (
	"io"
	"os"
)

func main() {
	flags := map[string]int{"write": os.O_TRUNC, "append": os.O_APPEND, "patch": 0}
	if flag, ok := flags[os.Args[1]]; ok {
		if os.Args[1] != "patch" {
			flag |= os.O_CREATE
		}
		f, err := os.OpenFile(os.Args[2], os.O_WRONLY|flag, 0644)
		if err != nil {
			panic(err)
		}
		if _, err := f.WriteString(os.Args[3]); err != nil {
			panic(err)
		}
		if err := f.Close(); err != nil {
			panic(err)
		}
		return
	}
	f, err := os.Open(os.Args[2])
	if err != nil {
		panic(err)
	}
	io.Copy(os.Stdout, f)
}
