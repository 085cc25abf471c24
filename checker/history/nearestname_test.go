package history

import "testing"

func TestNearest(t *testing.T) {
	backends := []string{"etcd", "redis", "redlock", "zookeeper"}
	for _, c := range []struct {
		name  string
		names []string
		want  string
	}{
		{"etdc", backends, "etcd"}, {"etc", backends, "etcd"}, {"etcdd", backends, "etcd"}, {"rediss", backends, "redis"}, {"zokeper", backends, "zookeeper"},
		{"Redlock", backends, "redlock"}, {"consul", backends, ""}, {"", backends, ""}, {"r", backends, ""}, {"floppy", backends, ""},
		{"before-wrok", []string{"none", "before-work", "before-write"}, "before-work"}, {"nemsis", []string{"seed", "nemesis"}, "nemesis"},
		{"cow", []string{"cat", "dog"}, ""}, {"ab", []string{"ba"}, "ba"},
	} {
		if got := Nearest(c.name, c.names); got != c.want {
			t.Errorf("by %q is meant %q, want %q", c.name, got, c.want)
		}
	}
	if got := Unknown("pet", "cta", []string{"cat", "dog"}).Error(); got != `there is no pet "cta" (did you mean cat?); there are: cat, dog` {
		t.Error(got)
	}
	if got := Unknown("pet", "cow", []string{"cat", "dog"}).Error(); got != `there is no pet "cow"; there are: cat, dog` {
		t.Error(got)
	}
}
