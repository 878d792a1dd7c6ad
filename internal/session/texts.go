package session

import (
	"fmt"
	"time"

	"hmsgate/frame"
)

// Every text a client may read from this package is made here. None may hold
// the words upon which clients replay a call (Apache Hive,
// RetryingMetaStoreClient; Apache Spark, HiveClientImpl; Apache Iceberg,
// HiveClientPool): names of Thrift's or JDO's exception classes.

// textNameless: a listener that wants to know a client's name.
const textNameless = "this gateway serves no call before set_ugi (security.set-ugi)"

// textUnreachable: nothing was sent.
func textUnreachable(catalog string) string {
	return fmt.Sprintf("catalog '%s' cannot be reached; the call was not executed", catalog)
}

// textLostRead: a read without an answer, the second time too.
func textLostRead(method, catalog string) string {
	return fmt.Sprintf("catalog '%s' closed the connection without an answer to %s", catalog, method)
}

// textUnknown: a write that may or may not have been executed.
func textUnknown(method, catalog string) string {
	return fmt.Sprintf("outcome unknown: catalog '%s' gave no answer to %s; "+
		"look at the object before repeating the operation", catalog, method)
}

// textTimeout: a call outlived its limit.
func textTimeout(method, catalog string, after time.Duration) string {
	return fmt.Sprintf("catalog '%s' gave no answer to %s within %s", catalog, method, after)
}

// textTimeoutWrite: the same for a write.
func textTimeoutWrite(method, catalog string, after time.Duration) string {
	return fmt.Sprintf("outcome unknown: catalog '%s' gave no answer to %s within %s; "+
		"look at the object before repeating the operation", catalog, method, after)
}

// textMessageType: a call must be marked as one.
func textMessageType(t frame.MessageType) string {
	return fmt.Sprintf("message type %d is no call", byte(t))
}

// textTooLarge: the call would have to be held and is too long for that.
func textTooLarge(limit int) string {
	return fmt.Sprintf("the call is too large: at most %d bytes of it can be held (limits.held-call)", limit)
}

// textTooLong: the client sends, or announces, more than a call may have.
func textTooLong(most int64, err error) string {
	return fmt.Sprintf("the call is too large: at most %d bytes of it are read (limits.call-bytes): %v", most, err)
}

// textFrameTooLarge: the backend wants the call's length first.
func textFrameTooLarge(limit int) string {
	return fmt.Sprintf("the call is too large: its backend takes frames of at most %d bytes (limits.frame-bytes)", limit)
}

// textBusy: memory or places for calls are used up; nothing was sent.
func textBusy(what string) string {
	return fmt.Sprintf("the gateway is busy: %s; the call was not executed, try again later", what)
}

// textNonsense: bytes that are no call.
func textNonsense(err error) string { return fmt.Sprintf("malformed call: %v", err) }

// textShareTooLarge: one catalog's share of a merged answer.
func textShareTooLarge(method, catalog string) string {
	return fmt.Sprintf("the reply of catalog '%s' to %s is too large to be merged (limits.held-call, limits.reply-bytes)",
		catalog, method)
}

// textReplyTooLarge: a reply that breaks one of our limits.
func textReplyTooLarge(method, what string, limit int64, key string) string {
	return fmt.Sprintf("the reply to %s is larger than the %s of %d bytes (%s)", method, what, limit, key)
}

// textUnread: the same for a write, which has been executed or refused.
func textUnread(tooLarge string) string {
	return "outcome unknown: " + tooLarge + "; look at the object before repeating the operation"
}

// textNever is what a real metastore says of a method it does not have
// (Apache Thrift, TBaseProcessor.process): clients take it for that.
func textNever(method string) string { return fmt.Sprintf("Invalid method name: '%s'", method) }

// textLoss: the backend's version would lose something that matters.
func textLoss(method, catalog, reason string) string {
	return fmt.Sprintf("%s cannot be served by the version of catalog '%s': %s", method, catalog, reason)
}

// textProgram: what was served by several calls failed between them.
func textProgram(method string, err error) string { return fmt.Sprintf("%s: %v", method, err) }

// textNobody is the Java proxy's.
func textNobody(catalog string) string {
	return fmt.Sprintf("Kerberos caller identity is unavailable for impersonation: catalog '%s' is used as its callers, "+
		"and this one has not said who it is", catalog)
}
