package main

import (
	"context"
	"fmt"
	"strings"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker"
	"lockcheck/cmd/internal/harness"
)

// examineDocker examines the engine, and the image that a run of each backend would start its servers from. It pulls
// nothing.
func examineDocker(ctx context.Context, at harness.Where) []symptom {
	engine := symptom{Name: "docker engine", Without: clusters.ChooseDocker + ", and with it every backend whose server is not on this machine"}
	facts, err := docker.Describe(ctx)
	if err != nil {
		engine.Found = err.Error()
		return []symptom{engine}
	}
	engine.OK, engine.Found = true, facts.String()
	all := []symptom{engine}
	for _, b := range harness.Backends {
		s := symptom{Name: "image " + b.Name()}
		image, err := docker.DescribeImage(ctx, b.Software(), at.Image)
		s.OK = err == nil && image.There
		switch variable := "LOCKCHECK_IMAGE_" + strings.ToUpper(b.Name()); {
		case err != nil:
			s.Found, s.Without = err.Error(), clusters.ChooseDocker+" for "+b.Name()
		case image.There:
			s.Found = fmt.Sprintf("%s (%s), in the engine", image.Name, image.Chosen)
			if image.Version != "" && !strings.Contains(image.Name, image.Version) {
				s.Found = image.Version + ", " + s.Found
			}
		default:
			s.Found = fmt.Sprintf("%s (%s) is not in the engine", image.Name, image.Chosen)
			s.Without = "the first run with " + clusters.ChooseDocker + " pulls it; where no registry can be reached, set " + variable + " or build one: scripts/images"
		}
		all = append(all, s)
	}
	return all
}
