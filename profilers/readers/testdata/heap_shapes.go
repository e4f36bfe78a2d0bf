// Writes a heap profile and a CPU profile of Go's runtime: heap.pb.gz and cpu.pb.gz.
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

var kept [][]byte

//go:noinline
func leak() {
	for i := 0; i < 10; i++ {
		kept = append(kept, make([]byte, 1024))
	}
}

//go:noinline
func comeAndGo() {
	for i := 0; i < 100; i++ {
		kept[0] = make([]byte, 65536)
	}
}

//go:noinline
func spin(until time.Time) int {
	n := 0
	for time.Now().Before(until) {
		n++
	}
	return n
}

func main() {
	runtime.MemProfileRate = 16384
	leak()
	comeAndGo()
	cpu, _ := os.Create("cpu.pb.gz")
	pprof.StartCPUProfile(cpu)
	spin(time.Now().Add(300 * time.Millisecond))
	pprof.StopCPUProfile()
	cpu.Close()
	runtime.GC()
	heap, _ := os.Create("heap.pb.gz")
	pprof.WriteHeapProfile(heap)
	heap.Close()
}
