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
	if f.storeDir == "" {
		return errors.New("broker: give --store-dir, a folder that outlives the process")
	}
	s, err := server.NewServer(&server.Options{
		ServerName: "reminder-broker", Host: f.host, Port: f.port, JetStream: true, StoreDir: f.storeDir, SyncAlways: f.syncAlways, NoSigs: true,
	})
	if err != nil {
		return fmt.Errorf("make the NATS server: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		s.Shutdown()
		return fmt.Errorf("start the NATS server on %s:%d: not ready in 30s", f.host, f.port)
	}
	log.Info("Broker started", "url", s.ClientURL(), "syncAlways", f.syncAlways)
	<-ctx.Done()
	s.LameDuckShutdown()
	s.WaitForShutdown()
	return nil
}
