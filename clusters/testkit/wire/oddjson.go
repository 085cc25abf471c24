package wire

// Hard are lines that are spelt as this project does not spell them: some mean the same, some mean something else, some nothing.
var Hard = []string{
	`{}`, ``, `null`, `{"op":01}`, `{"op":-1}`, `{"op":1.5}`, `{"op":1e3}`, `{"op":9223372036854775807}`, `{"op":9223372036854775808}`, `{"op":"1"}`,
	`{"op":1,"op":2}`, `{"OP":1}`, `{"op":null}`, `{"op":1}x`, `{"op":1,}`, `{"op" :1}`, ` {"op":1} `, `{"op":1`, `{"unknown":{"op":1},"op":2}`,
	`{"hold":"\u0041","key":"é"}`, `{"hold":"` + "\xff" + `"}`, `{"holds":[]}`, `{"holds":["a","b"],"holds":["c"]}`, `{"holds":["a",]}`, `{"holds":[1]}`, `{"holds":null}`,
	`{"held":true,"held":false}`, `{"held":truefalse}`, `{"removed":true}`, `{"removed":"yes"}`, `{"owned":null}`, `{"owned":true,"owned":false}`, `{"owned":1}`,
	`{"msg":"ok","op":31,"session":"694d9a3c5f2e1b07","token":"4711","seen":1640}`, `{"cmd":"ping","n":17}`, `{"msg":"ready","ready":{"protocol":1}}`,
}
