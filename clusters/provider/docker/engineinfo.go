package docker

import (
	"context"
	"fmt"
	"time"

	"lockcheck/clusters"
)

// Engine is what there is to know of an engine before a run.
type Engine struct {
	Address  string
	Version  string // of the engine: "20.10.24"
	API      string // that is spoken with it: "1.41"
	Platform string // of its machine: "linux/amd64"
	CPUs     int
	Memory   int64 // bytes
	Cgroup   string
}

// String is the engine in a line.
func (e Engine) String() string {
	return fmt.Sprintf("%s at %s, API %s, %s, %d processors, %d MB, cgroup version %s", e.Version, e.Address, e.API, e.Platform, e.CPUs, e.Memory>>20, e.Cgroup)
}

// Describe describes the engine that runs would use. The error wraps ErrUnavailable if they could not.
func Describe(ctx context.Context) (Engine, error) {
	engine, err := connect(ctx)
	if err != nil {
		return Engine{}, err
	}
	defer engine.Close()
	machine, err := learn(ctx, engine)
	if err != nil {
		return Engine{}, err
	}
	info, err := engine.Info(ctx)
	if err != nil {
		return Engine{}, noEngine(engine, err)
	}
	return Engine{
		Address: where(engine), Version: info.ServerVersion, API: engine.ClientVersion(),
		Platform: info.OSType + "/" + machine.arch, CPUs: machine.cpus, Memory: info.MemTotal, Cgroup: info.CgroupVersion,
	}, nil
}

// labelVersion is where images say the version of what is in them.
const labelVersion = "org.opencontainers.image.version"

// Image is the image that a run would start servers from.
type Image struct {
	Name   string
	Chosen string // what named it: "--image", a variable, "the official image"
	There  bool   // in the engine; if not, a run pulls it

	Version string // of what is in it, as its label says; "" if it has none
}

// DescribeImage finds out which image that is, as Provider.Open does with Image = asked, but pulls nothing and does not look
// into it.
func DescribeImage(ctx context.Context, software clusters.Software, asked string) (Image, error) {
	name, chosen := imageName(software, asked)
	image := Image{Name: name, Chosen: chosen}
	engine, err := connect(ctx)
	if err != nil {
		return image, err
	}
	defer engine.Close()
	found, err := engine.ImageInspect(ctx, name)
	if err != nil && !isNotFound(err) {
		return image, fmt.Errorf("look for the image %s (%s): %w", name, chosen, err)
	}
	image.There = err == nil
	if image.There && found.Config != nil {
		image.Version = found.Config.Labels[labelVersion]
	}
	return image, nil
}

// pullableTimeout is how long a registry is asked whether it has an image. One that does not answer by then may have it.
const pullableTimeout = time.Second

// ImageObtainable is an error if the image of the servers is neither in the engine nor, as far as the registry says in time, to
// be had from it. It pulls nothing. The error wraps clusters.ErrUnavailable.
func ImageObtainable(ctx context.Context, software clusters.Software, asked string) error {
	name, chosen := imageName(software, asked)
	return obtainable(ctx, name, chosen)
}

// ClientImageObtainable is the same of the image of lock clients; "" is none, and no error.
func ClientImageObtainable(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	return obtainable(ctx, name, "--"+clusters.FlagClientImage)
}

func obtainable(ctx context.Context, name, chosen string) error {
	engine, err := connect(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	if _, err := engine.ImageInspect(ctx, name); err == nil {
		return nil
	} else if !isNotFound(err) {
		return fmt.Errorf("look for the image %s (%s): %w", name, chosen, err)
	}
	asking, cancel := context.WithTimeout(ctx, pullableTimeout)
	defer cancel()
	if _, err := engine.DistributionInspect(asking, name, ""); err != nil && asking.Err() == nil {
		return fmt.Errorf("%w: the image %s (%s) is not in the engine, and cannot be pulled: %w", clusters.ErrUnavailable, name, chosen, err)
	}
	return nil
}
