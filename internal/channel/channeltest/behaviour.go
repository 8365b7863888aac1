package channeltest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Behaviour reads and answers one request on a connection. It returns true to be
// called again for the next one, false to close the connection.
type Behaviour func(e *Exchange) bool

// DripInterval is the time between the bytes of [DripHeader] and [DripBody].
const DripInterval = time.Second

// Leak stands in every response that has room for it; it must not come out.
const Leak = "leak-of-the-receivers-text"

// Answer reads a request and answers with a status and header fields
// ("Name: value").
func Answer(status int, fields ...string) Behaviour {
	return func(e *Exchange) bool {
		return e.Read() && e.Write(response(status, fields, Leak))
	}
}

func response(status int, fields []string, body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %03d %s %s\r\n", status, http.StatusText(status), Leak)
	for _, f := range fields {
		b.WriteString(f + "\r\n")
	}
	if status == http.StatusNoContent || status == http.StatusNotModified {
		body = ""
	} else {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	return b.String() + "X-Leak: " + Leak + "\r\n\r\n" + body
}

// Echo reads a request and answers with its headers in the answer's own, in the
// reason phrase, and in the body.
func Echo(status int) Behaviour {
	return func(e *Exchange) bool {
		if !e.Read() {
			return false
		}
		all := fmt.Sprint(e.last.Header)
		return e.Write(fmt.Sprintf("HTTP/1.1 %d %s\r\nX-Echo: %s\r\nContent-Length: %d\r\n\r\n%s", status, all, all, len(all), all))
	}
}

// EchoRaw reads a request and writes its headers where a status line belongs.
func EchoRaw(e *Exchange) bool {
	if e.Read() {
		e.Write(fmt.Sprint(e.last.Header) + "\r\n\r\n")
	}
	return false
}

// InTurn uses one behaviour per request of a connection, the last one for the rest.
func InTurn(turns ...Behaviour) Behaviour {
	return func(e *Exchange) bool { return turns[min(e.Number, len(turns)-1)](e) }
}

// EarlyAnswer answers when the first byte of the request is there, and closes
// behind it.
func EarlyAnswer(status int) Behaviour {
	return func(e *Exchange) bool {
		if !e.Wait() {
			return false
		}
		e.Write(response(status, []string{"Connection: close"}, Leak))
		e.Read()
		return false
	}
}

// SpeakFirst answers without waiting for a request, and closes.
func SpeakFirst(e *Exchange) bool {
	e.Write(response(http.StatusOK, nil, Leak))
	e.Read()
	return false
}

// AnswerTwice answers one request with two responses in one segment.
func AnswerTwice(e *Exchange) bool {
	one := response(http.StatusOK, nil, Leak)
	return e.Read() && e.Write(one+one)
}

// Interim sends an interim response (103) before the status.
func Interim(status int) Behaviour {
	return func(e *Exchange) bool {
		return e.Read() && e.Write("HTTP/1.1 103 Early Hints\r\nX-Leak: "+Leak+"\r\n\r\n"+response(status, nil, Leak))
	}
}

// EndlessInterim sends interim responses and never a status.
func EndlessInterim(e *Exchange) bool {
	for ok := e.Read(); ok; {
		ok = e.Write("HTTP/1.1 103 Early Hints\r\n\r\n")
	}
	return false
}

// Upgrade switches to another protocol.
func Upgrade(e *Exchange) bool {
	return e.Read() && e.Write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+Leak+"\r\n\r\n")
}

// Chunked answers with a body in chunks.
func Chunked(status int) Behaviour {
	return func(e *Exchange) bool {
		return e.Read() && e.Write(fmt.Sprintf("HTTP/1.1 %d OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", status, len(Leak), Leak))
	}
}

// HangBeforeReading accepts the connection and reads nothing.
func HangBeforeReading(e *Exchange) bool {
	<-e.Closed
	return false
}

// HangAfterReading reads the request and never answers.
func HangAfterReading(e *Exchange) bool {
	if e.Read() {
		<-e.Closed
	}
	return false
}

// CloseAfterReading reads the request and closes without an answer.
func CloseAfterReading(e *Exchange) bool {
	e.Read()
	return false
}

// ResetAfterReading reads the request and resets the connection.
func ResetAfterReading(e *Exchange) bool {
	e.Read()
	reset(e.Conn)
	return false
}

// ResetInHeader resets the connection within the response's header.
func ResetInHeader(e *Exchange) bool {
	if e.Read() {
		e.Write("HTTP/1.1 200 OK\r\nX-Leak: " + Leak)
		reset(e.Conn)
	}
	return false
}

// ResetInBody resets the connection behind a complete header with status 200.
func ResetInBody(e *Exchange) bool {
	if e.Read() {
		e.Write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + Leak)
		reset(e.Conn)
	}
	return false
}

// reset makes the kernel send RST instead of FIN.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// DripHeader sends a header one byte per [DripInterval].
func DripHeader(e *Exchange) bool {
	return e.Read() && drip(e, response(http.StatusOK, nil, Leak))
}

// DripBody sends a complete header with status 200, then drips.
func DripBody(e *Exchange) bool {
	return e.Read() && e.Write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n") && drip(e, strings.Repeat("x", 1000))
}

func drip(e *Exchange, raw string) bool {
	tick := time.NewTicker(DripInterval)
	defer tick.Stop()
	for i := range len(raw) {
		select {
		case <-e.Closed:
			return false
		case <-tick.C:
		}
		if !e.Write(raw[i : i+1]) {
			return false
		}
	}
	return true
}

// EndlessBody sends status 200 and a body without end.
func EndlessBody(e *Exchange) bool {
	ok := e.Read() && e.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	for chunk := "1000\r\n" + strings.Repeat("x", 0x1000) + "\r\n"; ok; {
		ok = e.Write(chunk)
	}
	return false
}

// HugeHeader sends a header of 1 MiB.
func HugeHeader(e *Exchange) bool {
	return e.Read() && e.Write("HTTP/1.1 200 OK\r\nX-Leak: "+strings.Repeat(Leak, (1<<20)/len(Leak))+"\r\nContent-Length: 0\r\n\r\n")
}

// Redirect answers with a redirect to the receiver itself.
func Redirect(status int) Behaviour {
	return func(e *Exchange) bool {
		return Answer(status, "Location: http://"+e.Conn.LocalAddr().String()+"/"+Leak)(e)
	}
}

// GzipBomb answers 200 with some kilobytes of gzip that would inflate to 8 MiB.
func GzipBomb(e *Exchange) bool {
	var b bytes.Buffer
	z, zeros := gzip.NewWriter(&b), make([]byte, 1<<20)
	for range 8 {
		_, _ = z.Write(zeros)
	}
	_ = z.Close()
	return e.Read() && e.Write(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", b.Len(), b.Bytes()))
}

// NotHTTP answers in another protocol.
func NotHTTP(e *Exchange) bool {
	if e.Read() {
		e.Write("220 " + Leak + " ESMTP\r\n")
	}
	return false
}
