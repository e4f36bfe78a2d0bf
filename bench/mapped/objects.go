package main

import (
	"fmt"
	"os"
	"strconv"
)

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	kept := make([]*[6]int, 0)
	for i := 0; i < count; i++ {
		kept = append(kept, &[6]int{i})
	}
	fmt.Println(len(kept))
}
