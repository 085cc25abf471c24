package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/clusters"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports"
	"lockcheck/reports/bundle"
	"lockcheck/reports/rundir"
	"lockcheck/reports/terminal"
	"lockcheck/reports/words"
)

// bundleEnding is what the name of a bundle ends in.
const bundleEnding = ".bundle.tgz"

func bundleCommand() *cobra.Command {
	var file string
	var hide []string
	var yes bool
	cmd := &cobra.Command{
		Use:   "bundle RUN",
		Short: "Pack a run for its maintainers, without secrets and host names",
		Long: "bundle writes one archive that somebody else can open: the report, the recording, the witnesses, the logs, the versions and\n" +
			"the exact commands. It replaces what it recognizes: passwords, tokens and keys; addresses; the host names in the plan and\n" +
			"that of this machine; your home directory and your user name. The same word becomes the same other word in every file.\n" +
			"bundle then judges the copy, and writes nothing unless the verdict is the same.\n" +
			"\n" +
			"bundle first shows what would be in the archive, and asks. It cannot recognize every secret or name: unpack the archive and\n" +
			"read its logs before you send it, and hide more words with --hide.",
		Example: "  lockcheck bundle lockcheck-out/latest\n  lockcheck bundle lockcheck-out/latest --hide=acme --hide=blue-team --out=for-maintainers.tgz --yes",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return harness.Usage(fmt.Errorf("bundle takes one run directory, such as lockcheck-out/latest; %d were given", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return pack(cmd, args[0], file, hide, yes)
		},
	}
	cmd.Flags().StringVar(&file, "out", "", "write this file (default: the name of the run and "+bundleEnding+", in the current directory)")
	cmd.Flags().StringArrayVar(&hide, "hide", nil, "also replace this word, in any case and inside other words; may be repeated")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// pack makes the copy in a temporary directory, judges it there, shows it, and writes the archive.
func pack(cmd *cobra.Command, path, file string, hide []string, yes bool) error {
	if err := otherThanARun(path); err != nil {
		return harness.Usage(err)
	}
	dir, err := rundir.Open(path)
	if err != nil {
		return harness.AsUsage(err)
	}
	if release, err := rundir.Hold(dir.RunPath()); err == nil { // as in check
		defer release()
	}
	boundHeap(dir.Recorded())
	own, err := harness.Judge(dir, checker.Options{})
	if err != nil {
		return harness.AsUsage(err)
	}
	hider, err := hiderFor(own.Plan, hide)
	if err != nil {
		return harness.Usage(err)
	}
	name := hider.Name(dir.Name())
	if file == "" {
		file = name + bundleEnding
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return harness.Usage(fmt.Errorf("--out: %s exists: name another file, or remove it", words.Plain(file)))
	}
	temporary, err := os.MkdirTemp("", "lockcheck-bundle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	defer atInterrupt(func() { os.RemoveAll(temporary) })()
	copied := filepath.Join(temporary, name)
	if err := os.Mkdir(copied, 0o755); err != nil {
		return err
	}
	if err := copyJudged(dir, copied, own, hider); err != nil {
		return err
	}
	if err := showBundle(cmd.OutOrStdout(), own, copied, hider); err != nil {
		return err
	}
	switch {
	case yes:
	case !terminal.IsTerminal(os.Stdin) || !terminal.IsTerminal(os.Stderr):
		return harness.Usage(errors.New("this would be written, and there is no terminal to ask on; with --yes it is written"))
	case !agreed(cmd.InOrStdin(), cmd.ErrOrStderr(), "Write "+words.Plain(file)+"?"):
		fmt.Fprintln(cmd.OutOrStdout(), "nothing was written")
		return nil
	}
	if err := rundir.WriteAtomically(file, func(w io.Writer) error { return bundle.Pack(w, copied) }); err != nil {
		return fmt.Errorf("%w: cannot write %s: %w", clusters.ErrUnavailable, words.Plain(file), err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "wrote %s; the receiver unpacks it (tar -xzf), and begins with README.md\n", words.Plain(file))
	return nil
}

// atInterrupt ends the program with a signal, after what is to be done then, until it is undone.
func atInterrupt(do func()) (undo func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, ok := <-signals; ok {
			do()
			os.Exit(exitInterrupted)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}

// hiderFor hides the names in a plan, those of this machine, and the user's own words.
func hiderFor(plan history.Plan, hide []string) (*bundle.Hider, error) {
	h := bundle.NewHider()
	needed := []string{"localhost", plan.Backend, plan.LockClient, plan.Workload, plan.Nemesis, plan.Guard, plan.Provider, string(plan.ResourceKind().Name), "lockcheck"}
	// A word that the run itself is described with cannot be hidden, and names nobody.
	ofTheRun := func(word string) bool {
		return slices.ContainsFunc(needed, func(own string) bool { return strings.EqualFold(own, word) })
	}
	for i, word := range hide {
		if strings.TrimSpace(word) == "" {
			return nil, errors.New("--hide needs a word")
		}
		if ofTheRun(word) {
			return nil, fmt.Errorf("--hide=%s: the plan of the run has this word, and cannot be read without it", words.Plain(word))
		}
		h.Word(bundle.Chosen, word, fmt.Sprintf("[hidden-%d]", i+1))
	}
	for _, host := range hostsOf(plan) {
		if !ofTheRun(host) {
			h.Host(host)
		}
	}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		h.Word(bundle.Directories, home, "~")
	}
	if u, err := user.Current(); err == nil && u.Username != "root" && !ofTheRun(u.Username) {
		h.Word(bundle.Users, u.Username, "user")
	}
	return h, nil
}

// hostsOf are the names of the machines that a plan knows, and of this one. Those of addresses are among them.
func hostsOf(plan history.Plan) []string {
	names := map[string]bool{}
	add := func(hostPort string) {
		host, _, err := net.SplitHostPort(hostPort)
		if err != nil {
			host = hostPort
		}
		if host != "" {
			names[host] = true
		}
	}
	if plan.Attached != nil {
		for _, e := range plan.Attached.Endpoints {
			add(e.Asked)
		}
	}
	for _, word := range plan.Command { // --resource=https://shop.example/orders
		if _, value, ok := strings.Cut(word, "="); ok {
			if u, err := url.Parse(value); err == nil && u.Host != "" {
				add(u.Host)
			}
		}
	}
	for _, image := range plan.Images { // registry.example:5000/lockcheck:1
		if registry, _, ok := strings.Cut(image.Name, "/"); ok && strings.ContainsAny(registry, ".:") {
			add(registry)
		}
	}
	if own, err := os.Hostname(); err == nil {
		add(own)
	}
	return slices.Sorted(maps.Keys(names))
}

// copyJudged copies a run, publishes the judgement of the copy there, and is an error if that is another one.
func copyJudged(dir *rundir.Dir, to string, own rundir.Judgement, h *bundle.Hider) error {
	if err := bundle.Copy(dir, to, h); err != nil {
		return fmt.Errorf("cannot copy the run: %w", err)
	}
	copied, err := rundir.Open(to)
	if err != nil {
		return err
	}
	j, err := harness.Judge(copied, checker.Options{})
	if err != nil {
		return harness.Usage(fmt.Errorf("the copy cannot be judged: %w; a word of --hide, or the name of this machine or user, is also a word of the recording", err))
	}
	if differs := differentVerdict(own.Result, j.Result); differs != "" {
		return harness.Usage(fmt.Errorf("the verdict of the copy differs (%s); a word of --hide is also a word of the recording", differs))
	}
	if err := reports.Publish(copied, j, time.Now()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "README.md"), []byte(aboutBundle(j, h)), 0o644)
}

// differentVerdict says in what two judgements differ: "" if in none of their verdicts and counts.
func differentVerdict(a, b *model.Result) string {
	if a.Verdict != b.Verdict || a.Incidents != b.Incidents || len(a.Properties) != len(b.Properties) {
		return fmt.Sprintf("%s with %d incidents, and %s with %d", a.Verdict, a.Incidents, b.Verdict, b.Incidents)
	}
	for i, p := range a.Properties {
		if q := b.Properties[i]; p.Name != q.Name || p.Verdict != q.Verdict || p.Count != q.Count {
			return fmt.Sprintf("%s: %s with %d findings, and %s with %d", p.Name, p.Verdict, p.Count, q.Verdict, q.Count)
		}
	}
	return ""
}

// aboutBundle is the page that whoever opens the archive begins with.
func aboutBundle(j rundir.Judgement, h *bundle.Hider) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A recorded run of lockcheck\n\n%s\n\n", words.Sentence(j.Plan, j.Result))
	b.WriteString("In this directory:\n\n" +
		"- `report.html` is the report. It works in any browser, offline.\n" +
		"- `lockcheck check .` judges the recording again. It requires no server.\n")
	if p := words.Headline(j.Result); p != nil && len(p.Findings) > 0 {
		fmt.Fprintf(&b, "- `lockcheck check %s/%s` judges the events of one finding alone. It prints its story.\n", rundir.WitnessesFolder, p.Findings[0].ID)
	}
	fmt.Fprintf(&b, "- `lockcheck run --replay=.` runs the same plan with servers of your own. Timings differ: repeat it.\n"+
		"- `nodes/` has the logs of servers and clients.\n\nThe run was made with\n\n    %s\n\n| part | version |\n|---|---|\n", words.ShellWords(j.Plan.Command))
	for _, name := range slices.Sorted(maps.Keys(j.Plan.Versions)) {
		fmt.Fprintf(&b, "| %s | %s |\n", name, strings.ReplaceAll(words.Plain(j.Plan.Versions[name]), "|", `\|`))
	}
	if hidden := h.Hidden(); len(hidden) > 0 {
		fmt.Fprintf(&b, "\nReplaced in this copy: %s.\n", strings.Join(hidden, "; "))
	}
	return b.String()
}

func showBundle(w io.Writer, j rundir.Judgement, copied string, h *bundle.Hider) error {
	names, size, err := bundle.Files(copied)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "verdict   %s\nfiles     %d, %s\n", words.Sentence(j.Plan, j.Result), len(names), humanize.Bytes(uint64(size)))
	for _, name := range names {
		if !strings.HasPrefix(name, rundir.WitnessesFolder+"/") {
			fmt.Fprintf(w, "          %s\n", words.Plain(name))
		}
	}
	hidden := append(h.Hidden(), h.Pairs()...)
	if len(hidden) == 0 {
		hidden = []string{"nothing was found to replace"}
	}
	for i, line := range hidden {
		hidden[i] = words.Plain(line)
	}
	fmt.Fprintf(w, "replaced  %s\n", strings.Join(hidden, "\n          "))
	return nil
}
