package postgres

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/clusters/client"
	"lockcheck/clusters/client/sqlsession"
)

// Servers that others run are reached as the user says, and by nothing that the environment says to PostgreSQL's own programs.
func TestHowServersThatOthersRunAreReached(t *testing.T) {
	passwords := filepath.Join(t.TempDir(), "pgpass")
	if err := os.WriteFile(passwords, []byte("*:*:*:*:of-the-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	service := filepath.Join(t.TempDir(), "services")
	if err := os.WriteFile(service, []byte("[prod]\nhost=prod.example\npassword=of-the-service\nkrbspn=prod\nrole=admin\nrequire_auth=scram-sha-256\nsslnegotiation=direct\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"PGPASSWORD": "of-the-environment", "PGPASSFILE": passwords, "PGDATABASE": "elsewhere", "PGUSER": "somebody", "PGSSLMODE": "require",
		"PGHOST": "prod.example", "PGPORT": "1", "PGSERVICE": "prod", "PGSERVICEFILE": service, "PGOPTIONS": "-c role=admin", "PGSSLROOTCERT": "/none", "PGSSLCERT": "/none",
		"PGREQUIREAUTH": "none", "PGCHANNELBINDING": "require", "PGMINPROTOCOLVERSION": "3.2", "PGCONNECT_TIMEOUT": "1", "PGTARGETSESSIONATTRS": "standby",
	} {
		t.Setenv(name, value)
	}
	endpoints := []string{"db-1.example:5432", "db-2.example:6432"}
	config, err := reach{endpoints: endpoints, access: client.Access{Username: "me@x", TLS: true}, schema: "s"}.config()
	if err != nil {
		t.Fatal(err)
	}
	if config.User != "me@x" || config.Database != "me@x" || config.Password != "" || config.RuntimeParams["search_path"] != "s" {
		t.Errorf("user %q, database %q, password %q, %v", config.User, config.Database, config.Password, config.RuntimeParams)
	}
	if len(config.RuntimeParams) != 1 || config.RequireAuth != "" || config.ChannelBinding != "prefer" || config.SSLNegotiation == "direct" || config.KerberosSpn != "" ||
		config.MinProtocolVersion != "3.0" || config.ConnectTimeout != 0 || config.ValidateConnect != nil || config.Port != 5432 {
		t.Errorf("of the environment: %v, %+v", config.RuntimeParams, config)
	}
	if len(config.Fallbacks) != 1 || config.TLSConfig.ServerName != "db-1.example" || config.Fallbacks[0].TLSConfig.ServerName != "db-2.example" {
		t.Errorf("names to verify: %+v, %+v", config.TLSConfig, config.Fallbacks)
	}
	config, err = reach{endpoints: endpoints, access: client.Access{
		Username: "me", Password: client.NewSecret("geheim"), TLS: true, ServerName: "db.example", Parts: map[string]string{client.OptionDatabase: "d/d"},
	}}.config()
	if err != nil || config.Database != "d/d" || config.Password != "geheim" || config.Fallbacks[0].TLSConfig.ServerName != "db.example" {
		t.Errorf("%+v, %v", config, err)
	}
	config, err = reach{endpoints: endpoints[:1]}.config()
	if err != nil || config.User != user || config.Database != database || config.TLSConfig != nil {
		t.Errorf("of lockcheck's own: %+v, %v", config, err)
	}
}

func TestTheSchemaOfARunNeedsNoQuotes(t *testing.T) {
	if got := sqlsession.SchemaOf("20260102-0123abcd/"); got != "lockcheck_20260102_0123abcd" {
		t.Error(got)
	}
}

func TestAServiceThatIsNotThereIsNamed(t *testing.T) {
	t.Setenv("PGSERVICE", "none")
	t.Setenv("PGSERVICEFILE", "/none")
	if _, err := (reach{endpoints: []string{"db.example:5432"}}).config(); err == nil || !strings.Contains(err.Error(), "PGSERVICE") {
		t.Error(err)
	}
}
