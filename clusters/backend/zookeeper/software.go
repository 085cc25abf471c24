package zookeeper

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lockcheck/clusters"
)

const install = "apt-get install libzookeeper-java default-jre-headless" // neither brings a service

// jvmOptions make a small server that starts fast: one processor's worth of collector and compiler, no more memory than a
// lock service needs, and no file in /tmp.
var jvmOptions = []string{
	"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:-UsePerfData",
}

// mainClass is the server, of an ensemble or alone as its configuration says.
const mainClass = "org.apache.zookeeper.server.quorum.QuorumPeerMain"

// versionClass prints what saidVersion finds: "Apache ZooKeeper, version 3.8.0 2022-02-25 08:49 UTC".
const versionClass = "org.apache.zookeeper.version.VersionInfoMain"

var saidVersion = regexp.MustCompile(`version ([0-9]+\.[0-9]+\.[^ ,\n]+)`)

// Software says where servers come from: the official image, or Java and ZooKeeper's jars on this machine.
func (Backend) Software() clusters.Software {
	return clusters.Software{
		Backend: Name,
		Image:   "zookeeper:3.8.4", InImage: []string{"zkServer.sh", "start-foreground"}, ImageData: "/data",
		OnMachine: onMachine, Jars: true,
		Version: func(ctx context.Context, found []string) (string, error) {
			return clusters.VersionOf(ctx, saidVersion, append(slices.Clone(found), versionClass)...)
		},
	}
}

// defaultJars is where the jars are unless ServerPaths.Jar says: Debian's package, then an unpacked release.
var defaultJars = []string{"/usr/share/java/zookeeper.jar", "/opt/zookeeper*/lib", "/opt/apache-zookeeper*/lib"}

// onMachine finds Java and the jars.
func onMachine(places clusters.ServerPaths) ([]string, error) {
	java, err := clusters.FindProgram(places, "java", install, "/usr/lib/jvm/default-java/bin", "/opt/java/openjdk/bin")
	if err != nil {
		return nil, err
	}
	path, err := classPath(places.Jar)
	if err != nil {
		return nil, err
	}
	return append(append([]string{java}, jvmOptions...), "-cp", path), nil
}

func classPath(jar string) (string, error) {
	candidates := defaultJars
	if jar != "" {
		candidates = []string{jar}
	}
	for _, pattern := range candidates {
		found, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		slices.Reverse(found) // the newest release
		for _, place := range found {
			if path := jarsAt(place); path != "" {
				return path, nil
			}
		}
	}
	if jar != "" {
		return "", fmt.Errorf("%w: --%s=%s is neither a jar nor a directory with a zookeeper jar in it (or in its lib)",
			clusters.ErrUnavailable, clusters.FlagServerJar, jar)
	}
	return "", fmt.Errorf("%w: ZooKeeper's jars are not at %s: install them (%s), name them with --%s=PATH, or use %s",
		clusters.ErrUnavailable, strings.Join(defaultJars, ", "), install, clusters.FlagServerJar, clusters.ChooseDocker)
}

// jarsAt is the class path for a jar or a directory of jars; "" if there are none.
func jarsAt(place string) string {
	info, err := os.Stat(place)
	if err != nil {
		return ""
	}
	place, err = filepath.Abs(place)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		return jarAt(place)
	}
	if plain := filepath.Join(place, "zookeeper.jar"); isFile(plain) { // Debian's directory has hundreds of others
		return jarAt(plain)
	}
	if jars, _ := filepath.Glob(filepath.Join(place, "zookeeper-*.jar")); len(jars) > 0 { // a release's lib
		return filepath.Join(place, "*")
	}
	if lib := filepath.Join(place, "lib"); lib != place {
		if info, err := os.Stat(lib); err == nil && info.IsDir() {
			return jarsAt(lib)
		}
	}
	return ""
}

// jarAt is the class path for a jar whose manifest names what it needs. Debian's names no place to log to; the one that
// needs no configuration is put beside it.
func jarAt(jar string) string {
	if simple := filepath.Join(filepath.Dir(jar), "slf4j-simple.jar"); isFile(simple) {
		return jar + ":" + simple
	}
	return jar
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
