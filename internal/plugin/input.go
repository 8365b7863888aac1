package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/reminder-operator/reminder-operator/internal/admission"
)

// loadSchemas reads the schemas once.
var loadSchemas = sync.OnceValues(admission.Load)

// readFiles takes stock of files; - is the standard input. Objects without a namespace are in the one given.
func readFiles(ctx context.Context, stdin io.Reader, namespace string, files []string) (*inventory, error) {
	schemas, err := loadSchemas()
	if err != nil {
		return nil, err
	}
	var all []document
	left, usedStdin := int64(maxInput), false
	for _, file := range files {
		if file == "-" && usedStdin {
			return nil, usage("the standard input can be read once: give -f - once")
		}
		usedStdin = usedStdin || file == "-"
		text, err := readFile(stdin, file, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(text))
		all = append(all, readDocuments(nameOf(file), text)...)
	}
	return takeStock(ctx, schemas, namespace, all)
}

// namesOf are files as messages name them.
func namesOf(files []string) string {
	names := make([]string, 0, len(files))
	for _, file := range files {
		names = append(names, nameOf(file))
	}
	return strings.Join(names, ", ")
}

func nameOf(file string) string {
	if file == "-" {
		return "stdin"
	}
	return file
}

// readFile reads at most so many bytes; more is an error.
func readFile(stdin io.Reader, file string, most int64) ([]byte, error) {
	in := stdin
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("read the documents: %w", err)
		}
		defer opened.Close()
		in = opened
	}
	var text bytes.Buffer
	n, err := io.Copy(&text, io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("read the documents of %s: %w", nameOf(file), err)
	}
	if n > most {
		return nil, fmt.Errorf("read the documents of %s: %w", nameOf(file), errTooLarge)
	}
	return text.Bytes(), nil
}

var errTooLarge = errors.New("the files have more than 16 MiB in all; give them in parts")
