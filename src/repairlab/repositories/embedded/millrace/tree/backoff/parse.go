package backoff

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Parse reads a policy from its text form:
//
//	fixed:30s
//	linear:10s,max=5m
//	exponential:1s,factor=3,max=1h
//	steps:1s,10s,1m
//
// Jitter is not part of the text, since it needs a source of random numbers.
func Parse(text string) (Policy, error) {
	kind, rest, found := strings.Cut(strings.TrimSpace(text), ":")
	if !found {
		return nil, fmt.Errorf("backoff: %q has no colon after its kind", text)
	}
	parts := strings.Split(rest, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if kind == "steps" {
		return parseSteps(parts)
	}
	first, err := positive(parts[0])
	if err != nil {
		return nil, err
	}
	named, err := settings(parts[1:])
	if err != nil {
		return nil, err
	}
	policy, err := build(kind, first, named)
	if err != nil {
		return nil, err
	}
	for name := range named {
		return nil, fmt.Errorf("backoff: a %s policy has no setting %q", kind, name)
	}
	return policy, nil
}

// build takes from named what the kind of policy knows and leaves the rest.
func build(kind string, first time.Duration, named map[string]string) (Policy, error) {
	switch kind {
	case "fixed":
		return Fixed(first), nil
	case "linear":
		limit, err := takeDuration(named, "max")
		return Linear{Step: first, Max: limit}, err
	case "exponential":
		limit, err := takeDuration(named, "max")
		if err != nil {
			return nil, err
		}
		factor := 2
		if value, ok := named["factor"]; ok {
			delete(named, "factor")
			if factor, err = strconv.Atoi(value); err != nil || factor < 1 {
				return nil, fmt.Errorf("backoff: factor %q is no whole number from 1", value)
			}
		}
		return Exponential{Base: first, Factor: factor, Max: limit}, nil
	}
	return nil, fmt.Errorf("backoff: unknown kind %q", kind)
}

func parseSteps(parts []string) (Policy, error) {
	steps := make(Steps, 0, len(parts))
	for _, part := range parts {
		d, err := positive(part)
		if err != nil {
			return nil, err
		}
		steps = append(steps, d)
	}
	return steps, nil
}

func settings(parts []string) (map[string]string, error) {
	named := make(map[string]string, len(parts))
	for _, part := range parts {
		name, value, found := strings.Cut(part, "=")
		if !found {
			return nil, fmt.Errorf("backoff: setting %q has no value", part)
		}
		if _, twice := named[name]; twice {
			return nil, fmt.Errorf("backoff: setting %q is given twice", name)
		}
		named[name] = value
	}
	return named, nil
}

func takeDuration(named map[string]string, name string) (time.Duration, error) {
	value, ok := named[name]
	if !ok {
		return 0, nil
	}
	delete(named, name)
	return positive(value)
}

func positive(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("backoff: %w", err)
	}
	if d <= 0 {
		return 0, fmt.Errorf("backoff: %q is not a positive duration", text)
	}
	return d, nil
}
