package testkit

import (
	"reflect"

	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// HostileRun has the given text in every string that a history, a plan or a finding can carry.
func HostileRun(text string) rundir.Judgement {
	j := EtcdPauseRun()
	poison(reflect.ValueOf(&j.Plan).Elem(), text)
	poison(reflect.ValueOf(j.Result).Elem(), text)
	poison(reflect.ValueOf(j.Model).Elem(), text)
	// Names that the report looks up stay as they are, so that the page shows everything it can show.
	j.Result.Verdict = model.Violation
	original := EtcdPauseRun()
	for i := range j.Result.Properties {
		p, q := &j.Result.Properties[i], original.Result.Properties[i]
		p.Name, p.Layer, p.Verdict = q.Name, q.Layer, q.Verdict
		for k := range p.Findings {
			p.Findings[k].Holds = q.Findings[k].Holds
		}
	}
	for i, h := range j.Model.Holds {
		h.ID, h.Outcome = original.Model.Holds[i].ID, original.Model.Holds[i].Outcome
	}
	for i := range j.Model.Requests.Len() {
		r, q := j.Model.Requests.At(i), original.Model.Requests.At(i)
		r.Hold, r.Kind, r.Outcome = q.Hold, q.Kind, q.Outcome
		j.Model.Requests.Set(i, r)
	}
	return j
}

func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			poison(v.Field(i), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.Map:
		switch elem := v.Type().Elem(); {
		case v.IsNil() || v.Type().Key().Kind() != reflect.String:
		case elem.Kind() == reflect.String:
			v.SetMapIndex(reflect.ValueOf(text), reflect.ValueOf(text))
		case elem == reflect.TypeFor[[]string]():
			v.SetMapIndex(reflect.ValueOf(text), reflect.ValueOf([]string{text}))
		}
	case reflect.String:
		if v.CanSet() { // else it is the checker's own
			v.SetString(text + v.String())
		}
	}
}
