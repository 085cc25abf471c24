package s3

import (
	"fmt"
	"regexp"

	"lockcheck/clusters/setting"
)

// region is the setting that names where the store says that it is: it is a part of each signature.
const region = "region"

var settings = setting.Table{
	{Name: region, Default: "us-east-1", About: "the region that requests are signed for", Check: func(value string) error {
		if !regexp.MustCompile(`^[a-z0-9-]{1,63}$`).MatchString(value) {
			return fmt.Errorf("%q is no region, such as eu-central-1", value)
		}
		return nil
	}},
}
