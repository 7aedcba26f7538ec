package main

import "fmt"

type account struct {
	name    string
	balance int
}

func deposit(a *account, amount int) int {
	if amount > 0 {
		a.balance = a.balance + amount
	}
	return a.balance
}

func longest(words []string) string {
	best := ""
	for i := 0; i < len(words); i++ {
		if len(words[i]) > len(best) {
			best = words[i]
		}
	}
	return best
}

func main() {
	a := account{name: "savings", balance: 100}
	total := 0
	for i := 0; i < 10; i++ {
		total = deposit(&a, i*25)
	}
	fmt.Println("the balance is", total)
	fmt.Println(longest([]string{"apple", "banana", "cherry"}))
}
