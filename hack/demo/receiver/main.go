// Command receiver is the receiver of the demo: it takes reminders over HTTP,
// verifies their signatures, and counts. What it does with which address is said
// in package test/receiver.
//
//	go run ./hack/demo/receiver --addr 127.0.0.1:0 --addr-file F --secret-file F --log F
//
// POST to any path is a reminder; GET /stats shows the counts. SIGTERM ends it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/reminder-operator/reminder-operator/test/receiver"
)

type options struct {
	addr, addrFile, secretFile, log string
	dedupe                          bool
	delay                           time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.addr, "addr", "127.0.0.1:0", "host and port to listen on; port 0 takes any")
	flag.StringVar(&o.addrFile, "addr-file", "", "file to write the host and port to once it listens")
	flag.StringVar(&o.secretFile, "secret-file", "", "file with the signing keys that are accepted, one a line; without it signatures are not looked at")
	flag.StringVar(&o.log, "log", "", "file to append one JSON line per acceptance to")
	flag.BoolVar(&o.dedupe, "dedupe", true, "recognise repeats of an Idempotency-Key")
	flag.DurationVar(&o.delay, "delay", 0, "how long each answer takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "receiver:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, o options, out io.Writer) error {
	handler, closeLog, err := open(o)
	if err != nil {
		return err
	}
	defer closeLog()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if err := announce(o.addrFile, listener.Addr().String()); err != nil {
		_ = listener.Close()
		return err
	}
	fmt.Fprintf(out, "receiver: listening on %s\n", listener.Addr())
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }, // held requests end with it
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err = <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return errors.Join(server.Shutdown(last), server.Close())
}

func open(o options) (http.Handler, func(), error) {
	settings, closeLog := receiver.Options{IgnoreKeys: !o.dedupe, Delay: o.delay}, func() {}
	if o.secretFile != "" {
		secrets, err := os.ReadFile(o.secretFile)
		if err != nil {
			return nil, nil, fmt.Errorf("read signing keys: %w", err)
		}
		if settings.Secrets = strings.Fields(string(secrets)); len(settings.Secrets) == 0 {
			return nil, nil, fmt.Errorf("read signing keys: %s is empty", o.secretFile)
		}
	}
	if o.log != "" {
		f, err := os.OpenFile(o.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("open log: %w", err)
		}
		settings.Log, closeLog = f, func() { _ = f.Close() }
	}
	r, err := receiver.New(settings)
	if err != nil {
		closeLog()
		return nil, nil, err
	}
	return r, closeLog, nil
}

// announce writes the address whole or not at all: who waits for the file reads it at once.
func announce(path, address string) error {
	if path == "" {
		return nil
	}
	if err := os.WriteFile(path+".new", []byte(address), 0o600); err != nil {
		return fmt.Errorf("write address file: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write address file: %w", err)
	}
	return nil
}
