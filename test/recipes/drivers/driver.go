// Calls the functions of a Go recipe, as requested by lines of JSON.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/oauth2"
)

type request struct {
	Call string
	Args []json.RawMessage
}

func perform(r request) (any, error) {
	if r.Call == "start" {
		address, kept := start()
		return []any{address, kept}, nil
	}
	if r.Call == "finish" {
		var callback string
		var kept session
		json.Unmarshal(r.Args[0], &callback)
		json.Unmarshal(r.Args[1], &kept)
		return finish(callback, kept)
	}
	var tokens oauth2.Token
	json.Unmarshal(r.Args[0], &tokens)
	switch r.Call {
	case "refresh":
		return refresh(&tokens)
	case "profile":
		return profile(&tokens)
	default:
		return nil, disconnect(&tokens)
	}
}

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var call request
		json.Unmarshal(lines.Bytes(), &call)
		answer := map[string]any{}
		if result, err := perform(call); err != nil {
			answer["error"], answer["ended"] = err.Error(), ended(err)
		} else {
			answer["result"] = result
		}
		text, _ := json.Marshal(answer)
		fmt.Println(string(text))
	}
}
