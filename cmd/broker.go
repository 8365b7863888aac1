package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/spf13/cobra"
)

type brokerFlags struct {
	host, storeDir string
	port           int
	syncAlways     bool
}

func brokerCommand(log *slog.Logger) *cobra.Command {
	f := brokerFlags{}
	c := &cobra.Command{
		Use:   "broker",
		Short: "Run one NATS server with JetStream, for trials",
		Long:  "Run one NATS server with JetStream and file storage, for trials. One server is one disk: for production use three of your own.",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return f.run(c.Context(), log) },
	}
	c.Flags().StringVar(&f.host, "host", "0.0.0.0", "address to listen on")
	c.Flags().IntVar(&f.port, "port", 4222, "port to listen on")
	c.Flags().StringVar(&f.storeDir, "store-dir", "", "folder for the data (required)")
	c.Flags().BoolVar(&f.syncAlways, "sync-always", true, "write each message to disk before it is acknowledged")
	return c
}

func (f brokerFlags) run(ctx context.Context, log *slog.Logger) error {
	switch {
	case f.storeDir == "":
		return errors.New("broker: give --store-dir, a folder that outlives the process")
	case f.port < 1 || f.port > 65535:
		return fmt.Errorf("broker: --port is %d; give 1 to 65535", f.port)
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "reminder-broker", Host: f.host, Port: f.port, JetStream: true, StoreDir: f.storeDir, SyncAlways: f.syncAlways, NoSigs: true,
	})
	if err != nil {
		return fmt.Errorf("make the NATS server: %w", err)
	}
	own := &serverLog{log: log, fatal: make(chan string, 1)}
	s.SetLogger(own, false, false)
	s.Start()
	if err := f.await(ctx, s, own); err != nil {
		s.Shutdown()
		return err
	}
	log.Info("Broker started", "url", s.ClientURL(), "syncAlways", f.syncAlways)
	select {
	case <-ctx.Done():
		s.LameDuckShutdown()
		s.WaitForShutdown()
		return nil
	case reason := <-own.fatal:
		s.Shutdown()
		return fmt.Errorf("run the NATS server: %s", reason)
	}
}

// await waits until the server takes clients.
func (f brokerFlags) await(ctx context.Context, s *server.Server, own *serverLog) error {
	const patience = 30 * time.Second
	ready := make(chan bool, 1)
	go func() { ready <- s.ReadyForConnections(patience) }()
	select {
	case ok := <-ready:
		if !ok {
			return fmt.Errorf("start the NATS server on %s:%d: not ready in %s", f.host, f.port, patience)
		}
		return nil
	case reason := <-own.fatal:
		return fmt.Errorf("start the NATS server: %s", reason)
	case <-ctx.Done():
		return nil
	}
}

// serverLog hands the server's warnings on, and keeps the reason why it gave up:
// the server itself would only say it.
type serverLog struct {
	log   *slog.Logger
	fatal chan string
}

func (l *serverLog) Noticef(string, ...any) {}
func (l *serverLog) Debugf(string, ...any)  {}
func (l *serverLog) Tracef(string, ...any)  {}

func (l *serverLog) Warnf(format string, v ...any) {
	l.log.Warn("The NATS server warned", "text", fmt.Sprintf(format, v...))
}

func (l *serverLog) Errorf(format string, v ...any) {
	l.log.Error("The NATS server reported an error", "text", fmt.Sprintf(format, v...))
}

func (l *serverLog) Fatalf(format string, v ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, v...):
	default: // the first reason is the one
	}
}
