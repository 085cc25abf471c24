package harness

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// kernel is the version of Windows.
func kernel() string {
	major, minor, build := windows.RtlGetNtVersionNumbers()
	return fmt.Sprintf("%d.%d.%d", major, minor, build)
}
