package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	kept := make([]*[6]int, 0)
	for i := 0; i < count; i++ {
		kept = append(kept, &[6]int{i})
	}
	if len(os.Args) > 2 {
		wait, _ := strconv.Atoi(os.Args[2])
		time.Sleep(time.Duration(wait) * time.Millisecond)
	}
	fmt.Println(len(kept))
}
