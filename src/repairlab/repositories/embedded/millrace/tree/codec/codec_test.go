package codec

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"example.org/millrace/job"
)

func TestEscapeRoundTrip(t *testing.T) {
	for _, text := range []string{"", "plain", "two words", "a=b", `back\slash`, "line\nbreak\ttab\r", "日本 =\\s"} {
		escaped := Escape(text)
		if strings.ContainsAny(escaped, " =\t\r\n") {
			t.Fatalf("Escape(%q) = %q", text, escaped)
		}
		back, err := Unescape(escaped)
		if err != nil || back != text {
			t.Fatalf("Unescape(Escape(%q)) = %q, %v", text, back, err)
		}
	}
}

func TestUnescapeRefuses(t *testing.T) {
	for _, text := range []string{`end\`, `odd\x`} {
		if got, err := Unescape(text); err == nil {
			t.Fatalf("Unescape(%q) = %q", text, got)
		}
	}
}

func TestFieldsEncode(t *testing.T) {
	f := Fields{{"op", "put"}, {"note", "two words"}}
	line, err := f.Encode()
	if err != nil || line != `op=put note=two\swords` {
		t.Fatalf("Encode = %q, %v", line, err)
	}
	back, err := Decode(line)
	if err != nil || !reflect.DeepEqual(back, f) {
		t.Fatalf("Decode = %v, %v", back, err)
	}
}

func TestFieldsEncodeRefuses(t *testing.T) {
	tests := []struct {
		name   string
		fields Fields
	}{
		{"empty name", Fields{{"", "x"}}},
		{"upper case", Fields{{"Op", "x"}}},
		{"digit first", Fields{{"1st", "x"}}},
		{"twice", Fields{{"a", "1"}, {"a", "2"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if line, err := tt.fields.Encode(); err == nil {
				t.Fatalf("Encode = %q", line)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ name, line string }{
		{"no equals sign", "op=put nonsense"},
		{"double space", "op=put  id=x"},
		{"twice", "a=1 a=2"},
		{"bad escape", `a=\q`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if f, err := Decode(tt.line); err == nil {
				t.Fatalf("Decode = %v", f)
			}
		})
	}
}

func TestFieldsGet(t *testing.T) {
	f := Fields{{"a", "1"}}
	if f.Get("a") != "1" || f.Get("b") != "" {
		t.Fatalf("Get: %q, %q", f.Get("a"), f.Get("b"))
	}
	f.Add("empty", "")
	if len(f) != 1 {
		t.Fatal("Add kept an empty value")
	}
}

func TestJobRoundTrip(t *testing.T) {
	var ids job.Generator
	now := time.Date(2024, time.July, 9, 6, 5, 4, 321, time.UTC)
	full := job.New("mail", []byte{0, 1, 254}, job.OnQueue("slow"), job.WithPriority(-3),
		job.WithTag("team", "a b"), job.WithTag("empty", ""), job.Unique("k=1"), job.At(now))
	full.ID, full.Created, full.Attempts, full.LastError = ids.Next(now), now, 2, "line one\nline two"
	ended := full.Clone()
	ended.State, ended.Finished = job.Dead, now.Add(time.Second)
	for name, j := range map[string]job.Job{"pending": full, "ended": ended} {
		t.Run(name, func(t *testing.T) {
			line, err := EncodeJob(j).Encode()
			if err != nil {
				t.Fatal(err)
			}
			fields, err := Decode(line)
			if err != nil {
				t.Fatal(err)
			}
			back, err := DecodeJob(fields)
			if err != nil || !reflect.DeepEqual(back, j) {
				t.Fatalf("got  %+v, %v\nwant %+v", back, err, j)
			}
		})
	}
}

func TestDecodeJobRefuses(t *testing.T) {
	tests := []struct {
		name   string
		fields Fields
	}{
		{"unknown field", Fields{{"colour", "red"}}},
		{"bad id", Fields{{"id", "x"}}},
		{"bad number", Fields{{"attempts", "two"}}},
		{"bad time", Fields{{"at", "noon"}}},
		{"bad payload", Fields{{"payload", "*"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if j, err := DecodeJob(tt.fields); err == nil {
				t.Fatalf("DecodeJob = %+v", j)
			}
		})
	}
}
