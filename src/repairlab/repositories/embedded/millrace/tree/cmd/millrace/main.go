// Command millrace looks at a journal of jobs and changes it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"example.org/millrace/clock"
	"example.org/millrace/store/journal"
)

const usage = `usage: millrace -journal FILE COMMAND [ARGUMENT...]

commands:
  enqueue KIND [PAYLOAD] [queue=NAME] [priority=N] [attempts=N] [unique=KEY]
  list    [queue=NAME] [kind=KIND] [state=A,B] [tag:NAME=VALUE] [limit=N]
  show    ID
  cancel  ID
  stats   [NAME]
  compact
  cron    "MINUTE HOUR DAY MONTH WEEKDAY"
`

// errUsage says that the command line makes no sense.
var errUsage = errors.New("bad usage")

// app is what a command works with.
type app struct {
	store *journal.Store
	clock clock.Clock
	out   io.Writer
}

func main() {
	err := run(context.Background(), os.Args[1:], clock.System{}, os.Stdout)
	if errors.Is(err, errUsage) {
		fmt.Fprintf(os.Stderr, "millrace: %v\n\n%s", err, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "millrace: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, c clock.Clock, out io.Writer) (err error) {
	flags := flag.NewFlagSet("millrace", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	path := flags.String("journal", "millrace.journal", "the journal file")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	if flags.NArg() == 0 {
		return fmt.Errorf("%w: no command", errUsage)
	}
	name, rest := flags.Arg(0), flags.Args()[1:]
	command, ok := commands[name]
	if !ok {
		return fmt.Errorf("%w: unknown command %q", errUsage, name)
	}
	a := &app{clock: c, out: out}
	if name != "cron" {
		if a.store, err = journal.Open(*path); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.store.Close()) }()
	}
	return command(ctx, a, rest)
}
