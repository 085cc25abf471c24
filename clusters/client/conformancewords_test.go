//go:build e2e

package client

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What the conformance test says of a client that does not conform, started as its author starts it: what was expected, what came
// instead, and what a client that died said last.
func TestConformanceSaysWhatItExpected(t *testing.T) {
	for name, planted := range map[string]struct {
		was, is string
		says    []string
	}{
		"dies before it is ready": {`operations = {f`, "sys.exit(\"no service in sight\")\noperations = {f", []string{
			"want ready of client a, which ended (exit status 1)", "its last words on standard error: no service in sight"}},
		"dies while it acquires": {"def acquire(c):\n", "def acquire(c):\n    os.write(2, b\"out of memory\\n\"); os._exit(3)\n", []string{
			"want answer of operation 1 of client a, which ended (exit status 3)", "its last words on standard error: out of memory"}},
		"is ready too early": {`say(msg="ready", ready={`, `say(msg="pong", n=0); say(msg="ready", ready={`, []string{`printed {"msg":"pong"}, want ready first`}},
		"prints a banner":    {`operations = {f`, "print(\"toy 1.0\")\noperations = {f", []string{`printed "toy 1.0", want a JSON object of the client protocol and nothing else on standard output`}},
		"says nothing of tokens": {`"tokens": "ordered",`, ``, []string{
			`does not say whether its grants carry tokens; "tokens" has to be "ordered" or "none"`}},
		"speaks another version": {`"protocol": 1`, `"protocol": 7`, []string{"want protocol 1 and the client's name"}},
		"hides what it holds":    {`holds=sorted(flags)`, `holds=[]`, []string{`{"msg":"pong",`, `}, want holds ["hA"]`}},
		"tells no flag":          {"value=answer.get(\"value\", \"\"), held=c[\"hold\"] in flags", "value=answer.get(\"value\", \"\")", []string{`the first read answered {"msg":"ok","op":2`, `want no value (nothing was written yet), and "held":true`}},
		"grants at once": {`"acquire " + command["key"]`, `"acquire " + command["key"] + init["name"]`, []string{
			"client b answered", `already, want it to wait: client a has the lock`}},
		"tokens that stand still": {`self.receive().partition(" ")`, `(self.receive() + "0").partition(" "); self.token = "7"`, []string{`token "7" after "7": want decimal numbers that grow`}},
		"does not work":           {`time.sleep(c.get("work_ms", 0) / 1000)`, `pass`, []string{"want its work of 200ms before that"}},
		"writes to itself":        {`value=answer.get("value", "")`, `value=""`, []string{"the other client's read answered", "want the value v4"}},
		"disowns its release":     {`owned=answer == "released"`, `owned=False`, []string{`"owned":false}, want "owned":true, or no "owned" at all`}},
		"is unsure of nothing":    {`raise Definite("refused", "no such hold")`, `raise Exception("no such hold")`, []string{`answered operation 8 with {"msg":"info","op":8,"error":"no such hold"}, want [fail]`}},
		"answers twice":           {`say(msg="ok", op=c["op"], seen=seen, owned=`, `say(msg="ok", op=c["op"]); say(msg="ok", op=c["op"], seen=seen, owned=`, []string{"answered operation 5 twice, want one answer"}},
		"sees what is to come":    {`self.seen = ping `, `self.seen = ping + 5 `, []string{"seen is the number of a ping that was never sent"}},
		"invents a loss":          {`finally: waiting.pop`, `finally: say(msg="lost", session="s"); waiting.pop`, []string{`printed {"msg":"lost","session":"s"} instead of answer of operation 1`}},
		"waits for a ping": {"def acquire(c):\n", "def acquire(c):\n    if init[\"name\"] == \"e\" and not ping: raise Definite(\"refused\", \"no ping has come yet\")\n", []string{
			`client e answered operation 1 with {"msg":"fail","op":1,"code":"refused","error":"no ping has come yet"}, want [ok]`}},
		"ends in disorder": {`os._exit(0)`, `os._exit(4)`, []string{"ended with exit status 4, want exit code 0"}},
		"does not end":     {`os._exit(0)`, `time.sleep(30)`, []string{"did not end within 2 s, want it to give its session back and exit with code 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := changedExample(t, planted.was, planted.is)
			test := exec.Command(os.Args[0], "-test.run=^TestConformance$", "-client="+strings.Join(command, " "), "-endpoints="+startToy(t).addr)
			out, err := test.CombinedOutput()
			if err == nil {
				t.Errorf("it conforms")
			}
			for _, words := range planted.says {
				if !strings.Contains(string(out), words) {
					t.Errorf("it does not say %q:\n%s", words, out)
				}
			}
		})
	}
}
