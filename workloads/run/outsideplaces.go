package run

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"

	"lockcheck/clusters"
	"lockcheck/clusters/resource"
)

// Places are those outside of the run's network that it may connect to, by their numbers (clusters.Outward): the endpoints of a service
// that others run, and then their resource.
func (s Setup) Places() (all []string) {
	if s.Attach != nil {
		all = append(all, s.Attach.Endpoints...)
	}
	if s.Tested != nil && s.Tested.URL != "" {
		if place, err := resource.PlaceOf(s.Tested.URL); err == nil { // checked with the flags
			all = append(all, place)
		}
	}
	return all
}

// outward is the site as one with places outside. what names the flag that asks for them.
func (r *Run) outward(what string) (clusters.Outward, error) {
	site, ok := r.site.(clusters.Outward)
	if !ok {
		return nil, fmt.Errorf("%w: provider %s cannot reach a service outside (%s); use %s", clusters.ErrUsage, r.plan.Provider, what, clusters.ChooseLocal)
	}
	return site, nil
}

// trusted is the part of the environment that says whose certificates this machine trusts. Processes of a run do not get it but where
// they connect to what is outside of it.
func trusted() (env []string) {
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// resourceRelay is the host that leads to a resource that others run.
const resourceRelay = "outside"

// wayTo is where hosts of the run reach a resource that others run: host:port.
func (r *Run) wayTo(ctx context.Context, url string) (string, error) {
	site, err := r.outward("--resource=" + url)
	if err != nil {
		return "", err
	}
	place := len(r.setup.Places()) - 1
	at, err := site.Outside(ctx, place)
	if err != nil {
		return "", fmt.Errorf("--resource=%s cannot be found: %w", url, err)
	}
	conn, err := site.DialOutside(ctx, place)
	if err != nil {
		return "", fmt.Errorf("%w: --resource=%s cannot be connected to from this machine: %w: is it running there, and let through by firewalls?",
			clusters.ErrUnavailable, url, err)
	}
	conn.Close()
	if isolated, _ := r.site.Isolated(); !isolated {
		return at.String(), nil
	}
	host, err := site.Relay(ctx, clusters.RelaySpec{
		Name: resourceRelay, Places: []int{place}, Hidden: true, Max: resource.MaxForwarded, Refused: r.tellOnce(resourceRelay),
	})
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(host.Addr(), strconv.Itoa(int(at.Port()))), nil
}
