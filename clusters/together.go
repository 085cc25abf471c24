package clusters

import "errors"

// Together does something n times at once, such as starting servers, which takes a container engine as long for one as
// for three. It returns the results that succeeded, in order, and all errors.
func Together[T any](n int, do func(i int) (T, error)) ([]T, error) {
	results, errs := make([]T, n), make([]error, n)
	done := make(chan struct{})
	for i := range n {
		go func() {
			results[i], errs[i] = do(i)
			done <- struct{}{}
		}()
	}
	for range n {
		<-done
	}
	var succeeded []T
	for i, err := range errs {
		if err == nil {
			succeeded = append(succeeded, results[i])
		}
	}
	return succeeded, errors.Join(errs...)
}
