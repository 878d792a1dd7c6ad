package profiles

// The calls that the gateway makes of its own, with their arguments as the
// interface names them. They are the same in every version.

// Delegate asks for a token that makes a connection owner's. renewer is a
// Kerberos principal (HiveMetaStoreClient.getDelegationToken).
func Delegate(owner, renewer string) (method string, args map[string]any) {
	return "get_delegation_token", map[string]any{"token_owner": owner, "renewer_kerberos_principal_name": renewer}
}

// Undelegate gives a token back.
func Undelegate(token string) (method string, args map[string]any) {
	return "cancel_delegation_token", map[string]any{"token_str_form": token}
}

// SetUser is the call by which a connection without SASL tells its user, the
// first argument, and the groups, the second.
const SetUser = "set_ugi"
