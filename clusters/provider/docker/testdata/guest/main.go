// Command guest is all that an image of the tests has: no shell, no library, no user.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

var does = map[string]func(){
	"show": func() {
		dir, _ := os.Getwd()
		fmt.Println(os.Args, os.Getuid(), dir, os.Getenv("MINE"), os.Getpid() == 1)
		wait()
	},
	// talk opens its standard error by name, as programs do that log there.
	"talk": func() {
		log, err := os.OpenFile("/dev/stderr", os.O_WRONLY, 0)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(4)
		}
		fmt.Fprintln(log, "hears")
		_, _ = io.Copy(os.Stdout, os.Stdin)
	},
	"exit": func() { fmt.Fprintln(os.Stderr, "cannot go on"); os.Exit(3) },
	"wait": wait,
	"chatter": func() {
		for i := range 3 {
			go func() {
				for n := 0; ; n++ {
					fmt.Printf("%d says %d\n", i, n)
					time.Sleep(50 * time.Microsecond)
				}
			}()
		}
		select {}
	},
	// fork leaves a process in a session of its own, which is nobody's child.
	"fork": func() {
		cmd := exec.Command("/guest", "wait")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		fmt.Println(cmd.Start())
		wait()
	},
}

func main() { does[os.Args[1]]() }

func wait() {
	for {
		time.Sleep(time.Hour)
	}
}
