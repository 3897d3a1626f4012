// Calls the functions of a Go recipe, as requested by lines of JSON.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/oauth2"
)

type told struct {
	Call string
	Args []json.RawMessage
}

func perform(told told) (any, error) {
	if told.Call == "start" {
		address, kept := start()
		return []any{address, kept}, nil
	}
	if told.Call == "finish" {
		var callback string
		var kept session
		json.Unmarshal(told.Args[0], &callback)
		json.Unmarshal(told.Args[1], &kept)
		return finish(callback, kept)
	}
	var tokens oauth2.Token
	json.Unmarshal(told.Args[0], &tokens)
	switch told.Call {
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
		var call told
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
