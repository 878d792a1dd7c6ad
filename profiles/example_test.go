package profiles_test

import (
	"fmt"
	"os"

	"hmsgate/profiles"
)

// What a 3.1.3 client's call means when the backend is a 4.1.0.
func ExampleCompile() {
	front, err := profiles.Load("apache-3.1.3")
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := profiles.Load("apache-4.1.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	plans, err := profiles.Compile(front, back)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := profiles.Explain(os.Stdout, plans, "get_function"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// get_function
	//   front apache-3.1.3, back apache-4.1.0
	//   class read, where names
	//   replay
	//   refused with 1:MetaException 2:NoSuchObjectException
	//   at this backend: same
	//   call:
	//     1  dbName  string  db@
	//   reply:
	//     0.2  success.dbName   string  db
	//     0.9  success.catName  string  cat
}
