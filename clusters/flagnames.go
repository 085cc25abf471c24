package clusters

// Names of flags of lockcheck run, without the dashes, for the errors that say which of them helps. The table of flags takes
// them from here (cmd/internal/harness/flagtable.go).
const (
	FlagProvider    = "provider"
	FlagServerBin   = "server-bin"
	FlagServerJar   = "server-jar"
	FlagVersion     = "server-version"
	FlagImage       = "image"
	FlagClientImage = "client-image"
	FlagNodes       = "nodes"
	FlagTTL         = "ttl"
	FlagSet         = "set"

	FlagAttach       = "attach"
	FlagAttachConfig = "attach-config"
	FlagMaxRate      = "max-rate"
)

// The providers' names, and what chooses each on the command line. Where one cannot run something, its errors name the other.
const (
	Local  = "local"
	Docker = "docker"

	ChooseLocal  = "--" + FlagProvider + "=" + Local
	ChooseDocker = "--" + FlagProvider + "=" + Docker
)

// What to look at where a service that others run does not let a client in. EnvPassword is the environment variable with the
// password.
const (
	EnvPassword    = "LOCKCHECK_PASSWORD"
	PasswordAdvice = "look at username and password_file in --" + FlagAttachConfig + ", or " + EnvPassword
	TokenAdvice    = "look at the token in password_file in --" + FlagAttachConfig + ", or " + EnvPassword
	TLSAdvice      = "does it speak TLS if, and only if, --" + FlagAttachConfig + " names certificates?"
)
