package runtime

import "unsafe"

// A test program that the driver starts finds its key on descriptor 4, and this variable in its environment.
// Here is the only place that runs before any tested code can: this package is initialised first of all.
const (
	repairlabVariable   = "REPAIRLAB_CHANNEL="
	repairlabDescriptor = 4
)

var (
	repairlabKey  [32]byte
	repairlabHere bool
)

func init() {
	for i, entry := range envs {
		if len(entry) < len(repairlabVariable) || entry[:len(repairlabVariable)] != repairlabVariable {
			continue
		}
		// Programs that tested code starts do not inherit the variable and leave their descriptors alone.
		envs = append(envs[:i:i], envs[i+1:]...)
		size := int32(len(repairlabKey))
		repairlabHere = read(repairlabDescriptor, unsafe.Pointer(&repairlabKey[0]), size) == size
		closefd(repairlabDescriptor)
		return
	}
}

// repairlabTake hands the key to package testing, once.
//
//go:linkname repairlabTake testing.repairlabTake
func repairlabTake() (key [32]byte, here bool) {
	key, here = repairlabKey, repairlabHere
	repairlabKey, repairlabHere = [32]byte{}, false
	return key, here
}
