// Package identity owns Hadoop's rules about names: auth_to_local (Mapping),
// who may act for whom and from where (Proxies), and groups. It authenticates
// nobody and reads no configuration file.
//
//	hive/host@REALM --auth_to_local--> hive --hadoop.proxyuser.hive.*--> may act for bob from 10.1.2.3
//
// Rules mean what they mean to Hadoop (KerberosName, DefaultImpersonationProvider,
// AccessControlList, MachineList), limits of its grammar included, but for:
//
//   - patterns are RE2: look-around and back-references are an error when the
//     rules are read, not at a login;
//   - DEFAULT without a default realm is an error: it would refuse everybody,
//     or match an empty realm;
//   - a rule that maps to nothing refuses the name;
//   - missing hosts deny (Hadoop fails with a null pointer there);
//   - a host name counts by forward look-up only: the owner of an address
//     writes its reverse entry. Looked up once a minute.
package identity
