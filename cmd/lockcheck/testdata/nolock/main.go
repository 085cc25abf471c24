// Nolock speaks the client protocol and takes no lock at all: it answers every acquire at once. Its token is the time, so
// that tokens grow. Its argument says how it uses the resource: "refused" sends what the resource refuses, "silent" does
// that and never says that it believes in a hold, "handled" sends proper requests without any lock.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

type command struct {
	Cmd, Hold, Key, Value, Base string
	N, Op                       int64
	WorkMS                      int64 `json:"work_ms"`
	Init                        struct{ Resource string }
}

var (
	mode     = os.Args[1]
	resource string
	mu       sync.Mutex
	held     = map[string]string{} // hold -> token
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		switch c.Cmd {
		case "init":
			resource = c.Init.Resource
			say(`{"msg":"ready","ready":{"protocol":1,"client":"nolock","tokens":"ordered","release":"checked","commands":["ping","acquire","read","write","release","cancel","close"],"boot_id":%q}}`, bootID())
		case "ping":
			say(`{"msg":"pong","n":%d,"holds":%s}`, c.N, believed())
		case "acquire":
			// Two clients may read the same time, and no two operations of a run have the same number.
			token := strconv.FormatInt(time.Now().UnixMicro()*1000+c.Op%1000, 10)
			mu.Lock()
			held[c.Hold] = token
			mu.Unlock()
			say(`{"msg":"ok","op":%d,"token":%q}`, c.Op, token)
		case "release":
			mu.Lock()
			delete(held, c.Hold)
			mu.Unlock()
			say(`{"msg":"ok","op":%d}`, c.Op)
		case "read", "write":
			go use(c)
		case "close":
			return
		}
	}
}

// use sends one request to the resource.
func use(c command) {
	time.Sleep(time.Duration(c.WorkMS) * time.Millisecond)
	mu.Lock()
	body := map[string]string{"request": strconv.FormatInt(c.Op, 10), "hold": c.Hold, "key": c.Key, "token": held[c.Hold]}
	mu.Unlock()
	if c.Cmd == "write" {
		body["value"], body["base"] = c.Value, c.Base
	}
	if mode != "handled" {
		body["token"] = "0x" + body["token"]
	}
	text, _ := json.Marshal(body)
	resp, err := http.Post(resource+"/"+c.Cmd, "application/json", bytes.NewReader(text))
	if err != nil {
		say(`{"msg":"info","op":%d}`, c.Op)
		return
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	var got struct{ Value string }
	_ = json.Unmarshal(answer, &got)
	held := mode != "silent"
	switch resp.StatusCode {
	case http.StatusOK:
		say(`{"msg":"ok","op":%d,"value":%q,"held":%v}`, c.Op, got.Value, held)
	case http.StatusConflict:
		say(`{"msg":"fail","op":%d,"code":"rejected","held":%v}`, c.Op, held)
	default:
		say(`{"msg":"fail","op":%d,"code":"refused","held":%v}`, c.Op, held)
	}
}

func believed() string {
	mu.Lock()
	defer mu.Unlock()
	if mode == "silent" || len(held) == 0 {
		return "[]"
	}
	text, _ := json.Marshal(slices.Sorted(maps.Keys(held)))
	return string(text)
}

func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(id))
}

func say(format string, args ...any) {
	mu.Lock()
	defer mu.Unlock()
	fmt.Printf(format+"\n", args...)
}
