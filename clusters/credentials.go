package clusters

import (
	"fmt"

	"lockcheck/clusters/client"
)

// Login is how the users of a service show who they are.
type Login int

// The ways. What a service would ignore is refused: who gives a password believes that it is asked for.
const (
	LoginAny      Login = iota // not known: it is passed on to the user's own client
	LoginBoth                  // a username with its password, or neither
	LoginPassword              // a password, with a username or without
	LoginUser                  // always a username, and a password where the server asks for one
	LoginToken                 // a token in the place of the password, and no username
)

// Credentials says what of an Access means something to a backend's servers.
type Credentials struct {
	Login     Login
	Part      string // the one of client.Parts that these have; "" for none
	Several   bool   // the part has to be named where there are several endpoints, and only there
	AlwaysTLS bool   // they speak nothing else
}

// The names of what lets a client in, in the file of --attach-config.
const (
	WordCA           = "ca"
	WordCert         = "cert"
	WordKey          = "key"
	WordServerName   = "server_name"
	WordUsername     = "username"
	WordPasswordFile = "password_file"
)

// Misfit is what of an Access a backend's servers would ignore, or miss.
type Misfit struct {
	Word string // as the file calls it
	Why  string
}

func (m *Misfit) Error() string { return m.Why }

// Fit completes an Access for so many endpoints of a backend. The error is a *Misfit.
func (c Credentials) Fit(backend string, endpoints int, access client.Access) (client.Access, error) {
	access.TLS = access.TLS || c.AlwaysTLS
	named, secret := access.Username != "", access.Password.Reveal() != ""
	for _, part := range client.Parts {
		if access.Parts[part] != "" && part != c.Part && c.Login != LoginAny {
			return access, &Misfit{part, fmt.Sprintf("%s has no %s: leave it out", backend, part)}
		}
	}
	switch part := access.Parts[c.Part] != ""; {
	case c.Several && endpoints > 1 && !part:
		return access, &Misfit{c.Part, fmt.Sprintf("%s at one address is one server; several are Sentinels and the servers that they watch, and --%s has to name the %s that is meant (%s: …)",
			backend, FlagAttachConfig, c.Part, c.Part)}
	case c.Several && endpoints == 1 && part:
		return access, &Misfit{c.Part, fmt.Sprintf("a %s is what Sentinels know, and one address is that of a server: name the Sentinels and all servers that they watch, or leave it out", c.Part)}
	case (c.Login == LoginBoth || c.Login == LoginPassword) && named && !secret:
		return access, &Misfit{WordUsername, fmt.Sprintf("username %s has no password: name a password_file, or set %s", access.Username, EnvPassword)}
	case c.Login == LoginBoth && secret && !named:
		return access, &Misfit{WordPasswordFile, fmt.Sprintf("there is a password and no username, and %s knows no password without one: name a username, or leave out password_file and %s", backend, EnvPassword)}
	case c.Login == LoginUser && !named:
		return access, &Misfit{WordUsername, fmt.Sprintf("%s needs a username: name one", backend)}
	case c.Login == LoginToken && named:
		return access, &Misfit{WordUsername, fmt.Sprintf("%s knows no usernames, but tokens: leave username out, and have the token in password_file or %s", backend, EnvPassword)}
	}
	return access, nil
}
