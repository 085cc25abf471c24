package clusters

// Names of flags of lockcheck run, without the dashes, for the errors that say which of them helps. The table of flags takes
// them from here (cmd/internal/harness/flags.go).
const (
	FlagProvider    = "provider"
	FlagServerBin   = "server-bin"
	FlagServerJar   = "server-jar"
	FlagImage       = "image"
	FlagClientImage = "client-image"
	FlagNodes       = "nodes"
)

// The providers' names, and what chooses each on the command line. Where one cannot run something, its errors name the other.
const (
	Local  = "local"
	Docker = "docker"

	ChooseLocal  = "--" + FlagProvider + "=" + Local
	ChooseDocker = "--" + FlagProvider + "=" + Docker
)
