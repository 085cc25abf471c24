package docker

import (
	"context"
	"fmt"
	"io"
	"slices"

	"lockcheck/clusters"
)

// servers are those of one software: the backend's, or another's that a run needs beside them.
type servers struct {
	software clusters.Software
	image    *serverImage // nil if there is none of it
	fs       *imageFS
}

// command starts one in its image.
func (of *servers) command() (clusters.Command, error) {
	if of.image == nil {
		return clusters.Command{}, fmt.Errorf("%w: the servers of %s are in no image; use %s", clusters.ErrUnavailable, of.software.Backend, clusters.ChooseLocal)
	}
	return clusters.Command{Program: of.software.InImage[0], Args: of.software.InImage[1:], InImage: true}, nil
}

// use says in the plan of a run what the image at a place of site.all is for.
func (of *servers) use(at int) string {
	if at == 0 {
		return "servers"
	}
	return "servers of " + of.software.Backend
}

// all are the backend's and then the others.
func (s *site) all() []*servers {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat([]*servers{s.servers}, s.others)
}

// otherSite is a site for servers of another software than the backend's.
type otherSite struct {
	*site
	servers *servers
}

var _ clusters.Shared = (*site)(nil)

// For finds the image of the other servers, or pulls it: the one that their variable names, else the official one.
func (s *site) For(ctx context.Context, software clusters.Software) (clusters.Site, error) {
	of := &servers{software: software, fs: newImageFS()}
	if len(software.InImage) > 0 {
		var err error
		if of.image, err = findServerImage(ctx, s.engine, software, "", s.labels(), io.Discard); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	s.others = append(s.others, of)
	s.mu.Unlock()
	return otherSite{s, of}, nil
}

func (o otherSite) Host(ctx context.Context, name string) (clusters.Host, error) {
	return o.makeHost(ctx, name, o.servers)
}

func (o otherSite) Server(context.Context) (clusters.Command, error) { return o.servers.command() }
