package channeltest

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// Script is a relay that greets and answers with raw text, for what no real one
// would say. It keeps answers to commands by their first word; "." is the end of the
// mail. Without an answer to a command it is an ordinary relay without extensions;
// with an empty one it closes the connection.
type Script struct {
	Greeting string
	Answers  map[string]string
}

// NewScript starts a script that ends with the test, and answers its address.
func NewScript(t testing.TB, s Script) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	var working sync.WaitGroup
	working.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			working.Go(func() {
				defer conn.Close()
				s.serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		working.Wait()
	})
	return listener.Addr().String()
}

var ordinary = map[string]string{"DATA": "354 go on\r\n", "QUIT": "221 bye\r\n"}

func (s Script) serve(conn net.Conn) {
	if _, err := io.WriteString(conn, s.Greeting); err != nil {
		return
	}
	mail := false
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		word, _, _ := strings.Cut(strings.ToUpper(lines.Text()), " ")
		if mail && word != "." {
			continue
		}
		answer, ok := s.Answers[word]
		if !ok {
			answer, ok = ordinary[word]
		}
		if !ok {
			answer = "250 fine\r\n"
		}
		if _, err := io.WriteString(conn, answer); err != nil || answer == "" {
			return
		}
		mail = word == "DATA" && strings.HasPrefix(answer, "354")
	}
}
