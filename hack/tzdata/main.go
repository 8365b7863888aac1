// Command tzdata packs a built tz source tree into the two files that package tzdb embeds.
//
//	tzdata -src DIR -out DIR
//
// The source folder holds the tz sources and what make built of them; update.sh says how.
// The command writes zoneinfo.zip, one TZif file per zone, and names.txt, every accepted name.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	src := flag.String("src", "", "built tz source tree")
	out := flag.String("out", "", "folder of package tzdb")
	flag.Parse()
	if err := run(*src, *out); err != nil {
		fmt.Fprintln(os.Stderr, "tzdata:", err)
		os.Exit(1)
	}
}

func run(src, out string) error {
	names, err := readNames(src)
	if err != nil {
		return err
	}
	if err := writeNames(names, out); err != nil {
		return err
	}
	return writeZip(names, src, out)
}
