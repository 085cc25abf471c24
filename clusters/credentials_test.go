package clusters

import (
	"errors"
	"testing"

	"lockcheck/clusters/client"
)

func TestWhatServersWouldIgnoreIsRefused(t *testing.T) {
	named := client.Access{Username: "me"}
	secret := client.Access{Password: client.NewSecret("geheim")}
	both := client.Access{Username: "me", Password: client.NewSecret("geheim")}
	inDatabase := client.Access{Parts: map[string]string{client.OptionDatabase: "d"}}
	for _, c := range []struct {
		of     Credentials
		access client.Access
		word   string // that is refused; "" for none
	}{
		{Credentials{}, named, ""},
		{Credentials{}, secret, ""},
		{Credentials{}, inDatabase, ""},
		{Credentials{Login: LoginBoth}, client.Access{}, ""},
		{Credentials{Login: LoginBoth}, both, ""},
		{Credentials{Login: LoginBoth}, named, WordUsername},
		{Credentials{Login: LoginBoth}, secret, WordPasswordFile},
		{Credentials{Login: LoginBoth}, inDatabase, client.OptionDatabase},
		{Credentials{Login: LoginPassword}, secret, ""},
		{Credentials{Login: LoginPassword}, both, ""},
		{Credentials{Login: LoginPassword}, named, WordUsername},
		{Credentials{Login: LoginUser, Part: client.OptionDatabase}, named, ""},
		{Credentials{Login: LoginUser}, both, ""},
		{Credentials{Login: LoginUser}, secret, WordUsername},
		{Credentials{Login: LoginToken}, secret, ""},
		{Credentials{Login: LoginToken}, both, WordUsername},
		{Credentials{Login: LoginToken, Part: client.OptionNamespace}, inDatabase, client.OptionDatabase},
	} {
		_, err := c.of.Fit("such", 1, c.access)
		var misfit *Misfit
		if errors.As(err, &misfit) != (c.word != "") || misfit != nil && misfit.Word != c.word {
			t.Errorf("%+v with %+v: %v, want %q refused", c.of, c.access, err, c.word)
		}
	}
	sentinels := Credentials{Login: LoginPassword, Part: client.OptionMaster, Several: true}
	named = client.Access{Parts: map[string]string{client.OptionMaster: "m"}}
	for endpoints, access := range map[int]client.Access{1: {}, 3: named} {
		if _, err := sentinels.Fit("redis", endpoints, access); err != nil {
			t.Error(endpoints, err)
		}
	}
	for endpoints, access := range map[int]client.Access{1: named, 3: {}} {
		if _, err := sentinels.Fit("redis", endpoints, access); err == nil {
			t.Errorf("%d endpoints with %+v are let through", endpoints, access)
		}
	}
	if got, err := (Credentials{AlwaysTLS: true}).Fit("such", 1, client.Access{}); err != nil || !got.TLS {
		t.Errorf("%+v, %v", got, err)
	}
}
