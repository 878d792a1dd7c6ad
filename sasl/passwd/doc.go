// Package passwd checks names and passwords for PLAIN against a file of
// bcrypt hashes, which htpasswd -B writes:
//
//	# comment
//	alice:$2y$10$...
//
// An unknown name costs as much as a wrong password. bcrypt is slow on
// purpose, so 2 checks per core run at a time; a stranger cannot take the
// machine. A changed file is read again, at most 5 s later; one that cannot be
// read leaves what we have.
//
// Other hashes of htpasswd (MD5, SHA-1, crypt) are refused: they are guessed
// too fast.
package passwd
